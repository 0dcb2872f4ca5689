"""The box: an isolated guest system on the host's kernel, made with bubblewrap.

What is inside sees a read-only /usr, a handful of files in /etc, a private /tmp and /run, its own process, network, IPC
and host-name namespaces, and one writable folder of the host: its home at /home/alex. It has no network but its own
loopback, no capabilities, cannot gain privileges, and runs as user 1000 `alex` inside, as an unprivileged number outside
(under root) or as the user who started Forge. Its clock, time zone and locale are the guest's (see
`forge.desktop.clock` and `forge.desktop.place.locale_folder`).

What it may use is limited, see `forge.desktop.limits`, and so are the system calls that it may make, see
`forge.desktop.seccomp`. What it does NOT cover: the kernel is shared, and so is all that docs/sealed.md lists.
"""

from __future__ import annotations

import os
import selectors
import stat
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from forge.desktop import clock, seccomp
from forge.desktop.limits import ONE_SHOT, Group, Limits
from forge.desktop.place import each_folder, locale_folder
from forge.desktop.spawn import identity, lifeline, stop, unprivileged
from forge.records.errors import DesktopError
from forge.records.guest import USER, Guest

HOME = f"/home/{USER}"
HOSTNAME = "desktop"
UID = 1000
"""The guest's user and group id as seen inside the box."""

_ETC = (
    *("fonts", "libreoffice", "thunderbird", "alternatives", "ld.so.cache", "dbus-1", "xdg", "gtk-2.0", "gtk-3.0"),
    *("mime.types", "ImageMagick-6", "gimp", "perl", "python3", "python3.11"),
)
_CHROMIUM = b"""# it may make no namespaces for a sandbox of its own
CHROMIUM_FLAGS="$CHROMIUM_FLAGS --no-sandbox --test-type"
"""
_VAR = ("/var/cache/fontconfig", "/var/lib/libreoffice")


@dataclass(frozen=True)
class Layers:
    """Read-only folders of the host that are put into a box.

    Args:
        commands: folders put first in PATH, in this order.
        python: folders put first in PYTHONPATH, in this order.
        homes: further paths inside at which the home is found, for programs that expect it elsewhere.
    """

    commands: tuple[Path, ...] = ()
    python: tuple[Path, ...] = ()
    homes: tuple[str, ...] = ()


NO_LAYERS = Layers()


