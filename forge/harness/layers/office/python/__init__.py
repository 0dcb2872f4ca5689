"""On PYTHONPATH in the guest; a package here so that the host can import the same modules."""
