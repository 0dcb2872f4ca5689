"""Feedback: what a student's results say about which skills need more tasks, and which are worth no more.

Rates are judged by their confidence interval and not by themselves: Wilson's score interval (E. B. Wilson, Probable
inference, the law of succession, and statistical inference, JASA 22, 1927), which is sound for few trials and for rates
near 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Z = 1.959964
"""Standard normal quantile of a two-sided 95 % interval."""

ENOUGH = 20
"""Trials before a skill may be retired."""
MASTERED, HOPELESS = 0.95, 0.05
"""A skill is retired when its whole interval lies above, or below, these rates."""
LEAST = 0.1
"""Weight of the best mastered skill that is not retired; a skill that was never tried has 1."""

State = Literal["active", "mastered", "hopeless"]


@dataclass(frozen=True)
class Standing:
    """One skill's standing after a round.

    Attributes:
        skill: its id.
        trials, passes: graded episodes of the student, and those of reward 1.
        low, high: bounds of its pass rate.
        state: `mastered` and `hopeless` skills are retired: they teach no more, or nothing yet.
        share: of the next round's tasks; all shares sum to 1 (0 where every skill is retired).
    """

    skill: str
    trials: int
    passes: int
    low: float
    high: float
    state: State
    share: float


def wilson(passes: int, trials: int, z: float = Z) -> tuple[float, float]:
    """Bounds of a rate after `trials` with `passes`; (0, 1) without any. Raises ValueError for impossible counts."""
    if not 0 <= passes <= trials:
        raise ValueError(f"{passes} passes of {trials} trials cannot be")
    if trials == 0:
        return 0.0, 1.0
    rate, square = passes / trials, z * z
    middle = (rate + square / (2 * trials)) / (1 + square / trials)
    reach = z / (1 + square / trials) * math.sqrt(rate * (1 - rate) / trials + square / (4 * trials * trials))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def standings(results: Iterable[tuple[str, int, int]]) -> list[Standing]:
    """What (skill, trials, passes) come to, sorted by skill.

    The weight of an active skill is what it may still lack: 1 less the lower bound of its rate. Weak and little tried skills
    get more of the next round, well mastered ones less.
    """
    rows = []
    for skill, trials, passes in sorted(results):
        low, high = wilson(passes, trials)
        state: State = "active"
        if trials >= ENOUGH:
            state = "mastered" if low >= MASTERED else "hopeless" if high <= HOPELESS else "active"
        rows.append((skill, trials, passes, low, high, state, max(LEAST, 1 - low) if state == "active" else 0.0))
    total = math.fsum(row[-1] for row in rows) or 1.0
    return [Standing(*row[:-1], share=row[-1] / total) for row in rows]


def allot(found: Iterable[Standing], tasks: int) -> dict[str, int]:
    """How many of `tasks` each skill gets: by share, largest remainders first; retired skills get none."""
    active = [s for s in found if s.share > 0]
    exact = {s.skill: s.share * tasks for s in active}
    counts = {skill: math.floor(value) for skill, value in exact.items()}
    left = tasks - sum(counts.values()) if active else 0
    for skill in sorted(exact, key=lambda name: (counts[name] - exact[name], name))[:left]:
        counts[skill] += 1
    return counts
