"""What a slot is shut in with: its own user, its control group, file systems of limited size, and a warden for the rest.

A slot that goes over its limits does not trouble its neighbours. Where only one of its processes has to go (memory) the
slot goes on; where the slot itself breaks by it, the error is an `ExhaustedError`: the agent's doing, not a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from forge.desktop.box import chown_home
from forge.desktop.limits import MOUNTED, Group, Limits, mount_folder, release
from forge.desktop.spawn import identity, user_of
from forge.desktop.warden import Warden
from forge.records.errors import DesktopError, ExhaustedError

HOME, TMP = MOUNTED


class Enclosure:
    """Around one slot.

    Args:
        limits: what it may use.
        folder: the slot's own folder on the host; `home` and `tmp` are made in it.

    Attributes:
        user: number of the slot's unprivileged user under root, see `forge.desktop.spawn.identity`.
        home: the home on the host, empty.
        tmp: what becomes its /tmp; None where that is made inside the box.
    """

    def __init__(self, limits: Limits, folder: Path):
        self.limits = limits
        self.user = user_of(folder.name)
        self.home = folder / HOME
        self.tmp: Path | None = None
        self._folder = folder
        self._warden: Warden | None = None
        self._spent: str | None = None
        self._group = Group(limits, "slot")
        (folder / "groups").write_text("".join(f"{path}\n" for path in self._group.folders.values()))
        self.home.mkdir()
        owner = identity(self.user)
        self._has_own_disk = mount_folder(self.home, limits.home_mb, limits.home_files, owner)
        chown_home(self.home, self.user)
        tmp = folder / TMP
        tmp.mkdir()
        if mount_folder(tmp, limits.tmp_mb, limits.tmp_files, owner, 0o1777):
            self.tmp = tmp

    def admit(self, pid: int) -> None:
        """Put a process, before it has children, into the slot's control group."""
        self._group.admit(pid)

    def watch(self, pids: Callable[[], Sequence[int]], kill: Callable[[], None]) -> None:
        """Have a warden look after what the kernel does not; `kill` ends the slot's processes."""

        def end(spent: str) -> None:
            self._spent = spent
            kill()

        self._warden = Warden(
            self.limits,
            pids,
            home=None if self._has_own_disk else self.home,
            processes="memory" not in self._group or "pids" not in self._group,
            end=end,
        )

    def spent(self) -> str | None:
        """What the slot has run out of, in words, if that broke it or may have; None when nothing."""
        return self._spent or self._group.spent()

    def blame(self, error: DesktopError) -> DesktopError:
        """The error to raise for one that was met: whose fault is it?"""
        spent = None if isinstance(error, ExhaustedError) else self.spent()
        if spent is None:
            return error
        return ExhaustedError(f"the slot used up its {spent}: {error.message}")

    def close(self) -> None:
        """Take everything off again, after the slot's processes have ended. May be called twice."""
        if self._warden is not None:
            self._warden.close()
        self._spent = self.spent()
        self._group.close()
        release(self._folder)
