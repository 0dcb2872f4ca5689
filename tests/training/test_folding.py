"""Folding: one example a turn, with the prompt that serving would show."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from forge.harness.prompt import as_data_url, build_messages
from forge.records import Harness, InputError, Trajectory, Turn, WarehouseError
from training import fold
from training.example import Example
from training.lights import HARNESS, Blobs, episode


def texts(example: Example) -> list[str]:
    """Role and text of each message."""
    return [m["role"] + ": " + "".join(p.get("text", "[picture]") for p in m["content"]) for m in example.messages]


def changed(trajectory: Trajectory, **fields: Any) -> Trajectory:
    return Trajectory.model_validate({**trajectory.model_dump(), **fields})


def test_each_turn_becomes_one_example_that_ends_with_its_response(blobs: Blobs) -> None:
    trajectory, task = episode(1, blobs, clicks=7)
    found = fold(trajectory, task, HARNESS, blobs.__getitem__)
    assert [e.metadata["turn"] for e in found] == list(range(7))
    for example, turn in zip(found, trajectory.turns, strict=True):
        assert example.completion["content"] == [{"type": "text", "text": turn.text}]
        calls = [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in example.completion["tool_calls"]]
        assert calls == [(c["id"], c["name"], c["arguments"]) for c in turn.tool_calls]
    assert found[3].metadata == {
        "task": task.id, "skill": task.skill, "workflow": task.workflow, "harness": HARNESS.digest(), "channel": "gui",
        "teacher": "oracle", "provenance": "oracle", "attempt": 0, "turn": 3, "turns": 7, "reward": 1.0,
    }  # fmt: skip


def test_three_screens_and_four_responses_stay_older_turns_become_a_line(blobs: Blobs) -> None:
    trajectory, task = episode(1, blobs, clicks=7)
    last = fold(trajectory, task, HARNESS, blobs.__getitem__)[-1]
    told = [turn.text.removeprefix("The light is ").removesuffix(".") for turn in trajectory.turns]
    assert texts(last) == [
        "system: Click where the light says.",
        f"user: Task: Follow the light.\n\nWhat you did so far:\n1. Click the {told[0]} light\n2. Click the {told[1]} light",
        f"assistant: The light is {told[2]}.",
        "tool: ok",
        f"assistant: The light is {told[3]}.",
        "tool: ok",
        "user: [picture]",
        f"assistant: The light is {told[4]}.",
        "tool: ok",
        "user: [picture]",
        f"assistant: The light is {told[5]}.",
        "tool: ok",
        "user: [picture]",
        f"assistant: The light is {told[6]}.",
    ]


def test_the_first_turn_sees_the_start_alone(blobs: Blobs) -> None:
    trajectory, task = episode(1, blobs, clicks=7)
    first = fold(trajectory, task, HARNESS, blobs.__getitem__)[0]
    assert texts(first)[1] == "user: Task: Follow the light.[picture]"
    assert len(first.images) == 1


@pytest.mark.parametrize("turn", [0, 2, 6])
def test_training_sees_exactly_what_serving_showed(blobs: Blobs, turn: int) -> None:
    trajectory, task = episode(2, blobs, clicks=7)
    example = fold(trajectory, task, HARNESS, blobs.__getitem__)[turn]
    before = trajectory.turns[:turn]
    now = next(r.before for r in trajectory.actions if r.turn == turn)
    served, tools = build_messages(
        HARNESS, task.instruction, before, trajectory.actions, now, as_data_url(blobs.__getitem__)
    )
    shown: list[bytes] = []
    for message, learned in zip(served, example.prompt, strict=True):
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        assert [p["text"] for p in parts if p["type"] == "text"] == [
            p["text"] for p in learned["content"] if p["type"] == "text"
        ]
        urls = [p["image_url"]["url"] for p in parts if p["type"] == "image_url"]
        shown += [base64.b64decode(url.removeprefix("data:image/png;base64,")) for url in urls]
        assert {k: v for k, v in message.items() if k != "content"} == {
            k: v for k, v in learned.items() if k != "content"
        }
    assert tuple(shown) == example.images
    assert tools == example.tools


def test_a_turn_whose_call_was_refused_is_context_but_no_target(blobs: Blobs) -> None:
    trajectory, task = episode(3, blobs, clicks=3)
    call = trajectory.turns[1].tool_calls[0]
    broken = Turn.model_validate(
        {**trajectory.turns[1].model_dump(), "tool_calls": [{**call, "arguments": "{", "error": "not JSON"}]}
    )
    silent = Turn.model_validate({**trajectory.turns[0].model_dump(), "tool_calls": [], "text": "Hm."})
    mended = changed(
        trajectory,
        turns=[silent, broken, trajectory.turns[2]],
        actions=[r.model_dump() for r in trajectory.actions if r.turn == 2],
    )
    found = fold(mended, task, HARNESS, blobs.__getitem__)
    assert [e.metadata["turn"] for e in found] == [2]
    assert "tool: error: not JSON" in texts(found[0])
    assert "assistant: Hm." in texts(found[0])


def test_a_terminal_harness_shows_no_pictures(blobs: Blobs) -> None:
    trajectory, task = episode(4, blobs)
    blind = Harness.model_validate({**HARNESS.model_dump(), "observation": {"screenshot": False}})
    found = fold(changed(trajectory, harness=blind.digest()), task, blind, {}.__getitem__)
    assert [e.images for e in found] == [(), ()]


def test_a_trajectory_without_reward_is_refused(blobs: Blobs) -> None:
    trajectory, task = episode(5, blobs, reward=None)
    with pytest.raises(InputError, match=r"has no reward \(grading: grader_error, ended by: done\)"):
        fold(trajectory, task, HARNESS, blobs.__getitem__)


def test_a_missing_screenshot_names_the_turn_and_the_blob(blobs: Blobs) -> None:
    trajectory, task = episode(6, blobs, clicks=3)
    lost = trajectory.actions[1].before.screenshot
    rest = {name: data for name, data in blobs.items() if name != lost}
    with pytest.raises(WarehouseError, match=f"turn 1: screenshot {str(lost)[:12]} cannot be had"):
        fold(trajectory, task, HARNESS, rest.__getitem__)


def test_task_and_harness_must_be_the_trajectorys_own(blobs: Blobs) -> None:
    trajectory, task = episode(7, blobs)
    _, other = episode(8, blobs)
    with pytest.raises(InputError, match="played another task"):
        fold(trajectory, other, HARNESS, blobs.__getitem__)
    longer = HARNESS.model_copy(update={"max_turns": 7})
    with pytest.raises(InputError, match="was played under harness"):
        fold(trajectory, task, longer, blobs.__getitem__)


def test_a_turn_that_acted_without_a_record_is_refused(blobs: Blobs) -> None:
    trajectory, task = episode(9, blobs)
    with pytest.raises(InputError, match="turn 0: it called tools, but no action is recorded"):
        fold(changed(trajectory, actions=[]), task, HARNESS, blobs.__getitem__)
