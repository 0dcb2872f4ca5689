"""Slots over HTTP: a server that lends them under leases. The client is `forge.desktop.remote`."""