@dataclass(frozen=True)
class Completed:
    """How a command in a box ended. `exit_code` is None when it was killed at its time limit."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool
    truncated: bool
    seconds: float


@dataclass
class BoxPlan:
    """What a box is made of; `command` turns it into an argument vector.

    Args:
        home: host folder that becomes /home/alex, writable.
        guest: clock, zone, locale.
        layers: read-only layers.
        binds: host path to (path inside, writable).
        files: path inside to content of small read-only files.
        clock_file: host file that steers the clock, see `forge.desktop.clock`; a fixed one if None.
        env: further environment variables.
        as_init: the command is process 1 of the box, which nothing inside can kill.
        nested_users: leave user namespaces allowed inside, for a supervisor that nests another box.
        limits: what it may use. What is not a matter of single processes is up to whoever runs the box: its control
            group, and the file systems of `home` and `tmp`.
        tmp: host folder that becomes /tmp, writable; one in memory if None.
        user: number of the unprivileged user under root; `forge.desktop.spawn.GUEST_ID` if None.
        gate: the box waits for a line on stdin, see `forge.desktop.spawn.unprivileged`.
    """

    home: Path
    guest: Guest = field(default_factory=Guest)
    layers: Layers = NO_LAYERS
    binds: dict[Path, tuple[str, bool]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    clock_file: Path | None = None
    env: dict[str, str] = field(default_factory=dict)
    as_init: bool = False
    nested_users: bool = False
    limits: Limits = ONE_SHOT
    tmp: Path | None = None
    user: int | None = None
    gate: bool = False

    def command(self, argv: Sequence[str], stack: ExitStack) -> tuple[list[str], list[int]]:
        """The full argument vector and the descriptors that must be passed to it; `stack` closes those.

        Raises:
            DesktopError: the guest's zone or locale is unknown, or a folder cannot be bound.
        """
        binds = [(self.home, path, True) for path in (HOME, *self.layers.homes)]
        if self.tmp is not None:
            binds.append((self.tmp, "/tmp", True))
        binds += [(path, f"/opt/forge/commands/{i}", False) for i, path in enumerate(self.layers.commands)]
        binds += [(path, f"/opt/forge/python/{i}", False) for i, path in enumerate(self.layers.python)]
        binds += [(path, inside, writable) for path, (inside, writable) in self.binds.items()]
        binds.append((clock.library(), clock.LIBRARY, False))
        if self.clock_file is not None:
            binds.append((self.clock_file, clock.CLOCK_FILE, False))
        locale = locale_folder(self.guest.locale)
        if locale is not None:
            binds.append((locale, "/opt/forge/locale", False))

        box = ["bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
        box += ["--uid", str(UID), "--gid", str(UID), "--hostname", HOSTNAME, "--die-with-parent", "--new-session"]
        box += ["--cap-drop", "ALL"]
        if self.as_init:
            box.append("--as-pid-1")
        if not self.nested_users:
            box.append("--disable-userns")
        box += system()
        zone = f"/usr/share/zoneinfo/{self.guest.timezone}"
        box += ["--symlink", zone, "/etc/localtime", "--proc", "/proc", "--dev", "/dev"]
        size = str(self.limits.tmp_mb << 20)
        box += ["--perms", "1777", "--size", size, "--tmpfs", "/dev/shm"]
        if self.tmp is None:
            box += ["--perms", "1777", "--size", size, "--tmpfs", "/tmp"]
        box += ["--perms", "0755", "--size", str(64 << 20), "--tmpfs", "/run", "--dir", "/run/forge"]
        box += ["--perms", "0700", "--dir", f"/run/user/{UID}", "--dir", "/var/tmp", "--dir", "/var/log"]

        fds: list[int] = []
        files = {**_system_files(self.guest), **self.files}
        if self.nested_users:
            files["/opt/forge/filter"] = seccomp.program("strict")  # for what the supervisor starts
            files["/etc/chromium.d/forge"] = _CHROMIUM
        if self.clock_file is None:
            files[clock.CLOCK_FILE] = clock.clock_bytes(self.guest)

        for inside, content in files.items():
            fds.append(memory_file(os.path.basename(inside), content, stack))
            box += ["--perms", "0644", "--ro-bind-data", str(fds[-1]), inside]
        fds.append(memory_file("filter", seccomp.program("outer" if self.nested_users else "strict"), stack))
        box += ["--seccomp", str(fds[-1])]
        prefix, sources = reachable([source for source, _, _ in binds], self.user)
        for source, (_, inside, writable) in zip(sources, binds, strict=True):
            box += ["--bind" if writable else "--ro-bind", source, inside]
        box += ["--remount-ro", "/", "--remount-ro", "/dev", "--clearenv"]
        fds.append(lifeline())
        owner = {clock.OWNER: str(fds[-1])}  # gone from environment and descriptors once the box's first process runs
        for key, value in {**environment(self.guest, self.layers, locale is not None), **self.env, **owner}.items():
            box += ["--setenv", key, value]
        box += ["--chdir", HOME, "--", *self.limits.prefix(), *argv]
        return [*prefix, *unprivileged(box, user=self.user, gate=self.gate)], fds


def memory_file(name: str, content: bytes, stack: ExitStack) -> int:
    """A descriptor, for a child to inherit, of a file in memory; `stack` closes it."""
    fd = os.memfd_create(name, 0)
    stack.callback(os.close, fd)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def system() -> list[str]:
    """Arguments of bubblewrap for what a box sees of the host's system, all of it read-only."""
    box = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if Path("/", name).is_symlink():
            box += ["--symlink", f"usr/{name}", f"/{name}"]
        elif Path("/", name).is_dir():
            box += ["--ro-bind", f"/{name}", f"/{name}"]
    for path in (*(f"/etc/{name}" for name in _ETC), *_VAR):
        if os.path.exists(path):
            box += ["--ro-bind", path, path]
    return box


