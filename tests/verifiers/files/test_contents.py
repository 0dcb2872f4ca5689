"""`files.contents`: several files and the text of each."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from forge.records import Criterion, InputError, Rubric
from verifiers.base import CHECKS, Case, Finding
from verifiers.grading import grade
from verifiers.spoil import near_misses

Make = Callable[..., Case]
Run = Callable[..., Finding]

BEFORE = {"notes/a.txt": "old a\n", "notes/b.txt": "b is right\n", "notes/d.txt": "nobody's\n"}
WANTED = {"~/notes/a.txt": "new a\nsecond", "~/notes/b.txt": "b is right", "~/notes/c.txt": "c"}
SOLVED = {
    "notes/a.txt": "new a\r\nsecond \n\n",
    "notes/b.txt": "b is right\n",
    "notes/c.txt": "c\n",
    "notes/d.txt": "nobody's\n",
}


def changed(**files: str) -> dict[str, str]:
    return {**SOLVED, **{f"notes/{name}.txt": text for name, text in files.items()}}


@pytest.mark.parametrize(
    ("after", "score", "said"),
    [
        (SOLVED, 1, "3 of 3 files are right; 1 of them were before"),
        (BEFORE, 0, "1 of 3 files are right"),
        (changed(c="d"), 1 / 2, "~/notes/c.txt: line 1 is 'd', expected 'c'"),
        (changed(b="no more"), 1 / 2, "~/notes/b.txt: line 1 is 'no more', expected 'b is right'"),
        (changed(a="new a"), 1 / 2, "~/notes/a.txt: 1 lines, expected 2"),
        ({**BEFORE, "notes/b.txt": "x"}, 0, "~/notes/c.txt does not exist"),
        (changed(a="NEW  A\nsecond"), 1 / 2, "~/notes/a.txt: line 1"),
    ],
)
def test_the_score_is_the_share_of_files_that_became_right(
    after: dict[str, str], score: float, said: str, case: Make, run: Run
) -> None:
    finding = run(case(BEFORE, after), "files.contents", files=WANTED)
    assert finding.score == pytest.approx(score)
    assert said in finding.evidence


def test_a_list_says_the_same_as_a_mapping_and_loose_ignores_case(case: Make, run: Run) -> None:
    listed = [{"path": path, "text": text} for path, text in WANTED.items()]
    assert run(case(BEFORE, SOLVED), "files.contents", files=listed).score == 1
    assert run(case(BEFORE, changed(a="NEW  A\nsecond")), "files.contents", files=WANTED, match="loose").score == 1


def test_what_is_no_text_is_wrong_and_not_the_graders_fault(case: Make, run: Run) -> None:
    finding = run(case(BEFORE, {**SOLVED, "notes/c.txt": b"\xff\xfe\x00\x81"}), "files.contents", files=WANTED)
    assert finding.score == pytest.approx(1 / 2)


def test_a_text_that_stays_can_be_forbidden_to_change(case: Make) -> None:
    kept = {"~/notes/d.txt": "nobody's"}
    rubric = Rubric(
        criteria=(
            Criterion(id="it", kind="must", check="files.contents", args={"files": WANTED}),
            Criterion(id="kept", kind="must_not", check="files.contents", args={"files": kept}),
        )
    )
    assert grade(rubric, case(BEFORE, SOLVED)).score == 1
    assert grade(rubric, case(BEFORE, changed(d="mine"))).score == 0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("match", ["text", "loose"])
def test_near_misses_lose_and_only_they(seed: int, match: str, case: Make, survivors: Any) -> None:
    rubric = Rubric(
        criteria=(
            Criterion(id="it", kind="must", check="files.contents", args={"files": WANTED, "match": match}),
            Criterion(
                id="rest", kind="must_not", check="files.changed_elsewhere", args={"allow": [*WANTED]}
            ),
        )
    )  # fmt: skip
    made = case(BEFORE, SOLVED)
    assert survivors(rubric, made, seed) == []
    names = {s.near_miss.name for s in near_misses(rubric, made, seed)}
    assert {"it:one-line-more", "it:one-word-lost", "it:one-missing", "it:one-as-before"} <= names


def test_one_file_alone_has_near_misses_of_its_own(case: Make, survivors: Any) -> None:
    args = {"files": {"~/a.txt": "x"}}
    rubric = Rubric(
        criteria=(
            Criterion(id="it", kind="must", check="files.contents", args=args),
            Criterion(id="rest", kind="must_not", check="files.changed_elsewhere", args={"allow": ["~/a.txt"]}),
        )
    )
    made = case({"b.txt": "b"}, {"b.txt": "b", "a.txt": "x\n"})
    assert survivors(rubric, made) == []
    check = CHECKS.get("files.contents")
    assert check.mutants is not None
    found = list(check.mutants(made, check.validate(args), random.Random(1)))
    assert {m.name for m in found if m.audit} == {"one-emptied", "nonsense"}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "at least 1"),
        ({"notes/a.txt": "x"}, "below the guest's home"),
        ([{"path": "~/a"}], "has path and text"),
        ([{"path": "~/a", "text": "x"}, {"path": "~/a", "text": "y"}], "listed twice"),
        ({"~/a": 3}, "valid string"),
    ],
)
def test_bad_arguments_say_what_is_wrong(files: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        CHECKS.get("files.contents").validate({"files": files})
