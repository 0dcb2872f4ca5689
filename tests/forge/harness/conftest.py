"""A small task for the tests of the harness, and real desktops to play steps on."""

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from forge.harness import OracleTeacher, SlotEnvironment, layers_for, load_harness, play
from forge.records import Criterion, EndedBy, Guest, Rubric, Solution, Step, Task, Trajectory, sha256_hex

File = tuple[str, bytes, int, bool]


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


@dataclass
class Played:
    """What came of steps on a real desktop: the episode, its screenshots, and the home it left."""

    trajectory: Trajectory
    blobs: dict[str, bytes]
    home: Path

    def check(self) -> None:
        """The episode ended well; says where not."""
        went = self.trajectory
        where = went.turns[-1].text if went.turns else ""
        assert (went.ended_by, went.done_status, went.error) == (EndedBy.DONE, "success", None), where
        assert all(record.before.screenshot in self.blobs for record in went.actions)


@pytest.fixture
def play_for_real(task: Task, tmp_path: Path) -> Callable[..., Played]:
    """Play steps as the oracle does, in a slot of their own; the home is copied when they are done."""

    def run(
        steps: Sequence[Mapping[str, Any]],
        *,
        files: Sequence[File] = (),
        start: Sequence[tuple[str, str | None]] = (),
        harness: str = "gui",
        channel: str = "",
        max_turns: int | None = None,
    ) -> Played:
        from forge.desktop import Slot

        spec = load_harness(harness)
        spec = spec.model_copy(update={"max_turns": max_turns or spec.max_turns})
        parsed = tuple(Step(move=move, value=value) for step in steps for move, value in step.items())
        solution = Solution(channel=channel or spec.channel, steps=parsed)
        blobs: dict[str, bytes] = {}

        def put(data: bytes) -> str:
            blobs[sha256_hex(data)] = data
            return sha256_hex(data)

        with Slot.open(task.guest, home_files=files, layers=layers_for(spec)) as slot:
            for app, path in start:
                slot.launch(app, path)
            environment = SlotEnvironment(slot, put)
            trajectory = asyncio.run(play(task, spec, OracleTeacher(solution, environment), environment, put))
            environment.close()
            slot.stop()
            home = tmp_path / f"home-{len(list(tmp_path.iterdir()))}"
            shutil.copytree(
                slot.home, home, symlinks=True, ignore=shutil.ignore_patterns("lock", ".cache", "libreoffice")
            )
        return Played(trajectory, blobs, home)

    return run
