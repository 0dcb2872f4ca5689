"""The host's end of what speaks from inside a slot: the worker that runs commands there, and programs that use pyautogui.

Both come over one socket in the home. Nobody is trusted there: whoever connects can type and point on its own screen, or
answer the host's questions about its own files; that is what the guest can do anyway.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import socket
import stat
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import IO, Any

from forge.desktop.apps.accessories import GTK2
from forge.desktop.osworld.clipboard import Clipboard
from forge.desktop.osworld.keys import KEYS, xdotool_key
from forge.desktop.osworld.layer import GUEST
from forge.desktop.slot import Slot
from forge.records.errors import DesktopError, ForgeError

PLACE = (".cache", "forge")
NAME = "osworld.sock"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LINE = 512 << 20  # bytes of one message
_WHEEL = 200  # clicks of one call
_STARTED = 20.0
_GRACE = 30.0  # seconds beyond a command's own limit


class GuestError(Exception):
    """The guest could not do what it was asked; `kind` is the name of the exception there."""

    def __init__(self, message: str, kind: str):
        super().__init__(message)
        self.kind = kind


class Link:
    """Listens in a slot's home, starts the worker in its box, and serves both. `close` before the slot is closed.

    Raises:
        DesktopError: the worker did not come up.
    """

    def __init__(self, slot: Slot):
        self._slot = slot
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[Any]] = {}
        self._lock = threading.Lock()
        self._worker: socket.socket | None = None
        self._ready = threading.Event()
        self._clipboard: Clipboard | None = None
        self._connections: set[socket.socket] = set()
        self._listener = _listen(slot)
        self._accepting = threading.Thread(target=self._accept, name="forge-osworld", daemon=True)
        self._accepting.start()
        argv = ["/usr/bin/python3", GUEST, f"/home/alex/{'/'.join(PLACE)}/{NAME}"]
        slot.ask("start", argv=argv, env=GTK2)  # whatever it starts inherits that; GTK 3 takes no notice
        if not self._ready.wait(_STARTED):
            self.close()
            raise DesktopError("nothing answers in the slot's box")

    def ask(self, what: str, *, limit: float | None = None, **arguments: Any) -> Any:
        """Have the worker do something.

        Args:
            what: one of the worker's functions.
            limit: seconds that a command may take.
            arguments: of the function.

        Raises:
            GuestError: it could not.
            DesktopError: the worker is gone or silent.
        """
        number = next(self._numbers)
        future: Future[Any] = Future()
        if limit is not None:
            arguments["timeout"] = limit
        text = json.dumps({"id": number, "do": what, **arguments}).encode() + b"\n"
        with self._lock:
            worker = self._worker
            if worker is None:
                raise DesktopError("the slot's worker is gone")
            self._waiting[number] = future
            try:
                worker.sendall(text)
            except OSError as error:
                raise DesktopError(f"the slot's worker is gone: {error.strerror}") from None
        try:
            return future.result((limit or 60.0) + _GRACE)
        except FutureTimeoutError:
            raise DesktopError(f"the slot's worker does not answer {what!r}") from None
        finally:
            self._waiting.pop(number, None)

    def close(self) -> None:
        """Hang up. May be called twice."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._accepting.join()
        if self._clipboard is not None:
            self._clipboard.close()
            self._clipboard = None

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.add(connection)
            threading.Thread(target=self._serve, args=(connection,), name="forge-osworld-peer", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as lines:
                role = json.loads(lines.readline(_LINE) or b"{}").get("role")
                if role == "worker":
                    self._read_answers(connection, lines)
                elif role == "input":
                    self._serve_input(connection, lines)
        except (OSError, ValueError, AttributeError):
            pass  # the guest hung up or spoke nonsense
        finally:
            self._connections.discard(connection)

    def _read_answers(self, connection: socket.socket, lines: IO[bytes]) -> None:
        with self._lock:
            if self._worker is not None:
                return  # there is one already
            self._worker = connection
        self._ready.set()
        try:
            while line := lines.readline(_LINE):
                answer = json.loads(line)
                future = self._waiting.get(answer["id"])
                if future is None or future.done():
                    continue
                if "error" in answer:
                    future.set_exception(GuestError(str(answer["error"]), str(answer.get("kind"))))
                else:
                    future.set_result(answer.get("ok"))
        finally:
            with self._lock:
                self._worker = None
            for future in list(self._waiting.values()):
                if not future.done():
                    future.set_exception(DesktopError("the slot's worker ended"))

    def _serve_input(self, connection: socket.socket, lines: IO[bytes]) -> None:
        while line := lines.readline(_LINE):
            request = json.loads(line)
            try:
                answer = {"ok": self._input(request.pop("do"), **request)}
            except (ForgeError, TypeError, KeyError, ValueError) as error:
                answer = {"error": str(error)}
            connection.sendall(json.dumps(answer).encode() + b"\n")

    def _input(self, what: str, **given: Any) -> Any:
        device = self._slot.input
        match what:
            case "position":
                return device.position()
            case "size":
                return self._slot.guest.width, self._slot.guest.height
            case "move":
                device.move(int(given["x"]), int(given["y"]))
            case "click":
                device.click(int(given["x"]), int(given["y"]), int(given["button"]), min(int(given["count"]), 10))
            case "press":
                device.press(int(given["button"]))
            case "release":
                device.release(int(given["button"]))
            case "drag":
                x0, y0, x1, y1 = (int(given[name]) for name in ("x0", "y0", "x1", "y1"))
                device.drag(x0, y0, x1, y1, int(given["button"]))
            case "scroll":
                dx, dy = (max(-_WHEEL, min(_WHEEL, int(given[name]))) for name in ("dx", "dy"))
                device.scroll(int(given["x"]), int(given["y"]), dx, dy)
            case "type":
                device.type(str(given["text"]))
            case "key":
                device.key("+".join(xdotool_key(str(key)) for key in given["keys"]))
            case "down":
                device.down(xdotool_key(str(given["key"])))
            case "up":
                device.up(xdotool_key(str(given["key"])))
            case "keys":
                return sorted(KEYS)
            case "is_key":
                return len(given["key"]) == 1 or given["key"].lower() in KEYS
            case "screenshot":
                return base64.b64encode(self._slot.screenshot().png).decode()
            case "copy":
                self._clip().copy(str(given["text"]))
            case "paste":
                return self._clip().paste()
            case _:
                raise ValueError(f"nothing is called {what!r}")
        return None

    def _clip(self) -> Clipboard:
        with self._lock:
            if self._clipboard is None:
                self._clipboard = Clipboard(self._slot.connect())
            return self._clipboard


def _listen(slot: Slot) -> socket.socket:
    """A socket in the home; every step through descriptors, for the guest owns the folders."""
    folder = os.open(slot.home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    owner = os.fstat(folder)
    listener = socket.socket(socket.AF_UNIX)
    try:
        for part in PLACE:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o700, dir_fd=folder)
            child = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = child
            os.fchown(folder, owner.st_uid, owner.st_gid)
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISSOCK(os.stat(NAME, dir_fd=folder, follow_symlinks=False).st_mode):
                os.unlink(NAME, dir_fd=folder)
        listener.bind(f"/proc/self/fd/{folder}/{NAME}")
        os.chown(NAME, owner.st_uid, owner.st_gid, dir_fd=folder, follow_symlinks=False)
        listener.listen(16)
    except OSError as error:
        listener.close()
        raise DesktopError(f"the slot's home holds no socket: {error.strerror}") from error
    finally:
        os.close(folder)
    return listener
