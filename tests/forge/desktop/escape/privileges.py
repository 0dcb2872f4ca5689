"""Up: capabilities, users, terminals, and the parts of the kernel that few programs need."""

from __future__ import annotations

import ctypes
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

from tests.forge.desktop.escape.attack import HIT, Attack, Ground, until
from tests.forge.desktop.escape.weaken import together, without, without_filter

BECOME_ROOT = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
uid = os.getuid()
if libc.unshare(0x10000000 | 0x20000) == 0:  # CLONE_NEWUSER, CLONE_NEWNS
    open("/proc/self/setgroups", "w").write("deny")
    open("/proc/self/uid_map", "w").write(f"0 {uid} 1")
    if os.getuid() == 0 and libc.mount(b"x", b"/home/alex", b"tmpfs", 0, None) == 0:
        print("HIT")
"""
SHARED_MEMORY = """
import ctypes, sys
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
place = libc.shmat(int(sys.argv[1]), None, 0o10000)  # SHM_RDONLY
if place not in (None, 2**64 - 1):
    print(ctypes.string_at(place).decode())
"""
CALL = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(256)
calls = {
    "io_uring": lambda: libc.syscall(425, 4, buffer),
    "aio": lambda: libc.syscall(206, 8, ctypes.byref(ctypes.c_ulong(0))),
    "keyring": lambda: libc.syscall(248, b"user", b"forge", b"x", 1, -2),
    "userfaultfd": lambda: libc.syscall(323, 1),
    "memory": lambda: libc.syscall(310, os.getpid(), iovec(buffer), 1, iovec(buffer), 1, 0),
}
class Iovec(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))
def iovec(target):
    return ctypes.byref(Iovec(ctypes.addressof(target), 8))
if calls[sys.argv[1]]() >= 0:
    print("HIT")
"""
TYPE_AHEAD = """
import fcntl
terminal = open("/dev/tty")
for character in b"mine\\n":
    fcntl.ioctl(terminal, 0x5412, bytes([character]))  # TIOCSTI
"""
PERSON = """
import sys
sys.path[:] = {path!r}
from contextlib import ExitStack
from pathlib import Path
from tests.forge.desktop.escape.attack import Ground
from tests.forge.desktop.escape.privileges import NO_SESSION, TYPE_AHEAD
with ExitStack() as stack:
    ground = Ground(Path({folder!r}), stack)
    if {weak!r}:
        stack.enter_context(NO_SESSION(ground))
    ground.box(TYPE_AHEAD)
print("asked:", flush=True)
print("typed", sys.stdin.readline().strip(), flush=True)
"""
LOADED = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((constructor)) static void loaded(void) {
    char program[200] = {0};
    readlink("/proc/self/exe", program, sizeof program - 1);
    if (!strstr(program, "chromium")) return;
    close(open("/home/alex/loaded", O_CREAT | O_WRONLY, 0644));
    if (fork() == 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) close(open("/home/alex/won", O_CREAT | O_WRONLY, 0644));
        _exit(0);
    }
}
"""
LOAD = """
mkdir -p ~/.config/gtk-3.0 && gcc -shared -fPIC -o ~/mine.so ~/mine.c &&
printf '[Settings]\\ngtk-modules=/home/alex/mine.so\\n' > ~/.config/gtk-3.0/settings.ini
"""
NO_SESSION = together(without("--new-session"), without_filter())


def _maps_shared_memory(ground: Ground) -> bool:
    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_void_p
    segment = libc.shmget(0, 4096, 0o1666)  # IPC_PRIVATE, IPC_CREAT
    place = libc.shmat(segment, None, 0)
    try:
        ctypes.memmove(place, ground.token.encode() + b"\0", len(ground.token) + 1)
        return ground.hits(SHARED_MEMORY, str(segment))
    finally:
        libc.shmdt(ctypes.c_void_p(place))
        libc.shmctl(segment, 0, None)  # IPC_RMID


def _types_ahead(ground: Ground) -> bool:
    """In the terminal of a person who runs a box: what is typed there that the person did not type?"""
    weak = getattr(ground, "weak", False)
    inner = ground.folder / "inner"
    inner.mkdir()
    inner.chmod(0o711)
    code = PERSON.format(path=[os.getcwd(), *sys.path], folder=str(inner), weak=weak)
    master, slave = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", "--wait", sys.executable, "-W", "ignore", "-c", code],
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    os.close(slave)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("asked:"):
                os.write(master, b"person\n")  # comes after what was typed ahead
            if line.startswith("typed"):
                return line.split() == ["typed", "mine"]
        return False
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        os.close(master)


def _loads_into_browser(ground: Ground) -> bool:
    """By a setting of GTK, which the home holds, into a program that the host starts."""
    slot = ground.slot
    slot.lay([("~/mine.c", LOADED.encode(), 0o644, False)])
    slot.shell.run(LOAD)
    slot.launch("chromium")
    assert until((slot.home / "loaded").exists)  # else nothing was tried
    return until((slot.home / "won").exists, 2)


def _said_weak(ground: Ground) -> object:
    import contextlib

    @contextlib.contextmanager
    def weak() -> object:  # type: ignore[misc]
        ground.weak = True  # type: ignore[attr-defined]
        yield

    return weak()


def _legacy() -> bool:
    """Whether this kernel still lets anybody type into a terminal."""
    switch = Path("/proc/sys/dev/tty/legacy_tiocsti")
    return not switch.exists() or switch.read_text().strip() != "0"


def _kernel(name: str, what: str) -> Attack:
    return Attack(
        f"use the kernel's {name}",
        "privileges",
        "box",
        "system calls are filtered",
        lambda ground: ground.hits(CALL, what),
        without_filter(),
    )


ATTACKS = [
    Attack(
        "become root in a namespace and mount",
        "privileges",
        "box",
        "no user namespaces; system calls are filtered",
        lambda ground: ground.hits(BECOME_ROOT),
        together(without("--disable-userns"), without_filter()),
    ),
    Attack(
        "become root in a namespace and mount, in a window",
        "privileges",
        "terminal",
        "system calls are filtered",
        lambda ground: HIT in ground.terminal(BECOME_ROOT),
        without_filter(),
    ),
    Attack(
        "make namespaces from a library loaded into Chromium",
        "privileges",
        "shell",
        "system calls are filtered, Chromium's too",
        _loads_into_browser,
        without_filter(),
        offered=lambda: shutil.which("gcc") is not None,
    ),
    Attack(
        "map shared memory of the host",
        "privileges",
        "box",
        "inter-process communication of its own",
        _maps_shared_memory,
        without("--unshare-ipc"),
    ),
    Attack(
        "type into the person's terminal",
        "privileges",
        "box",
        "a session of its own; system calls are filtered",
        _types_ahead,
        _said_weak,  # type: ignore[arg-type]
        offered=_legacy,
    ),
    _kernel("io_uring", "io_uring"),
    _kernel("asynchronous files (io_setup), of which the host has so many", "aio"),
    _kernel("keyrings", "keyring"),
    _kernel("page faults (userfaultfd)", "userfaultfd"),
    _kernel("reading of others' memory", "memory"),
]
