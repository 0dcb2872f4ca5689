"""Costs: every call in one part, rejects and failures counted, and what a task costs at 20, 100 and 500 tasks a workflow."""

from __future__ import annotations

import pytest
from sqlalchemy.engine import Connection

from forge.records import Usage
from warehouse import Warehouse, pace
from warehouse.costs import AT, PARTS, costs
from warehouse.schema import AuthoringRow

from .samples import SKILL, WORKFLOW, good_evidence, make_call, make_task, make_trajectory, probe


def spend(warehouse: Warehouse, call_id: str, tokens: int, **more: object) -> None:
    usage = Usage(prompt_tokens=tokens - 10, completion_tokens=10)
    warehouse.ledger.record(make_call(call_id, usage=usage, cost_usd=tokens / 1e6, request=call_id, **more))


def authored(
    session: Connection, subject: str, outcome: str, mode: str = "workflow", version: str | None = None
) -> None:
    row = {
        "round": 1, "skill": subject, "mode": mode, "subject": subject, "apps": "calc", "outcome": outcome, "reason": "",
        "version": version, "steps": 1, "calls": 1, "prompt_tokens": 1, "completion_tokens": 1, "cost_usd": 0.0,
        "seconds": 1.0, "record": {}, "created_at": 0.0,
    }  # fmt: skip
    session.execute(AuthoringRow.__table__.insert(), [row])


@pytest.fixture
def filled(warehouse: Warehouse) -> Warehouse:
    """Four accepted tasks of one workflow, one rejected; a workflow that was authored and one that was not."""
    tasks = [make_task(n) for n in range(4)]
    bad = make_task(9)
    with warehouse.begin() as session:
        for ordinal, task in enumerate(tasks):
            warehouse.add_task(session, task, 1, ordinal)
            warehouse.add_probes(session, good_evidence(task))
        warehouse.add_task(session, bad, 1, 9)
        warehouse.add_probes(session, [probe(bad, "noop", "untouched", False, 0.5)])
        authored(session, "author/1:calc.a:workflow", "authored", version=WORKFLOW)
        authored(session, "author/1:calc.b:workflow", "gave_up")
        authored(session, "baseline/1:calc.a:task", "authored", mode="task")
        authored(session, "baseline/1:calc.b:task", "gave_up", mode="task")
    spend(
        warehouse, "a1", 30_000, purpose="author", recurring=False, subject="author/1:calc.a:workflow", stage="author"
    )
    spend(
        warehouse, "a2", 1_000, purpose="reader", recurring=False, subject="author/1:calc.a:workflow", status="invalid"
    )
    spend(warehouse, "a3", 9_000, purpose="author", recurring=False, subject="author/1:calc.b:workflow", stage="author")
    spend(warehouse, "b1", 2_000, purpose="writer", subject="bank/office-names/stock", stage="topup", prompt="topup@1")
    spend(warehouse, "b2", 400, purpose="writer", subject="bank/office-names/stock", stage="topup", status="truncated")
    for number, task in enumerate(tasks):
        spend(warehouse, f"j{number}", 100, purpose="judge", subject=task.id)
    spend(warehouse, "j9", 200, purpose="judge", subject=bad.id)
    spend(warehouse, "t", 5_000, purpose="teacher", subject=tasks[0].id)
    spend(warehouse, "p1", 60_000, purpose="author", recurring=False, subject="baseline/1:calc.a:task")
    spend(warehouse, "p2", 20_000, purpose="author", recurring=False, subject="baseline/1:calc.b:task")
    warehouse.ledger.record(make_call("open", status="open", usage=Usage(), reserved_tokens=700, reserved_usd=0.1))
    warehouse.ledger.record(make_call("kept", status="cached", usage=Usage(), purpose="writer", cost_usd=0.0))
    with warehouse.begin() as session:
        warehouse.banks.add(session, "office-names", "stock", [{"file": str(n)} for n in range(10)])
    return warehouse


def test_every_call_lies_in_one_part(filled):
    with filled.read() as connection:
        found = costs(connection)
    assert {part: found["parts"][part]["tokens"] for part in PARTS} == {
        "recurring": 2_400, "one_off": 30_000, "rejected": 9_200, "unfinished": 0, "wasted": 1_400, "teaching": 5_000,
        "baseline": 80_000,
    }  # fmt: skip
    assert found["total"]["tokens"] == sum(found["parts"][part]["tokens"] for part in PARTS)
    assert found["total"]["calls"] == sum(found["parts"][part]["calls"] for part in PARTS) == 14
    assert found["open_calls"] == {"calls": 1, "tokens": 700, "usd": pytest.approx(0.1)}
    assert found["total"]["usd"] == pytest.approx(0.128)


