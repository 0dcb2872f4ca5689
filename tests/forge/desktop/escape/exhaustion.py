"""Using up the host. Limits are lowered here, and without the protection only higher, so that no attempt hurts the machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from unittest import mock

from forge.desktop import display as displays
from forge.desktop.display import _LIMITS
from forge.desktop.limits import Limits, _parents
from forge.desktop.spawn import GUEST_ID
from forge.records import DesktopError, ExhaustedError
from tests.forge.desktop.escape.attack import HIT, Attack, Ground, until
from tests.forge.desktop.escape.weaken import Weaken, patched, program, together
from tests.forge.desktop.xclients import OPEN

FORK = """
import os, time
children = 0
try:
    for _ in range(200):
        if os.fork() == 0:
            time.sleep(1)
            os._exit(0)
        children += 1
except OSError:
    pass
print("HIT" if children == 200 else children)
"""
FILL_MEMORY = """
import os, time
children = []
for _ in range(8):  # none of them is large
    child = os.fork()
    if child == 0:
        mine = bytearray(b"x") * (24 << 20)
        time.sleep(1.5)
        os._exit(0)
    children.append(child)
if all(os.waitpid(child, 0)[1] == 0 for child in children):
    print("HIT")
"""
HOLD_MEMORY = """
import time
mine = bytearray(b"x") * (300 << 20)
open("held", "w").close()
time.sleep(6)
"""
FILL_TCP = """
import socket
server, held, kept = socket.create_server(("127.0.0.1", 0)), 0, []
for _ in range(40):  # nobody reads
    one = socket.create_connection(server.getsockname())
    one.setblocking(False)
    kept += [one, server.accept()[0]]
    try:
        while True:
            held += one.send(b"x" * 65536)
    except BlockingIOError:
        pass
print("HIT" if held > 24 << 20 else held)
"""
FILL_DISK = """
import sys
folder, megabytes = sys.argv[1], int(sys.argv[2])
with open(folder + "/big", "wb") as file:
    for _ in range(megabytes):
        file.write(b"x" * (1 << 20))
    file.flush()
print("HIT")
"""
MANY_FILES = """
import os, sys
for number in range(2000):
    open(f"{sys.argv[1]}/{number}", "w").close()
print("HIT")
"""
OPEN_FILES = """
held = [open("/dev/null") for _ in range(1000)]
print("HIT")
"""
SPIN = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        break
end = time.monotonic() + 1.5
while time.monotonic() < end:
    pass
print(time.process_time(), flush=True)
"""
CHATTER = """
import os
written = 0
try:
    while written < 12 << 20:
        written += os.write(1, b"x" * 65536)
except OSError:
    pass
open("/home/alex/written", "w").write(str(written))
"""
PIXMAPS = (
    OPEN
    + """
x.XDefaultRootWindow.restype = ctypes.c_ulong
root = x.XDefaultRootWindow(display)
for _ in range(8):
    x.XCreatePixmap(display, ctypes.c_ulong(root), 4096, 4096, 24)  # 64 MiB
x.XSync(display, 0)
if not failed:
    print("HIT")
"""
)
WATCHES = """
import ctypes
libc = ctypes.CDLL(None)
taken = 0
while taken < 5000 and libc.inotify_init1(0) >= 0:
    taken += 1
print("took", taken, flush=True)
input()
"""
WATCH = "import ctypes; print('refused' if ctypes.CDLL(None).inotify_init1(0) < 0 else 'granted')"

SMALL = Limits(
    memory_mb=110,
    process_memory_mb=1024,
    processes=60,
    cpus=0.05,
    open_files=100,
    file_mb=8,
    tmp_mb=8,
    home_mb=24,
    home_files=700,
    tmp_files=300,
    tcp_mb=2,
)
LARGE = Limits(
    memory_mb=1024,
    process_memory_mb=1024,
    processes=400,
    cpus=64,
    open_files=2000,
    file_mb=64,
    tmp_mb=64,
    home_mb=96,
    home_files=6000,
    tmp_files=6000,
    tcp_mb=128,
)


def _box(**small: object) -> tuple[Callable[[Ground], None], Weaken]:
    """Lowers some limits of boxes; and gives them higher ones."""

    def lower(ground: Ground) -> None:
        if ground.box_limits is not _higher:
            ground.box_limits = replace(ground.box_limits, **small)  # type: ignore[arg-type]

    return lower, lambda ground: mock.patch.object(ground, "box_limits", _higher)


_higher = replace(LARGE)


def _in_box(name: str, limit: str, script: str, *more: str, offered: Callable[[], bool] = lambda: True) -> Attack:
    lower, raised = _box(**{limit: getattr(SMALL, limit)})

    def run(ground: Ground) -> bool:
        lower(ground)
        return ground.hits(script, *more)

    return Attack(name, "exhaustion", "box", f"limit: {limit}", run, raised, offered)


def _in_slot(
    name: str,
    limit: str,
    run: Callable[[Ground], bool],
    *,
    offered: Callable[[], bool] = lambda: True,
    slow: bool = False,
) -> Attack:
    def lowered(ground: Ground) -> bool:
        if ground.slot_limits is not _higher:
            ground.slot_limits = replace(ground.slot_limits, **{limit: getattr(SMALL, limit)})
        return run(ground)

    def raised(ground: Ground) -> AbstractContextManager[object]:
        return mock.patch.object(ground, "slot_limits", _higher)

    return Attack(name, "exhaustion", "shell", f"limit: {limit}", lowered, raised, offered, slow)


def _warded(run: Callable[[Ground], bool], *targets: tuple[str, object]) -> Callable[[Ground], bool]:
    """The same on a host that offers neither control groups nor mounts."""

    def on_a_poor_host(ground: Ground) -> bool:
        with mock.patch("forge.desktop.limits._parents", dict):
            with mock.patch("forge.desktop.enclosure.mount_folder", return_value=False):
                return run(ground)

    return on_a_poor_host


