"""The checks on a state that a real Thunderbird left behind (`data/`), and on that state spoiled in every way."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from forge.records import Criterion, ProbeKind, Rubric
from verifiers.base import CHECKS, Case, Tree
from verifiers.grading import grade
from verifiers.spoil import killed, near_misses

from . import desk


def criterion(name: str) -> Criterion:
    if name == "elsewhere":
        return Criterion(id=name, kind="must_not", check="mail.changed_elsewhere", args=desk.ALLOWED)
    check, args = desk.CRITERIA[name]
    return Criterion(id=name, kind="must", check=check, args=args)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return desk.recorded(tmp_path_factory.mktemp("recorded"))


@pytest.mark.parametrize("name", [*desk.CRITERIA, "elsewhere"])
def test_every_act_is_read_right(case: Case, name: str) -> None:
    check = CHECKS.get(criterion(name).check)
    found = check.run(case, check.validate(criterion(name).args))
    assert found.score == 1.0, found.evidence


def test_the_untouched_profile_scores_nothing(case: Case) -> None:
    rubric = Rubric(criteria=tuple(criterion(name) for name in [*desk.CRITERIA, "elsewhere"]))
    verdict = grade(rubric, Case(before=case.before, after=case.before))
    assert verdict.score == 0.0
    assert {v.criterion for v in verdict.criteria if v.score == 1.0} == {"elsewhere"}


@pytest.mark.parametrize("name", [*desk.CRITERIA, "elsewhere"])
def test_every_spoiled_state_loses_what_it_breaks_and_only_that(case: Case, name: str, tmp_path: Path) -> None:
    # The count is left out beside the others: what empties or fills the trash changes it too.
    beside = [other for other in [*desk.CRITERIA, "elsewhere"] if other == name or other != "count"]
    rubric = Rubric(criteria=tuple(criterion(other) for other in (beside if name != "count" else ["count", "star"])))
    solved = grade(rubric, case)
    spoiled = [s for s in near_misses(rubric, case, 1) if s.near_miss.breaks == (name,)]
    assert any(s.kind is not ProbeKind.AUDIT for s in spoiled)
    assert any(s.kind is ProbeKind.AUDIT for s in spoiled)
    survivors = []
    for number, state in enumerate(spoiled):
        home = Path(shutil.copytree(case.after.root, tmp_path / str(number)))
        state.spoil(home)
        good, evidence = killed(state.near_miss, solved, grade(rubric, Case(before=case.before, after=Tree(home))))
        if not good:
            survivors.append(f"{state.near_miss.name}: {evidence}")
    assert survivors == []


@pytest.mark.parametrize("name", [*desk.CRITERIA, "elsewhere"])
def test_near_misses_are_the_same_for_the_same_seed(case: Case, name: str) -> None:
    check = CHECKS.get(criterion(name).check)
    args = check.validate(criterion(name).args)
    lists = [[(m.name, m.note) for m in check.mutants(case, args, random.Random(3))] for _ in (1, 2)]  # type: ignore[misc]
    assert lists[0] == lists[1]
    assert len({mutant[0] for mutant in lists[0]}) == len(lists[0])


DAMAGE: list[tuple[str, Any]] = [
    ("Mail/pop.example.com/Inbox", lambda data: data[:-40]),
    ("Mail/pop.example.com/Inbox", lambda data: b"garbage"),
    ("abook.sqlite", lambda data: data[:3000]),
    ("Mail/pop.example.com/msgFilterRules.dat", lambda data: b"x"),
    ("prefs.js", lambda data: b""),
]


@pytest.mark.parametrize(("file", "damage"), DAMAGE)
def test_a_profile_that_the_agent_broke_is_its_failure_and_no_grader_error(
    case: Case, tmp_path: Path, file: str, damage: Any
) -> None:
    home = Path(shutil.copytree(case.after.root, tmp_path / "broken"))
    path = home / desk.PROFILE / file
    path.write_bytes(damage(path.read_bytes()))
    rubric = Rubric(criteria=(criterion("star"), criterion("elsewhere")))
    verdict = grade(rubric, Case(before=case.before, after=Tree(home)))
    assert verdict.error is None
    assert verdict.score == 0.0
    assert path.name in " ".join(v.evidence for v in verdict.criteria)


def test_damage_of_the_initial_state_is_a_grader_error(case: Case, tmp_path: Path) -> None:
    before = Path(shutil.copytree(case.before.root, tmp_path / "before"))
    (before / desk.PROFILE / "abook.sqlite").write_bytes(b"x")
    verdict = grade(Rubric(criteria=(criterion("star"), criterion("elsewhere"))), Case(Tree(before), case.after))
    assert verdict.score is None
    assert "abook.sqlite" in (verdict.error or "")
