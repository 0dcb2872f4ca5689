"""Leases: what is lent is given back when its holder falls silent.

A lease runs out when nobody has used or renewed the thing for so many seconds; its holder has then hung, or lost it from
sight. While a use is under way a lease does not run out, however long the use takes. (A holder whose process dies needs
no lease: the kernel ends its slots, see `forge.desktop.spawn`.)
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

SILENCE = 120.0
"""Seconds for which a slot that is being used may give no sign of life. The longest wait that an action may ask for is half
of that; a frozen X server never gives one."""


class Lease:
    """Calls `end` once, in a thread of its own, when nothing has renewed it for `seconds`. Safe in threads.

    Args:
        seconds: how long the holder may be silent.
        end: takes back what was lent.
    """

    def __init__(self, seconds: float, end: Callable[[], None]):
        self.seconds = seconds
        self._end = end
        self._uses = 0
        self._renewed = time.monotonic()
        self._over = False
        self._changed = threading.Condition()
        threading.Thread(target=self._watch, name="forge-lease", daemon=True).start()

    @property
    def left(self) -> float:
        """Seconds until it runs out; all of them while a use is under way, 0 once it is over."""
        with self._changed:
            return 0.0 if self._over else self._left()

    def renew(self) -> bool:
        """A heartbeat. False when the lease is over already."""
        with self._changed:
            self._renewed = time.monotonic()
            return not self._over

    @contextlib.contextmanager
    def use(self) -> Iterator[None]:
        """What happens in this context is a use; its end is a heartbeat."""
        with self._changed:
            self._uses += 1
        try:
            yield
        finally:
            with self._changed:
                self._uses -= 1
                self._renewed = time.monotonic()

    def cancel(self) -> None:
        """It is given back: the lease is over without calling `end`. May be called twice."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _left(self) -> float:
        return self.seconds if self._uses else max(0.0, self._renewed + self.seconds - time.monotonic())

    def _watch(self) -> None:
        with self._changed:
            while not self._over and (left := self._left()) > 0:
                self._changed.wait(left)
            if self._over:
                return
            self._over = True
        self._end()
