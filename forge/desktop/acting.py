"""One canonical action on a slot: look up what it meets, carry it out, wait until its effect is on the screen, look.

A slot of this machine does these one after another; a slot elsewhere does them all in one request (see `Away`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from forge.desktop.input import pixel
from forge.desktop.screen import Screenshot
from forge.records.action import Action, Bash, Button, Drag, HoldKey, Key, Point, Pointer, Scroll, Type, Wait, Zoom
from forge.records.errors import HarnessError, InputError

if TYPE_CHECKING:
    from forge.desktop.slot import Slot
    from forge.records.trajectory import Element

OUTPUT_LIMIT = 32_000
_CLICKS = {"double_click": 2, "triple_click": 3}
_BUTTONS = {"right_click": 3, "middle_click": 2}


@dataclass(frozen=True)
class Settle:
    """How the screen is waited for: at most `first` s for a first change, then `quiet` s without one, `timeout` in all."""

    first: float
    quiet: float
    timeout: float


@dataclass(frozen=True)
class Look:
    """The screen and the title of the active window."""

    shot: Screenshot
    window: str


@dataclass(frozen=True)
class Acted:
    """What came of an action: the screen afterwards, a command's output, whether the action was one that cannot be
    done, what the pointer met, and milliseconds for the action and for the wait.
    """

    look: Look
    output: str = ""
    exit_code: int | None = None
    error: bool = False
    element: Element | None = None
    latency_ms: float = 0.0
    settle_ms: float = 0.0


@runtime_checkable
class Away(Protocol):
    """A slot that is elsewhere and takes an action, or a look, in one request."""

    def act_at_once(
        self, action: Action, *, find: bool, settle: Settle | None, seconds_left: float | None, output_limit: int
    ) -> Acted:
        """`find`: look up what the pointer meets."""
        ...

    def look_at_once(self) -> Look:
        """The screen and the active window."""
        ...


def look(slot: Slot) -> Look:
    """Look at the screen. Raises DesktopError."""
    if isinstance(slot, Away):
        return slot.look_at_once()
    shot = slot.screenshot()
    return Look(shot, next((window.title for window in slot.windows() if window.active), ""))


def act(
    slot: Slot,
    action: Action,
    *,
    element: Element | None = None,
    find: bool = True,
    until: Callable[[], bool] | None = None,
    settle: Settle | None = None,
    seconds_left: float | None = None,
    output_limit: int = OUTPUT_LIMIT,
) -> Acted:
    """Carry out one action.

    Args:
        slot: where.
        action: any action of the computer or bash tool.
        element: what the pointer is going to meet, where that is known already.
        find: look it up where it is not.
        until: waited for before the screen is watched.
        settle: how long the screen is waited for; None: not at all.
        seconds_left: bounds a command's own limit, and a wait.
        output_limit: bytes of a command's output that are kept.

    Returns:
        With `error` set where the action cannot be done: an unknown key, for instance.

    Raises:
        DesktopError: the infrastructure failed.
        HarnessError: not an action of the desktop.
    """
    if isinstance(slot, Away) and until is None:
        acted = slot.act_at_once(
            action,
            find=find and element is None,
            settle=settle,
            seconds_left=seconds_left,
            output_limit=output_limit,
        )
        return acted if element is None else Acted(**{**vars(acted), "element": element})
    output, exit_code, error, settle_ms = "", None, False, 0.0
    if element is None and find:
        element = meets(slot, action)
    started = time.perf_counter()
    try:
        output, exit_code = do(slot, action, seconds_left, output_limit)
    except (InputError, ValueError) as fault:
        output, error = str(fault), True
    latency_ms = (time.perf_counter() - started) * 1000
    if settle is not None and not error:
        waited = slot.settle(until, first=settle.first, quiet=settle.quiet, timeout=settle.timeout)
        settle_ms = 1000 * waited
    return Acted(look(slot), output, exit_code, error, element, latency_ms, settle_ms)


def meets(slot: Slot, action: Action) -> Element | None:
    """What the action's pointer is going to meet; None for actions without one."""
    point = action.start if isinstance(action, Drag) else getattr(action, "at", None)
    return None if point is None else slot.element_at(*pixels(slot, point))


def pixels(slot: Slot, point: Point) -> tuple[int, int]:
    """The pixel that a point falls on."""
    return pixel(point.x, slot.guest.width), pixel(point.y, slot.guest.height)


def do(
    slot: Slot, action: Action, seconds_left: float | None = None, output_limit: int = OUTPUT_LIMIT
) -> tuple[str, int | None]:
    """Only carry it out; a command's output and exit code.

    Raises:
        InputError: it cannot be done, such as a key that does not exist.
        DesktopError: the infrastructure failed.
        HarnessError: not an action of the desktop.
    """
    device: Any = slot.input
    match action:
        case Pointer(kind="mouse_move"):
            device.move(*pixels(slot, action.at))
        case Pointer():
            device.click(
                *pixels(slot, action.at),
                button=_BUTTONS.get(action.kind, 1),
                count=_CLICKS.get(action.kind, 1),
                modifiers=action.modifiers,
            )
        case Drag():
            device.drag(*pixels(slot, action.start), *pixels(slot, action.at))
        case Button(kind="left_mouse_down"):
            device.press(1)
        case Button():
            device.release(1)
        case Scroll():
            device.scroll(*pixels(slot, action.at), action.dx, action.dy)
        case Type():
            device.type(action.text)
        case Key():
            for _ in range(action.repeat):
                device.key(action.keys)
        case HoldKey():
            device.hold(action.keys, action.seconds)
        case Wait():
            time.sleep(action.seconds if seconds_left is None else max(0.0, min(action.seconds, seconds_left)))
        case Zoom():
            pass  # the picture is made from the screenshot before it, see `forge.harness.pictures`
        case Bash():
            return _bash(slot, action, seconds_left, output_limit)
        case _:
            raise HarnessError(f"{action.kind} is no action of the desktop")
    return "", None


def _bash(slot: Slot, action: Bash, seconds_left: float | None, output_limit: int) -> tuple[str, int | None]:
    if action.restart:
        slot.shell.restart()
        if not action.command:
            return "[the shell was restarted]", None
    limit = action.timeout if seconds_left is None else max(1.0, min(action.timeout, seconds_left))
    result = slot.shell.run(action.command, timeout=limit, output_limit=output_limit)
    output = result.output.rstrip("\n")
    if result.timed_out:
        output = f"{output}\n[ended after {limit:g} s without finishing]".lstrip("\n")
    return output, result.exit_code
