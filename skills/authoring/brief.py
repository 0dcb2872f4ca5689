"""What an author is asked for, and what came of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal

from forge.records import Skill

Mode = Literal["workflow", "task"]
"""`workflow`: one reusable workflow for the skill. `task`: a single task from scratch, the baseline to compare with."""


class Outcome(StrEnum):
    """How an authoring run ended."""

    AUTHORED = "authored"
    NEEDS_PREPARER = "needs_preparer"
    """the initial state cannot be made with the preparers that there are"""
    NEEDS_CHECK = "needs_check"
    """what must be true at the end cannot be graded with the checks that there are"""
    NOT_VERIFIABLE = "not_verifiable"
    """the skill leaves nothing that could be checked"""
    GAVE_UP = "gave_up"
    BUDGET = "budget"
    """steps, tokens, money or time were used up"""
    ENDPOINT_DOWN = "endpoint_down"
    """the endpoint does not answer; the run can be taken up again"""


@dataclass(frozen=True)
class Limits:
    """What one authoring run may use: model turns, seconds, and tokens of all its calls (held by the model's budget)."""

    steps: int = 40
    tokens: int = 600_000
    seconds: float = 3600.0


@dataclass(frozen=True)
class Brief:
    """One authoring job.

    Args:
        skill: what is to be authored.
        mode: see `Mode`.
        lessons: short things learnt from earlier runs for these applications.
        limits: see `Limits`.
        smoke: draws of the smoke batch before promotion.
    """

    skill: Skill
    mode: Mode = "workflow"
    lessons: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    smoke: int = 10


@dataclass
class Report:
    """What came of an authoring run; a row of the warehouse, where the ledger's sums stand beside it.

    Attributes:
        outcome: how it ended.
        reason: in a sentence or two.
        mend: how to put it right, where an endpoint failed.
        version: of the promoted workflow.
        steps: turns of the author.
        lessons: what the author wants the next one to know.
        readers: what blind readers found, with what was said to it.
        acceptance: the accepted share of the last smoke batch; None without one.
    """

    outcome: Outcome
    reason: str = ""
    version: str | None = None
    steps: int = 0
    seconds: float = 0.0
    lessons: list[str] = field(default_factory=list)
    readers: list[dict[str, Any]] = field(default_factory=list)
    acceptance: float | None = None
    mend: str = ""

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {**asdict(self), "outcome": str(self.outcome)}
