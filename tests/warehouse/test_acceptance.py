"""The predicate of Law 1: complete good evidence accepts, and every single gap or fault in it does not."""

from __future__ import annotations

import pytest

from forge.records import Criterion, Probe, Rubric, Verdict
from warehouse.views import REQUIRED_GATES

from .samples import PRINT, RUBRIC, WORKFLOW, good_evidence, make_task, near_miss, probe

TASK = make_task(0)


def judge(warehouse, *probes: Probe, task=TASK):
    with warehouse.begin() as session:
        warehouse.add_task(session, task, 1, 0)
        warehouse.add_probes(session, probes)
    return warehouse.acceptance(task.id)


def without(*names: str) -> list[Probe]:
    return [p for p in good_evidence(TASK) if p.name not in names]


def swapped(*changed: Probe) -> list[Probe]:
    return [*without(*[p.name for p in changed]), *changed]


def test_complete_evidence_accepts(warehouse):
    assert judge(warehouse, *good_evidence(TASK)) == (True, [])


def test_a_task_without_evidence_is_pending(warehouse):
    accepted, reasons = judge(warehouse)
    assert not accepted
    missing = [f"gate_missing: {name}" for name in REQUIRED_GATES]
    assert reasons == ["desktop_solution_missing: gui", *missing, "not_probed"]
    assert warehouse.stats()["tasks"] | {"by_app": 0, "by_skill": 0, "reasons": 0} == {
        "accepted": 0, "rejected": 0, "pending": 1, "candidates": 1, "several_apps": 0,
        "by_app": 0, "by_skill": 0, "reasons": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        *[([name], f"gate_missing: {name}") for name in REQUIRED_GATES],
        (["untouched"], "noop_missing"),
        (["terminal#3"], "solution_missing: terminal"),
        (["gui-desktop#1"], "desktop_solution_missing: gui"),
        (["total:hard-coded-value"], "criterion_uncovered: total"),
        (["format:reverted"], "criterion_uncovered: format"),
        (["elsewhere:other-cell"], "over_edit_missing"),
    ],
)
def test_each_gap_has_its_reason(warehouse, missing, reason):
    assert judge(warehouse, *without(*missing)) == (False, [reason])


def test_no_near_miss_at_all(warehouse):
    none = without("total:hard-coded-value", "format:reverted", "parameter:column")
    assert judge(warehouse, *none) == (
        False, ["criterion_uncovered: format", "criterion_uncovered: total", "near_miss_missing"],
    )  # fmt: skip


ERROR = Verdict(grading="grader_error", error="Traceback")


HARD = ("total:hard-coded-value", "total")
COLUMN = ("parameter:column",)
OTHER_CELL = ("elsewhere:other-cell", "elsewhere")
SURVIVED: dict[str, object] = {"passed": False, "score": 1.0}
CHANCE: dict[str, object] = {"dropped": True, **SURVIVED}


