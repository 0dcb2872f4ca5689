"""Criteria that no near-miss broke alone are named, with what was tried."""

from __future__ import annotations

from typing import Any

from forge.records import (
    Criterion,
    CriterionVerdict,
    Grading,
    NearMiss,
    Probe,
    ProbeKind,
    Rubric,
    Verdict,
)
from verifiers.coverage import uncovered

RUBRIC = Rubric(
    criteria=(
        Criterion(id="total", kind="must", check="calc.formula", args={}),
        Criterion(id="name", kind="must", check="files.exists", args={}),
        Criterion(id="rest", kind="must_not", check="files.changed_elsewhere", args={}),
    )
)
SOLVED = Probe(task="t", kind=ProbeKind.SOLUTION, name="terminal#1", expected="1", passed=True, score=1.0)


def miss(name: str, *, passed: bool = True, only: bool = True, score: float = 0.5, **more: Any) -> Probe:
    breaks = name.partition(":")[0]
    verdict = Verdict(
        grading=Grading.GRADED,
        score=score,
        criteria=(
            CriterionVerdict(criterion=breaks, check="x", kind="must", score=2 * score - 1, evidence="e", weight=1),
        ),
    )
    return Probe(
        task="t", kind=ProbeKind.NEAR_MISS, name=name, expected="loses", passed=passed, score=score, verdict=verdict,
        near_miss=NearMiss(name=name, breaks=(breaks,), only=only), **more,
    )  # fmt: skip


def test_covered_criteria_are_not_named() -> None:
    assert uncovered(RUBRIC, [SOLVED, miss("total:short"), miss("name:gone")]) == {}


def test_each_uncovered_one_comes_with_what_was_tried_and_what_it_scored() -> None:
    found = uncovered(
        RUBRIC,
        [
            SOLVED,
            miss("total:short", passed=False, score=1.0, evidence="total kept its score 1"),
            miss("total:typed", dropped=True),
            miss("total:moved", only=False),
        ],
    )
    assert found == {
        "total": "no near-miss broke total (calc.formula) alone; tried: short (score 1, total itself 1: total kept its "
        "score 1); typed (by chance the solved state); moved (score 0.5, total itself 0; it may break others too and does "
        "not count)",
        "name": "no near-miss broke name (files.exists) alone; tried: none, its check found nothing to spoil in the "
        "solved state",
    }


def test_without_a_solution_nothing_was_spoiled_and_nothing_is_told() -> None:
    assert uncovered(RUBRIC, [SOLVED.model_copy(update={"passed": False})]) == {}
