"""Asking an X server whether it still lives, over a socket of our own that never waits longer than it is told to.

The X libraries wait for an answer without end, so a server that is stopped or stuck would hold up whoever asks. What is
spoken here is the small part of the X11 protocol (X Window System Protocol, X.Org, version 11) that the questions need.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TypeVar

T = TypeVar("T")

_CREATE, _MAP, _DESTROY, _ATOM, _GET_PROPERTY, _SEND, _IMAGE = 1, 8, 4, 16, 20, 25, 73
_EVERY_PLANE = 0xFFFFFFFF
_TO_MANAGER = 0x180000  # SubstructureNotify | SubstructureRedirect: the manager of the root window gets the event
_LOOK = 0.005  # seconds between two looks
_AGAIN = 0.05  # seconds after which a question to the window manager is repeated


class SilentError(Exception):
    """The server hung up, refused, or did not answer in time; the message says which."""


class StuckError(SilentError):
    """The server did not answer in time."""


class XProbe:
    """A connection to one display. Use it as a context manager.

    Args:
        path: the server's socket.
        cookie: the display's Xauthority file.
        timeout: seconds for all questions together.

    Raises:
        SilentError: nobody answers.
    """

    def __init__(self, path: Path, cookie: Path, timeout: float):
        self._deadline = time.monotonic() + timeout
        self._timeout = timeout
        self._socket = socket.socket(socket.AF_UNIX)
        self._sent = 0
        try:
            self._ask_in(lambda: self._socket.connect(str(path)))
            self._greet(_key(cookie))
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> XProbe:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def pixels_react(self) -> bool:
        """Whether a dot that is drawn in the lower right corner of the screen can be seen there, for a moment."""
        x, y = self._width - 1, self._height - 1
        before = self._pixel(x, y)
        colour = before ^ 0xFFFFFF
        window = self._base + 1
        # class InputOutput, visual as the parent's; background pixel and override-redirect: nobody manages it
        body = struct.pack("<IIhhHHHHIIII", window, self._root, x, y, 1, 1, 0, 1, 0, 0x202, colour, 1)
        self._send(_CREATE, 0, body)
        self._send(_MAP, 0, struct.pack("<I", window))
        seen = self._pixel(x, y)
        self._send(_DESTROY, 0, struct.pack("<I", window))
        self._pixel(x, y)  # it is gone when this has been answered
        return seen == colour

    def manager_answers(self) -> bool:
        """Whether the window manager answers a question (EWMH, _NET_REQUEST_FRAME_EXTENTS) in the time that is left."""
        request, answer = (self._atom(name) for name in (b"_NET_REQUEST_FRAME_EXTENTS", b"_NET_FRAME_EXTENTS"))
        window = self._base + 2
        self._send(_CREATE, 0, struct.pack("<IIhhHHHHII", window, self._root, 0, 0, 9, 9, 0, 1, 0, 0))
        event = struct.pack("<BBHII20x", 33, 32, 0, window, request)
        asked = 0.0
        while True:
            if time.monotonic() - asked > _AGAIN:  # one that has just started may have missed the last question
                self._send(_SEND, 0, struct.pack("<II", self._root, _TO_MANAGER) + event)
                asked = time.monotonic()
            reply, _ = self._reply(_GET_PROPERTY, 0, struct.pack("<IIIII", window, answer, 0, 0, 4))
            if struct.unpack_from("<I", reply, 8)[0]:  # the property's type: there is one
                return True
            if self._deadline - time.monotonic() < 4 * _LOOK:
                return False
            time.sleep(_LOOK)

    def _pixel(self, x: int, y: int) -> int:
        body = struct.pack("<IhhHHI", self._root, x, y, 1, 1, _EVERY_PLANE)
        _, data = self._reply(_IMAGE, 2, body)  # 2: ZPixmap
        return int(struct.unpack_from("<I", data)[0]) & 0xFFFFFF

    def _atom(self, name: bytes) -> int:
        body = struct.pack("<HH", len(name), 0) + name + b"\0" * (-len(name) % 4)
        reply, _ = self._reply(_ATOM, 0, body)
        return int(struct.unpack_from("<I", reply, 8)[0])

    def _greet(self, key: bytes) -> None:
        name = b"MIT-MAGIC-COOKIE-1"
        hello = struct.pack("<BxHHHHxx", ord("l"), 11, 0, len(name), len(key))
        self._write(hello + name + b"\0" * (-len(name) % 4) + key + b"\0" * (-len(key) % 4))
        head = self._read(8)
        body = self._read(4 * struct.unpack_from("<H", head, 6)[0])
        if head[0] != 1:
            raise SilentError("it refuses the cookie")
        self._base = struct.unpack_from("<I", body, 4)[0]
        vendor, formats = struct.unpack_from("<H", body, 16)[0], body[21]
        screen = 32 + vendor + -vendor % 4 + 8 * formats
        self._root = struct.unpack_from("<I", body, screen)[0]
        self._width, self._height = struct.unpack_from("<HH", body, screen + 20)

    def _send(self, code: int, detail: int, body: bytes) -> None:
        self._sent = self._sent + 1 & 0xFFFF
        self._write(struct.pack("<BBH", code, detail, 1 + len(body) // 4) + body)

    def _reply(self, code: int, detail: int, body: bytes) -> tuple[bytes, bytes]:
        """Ask, and read the 32 bytes of the answer and what follows them. Events and old errors are passed over."""
        self._send(code, detail, body)
        while True:
            head = self._read(32)
            if head[0] == 1:
                data = self._read(4 * struct.unpack_from("<I", head, 4)[0])
                if struct.unpack_from("<H", head, 2)[0] == self._sent:
                    return head, data
            elif head[0] == 0 and struct.unpack_from("<H", head, 2)[0] == self._sent:
                raise SilentError(f"it answers a question with error {head[1]}")

    def _write(self, data: bytes) -> None:
        self._ask_in(lambda: self._socket.sendall(data))

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            piece = self._ask_in(partial(self._socket.recv, size - len(data)))
            if not piece:
                raise SilentError("it hung up")
            data += piece
        return bytes(data)

    def _ask_in(self, call: Callable[[], T]) -> T:
        left = self._deadline - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            self._socket.settimeout(left)
            return call()
        except TimeoutError:
            raise StuckError(f"it does not answer within {self._timeout:g} s") from None
        except OSError as error:
            raise SilentError(f"it cannot be reached ({error.strerror})") from None


def _key(cookie: Path) -> bytes:
    """The key of the first entry of an Xauthority file (big-endian fields: host, number, name, key)."""
    try:
        data = cookie.read_bytes()
    except OSError as error:
        raise SilentError(f"its cookie cannot be read ({error.strerror})") from None
    place = 2
    value = b""
    for _ in range(4):
        (size,) = struct.unpack_from(">H", data, place)
        value = data[place + 2 : place + 2 + size]
        place += 2 + size
    return value
