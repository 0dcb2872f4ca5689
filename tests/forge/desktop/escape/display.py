"""Over to the screens of others."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import AbstractContextManager
from unittest import mock

from forge.desktop import Slot
from forge.desktop.box import BoxPlan
from tests.forge.desktop.escape.attack import HIT, Attack, Ground
from tests.forge.desktop.escape.weaken import display
from tests.forge.desktop.xclients import OPEN

LOOK = """
import ctypes, os, sys
if len(sys.argv) > 2:
    os.environ["XAUTHORITY"] = sys.argv[2]
x = ctypes.CDLL("libX11.so.6")
x.XOpenDisplay.restype = ctypes.c_void_p
if x.XOpenDisplay(sys.argv[1].encode()):
    print("HIT")
"""
MAP = (
    OPEN
    + """
class Segment(ctypes.Structure):
    _fields_ = (("seg", ctypes.c_ulong), ("id", ctypes.c_int), ("place", ctypes.c_char_p), ("read_only", ctypes.c_int))
ctypes.CDLL("libXext.so.6").XShmAttach(display, ctypes.byref(Segment(0, int(sys.argv[1]), None, 1)))
x.XSync(display, 0)
if not failed:
    print("HIT")
"""
)
COOKIE = "/run/forge/neighbour"


def _looks(ground: Ground, *more: str) -> bool:
    """Whether the attacker's slot gets onto the screen of a neighbour that was there before."""
    return HIT in ground.shell(LOOK, _neighbour(ground).display, *more)


def _neighbour(ground: Ground) -> Slot:
    found = getattr(ground, "neighbour", None)
    if found is None:
        ground.neighbour = found = ground.open()  # type: ignore[attr-defined]
    assert isinstance(found, Slot)
    return found


def _with_socket(ground: Ground, cookie: bool) -> AbstractContextManager[object]:
    """The attacker's box has the neighbour's socket, and its cookie too."""
    neighbour = _neighbour(ground)
    binds = [str(neighbour.display_socket), str(neighbour.xauthority)]
    original = BoxPlan.command

    def command(plan: BoxPlan, argv: Sequence[str], stack: object) -> tuple[list[str], list[int]]:
        made, fds = original(plan, argv, stack)  # type: ignore[arg-type]
        place = made.index("--remount-ro")
        more = ["--bind", binds[0], binds[0]]
        if cookie:
            # a copy that the attacker's user may read
            copy = ground.folder / "cookie"
            copy.write_bytes(neighbour.xauthority.read_bytes())
            more += ["--ro-bind", str(copy), COOKIE]
        return [*made[:place], *more, *made[place:]], fds

    return mock.patch.object(BoxPlan, "command", command)


def _looks_with_socket(ground: Ground) -> bool:
    with _with_socket(ground, cookie=False):
        return _looks(ground)


def _maps(ground: Ground) -> bool:
    libc = ctypes.CDLL(None)
    segment = libc.shmget(0, 4096, 0o1666)  # IPC_PRIVATE, IPC_CREAT
    try:
        return HIT in ground.shell(MAP, str(segment))
    finally:
        libc.shmctl(segment, 0, None)  # IPC_RMID


ATTACKS = [
    Attack(
        "get onto a neighbour's screen",
        "display",
        "shell",
        "each box has its own display's socket only",
        lambda ground: _looks(ground, COOKIE),
        lambda ground: _with_socket(ground, cookie=True),
    ),
    Attack(
        "get onto a screen whose socket is at hand",
        "display",
        "shell",
        "every display asks for its cookie",
        _looks_with_socket,
        display(arguments=["-ac"]),
    ),
    Attack(
        "let the X server map memory of the host",
        "display",
        "shell",
        "the X server has inter-process communication of its own",
        _maps,
        display(without=["--unshare-ipc"]),
    ),
]
