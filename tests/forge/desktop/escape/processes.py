"""Other processes: the host's, the supervisor, the applications, and those that are to live on."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path
from unittest import mock

from forge.desktop import Slot
from forge.desktop.spawn import identity
from forge.records import DesktopError, ExhaustedError
from tests.forge.desktop.escape.attack import HIT, Attack, Ground, survives, until
from tests.forge.desktop.escape.weaken import patched, program, together, without, without_filter, without_processes
from tests.forge.desktop.xclients import OPEN

KILL = """
import os, sys
for name in os.listdir("/proc"):
    try:
        if name.isdigit() and int(name) != os.getpid() and sys.argv[1].encode() in open(f"/proc/{name}/cmdline", "rb").read():
            os.kill(int(name), 9)
    except OSError:
        pass
"""
LIVE_ON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (0, 1, 2):
            os.close(number)
        for beat in range(40):
            open("/home/alex/beat", "a").write("x")
            time.sleep(0.05)
    os._exit(0)
time.sleep(0.2)
"""
FORK_ON = """
import os, time
def hide():
    while os.fork() == 0:  # always another process than the one that was just seen
        os.setsid()
        open("/home/alex/beat", "a").write("x")
        time.sleep(0.002)
    os._exit(0)
for _ in range(4):
    if os.fork() == 0:
        for number in (0, 1, 2):
            os.close(number)
        hide()
"""
TRACE = """
import ctypes, os, time
libc = ctypes.CDLL(None)
child = os.fork()
if child == 0:
    time.sleep(5)
    os._exit(0)
if libc.ptrace(0x4206, child, None, None) == 0:  # PTRACE_SEIZE
    print("HIT")
os.kill(child, 9)
"""
LOOK_INTO = """
import sys
open("/proc/1/mem", "rb")
print("HIT")
"""
TAKE_CHANNEL = """
import ctypes, os, socket, struct
libc = ctypes.CDLL(None)
process = libc.syscall(434, 1, 0)  # pidfd_open
for number in range(3, 20):
    mine = libc.syscall(438, process, number, 0)  # pidfd_getfd
    if mine >= 0:
        try:
            if socket.socket(fileno=mine).family == socket.AF_UNIX:
                print("HIT")
                break
        except OSError:
            pass
"""
ASK_BUS = """
import os, sys
sys.path.insert(0, "/opt/forge")
from wire import Bus, BusError, pack
bus = Bus(os.environ["DBUS_SESSION_BUS_ADDRESS"])
def ask(member, signature="", body=b""):
    try:
        return bus.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member, signature, body)
    except BusError as error:
        print(error)
"""
ACTIVATE = (
    ASK_BUS
    + """
folder = "/home/alex/.local/share/dbus-1/services"
os.makedirs(folder)
with open("/home/alex/count", "w") as file:
    file.write("#!/bin/sh\\nps -e -o comm= > /home/alex/seen\\n")
os.chmod("/home/alex/count", 0o755)
with open(f"{folder}/x.Mine.service", "w") as file:
    file.write("[D-BUS Service]\\nName=x.Mine\\nExec=/home/alex/count\\n")
ask("ReloadConfig")
ask("StartServiceByName", "su", pack("su", "x.Mine", 0))
print(open("/home/alex/seen").read())
"""
)
STEER = (
    ASK_BUS
    + """
import glob, struct, time
def variable(name, value):
    return struct.pack("<I", len(name)) + name + b"\\0" * (4 - len(name) % 4) + struct.pack("<I", len(value)) + value + b"\\0"
pair, more = variable(b"LD_DEBUG", b"libs"), variable(b"LD_DEBUG_OUTPUT", b"/home/alex/led")
pairs = pair + bytes(-len(pair) % 8) + more
ask("UpdateActivationEnvironment", "a{ss}", struct.pack("<II", len(pairs), 0) + pairs)
ask("StartServiceByName", "su", pack("su", "org.xfce.Xfconf", 0))
time.sleep(0.5)
if glob.glob("/home/alex/led*"):  # whoever says what is written says what is loaded
    print("HIT")
"""
)
TAKE_NAME = (
    ASK_BUS
    + """
print(ask("RequestName", "su", pack("su", "org.a11y.Bus", 2)))  # replacing whoever has it
"""
)
FREEZE = KILL.replace("os.kill(int(name), 9)", "os.kill(int(name), 19)")
CUT_OFF = (
    OPEN
    + """
window = x.XCreateSimpleWindow(display, ctypes.c_ulong(x.XDefaultRootWindow(display)), 0, 0, 1, 1, 0, 0, 0)
for client in range(1, 60):  # each has a range of numbers of its own
    if client != window >> 21:
        for number in range(40):
            x.XKillClient(display, ctypes.c_ulong((client << 21) + number))
        x.XSync(display, 0)
"""
)


