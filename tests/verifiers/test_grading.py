"""Grading: scores, evidence, done status, and whose fault what is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forge.records import Criterion, DesktopError, Grading, PreparerError, Rubric, VerifierError
from verifiers.base import CHECKS, AgentFault, Args, Case, Finding, Tree, check
from verifiers.grading import ERROR_LIMIT, EVIDENCE_LIMIT, grade


class Says(Args):
    score: Any = 1.0
    evidence: str = "seen"


@pytest.fixture(autouse=True)
def _own_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECKS, "_items", dict(CHECKS._items))
    monkeypatch.setattr(CHECKS, "_loaded", True)

    @check("test.says", Says)
    def says(case: Case, args: Says) -> Finding:
        """Says what it is told to."""
        return Finding(args.score, args.evidence)


def raising(name: str, error: Callable[[Case], BaseException]) -> str:
    @check(name, Args)
    def fails(case: Case, args: Args) -> Finding:
        """Raises."""
        raise error(case)

    return name


@pytest.fixture
def case(tmp_path: Path) -> Case:
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
    return Case(before=Tree(tmp_path / "before"), after=Tree(tmp_path / "after"))


def must(name: str, score: Any = 1.0, weight: float = 1.0, kind: str = "must", check: str = "test.says") -> Criterion:
    args = {"score": score} if check == "test.says" else {}
    return Criterion(id=name, kind=kind, check=check, args=args, weight=weight)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("criteria", "score"),
    [
        ([must("a")], 1.0),
        ([must("a"), must("b", 0.0)], 0.5),
        ([must("a", weight=3), must("b", 0.0)], 0.75),
        ([must("a", 0.5, weight=2), must("b", 0.25, weight=2)], 0.375),
        ([must("a"), must("n", 1.0, kind="must_not")], 1.0),
        ([must("a"), must("n", 0.0, kind="must_not")], 0.0),
        ([must("a"), must("n", 0.99, kind="must_not")], 0.0),
        ([must("a"), must("j", 0.0, kind="judge", check="no.such")], 1.0),
        ([must("a", 1)], 1.0),
    ],
)
def test_the_score_is_the_weighted_share_of_must(case: Case, criteria: list[Criterion], score: float) -> None:
    verdict = grade(Rubric(criteria=tuple(criteria)), case)
    assert verdict.grading is Grading.GRADED
    assert verdict.score == score
    assert [v.criterion for v in verdict.criteria] == [c.id for c in criteria if c.kind != "judge"]
    assert all(v.evidence == "seen" for v in verdict.criteria)


@pytest.mark.parametrize("score", [1.5, -0.1, float("nan"), float("inf"), None, "1"])
def test_a_score_that_is_none_is_a_grader_error(case: Case, score: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECKS.get("test.says"), "run", lambda case, args: Finding(score, ""))
    verdict = grade(Rubric(criteria=(must("a"),)), case)
    assert (verdict.grading, verdict.score) == (Grading.GRADER_ERROR, None)
    assert "a score is a number in [0, 1]" in str(verdict.error)


@pytest.mark.parametrize(
    "error", [RuntimeError("bug"), VerifierError("bug"), DesktopError("bug"), PreparerError("bug"), MemoryError("bug")]
)
def test_any_exception_is_a_grader_error_and_the_other_criteria_still_run(case: Case, error: Exception) -> None:
    name = raising("test.fails", lambda case: error)
    verdict = grade(Rubric(criteria=(must("bad", check=name), must("good"))), case)
    assert (verdict.grading, verdict.score) == (Grading.GRADER_ERROR, None)
    assert [v.criterion for v in verdict.criteria] == ["good"]
    assert str(verdict.error).startswith("criterion bad (test.fails):")
    assert type(error).__name__ in str(verdict.error)
    assert "bug" in str(verdict.error)


def test_an_unknown_check_and_wrong_arguments_are_grader_errors(case: Case) -> None:
    wrong = Criterion(id="a", kind="must", check="test.says", args={"colour": 1})
    assert "did you mean test.says" in str(grade(Rubric(criteria=(must("a", check="test.say"),)), case).error)
    assert "colour" in str(grade(Rubric(criteria=(wrong,)), case).error)


def test_what_the_agent_broke_is_a_failure_and_what_we_broke_is_not(case: Case) -> None:
    (case.before.root / "a.txt").write_text("a")
    (case.after.root / "a.txt").write_text("a")

    for side in ("after", "before"):

        @check(f"test.{side}", Args)
        def reads(case: Case, args: Args, side: str = side) -> Finding:
            """Reads one side."""
            with getattr(case, side).reading("~/a.txt"):
                raise PreparerError("not a workbook")

    after = grade(Rubric(criteria=(must("a", check="test.after"), must("b"))), case)
    before = grade(Rubric(criteria=(must("a", check="test.before"), must("b"))), case)
    assert (after.grading, after.score) == (Grading.GRADED, 0.5)
    assert after.criteria[0].evidence == "~/a.txt cannot be read: not a workbook"
    assert (before.grading, before.score) == (Grading.GRADER_ERROR, None)
    assert "not a workbook" in str(before.error)


def test_an_unreadable_file_breaks_a_must_not(case: Case) -> None:
    name = raising("test.fault", lambda case: AgentFault("gone"))
    verdict = grade(Rubric(criteria=(must("a"), must("n", kind="must_not", check=name))), case)
    assert (verdict.grading, verdict.score) == (Grading.GRADED, 0.0)


@pytest.mark.parametrize("status", ["failure", "infeasible", ""])
def test_a_rubric_presupposes_success(case: Case, status: str) -> None:
    other = Case(before=case.before, after=case.after, status=status)
    verdict = grade(Rubric(criteria=(must("a"), must("n", kind="must_not"))), other)
    assert (verdict.grading, verdict.score) == (Grading.GRADED, 0.0)
    assert [v.score for v in verdict.criteria] == [0.0, 1.0]
    assert verdict.criteria[0].evidence == f"the agent ended with status {status!r}; the state itself: seen"


def test_long_evidence_and_long_tracebacks_are_cut(case: Case) -> None:
    long = Criterion(id="a", kind="must", check="test.says", args={"evidence": "x" * 100_000})
    verdict = grade(Rubric(criteria=(long,)), case)
    assert len(verdict.criteria[0].evidence) <= EVIDENCE_LIMIT
    assert verdict.criteria[0].evidence.endswith("(100000 chars)")
    name = raising("test.loud", lambda case: RuntimeError("y" * 100_000 + "the end"))
    error = str(grade(Rubric(criteria=(must("a", check=name),)), case).error)
    assert len(error) <= ERROR_LIMIT
    assert error.endswith("the end")


def test_an_interrupt_is_not_swallowed(case: Case) -> None:
    name = raising("test.interrupt", lambda case: KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        grade(Rubric(criteria=(must("a", check=name),)), case)
