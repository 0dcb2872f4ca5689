"""The host's end of what speaks from inside a slot: the worker that runs commands there, and programs that use pyautogui.

There is one connection, to the worker that the host itself started before any program of the guest ran; programs reach the
host through the worker. Nobody is trusted there: whoever asks can type and point on its own screen, and what the worker
sends is bounded, see `forge.desktop.osworld.frames`. A worker that was killed or hangs is not replaced: the slot is reset.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import socket
import struct
import threading
import time
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

from forge.desktop.apps.accessories import GTK2
from forge.desktop.osworld.frames import PIECE, Frames
from forge.desktop.osworld.hands import Hands
from forge.desktop.osworld.layer import GUEST
from forge.desktop.slot import Slot
from forge.records.errors import DesktopError

PLACE = (".cache", "forge")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_STARTED = 20.0
_GRACE = 30.0  # seconds beyond a command's own limit
_HELD = 32 << 20  # bytes of an answer that is held in memory: twice what the worker keeps of one stream of a command
_LARGEST = 2 << 30  # bytes of a file that is read: as much as a home can hold
_AT_ONCE = 4  # calls of programs that are carried out side by side
_IN_LINE = 128  # calls of programs that wait; the worker has at most half as many programs
_PEER = struct.Struct("3i")  # struct ucred


class GuestError(Exception):
    """The guest could not do what it was asked; `kind` is the name of the exception there."""

    def __init__(self, message: str, kind: str):
        super().__init__(message.encode("utf-8", "backslashreplace").decode())  # it may name a file of odd bytes
        self.kind = kind


class Link:
    """Starts the worker in a slot's box and speaks with it. `close` after the slot is closed: until then a call of a
    program may wait for its display, and `close` for that call.

    Raises:
        DesktopError: the worker did not come up.
    """

    def __init__(self, slot: Slot):
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[tuple[dict[str, Any], bytes]]] = {}
        self._hands = Hands(slot)
        self._in_line = threading.BoundedSemaphore(_IN_LINE)
        self._acting = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="forge-osworld-hands")
        self._frames = Frames(_start_worker(slot))
        self._reading = threading.Thread(target=self._read, name="forge-osworld", daemon=True)
        self._reading.start()

    def ask(self, what: str, **arguments: Any) -> Any:
        """Have the worker do something whose answer is small.

        Args:
            what: one of the worker's functions.
            arguments: of the function.

        Raises:
            GuestError: it could not.
            DesktopError: the worker is gone or silent.
        """
        return self._ask(what, **arguments)[0]["ok"]

    def run(
        self, command: str | list[str], *, shell: bool = False, cwd: str | None = None, limit: float
    ) -> dict[str, Any]:
        """Run a command; its `code` and the ends of its `out` and `err`. Raises as `ask`, and for one that takes too long.

        Args:
            command: a line or its parts.
            shell: whether a shell reads it.
            cwd: the folder to run it in; the home if None.
            limit: seconds that it may take.
        """
        head, first = self._ask("run", seconds=limit, command=command, shell=shell, cwd=cwd, timeout=limit)
        said, size = self._whole(head, first), int(head["ok"]["out"])
        texts = (part.decode("utf-8", "ignore") for part in (said[:size], said[size:]))
        return {**dict(zip(("out", "err"), texts, strict=True)), "code": head["ok"]["code"]}

    def tree(self, path: str) -> bytes:
        """What is below a folder, as JSON. Raises as `ask`."""
        return self._whole(*self._ask("tree", path=path))

    def read(self, path: str) -> Generator[bytes, None, None]:
        """A file in pieces of PIECE bytes, the first one, which may be empty, read already. Raises as `ask`, later too."""
        return self._pieces(*self._ask("read", path=path))

    def write(self, path: str, data: bytes) -> None:
        """Write a file and the folders above it. Raises as `ask`."""
        view = memoryview(data)
        where: dict[str, Any] = {"path": path}
        while True:
            piece, view = view[:PIECE], view[PIECE:]
            head, _ = self._ask("write", piece, more=bool(view), **where)
            if not view:
                return
            where = {"file": head["ok"]}

    def close(self) -> None:
        """Hang up: whoever waits for the worker gets a DesktopError. May be called twice."""
        self._frames.hang_up()
        self._reading.join()
        self._acting.shutdown(wait=False, cancel_futures=True)
        self._hands.close()

    def _ask(
        self, what: str, body: bytes | memoryview = b"", *, seconds: float = 60.0, **arguments: Any
    ) -> tuple[dict[str, Any], bytes]:
        number = next(self._numbers)
        future: Future[tuple[dict[str, Any], bytes]] = Future()
        self._waiting[number] = future
        try:
            self._frames.send({"id": number, "do": what, **arguments}, body)
            head, piece = future.result(seconds + _GRACE)
        except FutureTimeoutError:
            raise DesktopError(f"the slot's worker does not answer {what!r}") from None
        except OSError as error:
            raise DesktopError(f"the slot's worker is gone: {error.strerror or error}") from None
        finally:
            self._waiting.pop(number, None)
        if "error" in head:
            raise GuestError(str(head["error"]), str(head.get("kind")))
        return head, piece

    def _pieces(self, head: dict[str, Any], piece: bytes) -> Generator[bytes, None, None]:
        size = len(piece)
        try:
            yield piece
            while "more" in head:
                if size > _LARGEST:
                    raise DesktopError(f"the file is larger than {_LARGEST >> 20} MiB")
                number = head.pop("more")
                head, piece = self._ask("part", file=number)
                size += len(piece)
                yield piece
        finally:
            if "more" in head:
                with contextlib.suppress(GuestError, DesktopError):
                    self._ask("drop", file=head["more"])

    def _whole(self, head: dict[str, Any], piece: bytes) -> bytes:
        data = bytearray()
        with contextlib.closing(self._pieces(head, piece)) as pieces:
            for each in pieces:
                data += each
                if len(data) > _HELD:
                    raise DesktopError("the slot's worker says more than it may")
        return bytes(data)

    def _read(self) -> None:
        try:
            while True:
                head, body = self._frames.receive()
                if "input" in head:
                    self._act(int(head["input"]), body)
                elif (future := self._waiting.pop(head["id"], None)) is not None:
                    future.set_result((head, body))
        except (OSError, EOFError, ValueError, TypeError, KeyError):
            pass  # it has ended, or speaks nonsense
        finally:
            self._frames.close()
            while self._waiting:
                with contextlib.suppress(KeyError):
                    self._waiting.popitem()[1].set_exception(DesktopError("the slot's worker ended"))

    def _act(self, number: int, request: bytes) -> None:
        if not self._in_line.acquire(blocking=False):
            raise ValueError("more calls than there can be programs")

        def act() -> None:
            try:
                answer = self._hands.answer(request)
                with contextlib.suppress(OSError):
                    self._frames.send({"input": number}, answer)
            finally:
                self._in_line.release()

        with contextlib.suppress(RuntimeError):  # it is being closed
            self._acting.submit(act)


def _start_worker(slot: Slot) -> socket.socket:
    """Start it, and its connection: through a socket in the home that is gone before anything of the guest runs."""
    name = f"worker-{secrets.token_hex(8)}.sock"
    folder = _folder(slot)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            owner = os.fstat(folder)
            listener.bind(f"/proc/self/fd/{folder}/{name}")
            try:
                os.chown(name, owner.st_uid, owner.st_gid, dir_fd=folder, follow_symlinks=False)
                listener.listen(1)
                argv = ["/usr/bin/python3", "-I", GUEST, f"/home/alex/{'/'.join(PLACE)}/{name}"]
                pid = slot.ask("start", argv=argv, env=GTK2)  # what it starts inherits that; GTK 3 takes no notice
                return _accept(listener, pid)
            finally:
                os.unlink(name, dir_fd=folder)
    except TimeoutError:
        raise DesktopError("nothing answers in the slot's box") from None
    except OSError as error:
        raise DesktopError(f"the slot's home holds no socket: {error.strerror}") from error
    finally:
        os.close(folder)


def _accept(listener: socket.socket, pid: int) -> socket.socket:
    """The connection of the box's process `pid`. Raises TimeoutError."""
    deadline = time.monotonic() + _STARTED
    while True:
        listener.settimeout(max(0.01, deadline - time.monotonic()))
        connection, _ = listener.accept()
        peer, _, _ = _PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
        if _number_inside(peer) == pid:
            return connection
        connection.close()


def _number_inside(pid: int) -> int | None:
    """What a process of the host is called in its own box; None when it has ended."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status") as file:
        return next((int(line.split()[-1]) for line in file if line.startswith("NSpid:")), None)
    return None


def _folder(slot: Slot) -> int:
    """Descriptor of PLACE in the home, made where missing; every step through descriptors, for the guest owns them."""
    folder = os.open(slot.home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    owner = os.fstat(folder)
    try:
        for part in PLACE:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o700, dir_fd=folder)
            child = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = child
            os.fchown(folder, owner.st_uid, owner.st_gid)
    except OSError as error:
        os.close(folder)
        raise DesktopError(f"the slot's home holds no socket: {error.strerror}") from error
    return folder
