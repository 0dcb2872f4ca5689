"""Smoke batches: what breaks, what fails, and what its author is shown of it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

import rounds.probe
import rounds.smoke
import skills
from forge.records import (
    DesktopError,
    Grading,
    InputError,
    PreparerError,
    Probe,
    ProbeKind,
    Verdict,
    WarehouseError,
)
from preparers.base import PREPARERS
from rounds.materialize import Ticket
from rounds.probe import SCRIPT
from rounds.smoke import WorkshopBench, _Breakage, _what_came, drawn
from rounds.workshop import Workshop
from skills import Kitchen, Workflow
from skills.authoring.draft import CriterionText, Draft
from skills.authoring.evidence import picture, report
from tests.skills.authoring.conftest import CRITERIA, SKILL, WORDING, WORKFLOW


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    monkeypatch.setenv("FORGE_HOME", str(tmp_path / "home"))
    with Workshop() as opened:
        yield opened


def workflow(text: str = WORKFLOW, **files: str) -> Workflow:
    draft = Draft(SKILL, rubric=tuple(CriterionText(**c) for c in CRITERIA))
    draft.write(
        {"workflow.yaml": text, "wording.yaml": WORDING, **{f"{name}.py": code for name, code in files.items()}}
    )
    return draft.load(graded=True)


def test_a_raw_error_of_a_preparer_is_told_with_the_draw_and_the_place_and_logged(monkeypatch, caplog):
    def prepare(self: Any, params: Any, context: Any) -> Any:
        return {}["brand"]

    monkeypatch.setattr(type(PREPARERS.get("files.tree")), "prepare", prepare)
    with pytest.raises(InputError) as caught:
        drawn(workflow(), 3, Kitchen())
    said = str(caught.value)
    assert said.startswith("draw 3: KeyError: 'brand' (in tests/rounds/test_smoke.py, line ")
    assert said.endswith('prepare: return {}["brand"])')
    (logged,) = caplog.records
    assert logged.getMessage() == "draw 3 broke: 'brand'"
    assert logged.exc_info[1] is caught.value.__cause__


def test_what_breaks_in_our_code_is_logged_and_what_is_raised_on_purpose_is_not(caplog):
    for error in (KeyError("spoiled"), PreparerError("it cannot be laid out")):
        with pytest.raises(InputError), _Breakage().guarding("probe", "key", "probing draw 3"):
            raise error
    (logged,) = caplog.records
    assert logged.getMessage() == "probing draw 3 broke: 'spoiled'"
    assert type(logged.exc_info[1]) is KeyError


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OperationalError("INSERT", {}, Exception("database or disk is full")), WarehouseError),
        (TimeoutError("no answer"), TimeoutError),
        (subprocess.TimeoutExpired("bwrap", 5), DesktopError),
        (RuntimeError("can't start new thread"), DesktopError),
    ],
)
def test_a_fault_of_the_machine_is_never_the_authors(monkeypatch, error, kind):
    def prepare(self: Any, params: Any, context: Any) -> Any:
        raise PreparerError("it cannot be laid out") from error

    monkeypatch.setattr(type(PREPARERS.get("files.tree")), "prepare", prepare)
    with pytest.raises(kind) as caught:
        drawn(workflow(), 3, Kitchen())
    assert str(error).split("\n")[0] in str(caught.value)
    with pytest.raises(kind), _Breakage().guarding("materialize", "key", "making draw 3"):
        drawn(workflow(), 3, Kitchen())


async def test_a_fault_of_the_machine_is_told_also_where_its_words_stand_in_what_broke(workshop, monkeypatch):
    def fails(_: Workshop, ticket: Ticket) -> Any:
        raise KeyError("frozen") if ticket.ordinal == 0 else DesktopError("frozen")

    monkeypatch.setattr(rounds.smoke, "materialize", fails)
    bench = WorkshopBench(workshop)
    monkeypatch.setattr(bench, "_corners", lambda *_: [0, 1])
    smoke = await bench.smoke(workflow(), 2, play=False)
    assert smoke.faults == ("frozen",)
    (line,) = smoke.broken
    assert line.startswith("making draw 0: KeyError: 'frozen' (in ")


def test_of_a_graders_error_what_was_raised_comes_first_and_no_traceback():
    error = (
        "criterion owner (files.content): KeyError: 'x'\nTraceback (most recent call last):\n"
        "  File \"/opt/forge/verifiers/grading.py\", line 1, in grade\nKeyError: 'x'"
    )
    probe = Probe(
        task="t", kind=ProbeKind.NOOP, name="untouched", expected="0", passed=False,
        verdict=Verdict(grading=Grading.GRADER_ERROR, error=error), evidence=f"grader_error: {error}",
    )  # fmt: skip
    assert _what_came(probe) == "grader_error: criterion owner (files.content): KeyError: 'x'"
    graded = probe.model_copy(update={"verdict": None, "evidence": f"owner 0: empty{SCRIPT}step 1 ended"})
    assert _what_came(graded) == "owner 0: empty"


@pytest.mark.desktop
async def test_a_script_that_fails_is_told_once_with_exit_code_and_the_end_of_its_errors(workshop):
    text = f"{WORKFLOW.partition('  terminal:')[0]}  terminal:\n    - {{python: fail.py}}\n"
    fail = "import sys\nfor n in range(27):\n    print('line', n, file=sys.stderr)\n{}['Total']\n"
    smoke = await WorkshopBench(workshop).smoke(workflow(text, fail=fail), 3, play=False)
    said = report(smoke)
    assert said.count("ended with exit code 1; the last that it said:") == 1
    assert "The terminal solution fails on draws " in said
    assert said.count("KeyError: 'Total'") == 1
    assert said.count("line 26\n") == 1
    assert "line 9\n" not in said  # the last fifteen lines, a traceback among them
    assert said.count("solution terminal#") == 1
    assert f"{workshop.settings.home}" not in said
    assert len(said) < 4000


@pytest.mark.desktop
async def test_what_breaks_while_it_is_probed_is_told_and_the_rest_goes_on(workshop, monkeypatch):
    def breaks(*_: Any) -> Any:
        raise KeyError("spoiled")

    monkeypatch.setattr(rounds.probe, "near_misses", breaks)
    smoke = await WorkshopBench(workshop).smoke(workflow(), 2, play=False)
    assert (len(smoke.broken), smoke.faults, smoke.sound) == (2, (), False)
    assert all("KeyError: 'spoiled' (in " in line and line.startswith("probing draw ") for line in smoke.broken)
    assert "BROKEN: probing draw" in report(smoke)


@pytest.mark.desktop
async def test_a_play_that_fails_is_shown_with_its_step_and_the_names_that_were_there(workshop):
    text = WORKFLOW.replace("affinity: terminal", "affinity: either") + "  gui:\n    - {press: No Such Button}\n"
    smoke = await WorkshopBench(workshop).smoke(workflow(text), 2, play=True)
    (lost,) = [p for p in smoke.performed if p.channel == "gui"]
    assert lost.failed
    assert "step 1, press: No Such Button: no " in lost.error
    assert "there were " in lost.error
    assert "screenshot" not in lost.error
    assert picture(smoke) == lost.png
    assert lost.png is not None
    assert lost.png.startswith(b"\x89PNG")
    assert "The picture shows the desktop when it failed." in report(smoke)
    assert skills.load("files.text.count-log-entries").channels == ("gui", "terminal")
