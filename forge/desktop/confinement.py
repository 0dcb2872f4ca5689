"""Confinement: a process of ours that opens what strangers left shuts itself in first, without a program being started.

A box (`forge.desktop.box`) is for programs; it takes milliseconds and begins with nothing loaded. A grader has its
libraries loaded already and lives for some milliseconds itself, so it is forked from a server and gives up its rights by
system calls. The server (`Confinement`) leaves the host's network and builds the tree that all its forks see: the system
and the code that is loaded, read-only. Each fork (`enter`) adds the few folders it is to read and then has:

- a mount namespace with that tree, those folders, and a small folder of its own in memory, and nothing else of the host;
- no network, no System V objects, no processes but its own (a process namespace), not even by name;
- under root a user of its own; of all capabilities one: to read whatever the permissions of the files it sees;
- no new privileges, and a filter of system calls: no program, no process, no socket (`seccomp`, profile "reader").

Under an ordinary user a user namespace makes the same possible. What the host refuses is told by `missing`; the rest holds
all the same. What it does NOT cover: limits of memory and time are the caller's, the kernel is shared, and a fork can do
what it likes with the descriptors that it was left.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import select
import signal
import struct
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from forge.desktop import seccomp
from forge.desktop.libc import libc
from forge.desktop.spawn import user_of

_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
_NEWUSER, _NEWPID, _NEWNET = 0x10000000, 0x20000000, 0x40000000  # linux/sched.h
_NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _SLAVE = 0x2, 0x4, 0x8, 0x1000, 0x4000, 0x80000  # sys/mount.h
_DETACH = 2
_READ_ONLY, _ATTR_NOSUID, _ATTR_NODEV, _RECURSIVE = 0x1, 0x2, 0x4, 0x8000  # linux/mount.h, AT_RECURSIVE
_CALLS = {"x86_64": {"pivot_root": 155, "mount_setattr": 442}, "aarch64": {"pivot_root": 41, "mount_setattr": 442}}
_PDEATHSIG, _KEEPCAPS, _SECCOMP, _CAPBSET_DROP, _NO_NEW_PRIVS = 1, 8, 22, 24, 38  # linux/prctl.h
_READING = (1 << 2, 1 << 1)  # CAP_DAC_READ_SEARCH; where a container's root lacks that, CAP_DAC_OVERRIDE
_CAPABILITIES_3 = 0x20080522
_ETC = ("ld.so.cache", "alternatives", "localtime", "mime.types", "timezone")
_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ROOM = "forge"
"""The folder, in the tree, in which a fork finds what it is to read."""
_TMP = f"{_ROOM}/tmp"
"""A fork's own folder for what it writes: not /tmp, below which our code may lie."""


class Confinement:
    """Made first of all by a server process, while it has one thread; once it has imported what its forks need, it calls
    `build`, and then forks them.

    Args:
        names: of the folders that each fork may be given.
        tmp_mb: size of a fork's own folder, MiB.

    Attributes:
        missing: what this host refuses, in words; empty where all of it holds.
    """

    def __init__(self, names: Iterable[str], *, tmp_mb: int = 64):
        self.missing: list[str] = []
        self._tree: Path | None = None
        self._names = tuple(names)
        self._tmp_mb = tmp_mb
        self._user: int | None = None
        self._processes: int | None = None
        try:
            self._leave()
            self._processes = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            self.missing.append(f"namespaces ({error.strerror})")

    def build(self, tree: Path) -> None:
        """Put together what the forks see, on an empty folder of the host; the host itself does not see it there."""
        seccomp.program("reader")  # assembled once, for all forks
        capability = 0
        while libc().prctl(_CAPBSET_DROP, capability, 0, 0, 0) == 0:  # no program that is run gets any back
            capability += 1
        if self._processes is None:
            return
        try:
            self._build(tree)
            self._tree = tree
        except OSError as error:
            self.missing.append(f"a tree of its own ({error.strerror})")

    def prepare(self) -> None:
        """Before each fork: it gets processes of its own, of which it is the first."""
        if self._processes is not None:
            _check(libc().setns(self._processes, _NEWPID))  # back from the one before
            _check(libc().unshare(_NEWPID))

    def enter(self, seen: Mapping[str, Path], lifeline: int) -> dict[str, Path]:
        """In a fork: give up all but what the module says, and die with the server.

        Args:
            seen: name to a folder of the host, or a file, that it may read.
            lifeline: a descriptor whose other end only the server holds.

        Returns:
            Where these are now.

        Raises:
            OSError: a step failed that this host offers. The caller ends then.
        """
        paths = dict(seen) if self._tree is None else self._enter_tree(self._tree, seen)
        self._drop_rights()
        _check(libc().prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0))  # only now: a change of rights forgets it
        _end_if_alone(lifeline)
        _filter_calls()
        return paths

    def _leave(self) -> None:
        """Namespaces for the server itself; under an ordinary user, or a root without rights, in one of users."""
        flags = _NEWNS | _NEWNET | _NEWIPC | _NEWUTS
        uid, gid = os.geteuid(), os.getegid()
        if uid == 0 and libc().unshare(flags) == 0:
            self._user = user_of(f"reader-{os.getpid()}")
        else:
            _check(libc().unshare(_NEWUSER | _NEWPID | flags))
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
            Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
            _go_on_as_first()
        _mount(None, "/", None, _REC | _SLAVE)

    def _build(self, tree: Path) -> None:
        _mount("forge", tree, "tmpfs", _NOSUID | _NODEV, "mode=755,size=1m")
        for name in _SYSTEM:
            path = Path("/", name)
            if path.is_symlink():
                (tree / name).symlink_to(os.readlink(path))
            else:
                _show(tree, path)
        for path in (Path("/usr"), *(Path("/etc", name) for name in _ETC), *code()):
            _show(tree, path)
        for name in self._names:
            (tree / _ROOM / name).mkdir(parents=True)
        (tree / _TMP).mkdir(parents=True, exist_ok=True)
        _set_attributes(tree, _READ_ONLY)

    def _enter_tree(self, tree: Path, seen: Mapping[str, Path]) -> dict[str, Path]:
        _check(libc().unshare(_NEWNS))
        for name, path in seen.items():
            _bind(path, tree / _ROOM / name)
        _mount("forge", tree / _TMP, "tmpfs", _NOSUID | _NODEV | _NOEXEC, f"mode=1777,size={self._tmp_mb}m")
        os.chdir(tree)
        _system_call("pivot_root", b".", b".")  # the old root then lies over the new one
        _check(libc().umount2(b".", _DETACH))
        os.chdir(f"/{_TMP}")
        os.environ["TMPDIR"] = os.environ["HOME"] = f"/{_TMP}"
        return {name: Path("/", _ROOM, name) for name in seen}

    def _drop_rights(self) -> None:
        if self._user is not None:
            _check(libc().prctl(_KEEPCAPS, 1, 0, 0, 0))
            os.setgroups([])
            os.setresgid(self._user, self._user, self._user)
            os.setresuid(self._user, self._user, self._user)
        header, rights = struct.pack("=Ii", _CAPABILITIES_3, 0), ctypes.create_string_buffer(24)
        _check(libc().capget(header, rights))
        _, permitted, *_ = struct.unpack("=6I", rights.raw)
        kept = next((right for right in _READING if right & permitted), 0)
        _check(libc().capset(header, struct.pack("=6I", kept, kept, 0, 0, 0, 0)))
        _check(libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))


