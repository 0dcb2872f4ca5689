"""The port between the turn loop and a desktop, and its real side over `forge.desktop.Slot`.

An environment executes canonical actions and says what can be seen. It knows nothing of prompts, budgets or rewards. A
DesktopError that leaves it is a fault of the infrastructure, but for an ExhaustedError; anything else that the agent did
wrong is a result with `error` set.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from forge.desktop import acting
from forge.desktop.acting import Settle
from forge.desktop.blame import blaming
from forge.desktop.outline import Outline, Outliner
from forge.records import Action, Bash, Element, Observation, Wait, Zoom

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


LAST = Settle(0.5, 0.3, 8.0)
"""Before the screen is judged; `python -m bench.settling` measures how often something still changes afterwards."""
KNOWN = Settle(0.3, 0.15, 8.0)
"""The same, once what was to become true is true."""
BETWEEN = Settle(0.15, 0.08, 2.0)
"""Between the actions of one turn, where nobody looks."""


def _patience(hint: Hint) -> Settle:
    if not hint.last:
        return BETWEEN
    return LAST if hint.until is None else KNOWN


class SlotEnvironment:
    """An environment over a slot. Everything that touches the slot runs in one thread of its own, in order.

    Args:
        slot: an open slot; the caller closes it.
        put_blob: stores a screenshot's PNG and returns its SHA-256.
        output_limit: bytes of a command's output that are kept in the trajectory.
        elements: also read the accessibility tree, for a harness that shows it.
    """

    def __init__(
        self,
        slot: Slot,
        put_blob: Callable[[bytes], str],
        *,
        output_limit: int = acting.OUTPUT_LIMIT,
        elements: bool = False,
    ):
        self.slot = slot
        self._outliner = Outliner(slot.guest.width, slot.guest.height) if elements else None
        self._put = put_blob
        self._output_limit = output_limit
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="slot")
        self._seen_blob: tuple[bytes, str] = (b"", "")
        self._calls = 0

    @property
    def busy(self) -> bool:
        """Whether something touches the slot just now, or is about to."""
        return self._calls > 0

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """Call something that touches the slot in the slot's own thread; calls never overlap.

        Raises:
            ExhaustedError: the slot broke because the agent used up what it may use of the host.
        """
        self._calls += 1
        try:
            call = functools.partial(blaming, self.slot, functools.partial(function, *args))
            return await asyncio.get_running_loop().run_in_executor(self._thread, call)
        finally:
            self._calls -= 1

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
        return self._seen_as(acting.look(self.slot))

    def _seen_as(self, look: acting.Look) -> Observation:
        shot = look.shot
        if shot.png != self._seen_blob[0]:
            self._seen_blob = (shot.png, self._put(shot.png))
        return Observation(
            screenshot=self._seen_blob[1],
            width=shot.width,
            height=shot.height,
            window=look.window,
            elements=None if self._outliner is None else self._put(self._outline(self._outliner).to_json()),
        )

    def _outline(self, outliner: Outliner) -> Outline:
        elements = self.slot.tree()
        sheet = any(element.role == "table" and element.app == "calc" for element in elements)
        return outliner.read(elements, self.slot.windows(), self.slot.cells().visible() if sheet else ())

    def _act(self, action: Action, hint: Hint, seconds_left: float | None) -> ActionResult:
        waits = hint.until is not None or not isinstance(action, Bash | Wait | Zoom)
        acted = acting.act(
            self.slot,
            action,
            element=hint.element,
            until=hint.until,
            settle=_patience(hint) if waits else None,
            seconds_left=seconds_left,
            output_limit=self._output_limit,
        )
        return ActionResult(
            self._seen_as(acted.look),
            acted.output,
            acted.exit_code,
            acted.error,
            acted.element,
            acted.latency_ms,
            acted.settle_ms,
        )
