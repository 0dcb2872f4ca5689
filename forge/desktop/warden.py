"""The warden: holds boxes to their limits where the kernel does not, for want of control groups or of mounts.

It looks at memory, processes and the home from time to time, so a box may overshoot between two looks.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from forge.desktop.limits import Limits


class Warden:
    """Looks after a box where the kernel does not, and ends it when it goes over its limits.

    Args:
        limits: what it may use.
        pids: host process ids of its parts; all below them count.
        home: its home if that has no file system of its own, else None.
        processes: whether memory and processes are to be watched too.
        end: called once, in the warden's thread, with what was used up.
        every: seconds between two looks.
    """

    def __init__(
        self,
        limits: Limits,
        pids: Callable[[], Sequence[int]],
        *,
        home: Path | None,
        processes: bool,
        end: Callable[[str], None],
        every: float = 0.5,
    ):
        self._limits = limits
        self._pids = pids
        self._home = home
        self._processes = processes
        self._end = end
        self._every = every
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        if home is not None or processes:
            self._thread = threading.Thread(target=self._run, name="forge-warden", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop looking. May be called twice."""
        self._closed.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        pause = self._every
        while not self._closed.wait(pause):
            began = time.monotonic()
            spent = self._look()
            if spent is not None:
                self._end(spent)
                return
            pause = max(self._every, 10 * (time.monotonic() - began))  # never more than a tenth of a processor

    def _look(self) -> str | None:
        limits = self._limits
        if self._processes:
            memory, count = usage(self._pids())
            if memory > limits.memory_mb << 20:
                return f"memory ({limits.memory_mb} MiB)"
            if count > limits.processes:
                return f"processes ({limits.processes})"
        if self._home is not None:
            size, files = folder_size(self._home, limits.home_files)
            if size > limits.home_mb << 20:
                return f"disk ({limits.home_mb} MiB in its home)"
            if files > limits.home_files:
                return f"files ({limits.home_files} in its home)"
        return None


def usage(pids: Sequence[int]) -> tuple[int, int]:
    """Bytes of memory, and processes and threads, of processes and all below them; shared file pages are not counted."""
    memory = threads = 0
    pending, seen = list(pids), set()
    while pending:
        pid = pending.pop()
        if pid in seen:
            continue
        seen.add(pid)
        try:
            with open(f"/proc/{pid}/status") as file:
                for line in file:
                    if line.startswith(("RssAnon:", "RssShmem:")):
                        memory += int(line.split()[1]) << 10
                    elif line.startswith("Threads:"):
                        threads += int(line.split()[1])
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as file:
                    pending += map(int, file.read().split())
        except (OSError, ValueError):
            continue  # it has ended
    return memory, threads


def folder_size(folder: Path, most: int) -> tuple[int, int]:
    """Bytes on the disk, and entries, of a folder; no link is followed. Counting stops above `most` entries."""
    size = entries = 0
    pending = [os.fsencode(folder)]
    seen: set[int] = set()
    while pending and entries <= most:
        try:
            with os.scandir(pending.pop()) as found:
                for entry in found:
                    entries += 1
                    facts = entry.stat(follow_symlinks=False)
                    if facts.st_nlink > 1 and not stat.S_ISDIR(facts.st_mode):
                        if facts.st_ino in seen:
                            continue
                        seen.add(facts.st_ino)
                    size += facts.st_blocks * 512
                    if stat.S_ISDIR(facts.st_mode):
                        pending.append(os.fsencode(entry.path))
                    if entries > most:
                        break
        except OSError:
            continue  # gone meanwhile, or closed by the guest
    return size, entries