def code() -> list[Path]:
    """What this process may import from: its Python, and the packages beside what it has loaded from elsewhere.

    Of a folder in `sys.path` only modules and packages: it may be somebody's working folder, with a warehouse in it.
    """
    found = [Path(prefix) for prefix in dict.fromkeys((sys.base_prefix, sys.exec_prefix, sys.prefix))]
    for entry in sys.path:
        folder = Path(entry or os.curdir).absolute()
        if any(folder.is_relative_to(prefix) for prefix in found[:3]):
            continue
        if folder.is_file():
            found.append(folder)
        elif folder.is_dir():
            found += sorted(
                path for path in folder.iterdir() if path.suffix in (".py", ".so") or (path / "__init__.py").is_file()
            )
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and "." not in name:
            path = Path(file).absolute()
            found.append(path.parent if path.name == "__init__.py" else path)
    shown: list[Path] = []
    for path in dict.fromkeys(found):
        if path.is_absolute() and not any(path.is_relative_to(above) for above in (Path("/usr"), *shown)):
            shown.append(path)
    return shown


def _show(tree: Path, path: Path) -> None:
    """Put a file or folder of the host into the tree, at its own place."""
    target = tree / path.relative_to("/")
    if not path.exists() or target.exists():
        return
    if path.is_dir():
        target.mkdir(parents=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    _bind(path, target)


def _go_on_as_first() -> None:
    """Go on in a fork, the first process of the new process namespace; this process waits for its end.

    Only from a namespace that belongs to our own namespace of users can the next one be made, see `prepare`.
    """
    child = os.fork()
    if child:
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        os.waitpid(child, 0)
        os._exit(0)
    _check(libc().prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0))


def _end_if_alone(lifeline: int) -> None:
    """End when the server died before the kernel knew that we die with it."""
    poll = select.poll()
    poll.register(lifeline, 0)
    if poll.poll(0):  # POLLHUP
        os._exit(1)


def _filter_calls() -> None:
    program = seccomp.program("reader")
    code = ctypes.create_string_buffer(program, len(program))
    description = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))  # struct sock_fprog
    _check(libc().prctl(_SECCOMP, 2, description, 0, 0))


def _bind(source: Path, target: Path) -> None:
    _mount(str(source), target, None, _BIND | _REC)
    _set_attributes(target, _READ_ONLY | _ATTR_NOSUID | _ATTR_NODEV, _RECURSIVE)


def _mount(source: str | None, target: str | Path, kind: str | None, flags: int, options: str | None = None) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind, options)]
    _check(libc().mount(*words[:3], ctypes.c_ulong(flags), words[3]))


def _set_attributes(target: Path, attributes: int, flags: int = 0) -> None:
    settings = struct.pack("=4Q", attributes, 0, 0, 0)  # struct mount_attr
    _system_call("mount_setattr", -100, os.fsencode(target), flags, settings, ctypes.c_size_t(len(settings)))


def _system_call(name: str, *arguments: object) -> None:
    machine = platform.machine()
    if machine not in _CALLS:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    _check(libc().syscall(ctypes.c_long(_CALLS[machine][name]), *arguments))


def _check(code: int) -> None:
    if code:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
