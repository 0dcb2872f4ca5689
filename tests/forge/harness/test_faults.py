"""Faults in the middle of an episode on a real desktop: never a failure of the agent, and nothing is lost."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from forge.desktop import Slot
from forge.harness import Response, SlotEnvironment, View, load_harness, play
from forge.harness.dialects import Call
from forge.harness.fake import ScriptedTeacher
from forge.records import EndedBy, Task, sha256_hex

pytestmark = pytest.mark.desktop


def descendants(pid: int) -> list[int]:
    """All processes below one, by /proc."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found += [child, *descendants(child)]
    return found


def application(slot: Slot) -> int:
    """The host's number of the LibreOffice in a slot."""
    box = slot.pids[-1]
    names = {pid: Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0] for pid in descendants(box)}
    return next(pid for pid, name in names.items() if name.endswith(b"soffice.bin"))


@pytest.mark.parametrize(
    "victim", [application, lambda slot: slot.pids[0], lambda slot: slot.pids[-1]], ids=["calc", "x", "box"]
)
async def test_what_is_killed_in_mid_episode_is_a_fault(task: Task, victim: Callable[[Slot], int]) -> None:
    click = Call("c", "computer", json.dumps({"action": "left_click", "coordinate": [300, 400]}))
    with Slot.open(task.guest) as slot:
        slot.launch("calc")
        environment = SlotEnvironment(slot, sha256_hex)

        def kill(view: View) -> Response:
            os.kill(victim(slot), signal.SIGKILL)
            return Response(calls=(click,))

        teacher = ScriptedTeacher([Response(calls=(click,)), kill])
        went = await play(task, load_harness("gui"), teacher, environment)
        environment.close()
    assert (went.ended_by, went.reward) == (EndedBy.FAULT, None)
    assert went.error
    assert went.turns[0].summary.startswith("Clicked")
    assert not went.actions[0].error
