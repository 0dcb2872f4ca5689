"""From a state that is graded: up to whoever grades."""

from __future__ import annotations

import os
import pickle
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from unittest import mock

from forge.records import Criterion, Rubric
from tests.forge.desktop.escape.attack import Attack, Ground
from tests.forge.desktop.escape.weaken import patched, together
from verifiers.pool import _BOOT, GraderPool

TRUSTING = _BOOT.replace("; serve(", "; import verifiers.pool; verifiers.pool._close_all_but = lambda fd: None; serve(")


def _reaches_parent(ground: Ground) -> bool:
    """Whether a grade that an agent's file has turned runs code in the process that wants its verdict."""
    note = ground.folder / "note"
    for folder in ("before", "after"):
        (ground.folder / folder).mkdir()
    rubric = Rubric(criteria=(Criterion(id="it", kind="must", check="escape.turned", args={"path": str(note)}),))
    with mock.patch("sys.path", [str(Path(__file__).parent), *sys.path]):
        pool = GraderPool(1, preload=("turned_check",))
    with pool:
        pool.grade(rubric, ground.folder / "before", ground.folder / "after")
    return note.exists() and note.read_text() == str(os.getpid())


def _trusting_read(connection: Connection) -> tuple[str, str]:
    pickle.loads(connection.recv_bytes())
    return "error", ""


ATTACKS = [
    Attack(
        "from a turned grade into its parent",
        "grading",
        "grader",
        "a grade holds no channel, and only text is taken from it",
        _reaches_parent,
        together(patched("verifiers.pool._read_answer", _trusting_read), patched("verifiers.pool._BOOT", TRUSTING)),
    ),
]
