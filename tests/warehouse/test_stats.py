"""Figures: right numbers for known rows, the same as the views say, and no error where there is nothing."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa

from forge.records import Skill, Verdict, WarehouseError
from warehouse import Warehouse
from warehouse.acceptance import states_of
from warehouse.stats import _REPORT
from warehouse.views import REQUIRED_GATES

from .samples import PRINT, SKILL, good_evidence, make_call, make_task, make_trajectory, near_miss, probe

MAIL = Skill(id="thunderbird.folder.move-mail", apps=("thunderbird", "calc"), title="Move a mail")


@pytest.fixture
def filled(warehouse):
    """Two accepted tasks, one of them across two applications; a rejected one with surviving probes; a pending one."""
    good, bad, new = make_task(1), make_task(2), make_task(3)
    both = make_task(4).model_copy(update={"skill": MAIL.id, "workflow": "c" * 64, "apps": ("calc", "thunderbird")})
    with warehouse.begin() as session:
        warehouse.register_skill(session, MAIL)
        warehouse.register_workflow(session, "c" * 64, MAIL.id, "skill: y\n", 1)
        for ordinal, task in enumerate((good, bad, new, both)):
            warehouse.add_task(session, task, 1, ordinal)
        warehouse.add_probes(session, good_evidence(good))
        warehouse.add_probes(session, good_evidence(both))
        warehouse.add_probes(
            session,
            [
                probe(bad, "noop", "untouched", False, 0.5),
                probe(bad, "solution", "terminal#1", False, 0.75),
                near_miss(bad, "total:hard-coded-value", "total", passed=False, score=1.0),
                near_miss(bad, "total:neighbour", "total", dropped=True, passed=False, score=1.0),
                near_miss(bad, "elsewhere:other-cell", "elsewhere", kind="over_edit", passed=False, score=1.0),
                near_miss(bad, "total:off-by-one", "total", kind="audit", passed=False, score=1.0),
                near_miss(bad, "total:rounded", "total", kind="audit", passed=False, score=None,
                          verdict=Verdict(grading="grader_error", error="Traceback")),
            ],
        )  # fmt: skip
        warehouse.add_trajectory(session, make_trajectory(good))
        warehouse.add_trajectory(session, make_trajectory(good, teacher="llm", reward=0.5))
        warehouse.add_trajectory(session, make_trajectory(bad, teacher="llm", reward=0.0))
        warehouse.add_trajectory(session, make_trajectory(bad, reward=None))
    for call in (
        make_call("author", purpose="author", recurring=False),
        make_call("names", purpose="writer", subject=good.id),
        make_call("again", purpose="writer", subject=bad.id, status="invalid"),
        make_call("teach", purpose="teacher"),
    ):
        warehouse.ledger.record(call)
    return warehouse


def test_the_figures(filled):
    figures = filled.stats()
    assert figures["tasks"] == {
        "accepted": 2, "rejected": 1, "pending": 1, "candidates": 4, "several_apps": 1,
        "by_app": {"calc": 2, "thunderbird": 1}, "by_skill": {SKILL.id: 1, MAIL.id: 1},
        "reasons": {
            **{f"gate_missing: {name}": 2 for name in REQUIRED_GATES}, "near_miss_survived": 1,
            "noop_scored": 1, "not_probed": 1, "over_edit_survived": 1, "solution_failed": 1,
        },
    }  # fmt: skip
    assert figures["probes"] == {
        "noop_false_positives": 1, "oracle_pass_rate": 8 / 9, "near_miss_kill_rate": 6 / 7, "audit_kill_rate": 2 / 4,
        "over_edit_recall": 2 / 3, "dropped": 1,
        "counts": {"audit": 4, "near_miss": 7, "noop": 3, "over_edit": 3, "solution": 9},
    }  # fmt: skip
    assert figures["trajectories"]["by_outcome"] == {
        "success": 1, "partial": 1, "failure": 1, "grader_error": 0, "not_gradable": 1, "not_trusted": 0,
    }  # fmt: skip
    assert figures["trajectories"]["tasks_with_oracle_success"] == 1
    assert figures["share"] == {"gui": 0.75, "terminal": 0.25, "gui_calls": 12, "terminal_calls": 4}
    assert figures["tokens"] == {
        "total": 4000, "per_accepted_task": 1500.0, "per_trajectory": 250.0, "recurring": 2000, "one_off": 1000,
        "rejected_tasks": 1000, "failed_calls": 1000,
    }  # fmt: skip
    assert figures["cost_usd"]["per_accepted_task"] == pytest.approx(0.015)
    assert figures["model_calls"]["by_purpose"] == {"author": 1, "teacher": 1, "writer": 2}
    assert json.loads(json.dumps(figures)) == figures


def test_the_views_say_the_same(filled):
    figures = filled.stats()
    assert {r["app"]: r["accepted"] for r in filled.rows_of("tasks_by_app")} == figures["tasks"]["by_app"]
    assert {r["skill"]: r["accepted"] for r in filled.rows_of("tasks_by_skill")} == figures["tasks"]["by_skill"]
    rates = {r["kind"]: r["rate"] for r in filled.rows_of("kill_rates")}
    assert rates["near_miss"] == figures["probes"]["near_miss_kill_rate"]
    cost = {(r["purpose"], r["work"]): r["tokens_per_accepted_task"] for r in filled.rows_of("cost_per_accepted_task")}
    assert cost == {("author", "one-off"): 500.0, ("teacher", "recurring"): 500.0, ("writer", "recurring"): 1000.0}


def test_kills_by_check(filled):
    rows = {(r["check_name"], r["kind"], r["mutant"]): r for r in filled.rows_of("kills_by_check")}
    hard = rows["calc.formula", "near_miss", "hard-coded-value"]
    assert (hard["probes"], hard["killed"], hard["rate"]) == (3, 2, 2 / 3)
    neighbour = rows["calc.formula", "near_miss", "neighbour"]
    assert (neighbour["probes"], neighbour["rate"], neighbour["dropped"]) == (0, None, 1)
    assert rows["(any)", "near_miss", "column"]["killed"] == 2


def test_success_by_skill_and_harness(filled):
    rows = filled.rows_of("success_by_skill_harness")
    assert [(r["teacher"], r["trajectories"], r["graded"], r["successes"], r["success_rate"]) for r in rows] == [
        ("llm", 2, 2, 0, 0.0), ("oracle", 2, 1, 1, 1.0),
    ]  # fmt: skip
    assert rows[0]["mean_reward"] == 0.25
    assert rows[0]["mean_actions"] == 5.0


def test_shares_by_harness(filled):
    rows = filled.rows_of("channel_share")
    assert [(r["harness"], r["provenance"], r["gui"], r["terminal"], r["gui_share"]) for r in rows] == [
        ("hybrid", "model", 6, 2, 0.75), ("hybrid", "oracle", 6, 2, 0.75),
    ]  # fmt: skip


def test_trajectories_by_outcome(filled):
    rows = filled.rows_of("trajectories_by_outcome")
    assert [(r["outcome"], r["ended_by"], r["provenance"], r["trajectories"]) for r in rows] == [
        ("failure", "done", "model", 1), ("not_gradable", "done", "oracle", 1),
        ("partial", "done", "model", 1), ("success", "done", "oracle", 1),
    ]  # fmt: skip


def test_an_empty_warehouse_has_figures_too(url, tmp_path):
    with Warehouse.open(url, str(tmp_path / "blobs")) as empty:
        figures = empty.stats()
        assert empty.report() == {}
        assert empty.dump() == []
    assert figures["tasks"]["accepted"] == 0
    assert figures["tasks"]["by_app"] == {}
    assert figures["probes"] == {
        "noop_false_positives": 0, "oracle_pass_rate": None, "near_miss_kill_rate": None, "audit_kill_rate": None,
        "over_edit_recall": None, "counts": {}, "dropped": 0,
    }  # fmt: skip
    assert (figures["share"]["gui"], figures["tokens"]["per_accepted_task"]) == (None, None)


def test_an_accepted_task_that_cost_nothing(warehouse):
    task = make_task(0)
    with warehouse.begin() as session:
        warehouse.add_task(session, task, 1, 0)
        warehouse.add_probes(session, good_evidence(task))
    assert warehouse.stats()["tokens"]["per_accepted_task"] == 0.0


def test_the_report_has_a_table_for_every_view_with_rows(filled):
    report = filled.report()
    assert len(report) == 9
    columns, rows = report["Probes over all candidates"]
    assert columns[:2] == ["kind", "probes"]
    assert [row[0] for row in rows] == ["audit", "near_miss", "noop", "over_edit", "solution"]
    assert all(len(row) == len(columns) for columns, rows in report.values() for row in rows)


def test_the_report_says_what_the_views_say_and_leaves_nothing_behind(filled):
    for _ in range(2):
        report = filled.report()
        for title, view in _REPORT.items():
            columns, rows = report[title]
            assert [dict(zip(columns, row, strict=True)) for row in rows] == filled.rows_of(view)
    with filled.read() as connection:
        assert states_of(connection) == {row["task"]: row["state"] for row in filled.rows_of("task_states")}
        assert sa.inspect(connection).get_temp_table_names() == []


def test_a_name_that_is_no_view(warehouse):
    with pytest.raises(WarehouseError, match="no view 'tasks; DROP'") as caught:
        warehouse.rows_of("tasks; DROP")
    assert "tasks_by_app" in str(caught.value.mend)


def test_old_evidence_is_not_in_the_rates(filled):
    task = make_task(1)
    with filled.begin() as session:
        filled.add_probes(session, [probe(task, "noop", "untouched", False, 1.0, fingerprint="upgraded")])
    assert filled.stats()["probes"]["noop_false_positives"] == 2
    with filled.begin() as session:
        filled.add_probes(session, [probe(task, "noop", "untouched", True, 0.0, fingerprint=PRINT.digest())])
    assert filled.stats()["probes"]["noop_false_positives"] == 1
