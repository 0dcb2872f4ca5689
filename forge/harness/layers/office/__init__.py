"""Office files from the command line."""
