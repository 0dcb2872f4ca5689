"""Read-only folders that harnesses put into the box: commands for PATH, modules for PYTHONPATH."""
