"""Plans of rounds: how tasks are divided by what a student came to, what is kept, and what comes back."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

import skills
from forge.records import InputError
from rounds.register import Plan, Wish, preview, register, standing_now
from skills.feedback import wilson
from warehouse import Warehouse
from warehouse.engine import open_engine, read
from warehouse.schema import SkillShareRow

from ..warehouse.samples import HARNESS, PRINT, make_task, make_trajectory

A, B, C = (
    skills.load(name)
    for name in ("calc.formula.total-below-column", "files.text.count-log-entries", "files.archive.pack-by-type")
)
THREE = [A, B, C]


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Warehouse]:
    with Warehouse.open(f"sqlite:///{tmp_path}/warehouse.db", str(tmp_path / "blobs")) as opened:
        yield opened


numbers = count()


def student(warehouse: Warehouse, workflow: skills.Workflow, passes: int, fails: int, version: str = "") -> None:
    """Episodes of a student on new tasks of a workflow, stored now; with one of the oracle, which says nothing."""
    with warehouse.begin() as session:
        warehouse.register_fingerprint(session, PRINT)
        warehouse.register_harness(session, HARNESS)
        warehouse.register_skill(session, workflow.skill)
        warehouse.register_workflow(session, version or workflow.version, workflow.skill.id, workflow.source)
        for n in range(passes + fails + 1):
            task = make_task(next(numbers)).model_copy(
                update={"skill": workflow.skill.id, "workflow": version or workflow.version}
            )
            warehouse.add_task(session, task)
            teacher = "oracle" if n == passes + fails else "llm"
            warehouse.add_trajectory(session, make_trajectory(task, teacher=teacher, reward=float(n < passes)))


def counts(plan: Plan) -> list[int]:
    return [plan.of(w) for w in THREE]


def test_without_results_every_skill_gets_the_same(warehouse):
    plan = register(warehouse, Wish(THREE, tasks=5))
    assert counts(plan) == [5, 5, 5]
    assert plan.draws == {w.version: 5 for w in THREE}
    assert {s.share for s in plan.standings} == {1 / 3}
    assert warehouse.rounds()[0]["plan"] == {"tasks": 5, "workflows": sorted(w.version for w in THREE)}


def test_results_of_two_rounds_move_the_counts(warehouse):
    register(warehouse, Wish(THREE, tasks=10, round=1))
    student(warehouse, A, 9, 1)
    student(warehouse, B, 2, 8)
    second = register(warehouse, Wish(THREE, tasks=10, round=2))
    weights = [1 - wilson(9, 10)[0], 1 - wilson(2, 10)[0], 1.0]
    assert [s.share for s in sorted(second.standings, key=lambda s: -s.passes)] == pytest.approx(
        [w / sum(weights) for w in weights]
    )
    assert counts(second) == [5, 12, 13]
    student(warehouse, A, 2, 8)  # it got worse there, and better here
    student(warehouse, B, 30, 0)
    student(warehouse, C, 5, 5)
    third = register(warehouse, Wish(THREE, tasks=10, round=3))
    assert [(s.trials, s.passes) for s in third.standings] == [
        (20, 11),
        (10, 5),
        (40, 32),
    ]  # by id: calc, archive, text
    assert counts(third) == [11, 6, 13]
    assert [sum(counts(plan)) for plan in (second, third)] == [30, 30]


def test_a_round_that_is_taken_up_keeps_its_plan(warehouse):
    first = register(warehouse, Wish(THREE, tasks=4))
    student(warehouse, A, 40, 0)
    assert register(warehouse, Wish(THREE, tasks=4)) == first
    assert preview(warehouse, Wish(THREE, tasks=4)) == first
    other = register(warehouse, Wish(THREE, tasks=5))  # another plan is another round
    assert (other.round, counts(other)) == (2, [1, 7, 7])
    again = register(warehouse, Wish(THREE, tasks=5, round=1))  # and a round that is given another plan is divided anew
    assert (again.round, counts(again)) == (1, [1, 7, 7])


def test_evenly_whatever_a_student_came_to(warehouse):
    student(warehouse, A, 100, 0)
    plan = register(warehouse, Wish(THREE, tasks=4, even=True))
    assert counts(plan) == [4, 4, 4]
    assert register(warehouse, Wish(THREE, tasks=4)).round == plan.round + 1


def test_a_retired_skill_is_drawn_only_by_its_whole_name(warehouse):
    student(warehouse, A, 100, 0)
    assert counts(register(warehouse, Wish(THREE, tasks=4, named=["calc.*", "files.*"]))) == [0, 6, 6]
    assert {s.skill: s.state for s in standing_now(warehouse, {w.skill.id: w.version for w in THREE}).values()} == {
        A.skill.id: "mastered", B.skill.id: "active", C.skill.id: "active",
    }  # fmt: skip
    named = register(warehouse, Wish(THREE, tasks=4, named=[A.skill.id]))  # the same round, which had left it out
    assert (named.round, counts(named)) == (1, [1, 5, 6])
    assert register(warehouse, Wish(THREE, tasks=4)) == named
    with pytest.raises(InputError, match="are retired") as caught:
        register(warehouse, Wish([A], tasks=4, named=["calc.*"]))
    assert "--skill" in str(caught.value.mend)
    assert len(warehouse.rounds()) == 1  # a round that cannot be planned is not registered


def test_a_stale_result_does_not_count_and_a_retired_skill_comes_back(warehouse):
    register(warehouse, Wish(THREE, tasks=2, round=1))
    student(warehouse, A, 100, 0)
    found = []
    for number in (2, 3, 4):
        found.append(counts(register(warehouse, Wish(THREE, tasks=2, round=number))))
        student(warehouse, B, 5, 5)
    found.append(counts(register(warehouse, Wish(THREE, tasks=2, round=5))))
    assert [each[0] for each in found] == [0, 0, 0, 2]  # the third round after it in which a student was tried
    register(warehouse, Wish(THREE, tasks=2, round=6))  # rounds without a student make nothing stale
    last = register(warehouse, Wish(THREE, tasks=2, round=7))
    assert {s.skill: s.trials for s in last.standings} == {A.skill.id: 0, B.skill.id: 30, C.skill.id: 0}


def test_a_result_on_a_workflow_that_was_mended_since_does_not_count(warehouse):
    student(warehouse, A, 100, 0, version="0" * 64)
    plan = register(warehouse, Wish(THREE, tasks=2))
    assert counts(plan) == [2, 2, 2]


def test_a_preview_writes_nothing(warehouse):
    before = warehouse.dump()
    assert counts(preview(warehouse, Wish(THREE, tasks=3, round=9))) == [3, 3, 3]
    assert warehouse.dump() == before


def test_the_plan_is_a_row_a_skill(warehouse, tmp_path):
    register(warehouse, Wish(THREE, tasks=2))
    engine = open_engine(f"sqlite:///{tmp_path}/warehouse.db")
    with read(engine) as connection:
        rows = connection.execute(SkillShareRow.__table__.select()).all()
    engine.dispose()
    assert sorted((r.round, r.skill, r.tasks) for r in rows) == sorted((1, w.skill.id, 2) for w in THREE)
