"""`forge skills author` as a person meets it: what a run that had ended says, and what does not go together."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ..endpoint import Endpoint, serve

SKILL = "calc.formula.running-total"


def author(home: Path, server: Endpoint, *more: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "forge"), "skills", "author", SKILL, "--steps", "1", *more]
    environment = {**os.environ, "FORGE_HOME": str(home), "FORGE_LLM_BASE_URL": server.url, "FORGE_LLM_MODEL": "m"}
    return subprocess.run(
        command, cwd=home, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def test_a_run_that_had_ended_for_want_of_budget_says_how_to_begin_anew(tmp_path: Path) -> None:
    again = f"{SKILL}: had ended before as budget; nothing was asked for; --afresh begins it anew"
    with serve(lambda body: [("list", {"kind": "nodes"})]) as server:
        first = author(tmp_path, server)
        assert first.returncode == 1, first.stderr
        assert "1 turns were used up" in first.stderr
        assert "had ended before" not in first.stderr
        second = author(tmp_path, server)
        assert (second.returncode, len(server.requests)) == (1, 1)
        assert again in second.stderr
        third = author(tmp_path, server, "--afresh")
        assert len(server.requests) == 2, third.stderr
        assert "had ended before" not in third.stderr


def test_a_single_task_is_promoted_nowhere_so_that_a_library_for_it_is_refused(tmp_path: Path) -> None:
    with serve(lambda body: "") as server:
        shown = author(tmp_path, server, "--single-task", "--into", str(tmp_path / "library"))
    assert shown.returncode == 2
    assert "--single-task promotes nothing, so --into has no meaning with it" in shown.stderr
    assert server.requests == []