def _goes_on(ground: Ground, script: str, *more: str) -> bool:
    """Whether a slot that does this lives on; if not, it must say that it used up its limits."""
    slot = ground.slot
    slot.lay([("~/attack.py", script.encode(), 0o644, False)])
    slot.shell.run(f"python3 attack.py {' '.join(more)} > /dev/null 2>&1 &")
    dead: list[DesktopError] = []

    def dies() -> bool:
        try:
            slot.alive()
        except DesktopError as error:
            dead.append(error)
        return bool(dead)

    if not until(dies, 3):
        return True
    assert isinstance(dead[0], ExhaustedError), dead[0]
    return False


def _spins(ground: Ground) -> bool:
    if ground.box_limits is not _higher:
        ground.box_limits = replace(ground.box_limits, cpus=SMALL.cpus)
    began = time.monotonic()
    used = sum(map(float, ground.box(SPIN).stdout.split()))
    return used / (time.monotonic() - began) > 0.15


def _fills_display(ground: Ground) -> bool:
    small = replace(_LIMITS, process_memory_mb=300)
    with mock.patch("forge.desktop.display._LIMITS", small if displays._LIMITS is _LIMITS else displays._LIMITS):
        return HIT in ground.shell(PIXMAPS)


def _chatters(ground: Ground) -> bool:
    slot = ground.slot
    slot.lay([("~/attack.py", CHATTER.encode(), 0o644, False)])
    slot.ask("start", argv=["/usr/bin/python3", "/home/alex/attack.py"])
    written = slot.home / "written"
    until(lambda: written.exists() and written.read_text() != "")
    return int(written.read_text()) > 8 << 20


def _floods(ground: Ground) -> bool:
    ground.slot.shell.run("true")
    return len(ground.slot.shell.run("head -c 3000000 /dev/zero | tr '\\0' x").output) > 1_000_000


def _takes_watches(ground: Ground) -> bool:
    """Whether a slot can take from its neighbour what the kernel counts by user."""
    ground.slot.lay([("~/attack.py", WATCHES.encode(), 0o644, False)])
    neighbour = ground.open()
    ground.slot.shell.run("mkfifo hold; (sleep 20 > hold &); python3 attack.py < hold > took &")
    until(lambda: (ground.slot.home / "took").exists() and (ground.slot.home / "took").stat().st_size > 0)
    return "refused" in neighbour.shell.run(f'python3 -c "{WATCH}"').output


def _controls(controller: str) -> Callable[[], bool]:
    return lambda: controller in _parents() or "all" in _parents()


def _counts_tcp() -> bool:
    """The second version counts it with the memory."""
    parent = _parents().get("memory")
    return parent is not None and (parent / "memory.kmem.tcp.limit_in_bytes").exists()


def _root() -> bool:
    return Path("/proc/self/status").read_text().split("\nUid:")[1].split()[0] == "0"


ATTACKS = [
    _in_box("fork bomb", "processes", FORK),
    _in_box("memory, by many processes", "memory_mb", FILL_MEMORY, offered=_controls("memory")),
    _in_box("buffers of connections", "tcp_mb", FILL_TCP, offered=_counts_tcp),
    _in_box("open files", "open_files", OPEN_FILES),
    _in_box("one large file", "file_mb", FILL_DISK, "/home/alex", "32"),
    _in_box("fill /tmp", "tmp_mb", FILL_DISK, "/tmp", "32"),
    Attack(
        "the processor",
        "exhaustion",
        "box",
        "limit: cpus",
        _spins,
        _box()[1],
        offered=_controls("cpu"),
    ),
    _in_slot("fill the home", "home_mb", lambda ground: HIT in ground.shell(FILL_DISK, ".", "64"), offered=_root),
    _in_slot(
        "many files in the home", "home_files", lambda ground: HIT in ground.shell(MANY_FILES, "."), offered=_root
    ),
    _in_slot("many files in /tmp", "tmp_files", lambda ground: HIT in ground.shell(MANY_FILES, "/tmp"), offered=_root),
    _in_slot(
        "fill the home, on a host without mounts",
        "home_mb",
        _warded(lambda ground: _goes_on(ground, FILL_DISK, ".", "60")),
    ),
    _in_slot(
        "many files in the home, on a host without mounts",
        "home_files",
        _warded(lambda ground: _goes_on(ground, MANY_FILES, ".")),
    ),
    _in_slot(
        "memory, on a host without control groups",
        "memory_mb",
        _warded(lambda ground: _goes_on(ground, HOLD_MEMORY)),
    ),
    Attack(
        "the X server's memory",
        "exhaustion",
        "shell",
        "limit: process_memory_mb of the X server",
        _fills_display,
        patched("forge.desktop.display._LIMITS", replace(_LIMITS, process_memory_mb=1024)),
    ),
    Attack(
        "an application's endless output",
        "exhaustion",
        "shell",
        "what an application says is kept up to a limit",
        _chatters,
        program("processes.py", "LOG_LIMIT = 4 << 20", "LOG_LIMIT = 32 << 20"),
    ),
    Attack(
        "a command's endless output",
        "exhaustion",
        "shell",
        "what a command says is kept up to a limit",
        _floods,
        program("shell.py", "kept = Kept(limit)", "kept = Kept(4_000_000)"),
    ),
    Attack(
        "what the kernel counts by user",
        "exhaustion",
        "shell",
        "every slot has a user of its own",
        _takes_watches,
        together(
            *(patched(f"forge.desktop.{each}.user_of", lambda name: GUEST_ID + 7) for each in ("enclosure", "slot"))
        ),
        offered=_root,
    ),
]