def environment(guest: Guest, layers: Layers = NO_LAYERS, compiled_locale: bool = True) -> dict[str, str]:
    """The environment of a process in a box."""
    result = {
        "HOME": HOME,
        "USER": USER,
        "LOGNAME": USER,
        "SHELL": "/bin/bash",
        "TERM": "xterm-256color",
        "PATH": ":".join([f"/opt/forge/commands/{i}" for i in range(len(layers.commands))] + ["/usr/bin", "/bin"]),
        "TZ": guest.timezone,
        "LANG": guest.locale,
        "LC_ALL": guest.locale,
        "XDG_RUNTIME_DIR": f"/run/user/{UID}",
        **clock.environment(),
    }
    if layers.python:
        result["PYTHONPATH"] = ":".join(f"/opt/forge/python/{i}" for i in range(len(layers.python)))
    if compiled_locale and not guest.locale.startswith(("C.", "POSIX")) and guest.locale != "C":
        result["LOCPATH"] = "/opt/forge/locale"
    return result


def chown_home(home: Path, user: int | None = None) -> None:
    """Make a folder of the host usable as a guest's home: all in it belongs to the user that boxes run as.

    Works through directory descriptors, however deep the folders, and never follows a link. Under an ordinary user nothing
    has to change hands.

    Args:
        home: the folder.
        user: see `BoxPlan.user`.
    """
    uid, gid = identity(user)
    home.chmod(0o700)
    if os.geteuid() != 0:
        return
    os.chown(home, uid, gid)

    def visit(place: int) -> list[str]:
        with os.scandir(place) as found:
            entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
        for name, _ in entries:
            os.chown(name, uid, gid, dir_fd=place, follow_symlinks=False)
        return [name for name, is_folder in entries if is_folder]

    opened = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        each_folder(opened, visit)
    finally:
        os.close(opened)


def run_boxed(
    argv: Sequence[str],
    *,
    home: Path,
    guest: Guest | None = None,
    layers: Layers = NO_LAYERS,
    stdin: bytes = b"",
    timeout: float = 60,
    output_limit: int = 1_000_000,
    memory_mb: int | None = None,
    limits: Limits = ONE_SHOT,
) -> Completed:
    """Run one command in a box of its own, without display and network, and wait for it.

    When the command's first process ends, or the time is up, everything it started is killed with it.

    Args:
        argv: the command; looked up in the box's PATH.
        home: host folder that becomes its home; see `chown_home`.
        guest: clock, zone and locale; the default guest if None.
        layers: read-only layers for PATH and PYTHONPATH.
        stdin: what it reads.
        timeout: seconds.
        output_limit: bytes kept of each of stdout and stderr; more is read and dropped.
        memory_mb: limit of each process's private memory; the one in `limits` if None.
        limits: what it may use. A home on the host's disk is not limited in size, its files are.

    Raises:
        DesktopError: the box could not be made (bubblewrap missing or forbidden, unknown zone or locale).
    """
    if memory_mb is not None:
        limits = replace(limits, process_memory_mb=memory_mb, memory_mb=max(memory_mb, limits.memory_mb))
    plan = BoxPlan(home=home, guest=guest or Guest(), layers=layers, limits=limits, gate=True)
    started = time.monotonic()
    with ExitStack() as stack:
        group = stack.enter_context(Group(limits))
        command, fds = plan.command(argv, stack)
        ready, info = os.pipe()
        stack.callback(os.close, ready)
        place = command.index("bwrap") + 1
        command[place:place] = ["--info-fd", str(info)]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[*fds, info],
                process_group=0,  # out of reach of a terminal's Ctrl-C, which is for us
            )
        finally:
            os.close(info)
        with process:
            try:
                group.admit(process.pid)
                said = b"\n" + stdin  # the gate's line first
                stdout, stderr, truncated, timed_out = _communicate(process, said, started + timeout, output_limit)
            finally:
                stop(process)
        if not os.read(ready, 4096):  # bwrap writes the child's pid here before it runs the command
            raise DesktopError(
                f"no box could be made: {stderr.decode(errors='replace').strip()[-500:] or 'bwrap ended without a word'}",
                mend="run `forge doctor`",
            )
    code = None if timed_out else process.returncode
    return Completed(code, stdout, stderr, timed_out, truncated, time.monotonic() - started)


