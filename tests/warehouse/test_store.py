"""Records go in and come out whole, on both engines, and going in twice changes nothing."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from forge.records import Task, Verdict, WarehouseError
from warehouse import trajectory_key

from .samples import (
    HARNESS,
    PRINT,
    SKILL,
    WORKFLOW,
    good_evidence,
    make_call,
    make_task,
    make_trajectory,
    near_miss,
    probe,
    register,
)


def add(warehouse, *tasks: Task, round: int = 1) -> None:
    with warehouse.begin() as session:
        for ordinal, task in enumerate(tasks):
            warehouse.add_task(session, task, round, ordinal)


def test_definitions_come_back(warehouse):
    assert warehouse.skills() == [SKILL.model_copy(update={"round": 0})]
    assert warehouse.workflow_source(WORKFLOW) == {"workflow.yaml": "skill: x\n", "fill.py": "pass\n"}
    assert warehouse.fingerprint(PRINT.digest()) == PRINT
    assert warehouse.harness(HARNESS.digest()) == HARNESS
    assert warehouse.rounds() == [{"number": 1, "plan": {"tasks": 2}, "state": "open"}]


def test_a_task_comes_back_whole_with_the_order_of_its_keys(warehouse):
    task = make_task(3)
    add(warehouse, task)
    found = warehouse.task(task.id)
    assert found == task
    assert found.id == task.id
    assert list(found.resolved) == ["zebra", "apple"]
    assert warehouse.task(task.id[:10]) == task


def test_a_text_that_an_engine_cannot_hold_comes_back_all_the_same(warehouse):
    task = make_task(0).model_copy(update={"instruction": "a NUL \0 here"})
    add(warehouse, task)
    assert warehouse.task(task.id).instruction == "a NUL \0 here"
    assert warehouse.list_tasks()[0]["instruction"] == "a NUL \u2400 here"


@pytest.mark.parametrize("prefix", ["ffffffffff", "ab", ""])
def test_an_unknown_or_short_id_is_an_error_with_a_mend(warehouse, prefix):
    for read in (warehouse.task, warehouse.acceptance, warehouse.probes, warehouse.trajectory, warehouse.verdicts):
        with pytest.raises(WarehouseError) as caught:
            read(prefix)
        assert caught.value.mend


def test_an_ambiguous_beginning_is_an_error(warehouse):
    tasks: dict[str, Task] = {}
    number = 0
    while True:  # until two ids begin alike
        task = make_task(number)
        if task.id[:4] in tasks:
            break
        tasks[task.id[:4]] = task
        number += 1
    add(warehouse, task, tasks[task.id[:4]])
    with pytest.raises(WarehouseError, match="several tasks"):
        warehouse.task(task.id[:4])


def test_a_like_pattern_in_an_id_matches_nothing(warehouse):
    add(warehouse, make_task(0))
    with pytest.raises(WarehouseError, match="no task"):
        warehouse.task("%%%%%")


def test_a_trajectory_comes_back_whole(warehouse):
    task = make_task(0)
    trajectory = make_trajectory(task)
    add(warehouse, task)
    with warehouse.begin() as session:
        key = warehouse.add_trajectory(session, trajectory)
    assert key == trajectory_key(trajectory)
    found = warehouse.trajectory(key[:8])
    assert found == trajectory
    assert found.turns[0].tool_calls[0]["arguments"] == '{"y":1,"a":2}'
    assert warehouse.trajectory_id(key[:12]) == key


def test_counters_stand_on_the_trajectory(warehouse):
    task = make_task(0)
    add(warehouse, task)
    warehouse.ledger.record(make_call("call-1", cost_usd=0.125))
    with warehouse.begin() as session:
        warehouse.add_trajectory(session, make_trajectory(task, teacher="llm", reward=0.5))
    [row] = warehouse.list_trajectories()
    assert {name: row[name] for name in row if name.startswith("n_")} == {
        "n_turns": 2, "n_actions": 5, "n_gui": 3, "n_terminal": 1,
    }  # fmt: skip
    assert (row["prompt_tokens"], row["completion_tokens"], row["cost_usd"], row["seconds"]) == (900, 30, 0.125, 8.5)
    assert (row["ended_by"], row["grading"], row["reward"], row["teacher"]) == ("done", "graded", 0.5, "llm")


def test_everything_twice_is_everything_once(warehouse):
    def fill() -> None:
        task = make_task(0)
        with warehouse.begin() as session:
            number = register(warehouse, session)
            warehouse.add_task(session, task, number, 0)
            warehouse.add_probes(session, good_evidence(task))
            warehouse.add_trajectory(session, make_trajectory(task))
        warehouse.ledger.record(make_call("call-1"))

    fill()
    once = warehouse.dump()
    fill()
    assert warehouse.dump() == once
    assert sum(line.startswith("probes ") for line in once) == len(good_evidence(make_task(0)))


def test_what_refers_to_nothing_is_refused_with_a_mend_and_leaves_nothing(warehouse):
    before = warehouse.dump()
    stranger = make_task(0).model_copy(update={"workflow": "b" * 64})
    for write in (
        lambda s: warehouse.add_task(s, stranger, 1, 0),
        lambda s: warehouse.add_probes(s, good_evidence(make_task(5))),
        lambda s: warehouse.add_trajectory(s, make_trajectory(make_task(5))),
    ):
        with pytest.raises(WarehouseError) as caught, warehouse.begin() as session:
            write(session)
        assert caught.value.mend
    assert warehouse.dump() == before


def test_an_error_in_the_block_undoes_all_of_it(warehouse):
    before = warehouse.dump()

    def write_and_stop() -> None:
        with warehouse.begin() as session:
            warehouse.add_task(session, make_task(0), 1, 0)
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write_and_stop()
    assert warehouse.dump() == before


def test_rounds_are_taken_up_by_plan_until_they_are_done(warehouse):
    with warehouse.begin() as session:
        assert warehouse.register_round(session, {"tasks": 2}) == 1
        assert warehouse.register_round(session, {"tasks": 5}) == 2
        assert warehouse.register_round(session, {"tasks": 5}, 2) == 2
        assert warehouse.register_round(session, {"tasks": 5}, 9) == 9
        warehouse.finish_round(session, 1)
        assert warehouse.register_round(session, {"tasks": 2}) == 10
    assert [(r["number"], r["state"]) for r in warehouse.rounds()] == [
        (1, "done"), (2, "open"), (9, "open"), (10, "open"),
    ]  # fmt: skip


def test_a_skill_is_updated_and_keeps_its_first_round(warehouse):
    changed = SKILL.model_copy(update={"title": "Another title", "round": 4})
    with warehouse.begin() as session:
        warehouse.register_skill(session, changed)
    [found] = warehouse.skills()
    assert (found.title, found.round) == ("Another title", 0)


def test_tasks_of_a_round_stand_in_the_order_of_drawing_each_once(warehouse):
    first, second, third = make_task(1), make_task(2), make_task(3)
    with warehouse.begin() as session:
        for ordinal, task in ((2, third), (0, second), (1, first), (3, second)):
            warehouse.add_task(session, task, 1, ordinal)
    assert [t.id for t in warehouse.tasks_of_round(1, WORKFLOW)] == [second.id, first.id, third.id]
    assert warehouse.tasks_of_round(2, WORKFLOW) == []


def test_tasks_of_earlier_rounds(warehouse):
    first, second, third = make_task(1), make_task(2), make_task(3)
    with warehouse.begin() as session:
        for number in (2, 3):
            warehouse.register_round(session, {"n": number}, number)
        warehouse.add_task(session, second, 1, 1)
        warehouse.add_task(session, first, 1, 0)
        warehouse.add_task(session, third, 2, 0)
        warehouse.add_task(session, first, 3, 0)
    found = warehouse.tasks_of_workflow(SKILL.id, before_round=3)
    assert [t.id for t in found] == [first.id, second.id, third.id]
    assert [t.id for t in warehouse.tasks_of_workflow(SKILL.id, before_round=2)] == [first.id, second.id]
    assert len(warehouse.tasks_of_workflow(SKILL.id)) == 3


@pytest.mark.parametrize("seeds", [(3, 9), (9, 3)])
def test_two_seeds_of_one_task_leave_the_smaller_whichever_came_first(warehouse, seeds):
    for ordinal, seed in enumerate(seeds):
        with warehouse.begin() as session:
            warehouse.add_task(session, make_task(0, seed=seed), 1, ordinal)
    assert warehouse.task(make_task(0).id).seed == 3


def test_the_seed_stays_once_something_was_probed_under_it(warehouse):
    task = make_task(0, seed=9)
    add(warehouse, task)
    with warehouse.begin() as session:
        warehouse.add_probes(session, [probe(task, "noop", "untouched", True, 0.0)])
        warehouse.add_task(session, make_task(0, seed=3), 1, 1)
    assert warehouse.task(task.id).seed == 9


def test_listing_filters(warehouse):
    good, bad = make_task(1), make_task(2)
    add(warehouse, good, bad)
    with warehouse.begin() as session:
        warehouse.add_probes(session, good_evidence(good))
        warehouse.add_probes(session, [probe(bad, "gate", "determinism", False, None)])
    assert [r["id"] for r in warehouse.list_tasks(accepted=True)] == [good.id]
    [rejected] = warehouse.list_tasks(accepted=False)
    assert rejected["id"] == bad.id
    assert "gate_failed: determinism" in rejected["reasons"]
    assert len(warehouse.list_tasks(skill=SKILL.id, app="calc", round=1)) == 2
    assert len(warehouse.list_tasks(limit=1)) == 1
    for none in ({"skill": "calc.x.y-z"}, {"app": "gimp"}, {"round": 7}):
        assert warehouse.list_tasks(**none) == []


def test_probes_come_back_in_the_order_of_gathering(warehouse):
    task = make_task(0)
    add(warehouse, task)
    with warehouse.begin() as session:
        warehouse.add_probes(session, reversed(good_evidence(task)))
    found = warehouse.probes(task.id[:9])
    assert sorted(p.name for p in found) == sorted(p.name for p in good_evidence(task))
    kinds = list(dict.fromkeys(p.kind.value for p in found))
    assert kinds == ["gate", "noop", "solution", "near_miss", "over_edit", "audit"]
    by_name = {p.name: p for p in good_evidence(task)}
    assert all(p == by_name[p.name] for p in found)


def test_a_solution_must_say_its_channel(warehouse):
    task = make_task(0)
    add(warehouse, task)
    with pytest.raises(WarehouseError, match="does not say its channel"), warehouse.begin() as session:
        warehouse.add_probes(session, [probe(task, "solution", "first", True, 1.0)])


def test_the_columns_of_the_kill_tables(warehouse):
    task = make_task(0)
    add(warehouse, task)
    with warehouse.begin() as session:
        warehouse.add_probes(session, good_evidence(task))
        warehouse.add_probes(session, [near_miss(task, "two", "total", "format")])
    with warehouse.read() as connection:
        rows = connection.execute(
            text(
                "SELECT name, criterion, only_breaks, n_breaks, check_name, mutant FROM probes WHERE kind = 'near_miss'"
            )
        )
        found = {name: tuple(rest) for name, *rest in rows}
    assert found == {
        "total:hard-coded-value": ("total", True, 1, "calc.formula", "hard-coded-value"),
        "format:reverted": ("format", True, 1, "calc.number_format", "reverted"),
        "parameter:column": (None, False, 0, None, "column"),
        "two": (None, False, 2, None, "two"),
    }


def test_calls_of_the_ledger_come_back(warehouse):
    first = make_call("1", subject="t", started_at="2026-11-29T10:00:01")
    second = make_call("2", status="error", error="oops \0", started_at="2026-11-29T10:00:00")
    for call in (first, second, first):
        warehouse.ledger.record(call)
    assert warehouse.ledger.calls("t") == [first]
    assert [c.id for c in warehouse.ledger.calls()] == ["2", "1"]


def test_regrading_keeps_every_verdict_and_says_what_changed(warehouse):
    task = make_task(0)
    add(warehouse, task)
    with warehouse.begin() as session:
        key = warehouse.add_trajectory(session, make_trajectory(task))
    mended = PRINT.model_copy(update={"checks": {"calc.formula": 2}})
    lower = Verdict(grading="graded", score=0.25)
    with warehouse.begin() as session:
        fingerprint = warehouse.register_fingerprint(session, mended)
        change = warehouse.add_verdict(session, key, lower, fingerprint)
        again = warehouse.add_verdict(session, key, lower, fingerprint)
    assert (change.before, change.after, change.skill) == (1.0, 0.25, SKILL.id)
    assert (change.fingerprint_before, change.fingerprint_after) == (PRINT.digest(), mended.digest())
    assert again is None
    assert warehouse.changed_rewards() == [change]
    found = warehouse.trajectory(key)
    assert (found.reward, found.verdict, found.fingerprint) == (0.25, lower, PRINT.digest())
    assert [(f, r) for f, _, r in warehouse.verdicts(key)] == [(PRINT.digest(), 1.0), (mended.digest(), 0.25)]
    assert warehouse.list_trajectories()[0]["reward"] == 0.25


def test_a_verdict_that_comes_back_is_the_current_one_again(warehouse):
    task = make_task(0)
    add(warehouse, task)
    with warehouse.begin() as session:
        key = warehouse.add_trajectory(session, make_trajectory(task))
        warehouse.add_verdict(session, key, Verdict(grading="grader_error", error="Traceback"), "later")
    assert warehouse.trajectory(key).reward is None
    assert warehouse.trajectory(key).grading == "grader_error"
    with warehouse.begin() as session:
        change = warehouse.add_verdict(session, key, Verdict(grading="graded", score=1.0), PRINT.digest())
    assert (change.before, change.after) == (None, 1.0)
    assert len(warehouse.verdicts(key)) == 2
    assert warehouse.changed_rewards() == []


def test_an_ungraded_trajectory_can_be_graded_later(warehouse):
    task = make_task(0)
    add(warehouse, task)
    with warehouse.begin() as session:
        key = warehouse.add_trajectory(session, make_trajectory(task, reward=None))
        change = warehouse.add_verdict(session, key, Verdict(grading="graded", score=1.0), "later", reward=None)
    assert change is None
    assert warehouse.trajectory(key).reward is None
    assert warehouse.trajectory(key).verdict.score == 1.0


def test_an_oracles_success_and_window_evidence(warehouse):
    task = make_task(0)
    add(warehouse, task)
    assert not warehouse.has_oracle_success(task.id)
    assert not warehouse.has_window_evidence(WORKFLOW, "gui")
    with warehouse.begin() as session:
        warehouse.add_trajectory(session, make_trajectory(task, reward=0.5))
        warehouse.add_trajectory(session, make_trajectory(task, teacher="llm"))
        warehouse.add_probes(session, [probe(task, "solution", "gui-desktop#1", False, 0.5)])
    assert not warehouse.has_oracle_success(task.id)
    assert not warehouse.has_window_evidence(WORKFLOW, "gui")
    with warehouse.begin() as session:
        warehouse.add_trajectory(session, make_trajectory(task, attempt=1))
        warehouse.add_probes(session, [probe(task, "solution", "gui-desktop#2", True, 1.0)])
    assert warehouse.has_oracle_success(task.id)
    assert warehouse.has_window_evidence(WORKFLOW, "gui")
    assert not warehouse.has_window_evidence(WORKFLOW, "hybrid")


def test_what_to_probe_again_after_an_upgrade(warehouse):
    old, new = make_task(1), make_task(2)
    add(warehouse, old, new)
    with warehouse.begin() as session:
        warehouse.add_probes(session, good_evidence(old))
        warehouse.add_probes(session, [probe(new, "noop", "untouched", True, 0.0, fingerprint="upgraded")])
    assert warehouse.stale_tasks("upgraded") == [old.id]
    assert warehouse.stale_tasks(PRINT.digest()) == [new.id]
