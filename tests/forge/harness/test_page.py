"""The Python on docs/harness.md runs as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def snippet(mark: str) -> str:
    """The one block of Python on the page that holds a text."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/harness.md").read_text(), re.M | re.S)
    (found,) = (block for block in blocks if mark in block)
    return str(found)


def test_the_script_that_plays_a_task_is_whole(tmp_path: Path) -> None:
    """Here there is no task yet; that is as far as it goes without one."""
    script = tmp_path / "play_one.py"
    script.write_text(snippet("SlotEnvironment("))
    lint = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F", str(script)]
    assert subprocess.run(lint, capture_output=True).returncode == 0
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "no accepted task is solved in windows yet: run `forge round`\n"
