"""The Python on docs/harness.md runs as it stands there."""

from __future__ import annotations

import asyncio
import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from forge.harness.moves import MOVES
from forge.records import Settings
from rounds.register import Wish, choose, register
from rounds.round import run_round
from rounds.workshop import Workshop

from .test_moves_calc import PATH, book

ROOT = Path(__file__).parents[3]


def snippet(mark: str) -> str:
    """The one block of Python on the page that holds a text."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/harness.md").read_text(), re.M | re.S)
    (found,) = (block for block in blocks if mark in block)
    return str(found)


def run_script(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the page's script from a file `play_one.py` in a folder."""
    script = folder / "play_one.py"
    script.write_text(snippet("SlotEnvironment("))
    return subprocess.run([sys.executable, str(script)], cwd=folder, capture_output=True, text=True)


def test_the_script_that_plays_a_task_is_whole(tmp_path: Path) -> None:
    """Here there is no task yet; that is as far as it goes without one."""
    done = run_script(tmp_path)
    lint = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F", str(tmp_path / "play_one.py")]
    assert subprocess.run(lint, capture_output=True).returncode == 0
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "no accepted task is solved in windows yet: run `forge round`\n"


@pytest.mark.desktop
def test_the_script_plays_an_accepted_task_to_its_end(tmp_path: Path) -> None:
    with Workshop(Settings(slots=1)) as workshop:
        wish = Wish(choose(["files.json.change-setting"]), tasks=1, round=1)
        report = asyncio.run(run_round(workshop, register(workshop.warehouse, wish)))
        assert (report.accepted, report.faults) == (1, {})
        (row,) = workshop.warehouse.list_tasks(accepted=True)
        instruction = workshop.warehouse.task(row["id"]).instruction
    done = run_script(tmp_path)
    assert done.returncode == 0, done.stderr
    *said, ended_by, status, turns = done.stdout.splitlines()
    assert ("\n".join(said), ended_by, status) == (instruction, "done", "success")
    assert re.fullmatch(r"[1-9]\d* turns", turns)


@pytest.fixture
def freeze(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> str:
    """The move of the page, registered for the time of a test; its text."""
    text = snippet('@move("freeze"')
    file = tmp_path_factory.mktemp("page") / "calc_view.py"
    file.write_text(text)
    monkeypatch.setattr(MOVES, "_items", dict(MOVES._items))
    spec = importlib.util.spec_from_file_location("calc_view", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "calc_view", module)
    spec.loader.exec_module(module)
    return text


def test_the_move_of_the_page_registers_and_reads_its_arguments(freeze: str) -> None:
    move = MOVES.get("freeze")
    assert move.validate("B2").cell == "B2"
    assert move.summary.startswith("Freeze the rows above a cell")
    lint = [sys.executable, "-m", "ruff", "check", "-", "--stdin-filename", "forge/harness/moves/calc_view.py"]
    done = subprocess.run(lint, cwd=ROOT, input=freeze, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.desktop
def test_the_move_of_the_page_freezes_a_sheet_once(freeze: str, play_for_real: Callable[..., Any]) -> None:
    found: dict[str, Any] = {"PATH": PATH, "book": book, "openpyxl": openpyxl}
    exec(snippet("def test_a_sheet_is_frozen_once"), found)
    found["test_a_sheet_is_frozen_once"](play_for_real)
