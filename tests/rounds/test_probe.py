"""What is told of a solution that failed: of its script in a line, and at the end of a round where to look."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import skills
from forge.records import Settings
from rounds.plan_check import Watch
from rounds.probe import SAID, SCRIPT, script_end
from rounds.register import Wish, register
from rounds.round import RoundReport, causes_first, finish
from rounds.workshop import Workshop

from ..warehouse.samples import PRINT, make_task, probe

ENDS = [
    ("target 0: no file", ""),
    (f"target 0: no file{SCRIPT}step 1 of 1 ended with exit code 3", "step 1 of 1 ended with exit code 3"),
    (f"t 0{SCRIPT}step 2 of 2 ended with exit code 1{SAID}a\nb\nNo: x", "step 2 of 2 ended with exit code 1: No: x"),
    (f"t 0{SCRIPT}every step ended with exit code 0{SAID}12", "every step ended with exit code 0: 12"),
]  # fmt: skip


@pytest.mark.parametrize(("evidence", "line"), ENDS)
def test_how_a_script_ended_is_one_line(evidence: str, line: str) -> None:
    assert script_end(evidence) == line


def test_reasons_of_a_desktop_come_after_their_causes() -> None:
    reasons = ["desktop_solution_missing: gui", "gate_failed: spans", "solution_failed: terminal#1"]
    assert causes_first(reasons) == [*reasons[1:], reasons[0]]


def test_a_round_that_is_short_says_how_to_find_out_why(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    workflow = skills.load("files.text.count-log-entries")
    with Workshop(Settings(home=tmp_path)) as workshop:
        plan = register(workshop.warehouse, Wish([workflow], tasks=1, round=1))
        task = make_task().model_copy(update={"skill": workflow.skill.id, "workflow": workflow.version})
        with workshop.warehouse.begin() as session:
            workshop.warehouse.register_fingerprint(session, PRINT)
            workshop.warehouse.add_task(session, task, 1, 0)
            workshop.warehouse.add_probes(session, [probe(task, "solution", "terminal#1", False, 0.0)])
        report = RoundReport(1)
        with caplog.at_level(logging.WARNING):
            finish(workshop, plan, report, Watch.begin(workshop, plan))
    assert (report.rejected, report.short) == (1, {workflow.skill.id: 1})
    (said,) = caplog.messages
    assert f"`forge tasks list --rejected --skill {workflow.skill.id}`" in said
    assert "`forge tasks show ID`" in said
