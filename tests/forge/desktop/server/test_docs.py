"""The scripts of docs/server.md run as they stand; the opening of docs/desktop.md names all applications."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from forge.desktop.apps import APPS
from forge.desktop.server.running import Background
from tests.forge.desktop.server.conftest import TOKEN

ROOT = Path(__file__).parents[4]
SCRIPTS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/server.md").read_text(), re.S)
REMOTE, OSWORLD = SCRIPTS


def run(script: str, folder: Path) -> str:
    """What a script of the page prints when it is a file of its own."""
    (folder / "script.py").write_text(script)
    environment = {**os.environ, "FORGE_DESKTOP_TOKEN": TOKEN, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "script.py"], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=folder,
        env=environment, timeout=180,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_defines_all_that_it_uses(script: str) -> None:
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F", "-"]
    done = subprocess.run(command, input=script, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_the_page_names_every_application() -> None:
    opening = (ROOT / "docs/desktop.md").read_text().partition("```")[0]
    said = {
        "calc": "LibreOffice Calc", "writer": "Writer", "impress": "Impress", "thunderbird": "Thunderbird",
        "chromium": "Chromium", "gimp": "GIMP", "vlc": "VLC", "files": "a file manager", "terminal": "a terminal",
        "editor": "editor",
    }  # fmt: skip
    assert said.keys() == APPS.keys()
    assert [name for name, words in said.items() if words not in opening] == []


@pytest.mark.desktop
def test_the_script_of_a_slot_elsewhere_runs(server: Background, tmp_path: Path) -> None:
    assert "http://127.0.0.1:8765" in REMOTE
    printed = run(REMOTE.replace("http://127.0.0.1:8765", server.url), tmp_path)
    assert printed.startswith("Paper\n")
    assert "'~/Documents/stock.csv'" in printed


@pytest.mark.desktop
def test_the_script_of_an_osworld_machine_runs(osworld: str, tmp_path: Path) -> None:
    assert "http://127.0.0.1:5000" in OSWORLD
    printed = run(OSWORLD.replace("http://127.0.0.1:5000", osworld), tmp_path)
    assert printed.endswith(r"b'Paper,3\n'" + "\n")
    assert "done" in printed
