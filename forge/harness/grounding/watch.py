"""Watching an episode: every screen that an oracle or a model comes to is kept, as an explorer would keep it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from forge.desktop.slot import Slot
from forge.harness.environment import NO_HINT, ActionResult, Hint, SlotEnvironment
from forge.harness.grounding.explorer import Explorer, Found
from forge.records import Action, Observation

LAG = 1.0
"""Seconds by which a window may be on the screen earlier than on the accessibility bus."""


class WatchedEnvironment(SlotEnvironment):
    """A slot's environment that looks at the application in front whenever it observes.

    Args:
        slot, put_blob: as of `SlotEnvironment`.
        apps: the applications that may be in front.
        on_screen: called for every kept screen.
    """

    def __init__(
        self, slot: Slot, put_blob: Callable[[bytes], str], apps: Sequence[str], on_screen: Callable[[Found], None]
    ):
        super().__init__(slot, put_blob)
        self._watchers = {app: Explorer(slot, app, on_screen) for app in apps}

    async def observe(self) -> Observation:
        observation = await super().observe()
        await self.run(self._watch, observation.window)
        return observation

    async def act(self, action: Action, hint: Hint = NO_HINT, seconds_left: float | None = None) -> ActionResult:
        result = await super().act(action, hint, seconds_left)
        await self.run(self._watch, result.after.window)
        return result

    def _watch(self, title: str) -> None:
        end = time.monotonic() + LAG
        while (app := self._in_front(title)) is None and time.monotonic() < end:
            time.sleep(0.1)
        if app is not None:
            self._watchers[app].look(cells=app == "calc")

    def _in_front(self, title: str) -> str | None:
        """The application that the window of a title belongs to."""
        for app in self._watchers:
            if any(len(e.path) == 1 and e.name == title for e in self.slot.tree(app, menus=False)):
                return app
        return None
