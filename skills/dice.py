"""Seeded chance that is the same on every machine and Python.

Only `random.Random.random()` is promised to stay as it is between Python versions; the helpers built on it (choice,
shuffle, sample ...) have changed before. `Dice` makes all of them from `random()` alone, so that code that is given a
`random.Random` (the data modules of preparers) stays reproducible too.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Iterable, MutableSequence, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from forge.records import canonical_json

if TYPE_CHECKING:
    from _typeshed import SupportsLenAndGetItem

T = TypeVar("T")


def seed_of(*parts: Any) -> int:
    """A 64-bit seed from JSON values: equal parts, equal seed, everywhere."""
    return int.from_bytes(hashlib.sha256(canonical_json(parts).encode()).digest()[:8], "big")


class Dice(random.Random):
    """A generator whose every method is built on `random()`.

    Args:
        parts: JSON values that name the draw: workflow version, seed, node.
    """

    def __new__(cls, *parts: Any) -> Dice:  # random.Random hashes its argument here, which parts need not allow
        return super().__new__(cls)

    def __init__(self, *parts: Any):
        super().__init__(seed_of(*parts))

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """A whole number of `range(start, stop, step)`."""
        numbers = range(start) if stop is None else range(start, stop, step)
        if not numbers:
            raise ValueError(f"there is no number in {numbers}")
        return numbers[self._below(len(numbers))]

    def randint(self, a: int, b: int) -> int:
        """A whole number from a to b, both included."""
        return self.randrange(a, b + 1)

    def choice(self, seq: SupportsLenAndGetItem[T]) -> T:
        """One item."""
        return seq[self._below(len(seq))]

    def choices(
        self,
        population: SupportsLenAndGetItem[T],
        weights: Sequence[float | Fraction] | None = None,
        *,
        cum_weights: Sequence[float | Fraction] | None = None,
        k: int = 1,
    ) -> list[T]:
        """k items, each drawn from all."""
        if cum_weights is not None:
            weights = [high - low for low, high in zip([0, *cum_weights], cum_weights, strict=False)]
        if weights is None:
            return [self.choice(population) for _ in range(k)]
        return [population[self._weighted(weights)] for _ in range(k)]

    def sample(self, population: Sequence[T], k: int, *, counts: Iterable[int] | None = None) -> list[T]:
        """k different items, in random order."""
        pool = list(population)
        if counts is not None:
            pool = [item for item, count in zip(pool, counts, strict=True) for _ in range(count)]
        if not 0 <= k <= len(pool):
            raise ValueError(f"{k} of {len(pool)} items cannot be drawn")
        for place in range(k):
            other = place + self._below(len(pool) - place)
            pool[place], pool[other] = pool[other], pool[place]
        return pool[:k]

    def shuffle(self, x: MutableSequence[Any]) -> None:
        """Put the items into random order, in place."""
        x[:] = self.sample(x, len(x))

    def uniform(self, a: float, b: float) -> float:
        """A number between a and b."""
        return a + (b - a) * self.random()

    def gauss(self, mu: float = 0.0, sigma: float = 1.0) -> float:
        """A number of the normal distribution (Box and Muller)."""
        radius = math.sqrt(-2.0 * math.log(1.0 - self.random()))
        return mu + sigma * radius * math.cos(2.0 * math.pi * self.random())

    def normalvariate(self, mu: float = 0.0, sigma: float = 1.0) -> float:
        """As `gauss`."""
        return self.gauss(mu, sigma)

    def _below(self, count: int) -> int:
        if count < 1:
            raise ValueError("there is nothing to draw from")
        return min(int(self.random() * count), count - 1)

    def _weighted(self, weights: Sequence[float | Fraction]) -> int:
        mark = self.random() * math.fsum(weights)
        for place, weight in enumerate(weights):
            mark -= weight
            if mark < 0:
                return place
        return max(place for place, weight in enumerate(weights) if weight > 0)


def pick(items: Sequence[T], *parts: Any) -> T:
    """One item, chosen so that a growing list changes few choices (rendezvous hashing).

    Every item's hash with `parts` is a ticket and the highest wins; a new item only takes the draws that it wins itself,
    one in n. Equal items count once.
    """
    if not items:
        raise ValueError("there is nothing to pick from")
    return max(items, key=lambda item: (seed_of(*parts, item), canonical_json(item)))


def pick_many(items: Sequence[T], count: int, *parts: Any) -> list[T]:
    """`count` different items as `pick` chooses them, best ticket first."""
    unique = list({canonical_json(item): item for item in items}.values())
    if count > len(unique):
        raise ValueError(f"{count} different ones are wanted, there are {len(unique)}")
    return sorted(unique, key=lambda item: (seed_of(*parts, item), canonical_json(item)), reverse=True)[:count]
