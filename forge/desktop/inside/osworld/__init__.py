"""Programs that run inside the box of a slot that speaks OSWorld's protocol; on the system's Python."""
