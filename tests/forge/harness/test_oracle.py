"""The oracle on a fake desktop: it plays the declared steps through the tools, and fails honestly."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from forge.desktop.shell import ShellResult
from forge.harness import SlotEnvironment, load_harness, play
from forge.harness.fake import FakeDesktop
from forge.harness.teachers import TEACHERS, Cast, OracleTeacher
from forge.records import (
    Element,
    EndedBy,
    HarnessError,
    Provenance,
    Solution,
    Step,
    Task,
    Trajectory,
    sha256_hex,
)

BUTTON = Element(role="push button", name="Go", box=(100, 100, 80, 40), path=(0, 0))
COMMANDS = {"true": ShellResult("", 0, False, False), "false": ShellResult("oh no\n", 1, False, False)}


@pytest.fixture
def played(task: Task) -> Callable[..., Trajectory]:
    """Play steps under a harness."""

    def run(harness: str, *steps: tuple[str, Any], channel: str = "", desktop: FakeDesktop | None = None) -> Trajectory:
        desktop = desktop or FakeDesktop(elements=[BUTTON], commands=COMMANDS)
        environment = SlotEnvironment(desktop, sha256_hex)
        solution = Solution(
            channel=channel or harness, steps=tuple(Step(move=move, value=value) for move, value in steps)
        )
        teacher = OracleTeacher(solution, environment, patience=0.1)
        try:
            return asyncio.run(play(task, load_harness(harness), teacher, environment))
        finally:
            environment.close()

    return run


def test_steps_become_turns_with_the_calls_a_model_would_have_made(played: Callable[..., Trajectory]) -> None:
    went = played("hybrid", ("bash", "true"), ("click", "Go"), ("type", "hi"), ("answer", 42))
    assert (went.ended_by, went.done_status, went.answer, went.error) == (EndedBy.DONE, "success", "42", None)
    assert (went.teacher, went.provenance) == ("oracle", Provenance.ORACLE)
    assert [turn.text for turn in went.turns] == ["bash", "click: Go", "type: hi", "answer", "The task is done."]
    assert [record.action.kind for record in went.actions] == ["bash", "left_click", "type", "answer", "done"]
    assert went.actions[1].element == BUTTON
    call = went.turns[1].tool_calls[0]
    assert (call["name"], json.loads(call["arguments"])) == (
        "computer",
        {"action": "left_click", "coordinate": [217, 248]},
    )


def test_a_command_that_fails_ends_the_episode_with_failure(played: Callable[..., Trajectory]) -> None:
    went = played("terminal", ("bash", "true"), ("bash", "false"), ("bash", "true"))
    assert [record.action.kind for record in went.actions] == ["bash", "bash", "done"]
    assert (went.ended_by, went.done_status) == (EndedBy.DONE, "failure")
    assert went.error == "step 2, bash: exit code 1: oh no"


def test_a_move_that_finds_nothing_ends_the_episode_with_failure(played: Callable[..., Trajectory]) -> None:
    went = played("gui", ("click", "Stop"), ("type", "hi"))
    assert [record.action.kind for record in went.actions] == ["done"]
    assert went.done_status == "failure"
    assert went.error is not None
    assert went.error.startswith("step 1, click: Stop: no element 'Stop' shows")
    assert "I could not finish" in went.turns[-1].text


@pytest.mark.parametrize(
    ("harness", "carried_out", "error"),
    [
        ("gui", ["left_click", "done"], "step 1, bash: there is no tool 'bash'"),
        ("terminal", ["bash", "done"], "step 2, click: Go: there is no tool 'computer'"),
    ],
)
def test_a_hybrid_solution_fails_without_one_of_its_channels_but_tries_the_other(
    played: Callable[..., Trajectory], harness: str, carried_out: list[str], error: str
) -> None:
    went = played(harness, ("bash", "true"), ("click", "Go"), channel="hybrid")
    assert [record.action.kind for record in went.actions] == carried_out
    assert (went.ended_by, went.done_status, went.channel) == (EndedBy.DONE, "failure", harness)
    assert went.error is not None
    assert went.error.startswith(error)


def test_a_broken_desktop_is_a_fault_and_no_failure(played: Callable[..., Trajectory]) -> None:
    desktop = FakeDesktop(elements=[BUTTON])
    desktop.on_click["Go"] = lambda: setattr(desktop, "broken", "the display is gone")
    went = played("gui", ("click", "Go"), ("click", "Go"), desktop=desktop)
    assert (went.ended_by, went.error, went.done_status) == (EndedBy.FAULT, "the display is gone", None)


def test_a_teacher_is_cast_by_name(task: Task) -> None:
    environment = SlotEnvironment(FakeDesktop(), sha256_hex)
    cast = Cast(task, load_harness("terminal"), environment, {}.__getitem__)
    assert TEACHERS.get("oracle")(cast).name == "oracle"
    with pytest.raises(HarnessError, match="declares no gui solution"):
        TEACHERS.get("oracle")(Cast(task, load_harness("gui"), environment, {}.__getitem__))
    with pytest.raises(HarnessError, match="needs a model endpoint"):
        TEACHERS.get("llm")(cast)
    environment.close()