@pytest.mark.parametrize(
    ("changed", "reasons"),
    [
        (probe(TASK, "gate", "determinism", False, None), ["gate_failed: determinism"]),
        (probe(TASK, "gate", "hybrid-needs-more-than-gui", False, None), ["gate_failed: hybrid-needs-more-than-gui"]),
        (probe(TASK, "noop", "untouched", False, 0.25), ["noop_scored: untouched"]),
        (probe(TASK, "noop", "untouched", True, 0.25), ["noop_scored: untouched"]),
        (probe(TASK, "noop", "untouched", False, None, verdict=ERROR), ["grader_error: untouched"]),
        (probe(TASK, "solution", "terminal#2", False, 0.75), ["solution_failed: terminal#2"]),
        (
            probe(TASK, "solution", "gui-desktop#1", False, 0.0),
            ["desktop_solution_missing: gui", "solution_failed: gui-desktop#1"],
        ),
        (near_miss(TASK, *HARD, **SURVIVED), ["criterion_uncovered: total", f"near_miss_survived: {HARD[0]}"]),
        (near_miss(TASK, *HARD, score=1.0), ["criterion_uncovered: total", f"near_miss_survived: {HARD[0]}"]),
        (near_miss(TASK, *HARD, **CHANCE), ["criterion_uncovered: total"]),
        (near_miss(TASK, *HARD, only=False), ["criterion_uncovered: total"]),
        (near_miss(TASK, *HARD, "format"), ["criterion_uncovered: total"]),
        (near_miss(TASK, *COLUMN, passed=False, score=None, verdict=ERROR), [f"grader_error: {COLUMN[0]}"]),
        (near_miss(TASK, *COLUMN, only=False, **CHANCE), []),
        (near_miss(TASK, *OTHER_CELL, kind="over_edit", **SURVIVED), [f"over_edit_survived: {OTHER_CELL[0]}"]),
        (near_miss(TASK, *OTHER_CELL, kind="over_edit", **CHANCE), ["over_edit_missing"]),
        (near_miss(TASK, "total:off-by-one", "total", kind="audit", **SURVIVED), []),
    ],
)
def test_each_fault_has_its_reason_and_no_other(warehouse, changed, reasons):
    assert judge(warehouse, *swapped(changed)) == (not reasons, reasons)


def test_a_failed_run_beside_three_good_ones_rejects(warehouse):
    assert judge(warehouse, *good_evidence(TASK), probe(TASK, "solution", "terminal#4", False, 0.5)) == (
        False, ["solution_failed: terminal#4"],
    )  # fmt: skip


def test_an_over_edit_is_asked_for_only_where_something_is_forbidden(warehouse):
    rubric = Rubric(criteria=RUBRIC.criteria[:2])
    task = make_task(0, rubric=rubric).model_copy(update={"resolved": {"other": 1}})
    evidence = [p.model_copy(update={"task": task.id}) for p in without("elsewhere:other-cell")]
    assert judge(warehouse, *evidence, task=task).accepted


def test_a_judge_needs_no_near_miss(warehouse):
    opinion = Criterion(id="tidy", kind="judge", check="judge.tidy")
    task = make_task(0, rubric=Rubric(criteria=(*RUBRIC.criteria, opinion)))
    assert judge(warehouse, *good_evidence(task), task=task).accepted


def test_window_evidence_of_one_task_serves_its_workflow_version(warehouse):
    other = make_task(1)
    with warehouse.begin() as session:
        warehouse.add_task(session, other, 1, 1)
        warehouse.add_probes(session, [p.model_copy(update={"task": other.id}) for p in without("gui-desktop#1")])
    assert warehouse.acceptance(other.id).reasons == ["desktop_solution_missing: gui"]
    assert judge(warehouse, *good_evidence(TASK)).accepted
    assert warehouse.acceptance(other.id).accepted
    with warehouse.begin() as session:
        warehouse.add_probes(session, [probe(other, "solution", "gui-desktop#1", False, 0.0)])
    assert warehouse.acceptance(other.id).reasons == ["solution_failed: gui-desktop#1"]
    assert warehouse.acceptance(TASK.id).accepted


def test_window_evidence_does_not_cross_workflow_versions(warehouse):
    other = make_task(1).model_copy(update={"workflow": "b" * 64})
    with warehouse.begin() as session:
        warehouse.register_workflow(session, "b" * 64, other.skill, "skill: x\n")
        warehouse.add_task(session, other, 1, 0)
        warehouse.add_probes(session, [p.model_copy(update={"task": other.id}) for p in without("gui-desktop#1")])
    judge(warehouse, *good_evidence(TASK))
    assert warehouse.acceptance(other.id).reasons == ["desktop_solution_missing: gui"]


def test_each_window_channel_needs_its_own_evidence(warehouse):
    task = make_task(0, channels=("terminal", "gui", "hybrid"))
    assert judge(warehouse, *good_evidence(task), task=task).reasons == ["desktop_solution_missing: hybrid"]
    with warehouse.begin() as session:
        warehouse.add_probes(session, [probe(task, "solution", "hybrid-desktop#1", True, 1.0)])
    assert warehouse.acceptance(task.id).accepted


