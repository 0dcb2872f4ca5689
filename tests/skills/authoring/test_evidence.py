"""What trying came to: each fault once, the end of a script's errors, the picture of a failed play."""

from __future__ import annotations

import errno
import subprocess
from pathlib import Path

import pytest

from forge.records import DesktopError, InputError, ModelError, Settings, WarehouseError
from skills.authoring import breakage
from skills.authoring.breakage import ROOT, machine_fault, redacted, told
from skills.authoring.evidence import picture, rejected, report
from skills.authoring.port import Performed, Smoke, Tried

SCRIPT = "step 1 of 1 ended with exit code 1; the last that it said:\nKeyError: 'Total'"


def failing(number: int, *, script: str = SCRIPT, evidence: tuple[str, ...] = ()) -> Tried:
    return Tried(7, f"Add the total of sheet {number}.", False, ("solution fails",), evidence, number, script)


def test_a_script_that_fails_is_told_once_with_its_exit_code_and_its_last_words():
    lines = ("solution terminal#1: expected the solution scores 1; total 0: F{} is empty",)
    tried = [failing(n, evidence=tuple(line.format(n) for line in lines)) for n in (0, 2, 5)]
    smoke = Smoke((*tried, Tried(8, "fine", True, number=7)), red=tuple(line for t in tried for line in t.evidence))
    said = report(smoke)
    assert said.split("\n")[0] == "1 of 4 draws pass all gates and probes on files."
    assert said.count("exit code 1") == 1
    assert f"The terminal solution fails on draws 0, 2 and 5: {SCRIPT}" in said
    assert said.count("expected the solution scores 1") == 1
    assert "RED on draws 0, 2 and 5: solution terminal#1: expected the solution scores 1; total 0: F0 is empty" in said
    assert said.count("reads: 'Add the total") == 3


def test_different_faults_are_told_apart():
    other = failing(3, script="step 2 of 2 did not end within 60 s", evidence=("gate literals: expected x; a brace",))
    said = report(Smoke((failing(0), other), red=()))
    assert "fails on draw 0: step 1 of 1 ended with exit code 1" in said
    assert "fails on draw 3: step 2 of 2 did not end within 60 s" in said
    assert "Not accepted on draw 3: gate literals" in said


def test_a_picture_shows_the_last_failed_play_and_none_that_had_to_fail():
    lost = Performed("gui", "gui", 0.0, "step 2, press: 'OK': no push button 'OK' shows; there were 'Cancel'", "", b"1")
    meant = Performed("hybrid", "gui", 0.0, "step 1, bash: there is no tool bash", "", b"2")
    won = Performed("hybrid", "hybrid", 1.0)
    assert picture(Smoke((), (lost, meant, won))) == b"1"
    assert picture(Smoke((), (meant, won))) is None
    said = report(Smoke((), (lost, meant, won), channels=("gui", "hybrid")))
    assert (
        "harness gui: reward 0.0. step 2, press: 'OK': no push button 'OK' shows; there were 'Cancel' The pict" in said
    )
    assert said.count("The picture shows") == 1
    assert "Not yet won on the desktop: gui" in said


def test_what_broke_and_what_the_machine_failed_at_are_told_apart_and_neither_is_sound():
    good = (Tried(1, "do it", True),)
    assert Smoke(good).sound
    broken = Smoke(good, broken=("probing draw 0: KeyError: 'x'",))
    assert not broken.sound
    assert "BROKEN: probing draw 0: KeyError: 'x'" in report(broken)
    assert "Fault of the machine, not yours: no display" in report(Smoke(good, faults=("no display",)))


def test_rejected_draws_in_a_line():
    assert rejected([Tried(1, "x", True)]) == ""
    lost = Tried(1, "x", False, ("near-duplicate", "leak"), number=4)
    assert rejected([lost, Tried(2, "x", True)]) == "1 of 2 draws were rejected: draw 4: near-duplicate, leak."


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("/tmp/draft-ab12_xyz/workflow.yaml:3: no", "workflow.yaml:3: no"),
        ("File '/var/x/smoke-abcdefgh/warehouse.db'", "File 'warehouse.db'"),
        ("/data/slots/scratch-1/copy-abcdefgh/home/Documents/a.txt", "~/Documents/a.txt"),
        ("/data/slots/scratch-1/home-abcdefgh", "~"),
        (f"{ROOT}/verifiers/base.py", "verifiers/base.py"),
        ("no button\n  mend: there were 'A'\n  screenshot: /x/y.png", "no button\n  mend: there were 'A'"),
        ("/tmp/a.txt and ~/Documents/home-abcdefgh.txt", "/tmp/a.txt and ~/Documents/home-abcdefgh.txt"),
    ],
)
def test_places_of_this_machine_are_left_out(text, left):
    assert redacted(text) == left


def test_forge_home_is_left_out():
    home = Settings().home.resolve()
    assert redacted(f"{home}/slots/a/b.db is full, {home}/x") == "b.db is full, x"


def test_an_error_of_other_code_names_the_last_frame_of_ours():
    def deep(value: str) -> int:
        return int(value)

    with pytest.raises(ValueError) as caught:
        Path(deep("seven"))
    said = told(caught.value)
    assert said.startswith(
        "ValueError: invalid literal for int() with base 10: 'seven' (in tests/skills/authoring/test_ev"
    )
    assert said.endswith("deep: return int(value))")
    assert told(DesktopError("no display")) == "no display"


@pytest.mark.parametrize(
    "error",
    [
        DesktopError("no display"),
        ModelError("no answer"),
        WarehouseError("locked"),
        OSError(errno.ENOSPC, "full"),
        TimeoutError("no answer within 5 s"),
        ConnectionResetError("the office hung up"),
    ],
)
def test_faults_of_the_machine_are_found_behind_what_was_raised_from_them(error):
    assert machine_fault(error) is error
    other = InputError("draw 3: it broke")
    other.__cause__ = KeyError("x")
    assert machine_fault(other) is None
    other.__cause__.__cause__ = error
    assert machine_fault(other) is error


@pytest.mark.parametrize(
    "error",
    [MemoryError("no room"), subprocess.TimeoutExpired("bwrap", 5), RuntimeError("can't start new thread")],
)
def test_what_no_job_tries_again_is_told_as_a_fault_of_the_machine(error):
    found = machine_fault(error)
    assert type(found) is DesktopError
    assert found.message == f"{type(error).__name__}: {error}"


@pytest.mark.parametrize(
    "error", [FileNotFoundError(2, "no such file"), RuntimeError("x"), InputError("can't start new thread")]
)
def test_other_errors_are_no_faults_of_the_machine(error):
    error.__cause__ = error  # as a loop of causes would be
    assert machine_fault(error) is None


@pytest.mark.parametrize("root", ["/home/u/.checkouts/forge", "/opt/venv/lib/python3.11/site-packages"])
def test_frames_are_ours_wherever_the_checkout_or_the_installed_copy_lies(monkeypatch, root):
    monkeypatch.setattr(breakage, "ROOT", Path(root))
    for name in ("skills/drawing.py", "preparers/calc/book/__init__.py"):
        assert breakage._is_ours(f"{root}/{name}")
    for name in ("numpy/core/numeric.py", ".venv/lib/python3.11/site-packages/skills/x.py", "six.py"):
        assert not breakage._is_ours(f"{root}/{name}")
    assert not breakage._is_ours("/usr/lib/python3.11/json/decoder.py")
    assert not breakage._is_ours("<string>")
