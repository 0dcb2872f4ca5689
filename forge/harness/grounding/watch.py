"""Watching an episode: every screen that an oracle or a model comes to is kept, as an explorer would keep it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forge.desktop.slot import Slot
from forge.harness.environment import SlotEnvironment
from forge.harness.grounding.explorer import Explorer, Found
from forge.records import Observation


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

    def _observe(self) -> Observation:
        observation = super()._observe()
        for app, watcher in self._watchers.items():
            if any(len(e.path) == 1 and e.name == observation.window for e in self.slot.tree(app, menus=False)):
                watcher.look(cells=app == "calc")
        return observation
