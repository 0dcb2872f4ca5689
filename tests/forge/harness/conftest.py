"""A small task, the same for all tests of the harness that need one."""

import pytest

from forge.records import Criterion, Guest, Rubric, Solution, Step, Task


@pytest.fixture
def task() -> Task:
    return Task(
        skill="calc.formula.total-below-column",
        workflow="0" * 64,
        seed=1,
        apps=("calc",),
        guest=Guest(),
        resolved={"a": 1},
        instruction="Press the button.",
        rubric=Rubric(criteria=(Criterion(id="a", kind="must", check="files.exists"),)),
        solutions=(Solution(channel="terminal", steps=(Step(move="bash", value="true"),)),),
    )
