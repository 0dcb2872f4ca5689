"""Whether a slot is well: what is dead, frozen, slow, full or running wild in it, as data.

A slot is asked from outside and within a time limit, so that a frozen one holds nobody up. `look` changes nothing in
the slot but for one dot in the lower right corner, which shows for a millisecond.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.desktop.xprobe import SilentError, XProbe

if TYPE_CHECKING:
    from forge.desktop.slot import Slot

PATIENCE = 2.0
"""Seconds that the X server and the window manager have for their answers. On a machine at work they need some 10 ms."""
WILD_SHARE = 0.9
"""Of one processor: a process that uses more is running wild if it goes on for WILD_SECONDS."""
WILD_SECONDS = 60.0
LEAST_BYTES = 32 << 20
"""Free space below which a home counts as full; applications fail in odd ways before it is all used."""
LEAST_FILES = 200
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Args:
        what: "display", "window manager", "supervisor", "application", "process" or "disk".
        says: what was seen, for a person.
    """

    what: str
    says: str


@dataclass(frozen=True)
class Health:
    """What a look at a slot gave.

    Args:
        findings: what is wrong; empty when it is well.
        latency: seconds that X server, window manager and supervisor needed to answer, together.
        age: seconds since the slot was opened.
    """

    findings: tuple[Finding, ...]
    latency: float
    age: float

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def __str__(self) -> str:
        return "; ".join(finding.says for finding in self.findings) or "well"


class Watch:
    """Remembers from look to look which processes keep a processor busy."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[float, int]] = {}  # when it was looked at, ticks used by then
        self._busy_since: dict[int, float] = {}

    def wild(self, pids: Iterable[int]) -> list[tuple[int, float]]:
        """Of these processes those that have kept a processor busy for WILD_SECONDS, with the seconds.

        One look tells nothing; looks less than a second apart count as one.
        """
        now = time.monotonic()
        found = []
        seen: dict[int, tuple[float, int]] = {}
        for pid in pids:
            ticks = _ticks(pid)
            if ticks is None:
                continue
            before, used = self._seen.get(pid, (now, ticks))
            if now - before < 1 and pid in self._seen:
                seen[pid] = (before, used)
            else:
                seen[pid] = (now, ticks)
                if now > before and (ticks - used) / _TICK / (now - before) >= WILD_SHARE:
                    self._busy_since.setdefault(pid, before)
                else:
                    self._busy_since.pop(pid, None)
            busy = now - self._busy_since.get(pid, now)
            if busy >= WILD_SECONDS:
                found.append((pid, busy))
        self._seen = seen
        self._busy_since = {pid: since for pid, since in self._busy_since.items() if pid in seen}
        return found


def look(slot: Slot, watch: Watch, *, patience: float = PATIENCE) -> Health:
    """Examine an open slot. Safe in threads; waits while the slot's supervisor is busy with somebody else's question.

    Args:
        slot: the slot.
        watch: what was seen of its processes before.
        patience: see `PATIENCE`.
    """
    began = time.monotonic()
    findings = [*_display(slot, patience), *(Finding(what, says) for what, says in slot.dead())]
    latency = time.monotonic() - began
    findings += [*_disk(slot), *_processes(slot, watch)]
    return Health(tuple(findings), latency, slot.age)


def _display(slot: Slot, patience: float) -> Iterable[Finding]:
    name = slot.display
    try:
        with XProbe(slot.display_socket, slot.xauthority, patience) as probe:
            if not probe.pixels_react():
                yield Finding("display", f"display {name} is frozen: what is drawn does not show")
            if not probe.manager_answers():
                yield Finding("window manager", f"the window manager of display {name} does not answer")
    except SilentError as error:
        yield Finding("display", f"the X server of display {name} is dead or frozen: {error}")


def _disk(slot: Slot) -> Iterable[Finding]:
    try:
        facts = os.statvfs(slot.home)
    except OSError as error:
        yield Finding("disk", f"the home of the slot cannot be read: {error.strerror}")
        return
    free = facts.f_bavail * facts.f_frsize
    if free < LEAST_BYTES:
        yield Finding("disk", f"the disk of the slot's home is full: {free >> 20} MiB are free")
    if facts.f_files and facts.f_favail < LEAST_FILES:
        yield Finding("disk", f"the disk of the slot's home is full: {facts.f_favail} more files can be made")


def _processes(slot: Slot, watch: Watch) -> Iterable[Finding]:
    for pid, seconds in watch.wild(below(slot.pids)):
        yield Finding("process", f"{_name(pid)} has kept a processor busy for {seconds:.0f} s")


def below(pids: Iterable[int]) -> list[int]:
    """These processes of the host and all that they started, parents before children."""
    found = []
    todo = list(pids)
    while todo:
        pid = todo.pop()
        found.append(pid)
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as file:
                    todo += map(int, file.read().split())
        except OSError:
            continue  # it has ended
    return found


def _ticks(pid: int) -> int | None:
    """Clock ticks that a process has used; None when it has ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[11]) + int(fields[12])


def _name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm") as file:
            return f"{file.read().strip()} (process {pid})"
    except OSError:
        return f"process {pid}"
