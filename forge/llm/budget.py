"""Budgets: what may be spent, reserved before every call and settled after it, so that no limit is passed.

A budget may lie inside another: a run has one, a stage or a workflow has one within it, and a call has to fit all of them. A call
reserves what it may use at most; where that no longer fits while others are on their way, it waits for them to be
settled. Near the end an answer is held to the tokens that are left. What this does not cover: a server that counts more than
it was allowed to use, and the two seconds after which processes of the same run see what the others spent.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from forge.llm.endpoint import Prices
from forge.records import BudgetError, Usage

FEWEST_TOKENS = 16
"""An answer that has to be shorter than this is not asked for."""

SYNC_SECONDS = 2.0

Spent = tuple[int, float]
"""(tokens, US dollars)."""


@dataclass(frozen=True)
class Projection:
    """Where a budget is heading.

    Args:
        tokens, usd: expected at the end.
        fits: whether that is within the limits.
    """

    tokens: int
    usd: float
    fits: bool

    def __str__(self) -> str:
        return f"~{self.tokens:,} tokens, ${self.usd:.2f} at the end{'' if self.fits else ', MORE THAN THE BUDGET'}"


@dataclass(frozen=True)
class Reservation:
    """What one call may use: `completion` new tokens, held to that by the budget `capped_by`, where it is one."""

    tokens: int
    usd: float
    completion: int
    capped_by: Budget | None = None


class Budget:
    """What may be spent, shared by any number of clients, threads and event loops.

    Args:
        tokens: prompt and completion tokens together; None: no limit.
        usd: US dollars; None: no limit.
        name: for messages: "run", "stage author".
        inside: the budget that this one is a part of.
        source: what was spent under this name so far by anybody, open calls included (`warehouse.ledger.spent`); None: only
            what is settled here counts.
    """

    def __init__(
        self,
        *,
        tokens: int | None = None,
        usd: float | None = None,
        name: str = "",
        inside: Budget | None = None,
        source: Callable[[], Spent] | None = None,
    ):
        self.tokens = tokens
        self.usd = usd
        self.name = name
        self.inside = inside
        self._source = source
        self._base: Spent = (0, 0.0)
        self._own: Spent = (0, 0.0)
        self._reserved: Spent = (0, 0.0)
        self._synced = 0.0
        self._lock: threading.RLock = inside._lock if inside else threading.RLock()

    @property
    def spent_tokens(self) -> int:
        """Tokens settled so far."""
        return self._base[0] + self._own[0]

    @property
    def spent_usd(self) -> float:
        """US dollars settled so far."""
        return self._base[1] + self._own[1]

    @property
    def limited(self) -> bool:
        """Whether this budget, or one around it, has a limit."""
        return any(b.tokens is not None or b.usd is not None for b in self._all())

    @property
    def limited_in_usd(self) -> bool:
        """Whether money is limited, so that prices have to be known."""
        return any(b.usd is not None for b in self._all())

    def part(
        self,
        name: str,
        *,
        tokens: int | None = None,
        usd: float | None = None,
        source: Callable[[], Spent] | None = None,
    ) -> Budget:
        """A budget within this one, for a stage or a workflow."""
        return Budget(tokens=tokens, usd=usd, name=name, inside=self, source=source)

    def project(self, done: int, total: int) -> Projection:
        """What will have been spent after `total` items, going by the `done` ones."""
        factor = total / done if done else 1.0
        tokens, usd = round(self.spent_tokens * factor), self.spent_usd * factor
        fits = (self.tokens is None or tokens <= self.tokens) and (self.usd is None or usd <= self.usd)
        return Projection(tokens, usd, fits)

    def share_left(self) -> float:
        """The smallest share, 0 to 1, that is left of this budget and of those around it; 1 where nothing is limited."""
        with self._lock:
            left = [1.0]
            for budget in self._all():
                budget._sync()
                if budget.tokens is not None:
                    left.append(1.0 - budget.spent_tokens / budget.tokens if budget.tokens else 0.0)
                if budget.usd is not None:
                    left.append(1.0 - budget.spent_usd / budget.usd if budget.usd else 0.0)
            return max(0.0, min(left))

    def check(self) -> None:
        """Raises BudgetError when nothing is left."""
        with self._lock:
            for budget in self._all():
                budget._sync()
                if budget.tokens is not None and budget.spent_tokens >= budget.tokens:
                    raise budget.used_up("nothing is left")
                if budget.usd is not None and budget.spent_usd >= budget.usd:
                    raise budget.used_up("nothing is left")

    async def reserve(self, prompt: int, completion: int, prices: Prices) -> Reservation:
        """Reserve what a call may use at most; waits while calls of this process that are on their way may leave enough.

        Args:
            prompt: tokens of the request, at most.
            completion: new tokens, at most.
            prices: what they cost.

        Raises:
            BudgetError: it does not fit, nor would a short answer.
        """
        while True:
            with self._lock:
                found = self._try(prompt, completion, prices)
            if found is not None:
                return found
            await asyncio.sleep(0.05)

    def settle(self, reservation: Reservation, usage: Usage, usd: float) -> None:
        """Turn a reservation into what was used."""
        with self._lock:
            for budget in self._all():
                budget._reserved = _plus(budget._reserved, (-reservation.tokens, -reservation.usd))
                budget._own = _plus(budget._own, (usage.total, usd))

    def used_up(self, what: str) -> BudgetError:
        """The error that ends the work."""
        limits = [f"{self.tokens} tokens"] if self.tokens is not None else []
        limits += [f"${self.usd:g}"] if self.usd is not None else []
        name = f" of {self.name}" if self.name else ""
        return BudgetError(
            f"the budget{name} ({' and '.join(limits)}) is used up: {what}", mend="raise it; finished work is kept"
        )

    def _try(self, prompt: int, completion: int, prices: Prices) -> Reservation | None:
        """A reservation, None where others have to be settled first. Raises BudgetError."""
        self.check()
        wanted, capped_by = completion, None
        for budget in self._all():
            left = budget._affordable(prompt, prices)
            if left >= wanted:
                continue
            if budget._reserved[0] > 0:
                return None
            if left < min(FEWEST_TOKENS, wanted):
                raise budget.used_up("too little is left for the next call")
            wanted, capped_by = left, budget
        tokens, usd = prompt + wanted, prices.cost(Usage(prompt_tokens=prompt, completion_tokens=wanted))
        for budget in self._all():
            budget._reserved = _plus(budget._reserved, (tokens, usd))
        return Reservation(tokens, usd, wanted, capped_by)

    def _affordable(self, prompt: int, prices: Prices) -> int:
        """New tokens that fit after the prompt; negative when not even that does."""
        found = 2**62
        if self.tokens is not None:
            found = self.tokens - self.spent_tokens - self._reserved[0] - prompt
        if self.usd is not None:
            money = self.usd - self.spent_usd - self._reserved[1] - prompt * prices.prompt / 1e6
            if money < 0:
                return -1
            if prices.completion > 0:
                found = min(found, int(money * 1e6 / prices.completion))
        return found

    def _sync(self) -> None:
        """Count what other processes, and this run before it was killed, have spent."""
        if self._source is None or time.monotonic() - self._synced < SYNC_SECONDS:
            return
        tokens, usd = self._source()
        self._base = (max(0, tokens - self._reserved[0]), max(0.0, usd - self._reserved[1]))
        self._own = (0, 0.0)
        self._synced = time.monotonic()

    def _all(self) -> Iterator[Budget]:
        budget: Budget | None = self
        while budget is not None:
            yield budget
            budget = budget.inside


def _plus(one: Spent, other: Spent) -> Spent:
    return one[0] + other[0], one[1] + other[1]
