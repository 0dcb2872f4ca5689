"""When a slot that waits to be handed over is thrown away and made anew: too old, too slow, or not well."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.records.errors import DesktopError

if TYPE_CHECKING:
    from forge.desktop.slot import Slot

_SLOW_LOOKS = 2  # in a row: one alone may be the machine's


@dataclass(frozen=True)
class Recycling:
    """What is asked of a waiting slot.

    Args:
        age: seconds; an older one is made anew, so that no process waits for ever.
        latency: seconds in which it has to answer, see `forge.desktop.health.Health`.
        every: seconds between two looks.
    """

    age: float = 1800.0
    latency: float = 2.0
    every: float = 15.0


class Inspector:
    """Looks at waiting slots and remembers which were slow. Not for several threads at once.

    Args:
        rules: what is asked of them.
    """

    def __init__(self, rules: Recycling):
        self.rules = rules
        self._slow: weakref.WeakKeyDictionary[Slot, int] = weakref.WeakKeyDictionary()

    def why_not(self, slot: Slot) -> str | None:
        """Why a slot should not be handed over any more; None when it is well."""
        if slot.age > self.rules.age:
            return f"it waited for {slot.age:.0f} s"
        try:
            health = slot.health()
        except DesktopError as error:  # it is closed
            return error.message
        if not health.ok:
            return str(health)
        slow = self._slow.get(slot, 0) + 1 if health.latency > self.rules.latency else 0
        self._slow[slot] = slow
        return f"it needed {health.latency:.1f} s to answer" if slow >= _SLOW_LOOKS else None
