"""Rubrics: weighted criteria over the final state, the answer and the done status."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from forge.records.base import JSON, Record


class Criterion(Record):
    """One criterion: a check with its arguments and the span of the instruction that it grades.

    `must` earns its weight, `must_not` forbids collateral damage (its check scores 1 while the damage is absent),
    `judge` is a model's opinion with evidence: stored apart, never part of the score.
    """

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    kind: Literal["must", "must_not", "judge"]
    check: str
    args: dict[str, JSON] = Field(default_factory=dict)
    weight: float = Field(1.0, gt=0, le=100)
    says: str = Field("", description="the words of the instruction that this criterion grades, verbatim")


class Rubric(Record):
    """All criteria of a task. Score = weighted share of `must`, times 0 if a `must_not` is broken; finite, in [0, 1]."""

    criteria: tuple[Criterion, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _ids_are_unique_and_a_must_exists(self) -> Rubric:
        ids = [c.id for c in self.criteria]
        if len(set(ids)) != len(ids):
            raise ValueError(f"criterion ids must be unique, got {ids}")
        if not any(c.kind == "must" for c in self.criteria):
            raise ValueError("a rubric needs at least one `must`; without one every state would score the same")
        return self

    def score(self, scores: dict[str, float]) -> float:
        """Combine the criteria's scores (criterion id to a number in [0, 1]) into the task's score.

        Raises:
            KeyError: a `must` or `must_not` has no score.
        """
        musts = [c for c in self.criteria if c.kind == "must"]
        total = sum(c.weight for c in musts)
        earned = sum(c.weight * scores[c.id] for c in musts)
        intact = all(scores[c.id] >= 1.0 for c in self.criteria if c.kind == "must_not")
        share = earned / total if intact else 0.0
        return 1.0 if share > 1.0 - 1e-9 else max(0.0, share)