def test_recurring_tokens_hold_rejects_and_failures_and_fall_with_the_tasks_of_a_workflow(filled):
    with filled.read() as connection:
        found = costs(connection)
    assert (found["accepted_tasks"], found["workflows"], found["authored_workflows"]) == (4, 1, 1)
    single, shared, once = 600 / 4, 2_400, 40_000
    assert found["recurring_tokens_per_accepted_task"] == {str(n): single + shared / n for n in AT}
    assert found["tokens_per_accepted_task"] == {str(n): pytest.approx(single + (shared + once) / n) for n in AT}
    assert found["usd_per_accepted_task"]["20"] == pytest.approx((single + (shared + once) / 20) / 1e6)
    assert found["authoring_tokens_per_task"] == {str(n): once / n for n in AT}
    assert found["one_off_per_workflow"]["tokens"] == once
    assert found["one_off_per_workflow_without_rejects"]["tokens"] == 30_000
    assert found["topup"] == {"calls": 2, "tokens": 2_400, "usd": pytest.approx(0.0024), "values": 10}


def test_the_break_even_is_the_first_number_of_tasks_for_which_it_holds(filled):
    with filled.read() as connection:
        found = costs(connection)
    assert found["baseline"] == {"tasks": 1, "tried": 2, "tokens_per_task": 80_000, "usd_per_task": pytest.approx(0.08)}
    tasks = found["break_even"]["baseline"]
    cost = {n: 600 / 4 + 42_400 / n for n in (tasks - 1, tasks) if n}
    assert cost[tasks] <= 80_000
    assert all(cost[n] > 80_000 for n in cost if n < tasks)
    assert found["break_even"]["paper_per_task_agents"] == 1
    assert found["break_even_usd"] == {"baseline": 1, "paper_per_task_agents": 1}  # all calls cost a dollar a million


@pytest.mark.parametrize(
    ("baseline", "workflow", "topup", "judge", "tasks"),
    [
        ([60_000, 40_000], 100_000, 0, 0, 2),  # 50 000 a task by hand: two tasks pay for the authoring, exactly
        ([60_000, 40_001], 100_000, 0, 0, 2),
        ([50_000, 49_999], 100_000, 0, 0, 3),
        ([30_000, 30_000], 100_000, 2_000, 1_000, 4),  # (100 000 + 2 000) / (30 000 - 1 000) = 3.5
        ([900, 1_100], 100_000, 0, 1_000, None),  # each task costs as much again: it never pays
    ],
)
def test_two_tasks_by_hand_give_the_break_even(warehouse, baseline, workflow, topup, judge, tasks):
    made = [make_task(n) for n in range(2)]
    with warehouse.begin() as session:
        for ordinal, task in enumerate(made):
            warehouse.add_task(session, task, 1, ordinal)
            warehouse.add_probes(session, good_evidence(task))
        authored(session, "author/1:calc.a:workflow", "authored", version=WORKFLOW)
        for number, _ in enumerate(baseline):
            authored(session, f"baseline/1:calc.b{number}:task", "authored", mode="task")
    spend(warehouse, "a", workflow, purpose="author", recurring=False, subject="author/1:calc.a:workflow")
    for number, tokens in enumerate(baseline):
        spend(
            warehouse,
            f"b{number}",
            tokens,
            purpose="author",
            recurring=False,
            subject=f"baseline/1:calc.b{number}:task",
        )
    if topup:
        spend(warehouse, "t", topup, purpose="writer", subject="bank/office-names/stock")
    for task in made if judge else ():
        spend(warehouse, f"j{task.id}", judge, purpose="judge", subject=task.id)
    with warehouse.read() as connection:
        found = costs(connection)
    assert found["baseline"]["tokens_per_task"] == sum(baseline) / 2
    assert found["break_even"]["baseline"] == tasks
    assert found["recurring_tokens_per_accepted_task"]["20"] == judge + topup / 20


def test_authoring_that_has_not_ended_is_no_part_of_what_was_promoted(filled):
    spend(filled, "u", 5_000, purpose="author", recurring=False, subject="author/2:calc.c:workflow", stage="author")
    with filled.read() as connection:
        found = costs(connection)
    assert (found["parts"]["unfinished"]["tokens"], found["parts"]["one_off"]["tokens"]) == (5_000, 30_000)
    assert found["one_off_per_workflow"]["tokens"] == 45_000
    assert found["one_off_per_workflow_without_rejects"]["tokens"] == 30_000


def test_authoring_is_told_before_any_task_is_accepted(warehouse):
    with warehouse.begin() as session:
        authored(session, "author/1:calc.a:workflow", "authored", version=WORKFLOW)
    spend(warehouse, "a", 40_000, purpose="author", recurring=False, subject="author/1:calc.a:workflow")
    with warehouse.read() as connection:
        found = costs(connection)
    assert found["authoring_tokens_per_task"] == {"20": 2_000, "100": 400, "500": 80}
    assert found["tokens_per_accepted_task"]["20"] is None
    assert found["break_even"]["paper_per_task_agents"] is None


