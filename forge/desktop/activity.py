"""Whether the applications in a box are at work: what the host's /proc says of their processes.

A screen that stands still says little: an application may be laying out a dialog, reading a file, or waiting for its turn on
a busy machine. What the `bash` tool runs does not count, nor do the buses and the supervisor. Where /proc does not show the
processes of others, nothing is ever at work.
"""

from __future__ import annotations

import os
import time
from typing import NamedTuple

_TICK = 1.0 / os.sysconf("SC_CLK_TCK")
_FORGET = 20.0  # seconds after which numbers of strange processes may have come to mean others
_OTHERS = frozenset(("bwrap", "dbus-daemon", "at-spi-bus-laun", "at-spi2-registr"))
"""Children of the supervisor that are no applications; the shell runs in a bwrap of its own."""


class Activity:
    """Watches the applications of one box.

    Args:
        box: host process id of the box.
    """

    def __init__(self, box: int):
        self._box = box
        self._supervisor = -1
        self._ours: set[int] = set()
        self._strange: set[int] = set()
        self._forgot = time.monotonic()

    def sample(self) -> tuple[float, bool]:
        """Seconds of processor time that the applications have used so far, and whether one is running, or waiting for a
        processor or a disk, just now. Takes about a millisecond.
        """
        if time.monotonic() - self._forgot > _FORGET:
            self._strange.clear()
            self._forgot = time.monotonic()
        used, running = 0.0, False
        there = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        self._ours &= there
        for pid in sorted(there - self._strange):  # parents mostly have the lower number
            found = _stat(pid)
            if found is None:
                continue
            if pid not in self._ours and not self._is_ours(pid, found):
                continue
            used += found.used
            running |= found.state in "RD"
        return used, running

    def _is_ours(self, pid: int, found: _Stat) -> bool:
        """Whether a process that is new belongs to an application; remembered."""
        if found.parent == self._box:
            self._supervisor = pid
        elif found.parent in self._ours or (found.parent == self._supervisor and found.name not in _OTHERS):
            self._ours.add(pid)
            return True
        self._strange.add(pid)
        return False


class _Stat(NamedTuple):
    name: str
    state: str
    parent: int
    used: float


def _stat(pid: int) -> _Stat | None:
    """A process's name, state, parent and seconds of processor time, see proc(5); None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            text = file.read().decode(errors="replace")
    except OSError:
        return None
    name, _, rest = text.partition("(")[2].rpartition(")")
    fields = rest.split()
    return _Stat(name, fields[0], int(fields[1]), (int(fields[11]) + int(fields[12])) * _TICK)
