"""Near-misses of a rubric: names, kinds, what holds for any task, and when one counts as noticed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.records import Criterion, CriterionVerdict, Grading, NearMiss, ProbeKind, Rubric, Verdict, VerifierError
from verifiers.base import CHECKS, Args, Case, Finding, Mutant, Tree, check, mutants
from verifiers.grading import grade, grader_error
from verifiers.spoil import killed, near_misses, without_own_mutant


class Path_(Args):
    path: str


@pytest.fixture(autouse=True)
def _own_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECKS, "_items", dict(CHECKS._items))

    @check("test.says_done", Path_)
    def says_done(case: Case, args: Path_) -> Finding:
        """The file says done."""
        return Finding(float(case.after.read(args.path) == b"done"), "read it")

    @mutants("test.says_done")
    def spoil(case: Case, args: Path_, rng: random.Random) -> Iterator[Mutant]:
        yield Mutant("other-text", lambda home: (home / args.path[2:]).write_text(f"{rng.random()}") and None)
        yield Mutant("capitals", lambda home: (home / args.path[2:]).write_text("DONE") and None, audit=True)
        yield Mutant("broad", lambda home: (home / args.path[2:]).unlink(), only=False)

    @check("test.untouched", Path_)
    def untouched(case: Case, args: Path_) -> Finding:
        """The file is as it was."""
        return Finding(float(case.after.read(args.path) == case.before.read(args.path)), "compared")

    @mutants("test.untouched")
    def touch(case: Case, args: Path_, rng: random.Random) -> Iterator[Mutant]:
        yield Mutant("edited", lambda home: (home / args.path[2:]).write_text("edited") and None)
        yield Mutant("gone", lambda home: (home / args.path[2:]).unlink(), audit=True)

    @check("test.bare", Path_)
    def bare(case: Case, args: Path_) -> Finding:
        """Has no mutants."""
        return Finding(1.0, "")


RUBRIC = Rubric(
    criteria=(
        Criterion(id="done", kind="must", check="test.says_done", args={"path": "~/a.txt"}, says="done"),
        Criterion(id="rest", kind="must_not", check="test.untouched", args={"path": "~/b.txt"}),
        Criterion(id="nice", kind="judge", check="no.such"),
    )
)


@pytest.fixture
def solved(tmp_path: Path) -> Case:
    for side, text in (("before", "open"), ("after", "done")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.txt").write_text(text)
        (tmp_path / side / "b.txt").write_text("b")
    return Case(before=Tree(tmp_path / "before"), after=Tree(tmp_path / "after"))


def test_names_kinds_and_what_must_break(solved: Case) -> None:
    found = {s.near_miss.name: s for s in near_misses(RUBRIC, solved, 7)}
    assert {name: (s.kind, s.near_miss.breaks, s.near_miss.only) for name, s in found.items()} == {
        "done:other-text": (ProbeKind.NEAR_MISS, ("done",), True),
        "done:capitals": (ProbeKind.AUDIT, ("done",), True),
        "done:broad": (ProbeKind.NEAR_MISS, ("done",), False),
        "rest:edited": (ProbeKind.OVER_EDIT, ("rest",), True),
        "rest:gone": (ProbeKind.AUDIT, ("rest",), True),
        "*:deleted ~/a.txt": (ProbeKind.NEAR_MISS, (), False),
        "*:reverted ~/a.txt": (ProbeKind.NEAR_MISS, (), False),
        "*:reverted": (ProbeKind.NEAR_MISS, (), False),
        "*:status failure": (ProbeKind.NEAR_MISS, (), False),
        "*:status infeasible": (ProbeKind.NEAR_MISS, (), False),
    }


def test_every_near_miss_of_a_sound_rubric_is_noticed(solved: Case, survivors) -> None:  # type: ignore[no-untyped-def]
    assert survivors(RUBRIC, solved) == []


def test_the_same_seed_spoils_the_same_way(solved: Case, tmp_path: Path) -> None:
    texts = []
    for seed in (1, 1, 2):
        spoiled = next(s for s in near_misses(RUBRIC, solved, seed) if s.near_miss.name == "done:other-text")
        spoiled.spoil(solved.after.root)
        texts.append((solved.after.root / "a.txt").read_text())
    assert texts[0] == texts[1] != texts[2]


def test_a_moved_file_can_be_deleted_and_put_back(tmp_path: Path) -> None:
    for side in ("before", "after"):
        (tmp_path / side).mkdir()
    (tmp_path / "before/old.txt").write_text("x")
    (tmp_path / "after/new.txt").write_text("x")
    (tmp_path / "after/same.txt").write_text("x")
    (tmp_path / "before/same.txt").write_text("x")
    args = {"path": "~/new.txt"}
    rubric = Rubric(
        criteria=(
            Criterion(id="a", kind="must", check="test.bare", args=args),
            Criterion(id="b", kind="must", check="test.bare", args={"path": "~/old.txt"}),
            Criterion(id="c", kind="must", check="test.bare", args={"path": "~/same.txt"}),
            Criterion(id="d", kind="must_not", check="test.bare", args={"path": "~/none.txt"}),
        )
    )
    case = Case(before=Tree(tmp_path / "before"), after=Tree(tmp_path / "after"))
    found = near_misses(rubric, case, 0)
    names = [s.near_miss.name for s in found if not s.near_miss.name.startswith("*:status")]
    assert names == ["*:deleted ~/new.txt", "*:reverted ~/old.txt", "*:reverted"]
    assert without_own_mutant(rubric, found) == ["a", "b", "c", "d"]
    found[2].spoil(tmp_path / "after")
    assert sorted(p.name for p in (tmp_path / "after").iterdir()) == ["old.txt", "same.txt"]


def test_an_answer_alone_has_nothing_to_revert(tmp_path: Path) -> None:
    args = {"kind": "number", "expected": 3}
    rubric = Rubric(criteria=(Criterion(id="n", kind="must", check="answer.equals", args=args),))
    case = Case(before=Tree(tmp_path), after=Tree(tmp_path), answer="3")
    assert not [s for s in near_misses(rubric, case, 0) if "reverted" in s.near_miss.name]


def test_what_cannot_be_spoiled_is_named(solved: Case) -> None:
    spoiled = next(s for s in near_misses(RUBRIC, solved, 0) if s.near_miss.name == "rest:gone")
    (solved.after.root / "b.txt").unlink()
    with pytest.raises(VerifierError, match=r"near-miss rest:gone cannot be made: FileNotFoundError"):
        spoiled.spoil(solved.after.root)


def test_mutants_that_cannot_be_listed_or_share_a_name_are_errors(solved: Case) -> None:
    @mutants("test.bare")
    def twice(case: Case, args: Path_, rng: random.Random) -> Iterator[Mutant]:
        yield Mutant("same", answer="a")
        yield Mutant("same", answer="b")

    rubric = Rubric(criteria=(Criterion(id="a", kind="must", check="test.bare", args={"path": "~/a.txt"}),))
    with pytest.raises(VerifierError, match="share a name: a:same"):
        near_misses(rubric, solved, 0)

    @mutants("test.bare")
    def fails(case: Case, args: Path_, rng: random.Random) -> Iterator[Mutant]:
        raise ZeroDivisionError("oops")
        yield

    with pytest.raises(VerifierError, match=r"criterion a \(test.bare\): no mutants: ZeroDivisionError: oops"):
        near_misses(rubric, solved, 0)


def verdict(score: float, **criteria: float) -> Verdict:
    rows = tuple(
        CriterionVerdict(criterion=name, check="c", kind="must", score=value, evidence=f"{name} evidence")
        for name, value in criteria.items()
    )
    return Verdict(grading=Grading.GRADED, score=score, criteria=rows)


@pytest.mark.parametrize(
    ("breaks", "only", "after", "passed", "said"),
    [
        (("a",), True, verdict(0.5, a=0, b=1), True, "a: a evidence"),
        (("a",), True, verdict(0.0, a=0, b=0), False, "b lost too"),
        (("a",), False, verdict(0.0, a=0, b=0), True, "a: a evidence; b: b evidence"),
        (("a",), True, verdict(0.5, a=1, b=0), False, "a kept its score"),
        (("a", "b"), True, verdict(0.0, a=0, b=0), True, ""),
        (("a", "b"), True, verdict(0.5, a=0, b=1), False, "b kept"),
        ((), False, verdict(0.9, a=1, b=0.8), True, "b: b evidence"),
        ((), False, verdict(1.0, a=1, b=1), False, "stayed 1"),
        (("a",), True, grader_error("boom"), False, "no verdict on the spoiled state: boom"),
    ],
)
def test_when_a_near_miss_counts_as_noticed(
    breaks: tuple[str, ...], only: bool, after: Verdict, passed: bool, said: str
) -> None:
    result, why = killed(NearMiss(name="x", breaks=breaks, only=only), verdict(1.0, a=1, b=1), after)
    assert result is passed
    assert said in why


def test_no_near_miss_counts_where_the_solution_has_no_verdict() -> None:
    assert killed(NearMiss(name="x"), grader_error("boom"), verdict(0.0, a=0))[0] is False


def test_grading_the_solved_state_is_unharmed_by_listing_near_misses(solved: Case) -> None:
    near_misses(RUBRIC, solved, 0)
    assert grade(RUBRIC, solved).passed


def test_files_that_a_criterion_only_compares_with_are_not_spoiled(tmp_path: Path) -> None:
    for side in ("before", "after"):
        (tmp_path / side).mkdir()
    (tmp_path / "before/old.txt").write_text("x")
    (tmp_path / "after/new.txt").write_text("x")
    args = {"path": "~/new.txt", "same_as": "~/old.txt"}
    rubric = Rubric(criteria=(Criterion(id="a", kind="must", check="files.content", args=args),))
    case = Case(before=Tree(tmp_path / "before"), after=Tree(tmp_path / "after"))
    names = {s.near_miss.name for s in near_misses(rubric, case, 0)}
    assert "*:deleted ~/new.txt" in names
    assert not any("old.txt" in name for name in names)
