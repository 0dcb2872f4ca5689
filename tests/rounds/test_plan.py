"""Forecasts: measured where there is enough, assumed where not; kept when a round begins and compared when it ends."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import skills
from forge.records import Settings, Usage
from rounds.plan import ASSUMED, forecast, measured
from rounds.plan_check import Watch, checked
from rounds.plan_tables import figure
from rounds.register import Plan, Wish, preview, register
from rounds.workshop import Workshop
from warehouse import pace

from ..warehouse.samples import good_evidence, make_call, make_task, make_trajectory
from ..warehouse.samples import register as register_samples

WORKFLOWS = [skills.load("calc.formula.total-below-column"), skills.load("files.text.count-log-entries")]


@pytest.fixture
def workshop(tmp_path: Path):
    (tmp_path / "endpoints.yaml").write_text(
        "endpoints: {w: {base_url: 'http://127.0.0.1:9/v1', model: m, prices: {prompt: 1, completion: 5}}}"
    )
    with Workshop(Settings(home=tmp_path, llm_endpoints=str(tmp_path / "endpoints.yaml"))) as opened:
        yield opened


def history(workshop: Workshop, tasks: int) -> None:
    """Tasks 2 s apart, probed 4 s apart, played 10 s apart; three of four accepted, a tenth of them judged."""
    warehouse = workshop.warehouse
    with warehouse.begin() as session:
        register_samples(warehouse, session, 1)
        for number in range(tasks):
            task = make_task(number)
            warehouse.add_task(session, task, 1, number)
            evidence = good_evidence(task)
            if number % 4 == 0:
                evidence = [
                    p.model_copy(update={"passed": False, "score": 0.5}) if p.kind == "noop" else p for p in evidence
                ]
            warehouse.add_probes(session, evidence)
            warehouse.add_trajectory(session, make_trajectory(task))
            where = f"'{task.id}'"
            session.exec_driver_sql(f"UPDATE tasks SET created_at = {2.0 * number} WHERE id = {where}")
            session.exec_driver_sql(f"UPDATE probes SET created_at = {4.0 * number} WHERE task = {where}")
            session.exec_driver_sql(f"UPDATE trajectories SET created_at = {10.0 * number} WHERE task = {where}")
    usage = Usage(prompt_tokens=900, completion_tokens=100)
    warehouse.ledger.record(make_call("j", purpose="judge", subject=make_task(1).id, usage=usage, run="round-1"))


def planned(workshop: Workshop, workflows: list[skills.Workflow], tasks: int) -> Plan:
    return preview(workshop.warehouse, Wish(workflows, tasks=tasks))


def test_without_history_everything_is_assumed_and_says_so(workshop):
    found = forecast(workshop, planned(workshop, WORKFLOWS, 10))
    assert set(found["assumed"]) == set(ASSUMED)
    assert found["rates"] == ASSUMED
    assert (found["tasks"], found["candidates"], found["episodes"]) == (20, 21, 20)
    assert found["tokens"] == found["bank_values"] * 90 > 0
    assert found["usd"] == pytest.approx(found["tokens"] * (3 * 1 + 5) / 4e6)
    assert forecast(workshop, planned(workshop, WORKFLOWS, 100))["hours"] > 5 * found["hours"]


def test_a_warehouse_with_history_forecasts_by_its_own_rates(workshop):
    history(workshop, 40)
    found = forecast(workshop, planned(workshop, WORKFLOWS[:1], 100))
    rates = found["rates"]
    assert (rates["draw_seconds"], rates["probe_seconds"], rates["episode_seconds"]) == (2.0, 4.0, 10.0)
    assert rates["acceptance"] == 0.75
    assert rates["recurring_tokens_per_task"] == pytest.approx(1000 / 30)
    assert rates["usd_per_token"] == pytest.approx(0.01 / 1000)
    assert found["assumed"] == ["start_seconds", "tokens_per_value"]
    assert found["candidates"] == 133
    assert found["hours_by_stage"]["episode"] == pytest.approx(100 * 10 / 3600)
    assert found["hours"] == pytest.approx((20 + 100 / 0.75 * 6 + 1000) / 3600)


def test_without_a_writer_no_tokens_are_expected(tmp_path):
    with Workshop(Settings(home=tmp_path)) as workshop:
        found = forecast(workshop, planned(workshop, WORKFLOWS, 10))
    assert (found["tokens"], found["usd"], found["bank_values"]) == (0, 0.0, 0)


def test_skills_without_tasks_take_nothing(workshop):
    two = planned(workshop, WORKFLOWS, 10)
    one = dataclasses.replace(two, counts={**two.counts, WORKFLOWS[1].skill.id: 0})
    assert forecast(workshop, one)["tasks"] == 10
    none = dataclasses.replace(two, counts=dict.fromkeys(two.counts, 0))
    assert {forecast(workshop, none)[name] for name in ("tasks", "episodes", "hours", "tokens", "usd")} == {0}


def test_the_forecast_of_a_round_is_kept_and_checked(workshop):
    plan = register(workshop.warehouse, Wish(WORKFLOWS[:1], tasks=5))
    Watch.begin(workshop, plan)
    history(workshop, 40)
    workshop.warehouse.blobs.put(bytes(3_000_000))
    watch = Watch.begin(workshop, plan)  # taken up again: what was expected stays
    watch.note()
    rows = {row["quantity"]: row for row in checked(workshop, plan.round)}
    with workshop.warehouse.read() as connection:
        [kept] = pace.forecasts(connection)
    assert kept["forecast"]["rates"] == ASSUMED
    assert {name: rows[name]["took"] for name in ("tasks", "candidates", "episodes", "tokens", "bank_values")} == {
        "tasks": 30, "candidates": 40, "episodes": 40, "tokens": 1000, "bank_values": 0,
    }  # fmt: skip
    assert rows["hours"]["took"] == pytest.approx(39 * (2 + 4 + 10) / 3600)
    assert [rows[f"hours: {stage}"]["took"] for stage in ("start", "draw", "probe", "episode")] == pytest.approx(
        [0, 39 * 2 / 3600, 39 * 4 / 3600, 39 * 10 / 3600]
    )
    assert rows["usd"]["took"] == pytest.approx(0.01)
    assert 0.003 < rows["gigabytes"]["took"] < 0.005
    assert rows["tasks"]["ratio"] == 6
    assert rows["candidates"]["ratio"] == 40 / rows["candidates"]["expected"]
    assert checked(workshop) == list(rows.values())
    assert checked(workshop, 9) == []


def test_hours_are_those_of_all_runs_and_a_finished_round_takes_no_more(workshop, monkeypatch):
    clock = iter([100.0, 100.0 + 1800, 9000.0, 9000.0 + 3600, 20000.0, 99999.0])
    monkeypatch.setattr("rounds.plan_check.monotonic", lambda: next(clock))
    plan = register(workshop.warehouse, Wish(WORKFLOWS[:1], tasks=5))

    def run() -> float:
        Watch.begin(workshop, plan).note()
        [row] = [row for row in checked(workshop) if row["quantity"] == "hours"]
        return float(row["took"])

    assert run() == pytest.approx(0.5)
    assert run() == pytest.approx(1.5)
    with workshop.warehouse.begin() as session:
        workshop.warehouse.finish_round(session, plan.round)
    assert run() == pytest.approx(1.5)
    rates, assumed = measured(workshop)
    assert rates["start_seconds"] == pytest.approx(1.5 * 3600)  # no stage has rows
    assert "start_seconds" not in assumed


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "-"),
        (0, "0"),
        (2.0, "2"),
        (1234567.0, "1234567"),
        (0.01234, "0.0123"),
        (0.0000678, "0.000068"),
        (151.7, "152"),
    ],
)
def test_figures_are_read_without_powers_of_ten(value, shown):
    assert figure(value) == shown
