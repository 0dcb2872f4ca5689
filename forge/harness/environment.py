"""The port between the turn loop and a desktop, and its real side over `forge.desktop.Slot`.

An environment executes canonical actions and says what can be seen. It knows nothing of prompts, budgets or rewards. A
DesktopError that leaves it is a fault of the infrastructure; anything the agent did wrong is a result with `error` set.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from forge.records import (
    Action,
    Bash,
    Button,
    Drag,
    Element,
    HarnessError,
    HoldKey,
    InputError,
    Key,
    Observation,
    Point,
    Pointer,
    Scroll,
    Type,
    Wait,
    Zoom,
)

if TYPE_CHECKING:
    from forge.desktop.slot import Slot

T = TypeVar("T")


@dataclass(frozen=True)
class Hint:
    """What a teacher that can look behind the screen knows about its own action; a model gives none.

    Args:
        element: what the pointer is going to meet, so that it need not be looked up again.
        until: what will be true once the action has had its effect; waited for before the screen is taken.
        last: whether the next action depends on what is seen after this one; False settles only briefly.
    """

    element: Element | None = None
    until: Callable[[], bool] | None = None
    last: bool = True


NO_HINT = Hint()


@dataclass(frozen=True)
class ActionResult:
    """What came of one action. Times in milliseconds; `settle_ms` is what the desktop needed to come to rest."""

    after: Observation
    output: str = ""
    exit_code: int | None = None
    error: bool = False
    element: Element | None = None
    latency_ms: float = 0.0
    settle_ms: float = 0.0


class Environment(Protocol):
    """Where actions happen."""

    async def observe(self) -> Observation:
        """What can be seen now. Raises DesktopError when the desktop is broken."""
        ...

    async def act(self, action: Action, hint: Hint = NO_HINT, seconds_left: float | None = None) -> ActionResult:
        """Carry out one action of the computer or bash tool, let the desktop settle, and observe.

        Args:
            action: any canonical action but `answer` and `done`, which belong to the loop.
            hint: see `Hint`.
            seconds_left: of the episode; bounds a command's own time-out.

        Raises:
            DesktopError: the infrastructure failed.
        """
        ...

    async def alive(self) -> None:
        """Raises DesktopError when the desktop is broken, although the last action may not have shown it."""
        ...


@dataclass(frozen=True)
class Settle:
    """How the screen is waited for: at most `first` s for a first change, then `quiet` s without one, `timeout` in all."""

    first: float
    quiet: float
    timeout: float


LAST = Settle(0.6, 0.3, 8.0)
"""Before the screen is judged: rarely (0 of 20 measured actions) anything still moves afterwards."""
BETWEEN = Settle(0.15, 0.08, 2.0)
"""Between the actions of one turn, where nobody looks."""


class SlotEnvironment:
    """An environment over a slot. Everything that touches the slot runs in one thread of its own, in order.

    Args:
        slot: an open slot; the caller closes it.
        put_blob: stores a screenshot's PNG and returns its SHA-256.
        output_limit: bytes of a command's output that are kept in the trajectory.
    """

    def __init__(self, slot: Slot, put_blob: Callable[[bytes], str], *, output_limit: int = 32_000):
        self.slot = slot
        self._put = put_blob
        self._output_limit = output_limit
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="slot")
        self._seen = ""
        self._seen_blob: tuple[bytes, str] = (b"", "")

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """Call something that touches the slot in the slot's own thread; calls never overlap."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, functools.partial(function, *args))

    async def observe(self) -> Observation:
        return await self.run(self._observe)

    async def act(self, action: Action, hint: Hint = NO_HINT, seconds_left: float | None = None) -> ActionResult:
        return await self.run(self._act, action, hint, seconds_left)

    async def alive(self) -> None:
        await self.run(self.slot.alive)

    def close(self) -> None:
        """Give the thread back. The slot stays open; a call that still runs ends with the slot at the latest."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _observe(self) -> Observation:
        shot = self.slot.screenshot()
        active = next((window.title for window in self.slot.windows() if window.active), "")
        if shot.png != self._seen_blob[0]:
            self._seen_blob = (shot.png, self._put(shot.png))
        return Observation(screenshot=self._seen_blob[1], width=shot.width, height=shot.height, window=active)

    def _act(self, action: Action, hint: Hint, seconds_left: float | None) -> ActionResult:
        output, exit_code, error = "", None, False
        settle_ms = 0.0
        element = hint.element or self._element(action)
        started = time.perf_counter()
        try:
            output, exit_code = self._do(action, seconds_left)
        except (InputError, ValueError) as fault:
            output, error = str(fault), True
        latency_ms = (time.perf_counter() - started) * 1000
        if not error and (hint.until is not None or not isinstance(action, Bash | Wait | Zoom)):
            how = LAST if hint.last else BETWEEN
            settle_ms = 1000 * self.slot.settle(hint.until, first=how.first, quiet=how.quiet, timeout=how.timeout)
        return ActionResult(self._observe(), output, exit_code, error, element, latency_ms, settle_ms)

    def _element(self, action: Action) -> Element | None:
        point = action.start if isinstance(action, Drag) else getattr(action, "at", None)
        return None if point is None else self.slot.element_at(*self._pixel(point))

    def _pixel(self, point: Point) -> tuple[int, int]:
        width, height = self.slot.guest.width, self.slot.guest.height
        return min(width - 1, int(point.x * width)), min(height - 1, int(point.y * height))

    def _do(self, action: Action, seconds_left: float | None) -> tuple[str, int | None]:
        device = self.slot.input
        match action:
            case Pointer(kind="mouse_move"):
                device.move(*self._pixel(action.at))
            case Pointer():
                button = {"right_click": 3, "middle_click": 2}.get(action.kind, 1)
                count = {"double_click": 2, "triple_click": 3}.get(action.kind, 1)
                device.click(*self._pixel(action.at), button=button, count=count, modifiers=action.modifiers)
            case Drag():
                device.drag(*self._pixel(action.start), *self._pixel(action.at))
            case Button(kind="left_mouse_down"):
                device.press(1)
            case Button():
                device.release(1)
            case Scroll():
                device.scroll(*self._pixel(action.at), action.dx, action.dy)
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
                return self._bash(action, seconds_left)
            case _:
                raise HarnessError(f"{action.kind} is no action of the desktop")
        return "", None

    def _bash(self, action: Bash, seconds_left: float | None) -> tuple[str, int | None]:
        if action.restart:
            self.slot.shell.restart()
            if not action.command:
                return "[the shell was restarted]", None
        limit = action.timeout if seconds_left is None else max(1.0, min(action.timeout, seconds_left))
        result = self.slot.shell.run(action.command, timeout=limit, output_limit=self._output_limit)
        output = result.output.rstrip("\n")
        if result.timed_out:
            output = f"{output}\n[ended after {limit:g} s without finishing]".lstrip("\n")
        return output, result.exit_code
