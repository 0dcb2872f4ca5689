"""OSWorld's guest protocol: slots that speak it, and virtual machines that are driven through it."""
