"""Verdicts: what a grader found, per criterion, with evidence that a person can read."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from forge.records.base import Record


class Grading(StrEnum):
    """Whether a verdict could be reached; kept apart from the reward."""

    GRADED = "graded"
    GRADER_ERROR = "grader_error"
    NOT_GRADABLE = "not_gradable"


class CriterionVerdict(Record):
    """The score of one criterion in [0, 1] and why."""

    criterion: str
    check: str
    kind: str
    score: float = Field(ge=0, le=1)
    evidence: str
    weight: float = 1.0


class Verdict(Record):
    """The score of a final state, or why there is none."""

    grading: Grading
    score: float | None = Field(None, ge=0, le=1)
    criteria: tuple[CriterionVerdict, ...] = ()
    error: str | None = Field(None, description="the traceback's last lines, when grading is grader_error")

    @property
    def passed(self) -> bool:
        """Graded, with full score."""
        return self.grading is Grading.GRADED and self.score == 1.0
