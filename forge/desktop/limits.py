"""What a box may use of the host, and how it is held to it.

Three means, the strongest that the host offers:

- a *control group* for all processes of a box or slot together (memory, processes, processor share), where the host has
  cgroups (version 1 or 2) that we may write to;
- small file systems of their own for the home and /tmp (bytes and inodes), where we may mount (root);
- elsewhere a warden (`forge.desktop.warden`), who looks twice a second and ends the box that goes over.

Resource limits of each process (open files, private memory, file size) hold everywhere.

What it does NOT cover: between two looks of the warden a box may overshoot. Without control groups the processor is shared
by the kernel's ordinary fairness among processes. The bandwidth of the disk is not limited.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import resource
import secrets
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from forge.desktop.libc import libc
from forge.desktop.place import empty
from forge.records.errors import DesktopError, InputError
from forge.records.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Limits:
    """What a box may use.

    Args:
        memory_mb: memory of all its processes and of its temporary files together, MiB.
        process_memory_mb: private memory of one process, MiB.
        processes: processes and threads.
        cpus: processors' worth of time; None for a fair share of whatever there is.
        open_files: descriptors of one process.
        file_mb: the largest file, MiB.
        home_mb: size of the home, MiB.
        home_files: files and folders in the home.
        tmp_mb: size of /tmp, MiB; /dev/shm has as much.
        tmp_files: files and folders in /tmp.
        tcp_mb: what its TCP connections hold, MiB; the first version of control groups counts it apart from memory.
    """

    memory_mb: int = 6144
    process_memory_mb: int = 4096
    processes: int = 2000
    cpus: float | None = None
    open_files: int = 8192
    file_mb: int = 2048
    home_mb: int = 2048
    home_files: int = 100_000
    tmp_mb: int = 1024
    tmp_files: int = 50_000
    tcp_mb: int = 32

    def prefix(self) -> list[str]:
        """The beginning of a command line that sets the limits of each process; to be run inside the box."""
        limits = {
            "data": (resource.RLIMIT_DATA, self.process_memory_mb << 20),
            "nproc": (resource.RLIMIT_NPROC, self.processes),
            "fsize": (resource.RLIMIT_FSIZE, self.file_mb << 20),
            "nofile": (resource.RLIMIT_NOFILE, self.open_files),
            "core": (resource.RLIMIT_CORE, 0),
        }
        argv = ["prlimit"]
        for name, (kind, value) in limits.items():
            _, hard = resource.getrlimit(kind)  # to go above it would be refused
            argv.append(f"--{name}={value if hard == resource.RLIM_INFINITY else min(value, hard)}")
        return [*argv, "--"]

    def changed(self, text: str) -> Limits:
        """These limits with some others, as a person writes them: "memory_mb=3000, cpus=1.5".

        Raises:
            InputError: there is no such limit, or the value is no positive number.
        """
        known = {each.name: each.type for each in fields(self)}
        changes: dict[str, float] = {}
        for part in filter(None, map(str.strip, text.split(","))):
            name, _, value = (word.strip() for word in part.partition("="))
            if name not in known:
                raise InputError(f"there is no limit {name!r}", mend=f"known are {', '.join(known)}")
            try:
                changes[name] = float(value) if "float" in str(known[name]) else int(value)
            except ValueError:
                changes[name] = 0
            if not 0 < changes[name] < float("inf"):
                raise InputError(f"{value!r} is no limit for {name}", mend="write a number above 0")
        return replace(self, **changes)  # type: ignore[arg-type]


MOUNTED = ("home", "tmp")
"""What may be a file system of its own in a slot's folder."""
SLOT = Limits()
"""A desktop with its applications, where the settings say nothing else."""
ONE_SHOT = Limits(memory_mb=3072, process_memory_mb=2048, processes=512)
"""One command in a box of its own."""


def slot_limits(settings: Settings) -> Limits:
    """What a slot of this machine may use of it. Raises InputError with the setting's name."""
    try:
        return SLOT.changed(settings.slot_limits)
    except InputError as error:
        raise InputError(
            f"FORGE_SLOT_LIMITS = {settings.slot_limits!r}: {error.message}",
            mend=f"write memory_mb=3000,home_mb=500,cpus=1.5; {error.mend}",
        ) from None