def test_a_task_without_a_terminal_solution_needs_no_run_on_files(warehouse):
    task = make_task(0, channels=("gui",))
    evidence = [p for p in good_evidence(task) if not p.name.startswith("terminal")]
    assert judge(warehouse, *evidence, task=task).accepted
    with_none = make_task(1, channels=("gui",))
    bare = [p.model_copy(update={"task": with_none.id}) for p in evidence if p.kind in ("gate", "noop")]
    found = judge(warehouse, *bare, task=with_none)
    assert "near_miss_missing" in found.reasons
    states = {row["id"]: row["state"] for row in warehouse.list_tasks()}
    assert states == {task.id: "accepted", with_none.id: "pending"}


def test_gates_and_desktop_runs_replace_the_one_of_their_name_only(warehouse):
    judge(warehouse, *good_evidence(TASK))
    later = {"fingerprint": "upgraded"}
    with warehouse.begin() as session:
        warehouse.add_probes(session, [probe(TASK, "gate", "determinism", False, None, **later)])
        warehouse.add_probes(session, [probe(TASK, "solution", "gui-desktop#2", True, 1.0, **later)])
    assert warehouse.acceptance(TASK.id).reasons == ["gate_failed: determinism"]
    with warehouse.begin() as session:
        warehouse.add_probes(session, [probe(TASK, "gate", "determinism", True, None, fingerprint="mended")])
        warehouse.add_probes(session, [probe(TASK, "solution", "gui-desktop#1", False, 0.0, **later)])
    assert warehouse.acceptance(TASK.id).reasons == ["solution_failed: gui-desktop#1"]


def test_a_set_of_file_probes_replaces_the_older_set_whole(warehouse):
    judge(warehouse, *good_evidence(TASK))
    later = [
        p.model_copy(update={"fingerprint": "upgraded"}) for p in good_evidence(TASK) if p.kind not in ("gate", "audit")
    ]
    failed = [p for p in later if not p.name.startswith("gui")]
    failed[0] = probe(TASK, "noop", "untouched", False, 0.5, fingerprint="upgraded")
    with warehouse.begin() as session:
        warehouse.add_probes(session, failed)
    assert warehouse.acceptance(TASK.id).reasons == ["noop_scored: untouched"]
    assert {p.fingerprint for p in warehouse.probes(TASK.id)} == {PRINT.digest(), "upgraded"}
    assert len(warehouse.probes(TASK.id, current=False)) == len(good_evidence(TASK)) + len(failed)
    with warehouse.begin() as session:  # back on the old machine: the rows are there already, and count again
        warehouse.add_probes(session, good_evidence(TASK))
    assert warehouse.acceptance(TASK.id).accepted


def test_reasons_are_counted_over_all_tasks(warehouse):
    good, bad, worse, new = (make_task(n) for n in range(4))
    judge(warehouse, *good_evidence(good), task=good)
    judge(warehouse, *[p.model_copy(update={"task": bad.id}) for p in without("untouched")], task=bad)
    failed = probe(worse, "solution", "terminal#1", False, 0.0)
    judge(
        warehouse, *[p for p in good_evidence(worse) if p.name not in ("untouched", "terminal#1")], failed, task=worse
    )
    judge(warehouse, task=new)
    assert [(r["reason"], r["detail"], r["tasks"]) for r in warehouse.rows_of("acceptance_reasons")] == [
        ("noop_missing", "", 2), *[("gate_missing", name, 1) for name in REQUIRED_GATES],
        ("not_probed", "", 1), ("solution_failed", "", 1),
    ]  # fmt: skip
    assert warehouse.rows_of("accepted_v1") == [{"task": good.id, "skill": good.skill, "workflow": WORKFLOW}]
    states = {row["task"]: row["state"] for row in warehouse.rows_of("task_states")}
    assert states == {good.id: "accepted", bad.id: "rejected", worse.id: "rejected", new.id: "pending"}