def _communicate(
    process: subprocess.Popen[bytes], stdin: bytes, deadline: float, limit: int
) -> tuple[bytes, bytes, bool, bool]:
    """Feed and read a process until its pipes close or the deadline; kills it at the deadline."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    kept: dict[object, bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    view = memoryview(stdin)
    truncated = timed_out = False
    with selectors.DefaultSelector() as selector:
        os.set_blocking(process.stdin.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE)
        for stream in (process.stdout, process.stderr):
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                stop(process)
                timed_out = True
                break
            for key, _ in selector.select(left):
                if key.fileobj is process.stdin:
                    try:
                        view = view[os.write(key.fd, view[:65536]) :] if view else view
                    except BlockingIOError:
                        continue
                    except BrokenPipeError:
                        view = view[:0]
                    if not view:
                        selector.unregister(key.fileobj)
                        process.stdin.close()
                    continue
                data = os.read(key.fd, 65536)
                if not data:
                    selector.unregister(key.fileobj)
                    continue
                buffer = kept[key.fileobj]
                truncated |= len(buffer) + len(data) > limit
                buffer += data[: limit - len(buffer)]
        else:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                stop(process)
                timed_out = True
    return bytes(kept[process.stdout]), bytes(kept[process.stderr]), truncated, timed_out


def _system_files(guest: Guest) -> Mapping[str, bytes]:
    return {
        "/etc/passwd": (
            f"root:x:0:0:root:/root:/bin/sh\n{USER}:x:{UID}:{UID}:Alex Doe,,,:{HOME}:/bin/bash\n"
            "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"
        ).encode(),
        "/etc/group": f"root:x:0:\n{USER}:x:{UID}:\nnogroup:x:65534:\n".encode(),
        "/etc/hosts": f"127.0.0.1\tlocalhost {HOSTNAME}\n::1\tlocalhost\n".encode(),
        "/etc/hostname": f"{HOSTNAME}\n".encode(),
        "/etc/nsswitch.conf": b"passwd: files\ngroup: files\nhosts: files\n",
        "/etc/bash.bashrc": b"PS1='\\u@\\h:\\w\\$ '\n",
        "/etc/machine-id": b"0f0e0d0c0b0a09080706050403020100\n",
        "/etc/timezone": f"{guest.timezone}\n".encode(),
    }


def reachable(sources: list[Path], user: int | None = None) -> tuple[list[str], list[str]]:
    """Paths under which the box's unprivileged user can reach `sources`, and a command prefix that makes them so.

    Under root a source may lie below a folder that is closed to others (/root, pytest's temporary folders). Such
    sources are first bound into a private mount namespace; nothing of it is seen outside, and it ends with the box.
    """
    for source in sources:
        if not source.exists():
            raise DesktopError(f"{source} cannot be put into a box: it does not exist")
    paths = [str(source.resolve()) for source in sources]
    if os.geteuid() != 0:
        return [], paths
    closed = [path for path in dict.fromkeys(paths) if not _open_to_guest(path, user)]
    if not closed:
        return [], paths
    script = "set -e; mount -t tmpfs -o mode=0755 forge /mnt; n=$1; shift; i=0; while [ $i -lt $n ]; do "
    script += 'if [ -d "$1" ]; then mkdir /mnt/$i; else : > /mnt/$i; fi; mount --bind "$1" /mnt/$i; '
    script += 'shift; i=$((i+1)); done; exec "$@"'
    moved = {path: f"/mnt/{i}" for i, path in enumerate(closed)}
    prefix = ["unshare", "--mount", "--propagation", "private", "--", "sh", "-c", script, "forge", str(len(closed))]
    return [*prefix, *closed], [moved.get(path, path) for path in paths]


def _open_to_guest(path: str, user: int | None) -> bool:
    uid, gid = identity(user)
    for parent in list(Path(path).parents):
        facts = parent.stat()
        bit = stat.S_IXUSR if facts.st_uid == uid else stat.S_IXGRP if facts.st_gid == gid else stat.S_IXOTH
        if not facts.st_mode & bit:
            return False
    return True