class Group:
    """A control group around a box; without any controller where the host offers none.

    Args:
        limits: what it may use.
        name: part of the group's name.

    Attributes:
        folders: controller ("memory", "pids", "cpu", or "all" for version 2) to the group's folder.
    """

    def __init__(self, limits: Limits, name: str = "box"):
        self.limits = limits
        self.folders: dict[str, Path] = {}
        _sweep_once()
        name = f"forge-{os.getpid()}-{name}-{secrets.token_hex(4)}"
        try:
            for controller, parent in _parents().items():
                folder = parent / name
                folder.mkdir()
                self.folders[controller] = folder
                for file, value in _settings(controller, limits).items():
                    if (folder / file).exists():  # a kernel without swap accounting or quotas lacks some
                        (folder / file).write_text(value)
        except OSError as error:
            self.close()
            raise DesktopError(f"no control group can be made: {error}", mend="unset FORGE_CGROUP") from error

    def __enter__(self) -> Group:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __contains__(self, controller: str) -> bool:
        return controller in self.folders or "all" in self.folders

    def admit(self, pid: int) -> None:
        """Put a process, before it has children, into the group. One that has ended already is none."""
        for folder in self.folders.values():
            with contextlib.suppress(ProcessLookupError):
                (folder / "cgroup.procs").write_text(str(pid))

    def spent(self) -> str | None:
        """What the group's processes have run out of, in words; None when nothing."""
        memory = self.folders.get("memory") or self.folders.get("all")
        if memory is not None:
            killed = _counter(memory, "oom_kill", "memory.oom_control", "memory.events")
            if killed:
                return f"memory ({self.limits.memory_mb} MiB; the kernel ended {killed} of its processes)"
        pids = self.folders.get("pids") or self.folders.get("all")
        if pids is not None and _number(pids / "pids.current") > 0.9 * self.limits.processes:
            return f"processes ({self.limits.processes})"
        return None

    def close(self) -> None:
        """End what is left in the group, and remove it. May be called twice."""
        deadline = time.monotonic() + 2
        for controller, folder in list(self.folders.items()):
            while not remove_group(folder) and time.monotonic() < deadline:
                for pid in _members(folder):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                time.sleep(0.002)  # a process that was killed leaves the group a moment after it was reaped
            del self.folders[controller]


