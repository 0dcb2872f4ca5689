"""Forecasts: measured where there is enough, assumed where not; kept when a round begins and compared when it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

import skills
from forge.records import Settings, Usage
from rounds.plan import ASSUMED, expect, forecast, note_taken
from rounds.register import register
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


def test_without_history_everything_is_assumed_and_says_so(workshop):
    found = forecast(workshop, WORKFLOWS, 10)
    assert set(found["assumed"]) == set(ASSUMED)
    assert found["rates"] == ASSUMED
    assert (found["tasks"], found["candidates"], found["episodes"]) == (20, 21, 20)
    assert found["tokens"] == found["bank_values"] * 90 > 0
    assert found["usd"] == pytest.approx(found["tokens"] * (3 * 1 + 5) / 4e6)
    assert forecast(workshop, WORKFLOWS, 100)["hours"] > 5 * found["hours"]


def test_a_warehouse_with_history_forecasts_by_its_own_rates(workshop):
    history(workshop, 40)
    found = forecast(workshop, WORKFLOWS[:1], 100)
    rates = found["rates"]
    assert (rates["draw_seconds"], rates["probe_seconds"], rates["episode_seconds"]) == (2.0, 4.0, 10.0)
    assert rates["acceptance"] == 0.75
    assert rates["recurring_tokens_per_task"] == pytest.approx(1000 / 30)
    assert found["assumed"] == ["tokens_per_value"]
    assert found["candidates"] == 133
    assert found["hours_by_stage"]["episode"] == pytest.approx(100 * 10 / 3600)
    assert found["hours"] == pytest.approx((100 / 0.75 * 6 + 1000) / 3600)


def test_without_a_writer_no_tokens_are_expected(tmp_path):
    with Workshop(Settings(home=tmp_path)) as workshop:
        found = forecast(workshop, WORKFLOWS, 10)
    assert (found["tokens"], found["usd"], found["bank_values"]) == (0, 0.0, 0)


def test_the_forecast_of_a_round_is_kept_and_checked(workshop):
    plan = register(workshop.warehouse, WORKFLOWS[:1], tasks=5)
    expect(workshop, plan)
    history(workshop, 40)
    expect(workshop, plan)  # taken up again: what was expected stays
    note_taken(workshop, plan)
    with workshop.warehouse.read() as connection:
        [row] = pace.forecasts(connection)
    assert row["forecast"]["rates"] == ASSUMED
    assert row["took"]["candidates"] == 40
    assert row["took"]["tasks"] == 30
    assert row["took"]["hours"] == pytest.approx(39 * (2 + 4 + 10) / 3600)
    assert (row["took"]["tokens"], row["took"]["usd"]) == (1000, pytest.approx(0.01))
