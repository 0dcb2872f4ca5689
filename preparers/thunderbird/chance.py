"""Draws made of `rng.random()` alone, the one method that is the same on every Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def pick(rng: random.Random, items: Sequence[T]) -> T:
    """One item."""
    return items[whole(rng, 0, len(items) - 1)]


def whole(rng: random.Random, low: int, high: int) -> int:
    """A whole number from low to high, both included."""
    return min(low + int(rng.random() * (high - low + 1)), high)


def some(rng: random.Random, items: Sequence[T], count: int) -> list[T]:
    """So many different items, in random order (all of them where there are fewer)."""
    pool = list(items)
    return [pool.pop(whole(rng, 0, len(pool) - 1)) for _ in range(min(count, len(pool)))]
