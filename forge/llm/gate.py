"""The gate before a model: how many requests may be on their way at once, found out while asking.

One gate for each (base URL, model) of a process, shared by all clients, threads and event loops. The window of places opens
by one with every answer until the server first says that it is too much, from then on by about one a round trip; a 429
halves it and pauses the whole gate for as long as the server asks, for everybody. Headers that say that nothing is left pause
it before the server has to refuse. What this does not cover: several processes share a server only through its refusals.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import random
import threading
import time
from dataclasses import dataclass, field

from forge.llm.retry import Rates, backoff

FIRST_WINDOW = 4
"""Places before anything is known of a server."""

LONGEST_PAUSE = 60.0
"""Seconds for which a header's reset is believed; a Retry-After is believed as it stands."""

BURST_SECONDS = 5.0
"""How far ahead of a stated rate a burst may run."""


@dataclass(order=True)
class _Waiter:
    """Somebody in the queue. `wake` is set when it was admitted, or has to look at the clock anew."""

    ticket: int
    number: int
    loop: asyncio.AbstractEventLoop = field(compare=False)
    wake: asyncio.Event = field(compare=False)
    place: Pass | None = field(default=None, compare=False)

    def call(self) -> bool:
        """Wake it up; False when its event loop is gone."""
        try:
            self.loop.call_soon_threadsafe(self.wake.set)
        except RuntimeError:
            return False
        return True


@dataclass(frozen=True)
class Pass:
    """One place, from `enter` to `leave`: which refusals speak about it (`epoch`), and the how-manieth it is."""

    epoch: int
    number: int


class Gate:
    """Adaptive places before one model.

    Args:
        most: places at most.
        requests_per_minute, tokens_per_minute: what the endpoint's owner allows; None: only what the server says.
        pause_seconds: the first pause after a 429 without Retry-After; doubles up to `LONGEST_PAUSE`.
    """

    def __init__(
        self,
        most: int = 64,
        *,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        pause_seconds: float = 1.0,
    ):
        self.most = most
        self.window = float(min(FIRST_WINDOW, most))
        self.in_flight = 0
        self.paused_until = 0.0
        self.refusals = 0
        self.requests_per_minute = requests_per_minute
        self.tokens_per_minute = tokens_per_minute
        self.pause_seconds = pause_seconds
        self._epoch = 0
        self._in_a_row = 0
        self._searching = True
        self._mean_tokens = 0.0
        self._requests_due = 0.0
        self._tokens_due = 0.0
        self._queue: list[_Waiter] = []
        self._admitted = 0
        self._filled = 0
        self._numbers = itertools.count()
        self._tickets = itertools.count()
        self._random = random.Random()
        self._lock = threading.Lock()

    def ticket(self) -> int:
        """A place in the queue, for one answer; who has to ask again comes before those who never asked."""
        return next(self._tickets)

    async def enter(self, ticket: int, deadline: float | None = None) -> Pass:
        """Wait for a place.

        Args:
            ticket: from `ticket`.
            deadline: by `time.monotonic`; None: wait for as long as it takes.

        Raises:
            TimeoutError: the deadline came first.
        """
        waiter = _Waiter(ticket, next(self._numbers), asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            heapq.heappush(self._queue, waiter)
            self._admit()
        try:
            while waiter.place is None:
                now = time.monotonic()
                if deadline is not None and now >= deadline:
                    raise TimeoutError
                opens = self._opens(now)
                waits = [t - now for t in (opens if opens > now else None, deadline) if t is not None]
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(min(waits) if waits else None):
                        await waiter.wake.wait()
                waiter.wake.clear()
                with self._lock:
                    self._admit(waiter)
        except BaseException:
            with self._lock:
                if waiter.place is not None:
                    self.in_flight -= 1
                elif waiter in self._queue:
                    self._queue.remove(waiter)
                    heapq.heapify(self._queue)
                self._admit()
            raise
        return waiter.place

    def leave(
        self,
        place: Pass,
        *,
        ok: bool = False,
        refused: bool = False,
        overloaded: bool = False,
        wait: float | None = None,
        rates: Rates | None = None,
        tokens: int = 0,
    ) -> None:
        """Give a place back, with what became of the request.

        Args:
            place: from `enter`.
            ok: it was answered.
            refused: it was refused for its rate (429).
            overloaded: it failed in a way that fewer requests at once may cure.
            wait: seconds that the server asked to wait.
            rates: what its headers said.
            tokens: what it used.
        """
        with self._lock:
            now = time.monotonic()
            self.in_flight -= 1
            if ok:
                self._grow(place, tokens)
            if refused:
                self.refusals += 1
            if refused or overloaded:
                self._cut(place)
            if refused or wait is not None:
                pause = backoff(self._in_a_row or 1, self.pause_seconds, LONGEST_PAUSE, self._random)
                self._pause(now + (pause if wait is None else wait))
            if rates is not None:
                self._heed(rates, now)
            if self.tokens_per_minute:
                self._tokens_due = max(self._tokens_due, now) + tokens * 60.0 / self.tokens_per_minute
            self._admit()

    def _grow(self, place: Pass, tokens: int) -> None:
        self._in_a_row = 0
        self._mean_tokens = tokens if not self._mean_tokens else 0.8 * self._mean_tokens + 0.2 * tokens
        if self._filled >= place.number:  # a window that is not filled says nothing about a larger one
            self.window = min(float(self.most), self.window + (1.0 if self._searching else 1.0 / self.window))

    def _cut(self, place: Pass) -> None:
        """Halve the window, once for all that was on its way together."""
        self._searching = False
        if place.epoch == self._epoch:
            self._epoch += 1
            self._in_a_row += 1
            self.window = max(1.0, self.window / 2)

    def _heed(self, rates: Rates, now: float) -> None:
        if rates.requests == 0 and rates.requests_reset:
            self._pause(now + min(rates.requests_reset, LONGEST_PAUSE))
        if rates.tokens is not None and rates.tokens_reset and rates.tokens < self._mean_tokens:
            self._pause(now + min(rates.tokens_reset, LONGEST_PAUSE))

    def _pause(self, until: float) -> None:
        self.paused_until = max(self.paused_until, until)

    def _opens(self, now: float) -> float:
        """When the next request may go, as far as pauses and stated rates are concerned."""
        return max(self.paused_until, self._requests_due - BURST_SECONDS, self._tokens_due - BURST_SECONDS)

    def _admit(self, asking: _Waiter | None = None) -> None:
        """Let in whoever may go now; called with the lock held. The first in the queue keeps the clock for all: it is woken
        when the time to wait for may have changed, unless it is the one that is `asking`.
        """
        now = time.monotonic()
        while self._queue and self.in_flight < int(self.window) and self._opens(now) <= now:
            waiter = heapq.heappop(self._queue)
            if not waiter.call():
                continue
            self._admitted += 1
            waiter.place = Pass(self._epoch, self._admitted)
            self.in_flight += 1
            if self.in_flight >= int(self.window):
                self._filled = self._admitted
            if self.requests_per_minute:
                self._requests_due = max(self._requests_due, now) + 60.0 / self.requests_per_minute
        while self._queue and self._opens(now) > now and self._queue[0] is not asking and not self._queue[0].call():
            heapq.heappop(self._queue)
