"""Frames between the host and the worker in a slot's box: two 4-byte big-endian lengths, a JSON object, and a payload.

The guest is not trusted: what it sends is bounded frame by frame, and neither a worker that is stopped nor one that sends
half of something holds anybody up for longer than SECONDS.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import struct
import threading
import time
from typing import Any

HEAD = 64 << 10
"""Bytes of a JSON object that is received."""
PIECE = 1 << 20
"""Bytes of a payload that is received; longer contents come in pieces. What is sent is not bounded."""
SECONDS = 20.0
"""How long one frame may take."""
_LENGTHS = struct.Struct(">II")


class Frames:
    """Sends and receives over a connected socket. `send` is safe in threads; `receive` is for one thread."""

    def __init__(self, connection: socket.socket):
        self._connection = connection
        self._connection.setblocking(False)
        self._lock = threading.Lock()
        self._broken = False

    def send(self, head: dict[str, Any], body: bytes | memoryview = b"") -> None:
        """Raises OSError: the other side is gone, or does not take it (then the connection is given up)."""
        deadline = time.monotonic() + SECONDS
        text = json.dumps(head).encode()
        if not self._lock.acquire(timeout=SECONDS):
            raise TimeoutError("timed out")
        try:
            if self._broken:
                raise BrokenPipeError("hung up")
            for part in (_LENGTHS.pack(len(text), len(body)) + text, body):
                view = memoryview(part)
                while view:
                    self._wait(select.POLLOUT, deadline)
                    with contextlib.suppress(BlockingIOError):
                        view = view[self._connection.send(view) :]
        except OSError:  # half a frame may be under way
            self.hang_up()
            raise
        finally:
            self._lock.release()

    def receive(self) -> tuple[dict[str, Any], bytes]:
        """Wait for a frame.

        Raises:
            OSError, EOFError: the other side is gone, or sent but half of one.
            ValueError: what it sent is no frame, or too much.
        """
        head, body = _LENGTHS.unpack(self._exactly(_LENGTHS.size, None))
        if head > HEAD or body > PIECE:
            raise ValueError(f"a frame of {head} and {body} bytes")
        deadline = time.monotonic() + SECONDS
        try:
            found = json.loads(self._exactly(head, deadline))
        except RecursionError:
            raise ValueError("a frame that is nested too deep") from None
        if not isinstance(found, dict):
            raise ValueError("a frame without an object")
        return found, self._exactly(body, deadline)

    def hang_up(self) -> None:
        """End it, for whoever sends and for whoever receives. May be called twice."""
        self._broken = True
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Hang up and let go of the socket, once nobody receives any more."""
        self.hang_up()
        with self._lock:
            self._connection.close()

    def _exactly(self, size: int, deadline: float | None) -> bytes:
        data = bytearray()
        while len(data) < size:
            self._wait(select.POLLIN, deadline)
            with contextlib.suppress(BlockingIOError):
                piece = self._connection.recv(size - len(data))
                if not piece:
                    raise EOFError("hung up")
                data += piece
        return bytes(data)

    def _wait(self, event: int, deadline: float | None) -> None:
        poll = select.poll()
        poll.register(self._connection, event)
        left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
        if not poll.poll(left):
            raise TimeoutError("timed out")
