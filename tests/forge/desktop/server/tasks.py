"""Small tasks for episodes on slots that are elsewhere."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import openpyxl

from forge.records import Criterion, Guest, Rubric, Snapshot, Solution, Step, Task

BOOK = "~/Documents/stock.xlsx"


def task_with(channel: Any, steps: Sequence[Mapping[str, Any]]) -> Task:
    """A task whose solution through a channel is these steps."""
    parsed = tuple(Step(move=move, value=value) for step in steps for move, value in step.items())
    return Task(
        skill="calc.formula.total-below-column",
        workflow="0" * 64,
        seed=1,
        apps=("calc",),
        guest=Guest(),
        resolved={"steps": [dict(step) for step in steps]},
        instruction="Put the total into E2 and save.",
        rubric=Rubric(criteria=(Criterion(id="total", kind="must", check="calc.formula", says="total"),)),
        solutions=(Solution(channel=channel, steps=parsed),),
    )


def value_of(state: Snapshot, blobs: Mapping[str, bytes], cell: str, path: str = BOOK) -> Any:
    """What a cell of the first sheet holds in a final state."""
    entry = next(entry for entry in state.entries if entry.path == path)
    return openpyxl.load_workbook(io.BytesIO(blobs[entry.sha256 or ""])).active[cell].value
