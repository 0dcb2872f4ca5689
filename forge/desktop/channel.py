"""The host's end of a socket pair to a slot's supervisor: frames of a 4-byte big-endian length and a JSON object."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from forge.records.errors import DesktopError


class Channel:
    """Requests and responses, one at a time. Safe in threads.

    Args:
        end: our end of the pair.
        explain: says why the other side may have gone, for the error.

    Attributes:
        during: makes a context in which each request runs.
    """

    def __init__(self, end: socket.socket, explain: Callable[[], str]):
        self._end = end
        self._explain = explain
        self._lock = threading.Lock()
        self._broken: str | None = None
        self.during: Callable[[], AbstractContextManager[None]] = nullcontext

    def ask(self, what: str, *, timeout: float = 30.0, **arguments: Any) -> Any:
        """Send a request and wait for its answer.

        Args:
            what: the request's name.
            timeout: seconds.
            arguments: JSON values.

        Raises:
            DesktopError: the supervisor is gone, does not answer in time, or answered with an error.
        """
        with self.during(), self._lock:
            if self._broken is not None:
                raise DesktopError(self._broken)
            try:
                text = json.dumps({"do": what, **arguments}).encode()
                self._end.settimeout(timeout)
                self._end.sendall(struct.pack(">I", len(text)) + text)
                answer = self._receive(timeout)
            except (OSError, EOFError) as error:
                # the answer may still come and would be taken for that of the next request
                late = isinstance(error, TimeoutError)
                reason = f"did not answer {what!r} within {timeout:g} s" if late else "is gone"
                self._broken = f"the slot's supervisor {reason}: {self._explain()}"
                raise DesktopError(self._broken) from None
        if "error" in answer:
            raise DesktopError(f"{what}: {answer['error']}")
        return answer["ok"]

    def wait_ready(self, timeout: float) -> None:
        """Wait for the frame that the supervisor sends when it is ready. Raises DesktopError when none comes."""
        with self._lock:
            try:
                self._receive(timeout)
            except (OSError, EOFError):
                self._broken = f"the slot's supervisor did not start: {self._explain()}"
                raise DesktopError(self._broken, mend="run `forge doctor`") from None

    def close(self, why: str = "the slot is closed") -> None:
        """Hang up; the supervisor then ends the box. May be called twice.

        Args:
            why: what whoever asks later is told.
        """
        self._broken = self._broken or why
        self._end.close()

    def _receive(self, timeout: float) -> dict[str, Any]:
        deadline = time.monotonic() + timeout
        (size,) = struct.unpack(">I", self._exactly(4, deadline))
        answer: dict[str, Any] = json.loads(self._exactly(size, deadline))
        return answer

    def _exactly(self, size: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            self._end.settimeout(max(0.001, deadline - time.monotonic()))
            piece = self._end.recv(min(size - len(data), 1 << 20))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)
