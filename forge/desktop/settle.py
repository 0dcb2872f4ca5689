"""Waiting until the screen has settled: a predicate first, then damage, then applications that are at rest.

Applications repaint in bursts with holes of up to 0.3 s (measured in Calc, Thunderbird and others), so "no change for a
moment" alone settles too early; and a dialog may take a second of work before its first pixel. After the predicate holds,
the first damage may take up to `first` seconds and the end is `quiet` seconds without any, at which the applications must
not be at work: as long as one is, the wait goes on, at most `_WORK` seconds more. `python -m bench.settling` measures how
often that is too early.

What it does NOT cover: a repaint that waits for a timer of the application, longer than `quiet`, without any work before.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from forge.desktop.activity import Activity
from forge.desktop.display import Display, disconnect
from forge.desktop.xlib import select
from forge.records.errors import DesktopError

_POLL = 0.03  # seconds between two looks at a predicate
_LOOK = 0.025  # seconds between two looks at what the applications do
_REST = 0.1  # seconds without work that count as rest
_SHARE = 0.2  # of one processor: more than that in the last moment is work, also where nobody was seen running
_WORK = 2.0  # seconds for which work without any damage is waited for


class Settler:
    """Watches the damage of one display through a connection of its own. Safe in threads.

    Args:
        display: the display.
        activity: tells whether the applications on it are at work; None: they never are.
    """

    def __init__(self, display: Display, activity: Activity | None = None):
        from Xlib.ext import damage

        self._display = display
        self._activity = activity
        self._lock = threading.RLock()
        self._connection: Any = display.connect()
        self._connection.damage_query_version()
        root = self._connection.screen().root
        # reported once until subtracted: a repaint storm costs one event a look
        self._damage = root.damage_create(damage.DamageReportNonEmpty)
        self._connection.sync()
        self._drain()

    def mark(self) -> None:
        """An action begins: damage up to now does not count as its effect."""
        with self._lock:
            self._drain()

    def settle(
        self,
        predicate: Callable[[], bool] | None = None,
        *,
        first: float = 0.6,
        quiet: float = 0.3,
        timeout: float = 8.0,
    ) -> float:
        """Wait for the effect of the last action.

        Args:
            predicate: what must become true before the screen is watched, e.g. that a window has appeared.
            first: seconds to wait for the first change, if there is none yet.
            quiet: seconds without a change that end the wait.
            timeout: seconds after which the wait ends anyhow.

        Returns:
            Seconds waited. A predicate that stayed false, or a screen that never rests, ends the wait at `timeout`
            without an error: look again if it matters.

        Raises:
            DesktopError: the X server died.
        """
        started = time.monotonic()
        end = started + timeout
        last: float | None = None
        with self._lock:
            while predicate is not None and not predicate():
                last = self._look(last)
                left = end - time.monotonic()
                if left <= 0:
                    return timeout
                select([self._connection.fileno()], [], [], min(_POLL, left))
                if left > _POLL:
                    time.sleep(_POLL / 3)  # damage may come without end; the predicate is not to be asked each time
            work = _Work(self._activity)
            while True:
                last = self._look(last)
                now = time.monotonic()
                due = started + first if last is None else last + quiet
                rest = max(due, min(work.until(now), due + _WORK)) - now
                if rest <= 0 or now >= end:
                    return now - started
                select([self._connection.fileno()], [], [], min(rest, end - now, _LOOK))

    def _look(self, last: float | None) -> float | None:
        return time.monotonic() if self._drain() else last

    def _drain(self) -> bool:
        from Xlib import error

        seen = False
        try:
            if self._connection is None:
                raise DesktopError("the slot was closed while the screen was waited for")
            while self._connection.pending_events():
                self._connection.next_event()
                seen = True
            if seen:
                self._connection.damage_subtract(self._damage)
                self._connection.flush()
        except (error.ConnectionClosedError, OSError) as lost:
            raise self._display.lost(lost) from lost
        return seen

    def close(self) -> None:
        """Disconnect. May be called twice."""
        with self._lock:
            if self._connection is not None:
                disconnect(self._connection)
                self._connection = None


class _Work:
    """When the applications will have been at rest for `_REST` seconds, as far as can be told from looks now and then."""

    def __init__(self, activity: Activity | None):
        self._activity = activity
        self._looks: list[tuple[float, float]] = []
        self._busy = float("-inf")

    def until(self, now: float) -> float:
        """The time at which they will have rested long enough if they do nothing more."""
        if self._activity is None or (self._looks and now - self._looks[-1][0] < _LOOK / 2):
            return self._busy + _REST
        used, running = self._activity.sample()
        self._looks = [(at, then) for at, then in self._looks if now - at <= _REST] + [(now, used)]
        if running or used - self._looks[0][1] > _SHARE * _REST:
            self._busy = now
        return self._busy + _REST
