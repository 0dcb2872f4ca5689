"""Feedback: what a student's results say about which skills need more tasks, and which are worth no more.

Rates are judged by their confidence interval and not by themselves: Wilson's score interval (E. B. Wilson, Probable
inference, the law of succession, and statistical inference, JASA 22, 1927), which is sound for few trials and for rates
near 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
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
        share: of the next round's tasks; all shares sum to 1 (0 where every skill is retired). A retired skill has none,
            unless it was asked for by name.
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


def standings(results: Iterable[tuple[str, int, int]], named: Collection[str] = ()) -> list[Standing]:
    """What (skill, trials, passes) come to, sorted by skill.

    The weight of an active skill is what it may still lack: 1 less the lower bound of its rate. Weak and little tried skills
    get more of the next round, well mastered ones less. A retired one weighs nothing, unless it is `named`.
    """
    rows = []
    for skill, trials, passes in sorted(results):
        low, high = wilson(passes, trials)
        state: State = "active"
        if trials >= ENOUGH:
            state = "mastered" if low >= MASTERED else "hopeless" if high <= HOPELESS else "active"
        weight = max(LEAST, 1 - low) if state == "active" or skill in named else 0.0
        rows.append((skill, trials, passes, low, high, state, weight))
    total = math.fsum(row[-1] for row in rows) or 1.0
    return [Standing(*row[:-1], share=row[-1] / total) for row in rows]


def apportion(found: Iterable[Standing], tasks: int) -> dict[str, int]:
    """How many of `tasks` each skill gets: by share, largest remainders first, but one at least where it has a share at all.

    Exact, so that equal shares of a multiple of their number are equal counts. Where there are fewer tasks than skills with
    a share, each of these gets one all the same.
    """
    shares = {s.skill: Fraction(s.share) for s in found}
    counts = dict.fromkeys(shares, 0)
    live = {skill: share for skill, share in shares.items() if share > 0}
    left = tasks
    while live:
        quotas = {skill: share * left / sum(live.values()) for skill, share in live.items()}
        small = [skill for skill, quota in quotas.items() if quota < 1]
        if not small:
            counts |= {skill: math.floor(quota) for skill, quota in quotas.items()}
            spare = left - sum(counts[skill] for skill in quotas)
            for skill in sorted(quotas, key=lambda name: (counts[name] - quotas[name], name))[:spare]:
                counts[skill] += 1
            break
        for skill in small:
            counts[skill] = 1
            del live[skill]
        left = max(0, left - len(small))
    return counts
