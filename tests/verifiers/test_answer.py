"""Checks of answers, and the near-misses that they must notice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.records import Criterion, Guest, InputError, ProbeKind, Rubric
from verifiers.answer import Equals
from verifiers.base import CHECKS, Case, Tree
from verifiers.grading import grade
from verifiers.spoil import near_misses


def score(answer: str | None, home: Path, **args: Any) -> float:
    case = Case(before=Tree(home), after=Tree(home), answer=answer, guest=Guest())
    rubric = Rubric(criteria=(Criterion(id="answer", kind="must", check="answer.equals", args=args),))
    verdict = grade(rubric, case)
    assert verdict.error is None
    assert verdict.score is not None
    return verdict.score


@pytest.mark.parametrize(
    ("args", "right", "wrong"),
    [
        (
            {"kind": "number", "expected": 1234.5, "decimals": 2, "unit": "EUR"},
            ["1234.50", "1,234.50 €", "1234.5", "The total is 1.234,50 Euro.", "1234.500"],
            ["1234.51", "-1234.5", "1234.5 or 1234.6", "$1234.50", "1234.5003", "one", "", None, "12345", "1234"],
        ),
        (
            {"kind": "number", "expected": 7},
            ["7", "7.0", "There are 7 files.", "+7"],
            ["8", "-7", "0.7", "7 of 9", "seven", "B7"],
        ),
        ({"kind": "number", "expected": 0.3333, "tolerance": 0.01}, ["0.33", "0.34", "33.33e-2"], ["0.35", "1/3"]),
        ({"kind": "number", "expected": 2.675, "decimals": 2}, ["2.67", "2.68"], ["2.675", "2.66"]),
        ({"kind": "number", "expected": 12.5, "unit": "%"}, ["12.5 %", "12,5%", "12.5"], ["0.125", "12.5 kg"]),
        ({"kind": "text", "expected": "Jordan Miller"}, ["jordan miller.", "'Jordan  Miller'"], ["Jordan", "Jordan Miller, Kim"]),
        ({"kind": "text", "expected": "README", "case": True}, ["README", " README\n"], ["readme", "README.md"]),
        (
            {"kind": "date", "expected": "2026-03-16"},
            ["16 March 2026", "Monday, March 16, 2026", "2026-03-16", "03/16/2026"],
            ["17 March 2026", "Tuesday, March 16, 2026", "2026-03-16 or 2026-03-17", "16 March", "soon"],
        ),
        (
            {"kind": "list", "expected": ["Ada Lovelace", "Alan Turing", "Grace Hopper"]},
            [
                "Ada Lovelace, Alan Turing, Grace Hopper",
                "Grace Hopper, Alan Turing and Ada Lovelace",
                "- Alan Turing\n- Grace Hopper\n- Ada Lovelace",
                "1. Alan Turing\n2. Grace Hopper\n3. Ada Lovelace",
                '["Alan Turing", "Grace Hopper", "Ada Lovelace"]',
                "Alan Turing; Grace Hopper; Ada Lovelace",
                "Ada Lovelace, Alan Turing, and Grace Hopper.",
            ],
            ["Ada Lovelace, Alan Turing", "Ada Lovelace, Alan Turing, Grace Hopper, Kim", "Ada Lovelace", "[1, 2", "{}"],
        ),
        (
            {"kind": "list", "expected": ["b", "a"], "ordered": True},
            ["b, a", "b\na"],
            ["a, b", "b, a, b"],
        ),
        (
            {"kind": "list", "expected": [3, 1250.5]},
            ["3, 1250.50", "1,250.50; 3", "3 and 1250.5", "3\n1'250.5", "[1250.5, 3]"],
            ["3", "3, 1250", "3, 3, 1250.5", "4, 1250.5"],
        ),
        ({"kind": "list", "expected": ["Smith, Jones and Partners", "Kim"]}, ["Kim; Smith, Jones and Partners"], ["Kim"]),
    ],
)  # fmt: skip
def test_right_and_wrong_answers(
    args: dict[str, Any], right: list[str], wrong: list[str | None], tmp_path: Path
) -> None:
    assert {answer: score(answer, tmp_path, **args) for answer in right} == dict.fromkeys(right, 1.0)
    assert {answer: score(answer, tmp_path, **args) for answer in wrong} == dict.fromkeys(wrong, 0.0)


@pytest.mark.parametrize(
    ("args", "answer"),
    [
        ({"kind": "number", "expected": 1234.5, "decimals": 2, "unit": "EUR", "neighbours": [1243.5, 9]}, "1234.50"),
        ({"kind": "number", "expected": 0}, "0"),
        ({"kind": "number", "expected": -3, "tolerance": 1}, "-3"),
        ({"kind": "number", "expected": 0.3333, "tolerance": 0.5, "unit": "kg"}, "0.3333 kg"),
        ({"kind": "number", "expected": 2.675, "decimals": 2, "unrounded": 2.67512}, "2.68"),
        ({"kind": "number", "expected": 5, "decimals": 0, "unrounded": 5.0}, "5"),
        ({"kind": "text", "expected": "Jordan Miller", "neighbours": ["Kim", "Lee"]}, "jordan miller"),
        ({"kind": "text", "expected": "x"}, "x"),
        ({"kind": "text", "expected": "ab"}, "ab"),
        ({"kind": "date", "expected": "2026-03-16", "neighbours": ["2026-03-01"]}, "March 16, 2026"),
        ({"kind": "date", "expected": "2024-02-29"}, "2024-02-29"),
        ({"kind": "list", "expected": ["a", "b", "c"], "neighbours": ["d"]}, "c, b, a"),
        ({"kind": "list", "expected": ["a", "b", "a"], "ordered": True}, "a, b, a"),
        ({"kind": "list", "expected": [1, 2]}, "1, 2"),
        ({"kind": "list", "expected": ["only"]}, "only"),
    ],
)
def test_near_misses_are_noticed(args: dict[str, Any], answer: str, tmp_path: Path, survivors: Any) -> None:
    criterion = Criterion(id="answer", kind="must", check="answer.equals", args=args, says="how many")
    rubric = Rubric(criteria=(criterion,))
    case = Case(before=Tree(tmp_path), after=Tree(tmp_path), answer=answer)
    for seed in range(3):
        assert survivors(rubric, case, seed) == []
    kinds = {s.kind for s in near_misses(rubric, case, 0)}
    assert kinds == {ProbeKind.NEAR_MISS, ProbeKind.AUDIT}


def test_infeasible_is_right_only_where_it_is_asked_for(tmp_path: Path, survivors: Any) -> None:
    rubric = Rubric(criteria=(Criterion(id="said-so", kind="must", check="answer.infeasible"),))
    cases = {
        s: Case(before=Tree(tmp_path), after=Tree(tmp_path), status=s) for s in ("success", "failure", "infeasible")
    }
    scores = {status: grade(rubric, case).score for status, case in cases.items()}
    assert scores == {"success": 0.0, "failure": 0.0, "infeasible": 1.0}
    assert survivors(rubric, cases["infeasible"]) == []


@pytest.mark.parametrize(
    "args",
    [
        {"kind": "number", "expected": "7"},
        {"kind": "number", "expected": True},
        {"kind": "text", "expected": " "},
        {"kind": "date", "expected": "March"},
        {"kind": "list", "expected": []},
        {"kind": "number", "expected": float("inf")},
        {"kind": "colour", "expected": "red"},
    ],
)
def test_what_cannot_be_expected_is_refused(args: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"check answer\.equals"):
        CHECKS.get("answer.equals").validate(args)


def test_evidence_says_what_was_compared(tmp_path: Path) -> None:
    case = Case(before=Tree(tmp_path), after=Tree(tmp_path), answer="12 or 13")
    finding = CHECKS.get("answer.equals").run(case, Equals(kind="number", expected=12))
    assert finding.evidence == "answered '12 or 13'; expected 12: the answer holds 2 numbers, one was asked for"