def _kills_host_process(ground: Ground) -> bool:
    uid, gid = identity()
    prefix = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"] if uid == 77001 else []
    argv = [*prefix, "sh", "-c", f": {ground.token}; sleep 30 & wait"]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    victim = subprocess.Popen(argv, start_new_session=True, **quiet)  # type: ignore[call-overload]
    try:
        until(lambda: ground.token in Path(f"/proc/{victim.pid}/cmdline").read_text(), 5)
        ground.box(KILL, ground.token)
        return victim.poll() is not None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(victim.pid, signal.SIGKILL)
        victim.wait()


def _lives_on(ground: Ground) -> bool:
    ground.box(LIVE_ON)
    return _beats(ground.home / "beat")


def _beats(path: Path) -> bool:
    before = path.stat().st_size if path.exists() else 0
    time.sleep(0.3)
    return path.exists() and path.stat().st_size > before


def _survives_stop(ground: Ground) -> bool:
    ground.shell(FORK_ON)
    beat = ground.slot.home / "beat"
    until(beat.exists, 5)
    ground.slot.stop()
    return _beats(beat)


def _kills_supervisor(ground: Ground) -> bool:
    ground.terminal(KILL, "supervisor.py", timeout=3)
    return not until(lambda: survives(ground.slot), 0.5)


def _kills_application(ground: Ground) -> bool:
    pid = ground.slot.ask("start", argv=["/usr/bin/sleep", "300"])
    ground.shell(KILL, "sleep")
    return ground.slot.ask("apps")[0]["code"] is not None and pid > 0


def _starts_by_bus(ground: Ground) -> bool:
    ground.slot.ask("start", argv=["/usr/bin/sleep", "300"])
    return "sleep" in ground.shell(ACTIVATE).split()


def _takes_name(ground: Ground) -> bool:
    ground.shell(TAKE_NAME)
    return until(lambda: not survives(ground.slot), 2)


def _replaces_manager(ground: Ground) -> bool:
    ground.slot.shell.run("timeout 2 openbox --replace")
    return not survives(ground.slot)


def _freezes_buses(ground: Ground) -> bool:
    """Whether the slot reads as well while nobody can say any more what is on its screen."""
    ground.terminal(FREEZE, "dbus-daemon")
    return survives(ground.slot)


def _is_no_fault_of_its_own(ground: Ground) -> bool:
    """Whether the slot breaks, and it reads as a fault of the infrastructure: the episode would be played again."""
    slot = ground.slot
    slot.launch("editor")
    ground.shell(CUT_OFF)
    broken = []
    for look in (slot.screenshot, slot.alive):  # a connection of the host's, and the editor, which ends a little later
        try:
            until(lambda look=look: look() is None and False, 1)  # type: ignore[misc]
        except DesktopError as error:
            broken.append(slot.blame(error))
    if len(broken) < 2:
        raise AssertionError(f"only this broke: {broken}")
    return not all(isinstance(error, ExhaustedError) for error in broken)