def remove_group(folder: Path) -> bool:
    """Remove an empty control group; False while processes are in it."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True


@functools.cache
def _sweep_once() -> None:
    sweep_groups()


def sweep_groups() -> list[str]:
    """Remove empty control groups whose owner died. Returns their names."""
    swept = []
    for parent in set(_parents().values()):
        for folder in parent.glob("forge-*-*"):
            owner = folder.name.split("-")[1]
            with contextlib.suppress(OSError):  # another sweeper was faster
                is_new = time.time() - folder.stat().st_mtime < 60  # its owner may live in another container
                if owner.isdigit() and not os.path.exists(f"/proc/{owner}") and not is_new and remove_group(folder):
                    swept.append(folder.name)
    return swept


def _members(folder: Path) -> list[int]:
    try:
        return [pid for pid in map(int, (folder / "cgroup.procs").read_text().split()) if pid > 1]
    except FileNotFoundError:
        return []


def _settings(controller: str, limits: Limits) -> dict[str, str]:
    memory, pids = str(limits.memory_mb << 20), str(limits.processes)
    period = 100_000
    quota = None if limits.cpus is None else str(max(1000, int(limits.cpus * period)))
    if controller == "memory":
        tcp = {"memory.kmem.tcp.limit_in_bytes": str(limits.tcp_mb << 20)}
        return {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory, **tcp}
    if controller == "pids":
        return {"pids.max": pids}
    if controller == "cpu":
        return {} if quota is None else {"cpu.cfs_period_us": str(period), "cpu.cfs_quota_us": quota}
    settings = {"memory.max": memory, "memory.swap.max": "0", "pids.max": pids}
    return settings if quota is None else {**settings, "cpu.max": f"{quota} {period}"}


def _counter(folder: Path, name: str, *files: str) -> int:
    for file in files:
        with contextlib.suppress(OSError):
            for line in (folder / file).read_text().splitlines():
                if line.split()[0] == name:
                    return int(line.split()[1])
    return 0


def _number(path: Path) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return 0


@functools.cache
def _parents() -> Mapping[str, Path]:
    """Controller to the folder in which groups of ours can be made; empty where there is none.

    FORGE_CGROUP names a delegated folder of version 2, or "none".
    """
    chosen = os.environ.get("FORGE_CGROUP", "")
    if chosen == "none":
        return {}
    return find_parents(
        Path("/proc/self/cgroup").read_text() if os.path.exists("/proc/self/cgroup") else "",
        Path("/proc/self/mountinfo").read_text(),
        Path(chosen) if chosen else None,
    )


def find_parents(groups: str, mounts: str, chosen: Path | None = None) -> dict[str, Path]:
    """As `_parents`, from the texts of /proc/self/cgroup and /proc/self/mountinfo."""
    own = {}
    for line in groups.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            own[controller] = path
    found: dict[str, Path] = {}
    unified: list[Path] = [] if chosen is None else [chosen]
    for line in mounts.splitlines():
        fields, _, more = line.partition(" - ")
        kind, _, options = more.split(" ", 2)
        root, point = fields.split()[3:5]
        for controller in ("memory", "pids", "cpu"):
            if kind == "cgroup" and controller in options.split(",") and controller in own:
                found[controller] = _below(point, root, own[controller])
        if kind == "cgroup2" and "" in own and chosen is None:
            here = _below(point, root, own[""])
            unified += [here, here.parent] if here != Path(point) else [here]
    for folder in unified:
        if _can_hold(folder) and {"memory", "pids"} <= _enabled(folder):
            return {"all": folder}
    return {controller: folder for controller, folder in found.items() if _can_hold(folder)}


def _below(point: str, root: str, path: str) -> Path:
    return Path(point, os.path.relpath(path, root)) if root != "/" else Path(point, path.lstrip("/"))


def _can_hold(folder: Path) -> bool:
    return os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)


def _enabled(folder: Path) -> set[str]:
    """Controllers that groups below a folder of version 2 have; enabled here where that is possible."""
    control = folder / "cgroup.subtree_control"
    try:
        offered = set((folder / "cgroup.controllers").read_text().split()) & {"memory", "pids", "cpu"}
        with contextlib.suppress(OSError):  # not in a group that has processes itself
            if not offered <= set(control.read_text().split()):
                control.write_text(" ".join(f"+{name}" for name in sorted(offered)))
        return set(control.read_text().split())
    except OSError:
        return set()


def mount_folder(folder: Path, megabytes: int, files: int, owner: tuple[int, int], mode: int = 0o700) -> bool:
    """Put an empty file system of limited size over an empty folder of the host; False where we may not.

    It lies in memory, which counts for whoever writes into it.
    """
    if os.geteuid() != 0:
        return False
    options = f"size={megabytes << 20},nr_inodes={files},mode={mode:o},uid={owner[0]},gid={owner[1]}"
    flags = 0x2 | 0x4  # MS_NOSUID, MS_NODEV
    code: int = libc().mount(b"forge", os.fsencode(folder), b"tmpfs", flags, options.encode())
    return code == 0


def unmount_folder(folder: Path) -> None:
    """Take off what `mount_folder` put there; quiet where nothing is."""
    libc().umount2(os.fsencode(folder), 0x2 | 0x8)  # MNT_DETACH, UMOUNT_NOFOLLOW


_DYING = 0.5  # seconds that what was killed has to leave its group; what stays, `sweep_groups` removes later


def release(folder: Path) -> None:
    """Free the file systems in a slot's folder and remove its control groups; also of one that a dead owner left."""
    for name in MOUNTED:
        path = folder / name
        if path.is_symlink() or not os.path.ismount(path):
            continue
        try:
            opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                unmount_folder(path)  # first, so that nothing in it can keep it here
                empty(opened)  # another mount namespace may hold on to the file system itself
            finally:
                os.close(opened)
        except OSError as error:
            log.warning("%s cannot be emptied: %s", path, error)
    with contextlib.suppress(FileNotFoundError):
        groups = [Path(line) for line in (folder / "groups").read_text().splitlines()]
        deadline = time.monotonic() + _DYING
        while (groups := [group for group in groups if not remove_group(group)]) and time.monotonic() < deadline:
            time.sleep(0.01)