def test_parts_by_stage_prompt_and_run(filled):
    spend(filled, "r", 50, purpose="writer", run="round-7", stage="topup", workflow="calc.x", subject="bank/x/y")
    with filled.read() as connection:
        found, one = costs(connection), costs(connection, "round-7")
    assert found["by_stage"]["topup"]["tokens"] == 2_450
    assert found["by_prompt"]["topup@1"]["calls"] == 1
    assert found["by_workflow"] == {"calc.x": {"calls": 1, "tokens": 50, "usd": pytest.approx(5e-5)}}
    assert one["total"] == {"calls": 1, "tokens": 50, "usd": pytest.approx(5e-5)}


def test_an_empty_warehouse_costs_nothing_and_divides_by_nothing(warehouse):
    with warehouse.read() as connection:
        found = costs(connection)
    assert found["total"] == {"calls": 0, "tokens": 0, "usd": 0}
    assert found["recurring_tokens_per_accepted_task"] == {"20": None, "100": None, "500": None}
    assert found["break_even"] == {"baseline": None, "paper_per_task_agents": None}


def test_written_values_are_kept_in_order_and_once(warehouse):
    banks = warehouse.banks
    with warehouse.begin() as session:
        assert banks.add(session, "names", "stock", ["a", "b", "a"]) == 2
    assert banks.values("names", "stock", 2) == ["a", "b"]
    with warehouse.begin() as session:
        assert banks.add(session, "names", "stock", ["b", "c"]) == 1
        assert banks.add(session, "names", "travel", ["b"]) == 1
    assert (banks.size("names", "stock"), banks.size("names", "travel"), banks.size("names", "x")) == (3, 1, 0)
    assert banks.values("names", "stock", 2) == ["a", "b"]
    assert banks.values("names", "stock", 3) == ["a", "b", "c"]


def test_the_pace_leaves_breaks_out_and_counts_one_round_alone(warehouse):
    with warehouse.begin() as session:
        for ordinal in range(6):
            warehouse.add_task(session, make_task(ordinal), 1, ordinal)
        warehouse.add_trajectory(session, make_trajectory(make_task(0)))
        times = [100.0, 102.0, 104.0, 5000.0, 5002.0, 5004.0]
        for ordinal, moment in enumerate(times):
            task = make_task(ordinal).id
            session.exec_driver_sql(f"UPDATE tasks SET created_at = {moment} WHERE id = '{task}'")
    with warehouse.read() as connection:
        found, other = pace.paces(connection), pace.paces(connection, round=2)
        assert found["draw"] == pace.Pace(4, 8.0)
        assert found["draw"].seconds == 2.0
        assert found["episode"].seconds is None
        assert other["draw"] == pace.Pace(0, 0.0)
        assert pace.paces(connection, round=1)["draw"] == found["draw"]
        sizes = pace.bytes_of(connection, round=1)
    assert sizes["artifacts"] == 4  # one content, however many tasks have it
    assert sizes["database"] > 10_000


def test_the_first_forecast_stays_and_what_was_taken_stands_beside_it(warehouse):
    with warehouse.begin() as session:
        pace.write_forecast(session, 1, {"hours": 1.0})
        pace.write_forecast(session, 1, {"hours": 9.0})
        pace.write_taken(session, 1, {"hours": 2.0})
    with warehouse.read() as connection:
        assert pace.forecasts(connection) == [{"round": 1, "forecast": {"hours": 1.0}, "took": {"hours": 2.0}}]


def test_a_call_is_completed_once_and_its_answer_kept_with_it(warehouse):
    ledger = warehouse.ledger
    ledger.record(make_call("one", status="open", usage=Usage(), run="r", reserved_tokens=500, reserved_usd=0.5))
    assert ledger.spent("r") == (500, 0.5)
    ledger.record(make_call("one", status="ok", run="r", cost_usd=0.25, request="q"), {"text": "first"})
    ledger.record(make_call("one", status="error", run="r", request="q"), {"text": "second"})
    [call] = ledger.calls()
    assert (call.status, ledger.answer("q"), ledger.answer("other")) == ("ok", {"text": "first"}, None)
    assert ledger.spent("r") == (call.usage.total, 0.25)
    assert ledger.spent("r", workflow="w") == (0, 0.0)


def test_what_was_asked_in_vain_is_no_part_of_the_dump(warehouse):
    before = warehouse.dump()
    for status in ("open", "error", "rate_limited", "cached"):
        warehouse.ledger.record(make_call(status, status=status, subject=SKILL.id))
    assert warehouse.dump() == before
    warehouse.ledger.record(make_call("ok"))
    assert len(warehouse.dump()) == len(before) + 1
