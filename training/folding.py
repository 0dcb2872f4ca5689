"""Folding: a trajectory into one example a turn, each with the prompt that serving would show at that point.

The prompt comes from the harness's own builder (`forge.harness.prompt`): latest screenshots and responses complete, older
turns as one imperative line each. Turns that called nothing, or whose calls could not all be carried out as they were
written, stay in later prompts as they stood there, but are not learned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forge.harness.pictures import Picture, paint
from forge.harness.prompt import as_reference, build_messages, response_message
from forge.records import ForgeError, Harness, InputError, Task, Trajectory, Turn, WarehouseError
from training.example import Example, Message


def fold(trajectory: Trajectory, task: Task, harness: Harness, get_blob: Callable[[str], bytes]) -> list[Example]:
    """One example for every turn worth learning, in order.

    Args:
        trajectory: a graded episode; any reward, choosing is the selection's part.
        task: the task it played.
        harness: the harness it was played under.
        get_blob: screenshots and outlines by SHA-256.

    Raises:
        InputError: the trajectory has no reward, or task or harness are not its own.
        WarehouseError: a screenshot is not in the blob store.
    """
    name = f"trajectory {trajectory.task[:12]}/{harness.name}/{trajectory.teacher}#{trajectory.attempt}"
    if trajectory.reward is None:
        raise InputError(
            f"{name} has no reward (grading: {trajectory.grading}, ended by: {trajectory.ended_by})",
            mend="train on graded episodes only; `forge regrade` grades what is stored",
        )
    if trajectory.task != task.id:
        raise InputError(f"{name} played another task than {task.id[:12]}")
    if trajectory.harness != harness.digest():
        raise InputError(f"{name} was played under harness {trajectory.harness[:12]}, not {harness.digest()[:12]}")
    painted: dict[str, bytes] = {}

    def picture(reference: str, turn: int) -> bytes:
        if reference not in painted:
            wanted = Picture.parse(reference)
            try:
                painted[reference] = paint(get_blob(wanted.screenshot), wanted)
            except (ForgeError, KeyError, OSError) as error:
                raise WarehouseError(
                    f"{name}, turn {turn}: screenshot {wanted.screenshot[:12]} cannot be had: {error}",
                    mend="restore the blob store, or leave this trajectory out",
                ) from error
        return painted[reference]

    examples = []
    for position, turn in enumerate(trajectory.turns):
        if not is_learned(turn):
            continue
        now = next((record.before for record in trajectory.actions if record.turn == turn.index), None)
        if now is None:
            raise InputError(f"{name}, turn {turn.index}: it called tools, but no action is recorded")
        earlier = trajectory.turns[:position]
        shown, tools = build_messages(
            harness, task.instruction, earlier, trajectory.actions, now, as_reference, get_blob
        )
        references = [part["image_url"]["url"] for part in _parts(shown) if part["type"] == "image_url"]
        examples.append(
            Example(
                messages=[_plain(message) for message in [*shown, response_message(turn)]],
                images=tuple(picture(reference, turn.index) for reference in references),
                tools=tools,
                metadata=_metadata(trajectory, task, turn.index),
            )
        )
    return examples


def is_learned(turn: Turn) -> bool:
    """Whether a turn is a target: it called something, and every call was carried out as it was written."""
    return bool(turn.tool_calls) and not any("error" in call for call in turn.tool_calls)


def _metadata(trajectory: Trajectory, task: Task, turn: int) -> dict[str, Any]:
    return {
        "task": trajectory.task,
        "skill": task.skill,
        "workflow": task.workflow,
        "harness": trajectory.harness,
        "channel": trajectory.channel,
        "teacher": trajectory.teacher,
        "provenance": str(trajectory.provenance),
        "attempt": trajectory.attempt,
        "turn": turn,
        "turns": len(trajectory.turns),
        "reward": trajectory.reward,
    }


def _plain(message: Message) -> Message:
    """The message with its content as parts; a picture is a bare placeholder, its bytes lie beside the chat."""
    content = [
        {"type": "image"} if part["type"] == "image_url" else {"type": "text", "text": part["text"]}
        for part in _parts([message])
    ]
    return {**message, "content": content}


def _parts(messages: list[Message]) -> list[dict[str, Any]]:
    """All content parts in order; a bare text is one part, an empty one none."""
    found: list[dict[str, Any]] = []
    for message in messages:
        content = message["content"]
        found += ([{"type": "text", "text": content}] if content else []) if isinstance(content, str) else content
    return found