def _not_stopped(ground: Ground) -> object:
    original = Slot.ask

    def ask(slot: Slot, what: str, **arguments: object) -> object:
        return True if what == "stop_all" else original(slot, what, **arguments)  # type: ignore[arg-type]

    return mock.patch.object(Slot, "ask", ask)


ATTACKS = [
    Attack(
        "kill a process of the host",
        "processes",
        "box",
        "processes of its own",
        _kills_host_process,
        without_processes(),
    ),
    Attack(
        "live on after the box",
        "processes",
        "box",
        "all processes of a box end with its first",
        _lives_on,
        together(without_processes("--die-with-parent"), patched("forge.desktop.limits._parents", dict)),
    ),
    Attack(
        "live on while the state is read",
        "grading",
        "shell",
        "all are killed at once before it is read",
        _survives_stop,
        _not_stopped,  # type: ignore[arg-type]
    ),
    Attack(
        "trace another process",
        "processes",
        "box",
        "system calls are filtered",
        lambda ground: ground.hits(TRACE),
        without_filter(),
    ),
    Attack(
        "read the supervisor's memory",
        "processes",
        "terminal",
        "the supervisor is not dumpable",
        lambda ground: HIT in ground.terminal(LOOK_INTO),
        program("supervisor.py", "prctl(PR_SET_DUMPABLE, 0", "prctl(PR_SET_DUMPABLE, 1"),
    ),
    Attack(
        "take the channel that leads to the host",
        "processes",
        "terminal",
        "not dumpable, and system calls are filtered",
        lambda ground: HIT in ground.terminal(TAKE_CHANNEL),
        together(program("supervisor.py", "prctl(PR_SET_DUMPABLE, 0", "prctl(PR_SET_DUMPABLE, 1"), without_filter()),
    ),
    Attack(
        "kill the supervisor",
        "processes",
        "terminal",
        "the supervisor is process 1",
        _kills_supervisor,
        without("--as-pid-1"),
    ),
    Attack(
        "kill an application from the shell",
        "processes",
        "shell",
        "the shell has processes of its own",
        _kills_application,
        together(
            program("shell.py", '"--proc", "/proc"', '"--bind", "/proc", "/proc"'),
            program("shell.py", '"--unshare-user", "--unshare-pid"', '"--unshare-user"'),
        ),
    ),
    Attack(
        "have the session bus start a program beside the applications",
        "processes",
        "shell",
        "the buses start nothing that the home says, and take no new configuration",
        _starts_by_bus,
        together(
            program(
                "session.xml",
                "<servicedir>/usr/share/dbus-1/services</servicedir>",
                "<standard_session_servicedirs/>",
            ),
            program("session.xml", 'send_member="ReloadConfig"', 'send_member="None"'),
        ),
    ),
    Attack(
        "steer what the session bus starts by its environment",
        "processes",
        "shell",
        "the buses take no variables from outside",
        lambda ground: HIT in ground.shell(STEER).split(),
        program("session.xml", 'send_member="UpdateActivationEnvironment"', 'send_member="None"'),
    ),
    Attack(
        "take the accessibility bus's name",
        "processes",
        "shell",
        "nobody may own the name but its first owner",
        _takes_name,
        program("session.xml", '<deny own="org.a11y.Bus"/>', ""),
    ),
    Attack(
        "stop the buses unseen",
        "processes",
        "terminal",
        "the buses are asked whether they answer",
        _freezes_buses,
        program("supervisor.py", "elif not answers(", "elif not bool("),
    ),
    Attack(
        "take the window manager's place",
        "display",
        "shell",
        "a window manager that ends by itself is started again",
        _replaces_manager,
        patched("forge.desktop.display.Display._keep_manager", lambda display, manager: None),
    ),
    Attack(
        "cut off an application, so that a failing episode does not count",
        "grading",
        "shell",
        "an application that is cut off while the agent's programs run is the agent's doing",
        _is_no_fault_of_its_own,
        patched("forge.desktop.slot.Slot.blame", lambda slot, error: error),
    ),
]
