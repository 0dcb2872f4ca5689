"""Running an application with uvicorn: in the foreground until it is interrupted, or in a thread beside other work."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from types import FrameType, TracebackType
from typing import Any

import uvicorn

from forge.records.errors import DesktopError

_GRACE = 5
"""Seconds that requests under way may still take once the server is to end."""


class Running(uvicorn.Server):
    """A server that ends quietly on SIGINT and SIGTERM, with its neighbours; a second signal ends it at once."""

    def __init__(self, app: Any):
        super().__init__(_settings(app))
        self.together = [self]

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        for server in self.together:
            server.force_exit = server.should_exit
            server.should_exit = True


def _settings(app: Any) -> uvicorn.Config:
    """uvicorn's settings: no access log, for addresses may hold paths of guests."""
    return uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        lifespan="on",
        timeout_graceful_shutdown=_GRACE,
        timeout_keep_alive=75,
        ws="websockets-sansio",
        ws_max_size=1 << 24,
        server_header=False,
    )


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises DesktopError when the place is taken or not ours."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        opened = socket.socket(family, socket.SOCK_STREAM)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen(256)
    except OSError as error:
        raise DesktopError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    return opened


def address_of(opened: socket.socket) -> str:
    """Its address as a URL."""
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve(*places: tuple[Any, socket.socket]) -> None:
    """Serve applications, each on its socket, until interrupted."""

    async def run() -> None:
        servers = [Running(app) for app, _ in places]
        servers[0].together = servers
        with servers[0].capture_signals():
            await asyncio.gather(*(server._serve([place]) for server, (_, place) in zip(servers, places, strict=True)))

    asyncio.run(run())


class Background:
    """A server in a thread of its own. Use it as a context manager.

    Attributes:
        url: where it listens.
    """

    def __init__(self, app: Any, host: str = "127.0.0.1", port: int = 0):
        self._socket = listen(host, port)
        self.url = address_of(self._socket)
        self._server = Running(app)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name="forge-server", daemon=True
        )

    def __enter__(self) -> Background:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End it and wait. May be called twice."""
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join()
        self._socket.close()
