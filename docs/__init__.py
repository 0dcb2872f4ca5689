"""The documentation, and the command that writes its generated part: `python -m docs.generate`."""
