"""Folders of running things, and sweeping up what dead owners left.

A running slot or office owns one folder FORGE_HOME/slots/<id> and holds a lock (flock) on `lock` in it for as long as
its process lives. The kernel drops the lock when the owner dies, however it dies; so a folder whose lock can be taken
is a leftover, and one whose lock is held belongs to a living neighbour, also to one in another container.
Processes die with their owner (see `forge.desktop.spawn`), but for a box that was just being made: bubblewrap binds the
life of a box's first process to its own only at the end of its set-up. Such a box ends once it is made (`lifeline`), or
is ended by the sweeper if that comes first.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from forge.desktop.limits import release
from forge.desktop.place import SOCKETS, home, remove
from forge.records.errors import DesktopError

_NAME = re.compile(r"(\.new-)?[a-z]+-[0-9a-f]{12}")  # as `claim` makes them; processes are known by them
_DRAFT_AGE = 60.0  # seconds after which a folder that never got its lock counts as abandoned
_DYING = 5.0  # seconds that what was killed has for its end; a display's socket can be told for dead only then
_SILENT = 1.0  # seconds in which a display whose server is ending drops a connection


@dataclass
class Claim:
    """A folder of our own; `release` deletes it."""

    folder: Path
    lock: int

    def release(self) -> None:
        """Delete the folder and what it says is outside of it, and let go of the lock. May be called twice."""
        if self.lock < 0:
            return
        _clear(self.folder)
        os.close(self.lock)
        self.lock = -1


def claim(kind: str, root: Path | None = None) -> Claim:
    """Make a new folder FORGE_HOME/slots/<kind>-<random> and lock it; sweeps leftovers first.

    Raises:
        DesktopError: the folder cannot be made (full disk, no permission).
    """
    slots = (root or home()) / "slots"
    name = f"{kind}-{secrets.token_hex(6)}"
    draft = slots / f".new-{name}"
    try:
        slots.mkdir(parents=True, exist_ok=True)
        sweep(root)
        draft.mkdir(mode=0o755)
        lock = os.open(draft / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        draft.rename(slots / name)  # from here on a sweeper looks at it, and finds it locked
    except OSError as error:
        raise DesktopError(f"{slots} cannot hold a slot: {error.strerror}", mend="check FORGE_HOME") from error
    return Claim(slots / name, lock)


def sweep(root: Path | None = None) -> list[str]:
    """Delete the folders of dead owners below FORGE_HOME/slots, and their displays' sockets. Returns their names."""
    slots = (root or home()) / "slots"
    swept: list[str] = []
    if not slots.is_dir():
        return swept
    for folder in sorted(slots.iterdir()):
        if not _NAME.fullmatch(folder.name) or not folder.is_dir() or folder.is_symlink():
            continue
        try:
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            lock = None
        try:
            if lock is None:
                if time.time() - folder.stat().st_mtime < _DRAFT_AGE:
                    continue
            elif folder.name.startswith(".") and time.time() - folder.stat().st_mtime < _DRAFT_AGE:
                continue  # its owner is about to lock it
            else:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _end_boxes(folder.name)
            _clear(folder)
            swept.append(folder.name)
        except (BlockingIOError, FileNotFoundError):
            continue  # a living neighbour, or another sweeper was faster
        finally:
            if lock is not None:
                os.close(lock)
    return swept


def _end_boxes(name: str) -> None:
    """Kill what still lives of the boxes that were made on a folder, and wait for its end. They are known by the folder's
    (unique) name: what has a part of it bound into a mount namespace of its own, and bubblewrap that was about to.

    Only what is mounted *from* the folder counts. What is mounted *on* it, the file systems of homes, is seen by every
    process of the host and by boxes of others; and whoever shares our own namespace is no box.
    """
    mark = name.encode()
    killed: list[Path] = []
    ours = _namespace(Path("/proc/self"))
    for process in Path("/proc").glob("[0-9]*"):
        try:
            argv = (process / "cmdline").read_bytes()
            is_box = argv.split(b"\0")[0].endswith(b"bwrap") and mark in argv
            if not is_box and _namespace(process) != ours:
                mounts = (process / "mountinfo").read_bytes().splitlines()
                is_box = any(mark in line.split(b" ", 4)[3] for line in mounts)
            if is_box and int(process.name) not in (1, os.getpid()):
                os.kill(int(process.name), signal.SIGKILL)
                killed.append(process)
        except OSError:
            continue  # it has ended, or is none of ours
    deadline = time.monotonic() + _DYING
    while any(map(_lives, killed)) and time.monotonic() < deadline:
        time.sleep(0.01)


def _lives(process: Path) -> bool:
    try:
        return (process / "stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def _namespace(process: Path) -> str:
    return os.readlink(process / "ns" / "mnt")


def _clear(folder: Path) -> None:
    display = folder / "display"
    if display.is_file():
        number = display.read_text().strip()
        if number.isdigit():
            forget_display(int(number))
    release(folder)
    remove(folder)


def forget_display(number: int) -> None:
    """Remove the socket of a dead X server; that of a living one, which may have taken the number since, stays.

    A server that is just ending still takes connections, and drops them: its end is waited for. A living one says nothing
    before it is spoken to.
    """
    path = SOCKETS / f"X{number}"
    deadline = time.monotonic() + _DYING
    while time.monotonic() < deadline:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(_SILENT)
                connection.connect(str(path))
                connection.recv(1)
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return
        except ConnectionResetError:
            continue
        except OSError:
            return
        time.sleep(0.01)
