"""`forge tasks` on a warehouse with a task whose solution's script crashes."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.records import Settings
from rounds.probe import SAID, SCRIPT
from rounds.workshop import Workshop

from ..warehouse.samples import make_task, probe, register
from .test_commands import forge

CRASH = f"step 1 of 2 ended with exit code 1{SAID}Traceback (most recent call last):\nKeyError: 'Total'"


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a task with two channels that was probed only on files, where its script crashed."""
    monkeypatch.setenv("FORGE_HOME", str(tmp_path))
    found = make_task()
    evidence = f"target 0: {'x' * 300}{SCRIPT}{CRASH}"
    with Workshop(Settings(home=tmp_path)) as workshop, workshop.warehouse.begin() as session:
        register(workshop.warehouse, session, 1)
        workshop.warehouse.add_task(session, found, 1, 0)
        red = probe(found, "solution", "terminal#1", False, 0.0, evidence=evidence)
        workshop.warehouse.add_probes(session, [probe(found, "noop", "untouched", True, 0.0), red])
    return found.id


def test_a_script_that_crashed_is_shown_with_exit_code_and_its_last_line(task: str) -> None:
    shown = forge("tasks", "show", task).stdout
    assert "step 1 of 2 ended with exit code 1: KeyError: 'Total'" in shown
    assert "Traceback" not in shown
    assert SCRIPT.strip() not in shown


def test_what_follows_from_other_reasons_is_told_last(task: str) -> None:
    (line,) = [line for line in forge("tasks", "show", task).stdout.splitlines() if line.startswith("not accepted")]
    reasons = line.removeprefix("not accepted: ").split(", ")
    assert "solution_failed: terminal#1" in reasons
    assert reasons[-1] == "desktop_solution_missing: gui"
