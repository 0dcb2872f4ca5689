"""The one prompt builder, for serving and for training: what a model is shown before its next turn.

The form is OpenAI's chat form. The first user message holds the task, one line for every folded turn, and the screen at
that point; the latest turns follow complete, each as the assistant's message, one tool message a call, and the screen after
it. Folding keeps the latest screenshots and responses, as many as the harness says. A screen that did not change is said in
words instead of shown again. Pictures are embedded by a function: as data URLs when serving, as references for training.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import jinja2

from forge.desktop.outline import Outline
from forge.harness.describe import summarize
from forge.harness.dialects import DIALECTS, Call, CallError
from forge.harness.pictures import Picture, paint, zoomed
from forge.records import ActionRecord, Bash, ForgeError, Harness, HarnessError, Observation, Turn, Zoom
from forge.records.guest import USER

Message = dict[str, Any]
Embed = Callable[[Picture], str]
"""A picture to the text that stands for it in `image_url.url`."""

UNCHANGED = "The screen has not changed."
ENLARGED = "The region, enlarged:"
NOW = "The screen:"
ELEMENTS = "The elements on the screen, each with its id, its role, its name, its states and left,top,right,bottom:"
NO_CALL = "No tool was called. Call a tool; when the task is finished or cannot be, call `done`."


def as_data_url(get_blob: Callable[[str], bytes]) -> Embed:
    """Embed pictures whole, for a model endpoint."""

    def embed(picture: Picture) -> str:
        return "data:image/png;base64," + base64.b64encode(paint(get_blob(picture.screenshot), picture)).decode()

    return embed


def as_reference(picture: Picture) -> str:
    """Embed pictures as `Picture.reference`, for training rows; `Picture.parse` and `paint` make them later."""
    return picture.reference


def build_messages(
    harness: Harness,
    instruction: str,
    turns: Sequence[Turn],
    actions: Sequence[ActionRecord],
    observation: Observation,
    embed: Embed,
    get_blob: Callable[[str], bytes] | None = None,
) -> tuple[list[Message], list[dict[str, Any]]]:
    """The messages and tools that a model sees before turn `len(turns)`.

    Args:
        harness: prompt, tools, dialect and folding.
        instruction: the task's.
        turns: all earlier turns, in order.
        actions: the actions of those turns, in order; others are ignored.
        observation: what can be seen now; before the first turn, the start.
        embed: how a picture is put into the message.
        get_blob: outlines by SHA-256; needed for a harness that shows the elements.

    Raises:
        HarnessError: the system prompt does not render, the dialect is unknown, or an outline cannot be had.
    """
    by_turn: dict[int, list[ActionRecord]] = {turn.index: [] for turn in turns}
    for record in actions:
        if record.turn in by_turn:
            by_turn[record.turn].append(record)
    folded = max(0, len(turns) - harness.observation.responses_kept)
    views = _views(harness, turns, by_turn, observation)
    shown = _shown(harness, views, folded)

    messages: list[Message] = [{"role": "system", "content": system_prompt(harness)}]
    opening = f"Task: {instruction}"
    if folded:
        lines = [f"{turn.index + 1}. {turn.summary or summarize(by_turn[turn.index])}" for turn in turns[:folded]]
        opening += "\n\nWhat you did so far:\n" + "\n".join(lines)
    messages.append(_user(harness, opening, views[folded] if folded in shown else None, embed))
    for position, turn in enumerate(turns[folded:], folded):
        records = by_turn[turn.index]
        messages.append(response_message(turn))
        messages += _results(harness, turn, records)
        text = "" if turn.tool_calls else NO_CALL
        pictures = [zoomed(shot, zoom, harness.observation.width) for shot, zoom in _zooms(harness, records)]
        after = views[position + 1]
        if position + 1 in shown:
            messages.append(_user(harness, text, after, embed, pictures))
        elif harness.observation.screenshot and after == views[position]:
            messages.append(_user(harness, f"{text}\n{UNCHANGED}".strip(), None, embed, pictures))
        elif text or pictures:
            messages.append(_user(harness, text, None, embed, pictures))
    if harness.observation.elements and observation.elements is not None:
        _add_text(messages, elements_text(harness, observation, get_blob))
    return messages, DIALECTS.get(harness.dialect).tools(harness)


def elements_text(harness: Harness, observation: Observation, get_blob: Callable[[str], bytes] | None) -> str:
    """The elements on the screen, a line each: `[12] toggle button "Bold" (checked) 462,106,487,149`.

    Only the latest reading is shown; ids tell what is the same as before. Raises HarnessError.
    """
    assert observation.elements is not None
    if get_blob is None:
        raise HarnessError("the harness shows the elements, but build_messages() was given no get_blob to read them")
    try:
        outline = Outline.from_json(get_blob(observation.elements))
    except (ForgeError, KeyError, OSError, TypeError, ValueError) as error:
        raise HarnessError(f"the outline {observation.elements[:12]} cannot be had: {error}") from None
    area = DIALECTS.get(harness.dialect).area
    lines = [ELEMENTS]
    for line in outline.lines:
        x, y, width, height = line.box
        parts = [f"[{line.id}] {line.role}"]
        parts += [json.dumps(line.name, ensure_ascii=False)] if line.name else []
        parts += ["says " + json.dumps(line.text, ensure_ascii=False)] if line.text else []
        parts += [f"({', '.join(line.states)})"] if line.states else []
        parts.append(
            area(
                x / observation.width,
                y / observation.height,
                (x + width) / observation.width,
                (y + height) / observation.height,
            )
        )
        lines.append(" " * line.depth + " ".join(parts))
    if outline.more:
        lines.append(f"... and {outline.more} more")
    return "\n".join(lines)


def _add_text(messages: list[Message], text: str) -> None:
    """Put text at the end of what the user said last, or say it."""
    last = messages[-1]
    if last["role"] != "user":
        messages.append({"role": "user", "content": text})
    elif isinstance(last["content"], str):
        last["content"] = f"{last['content']}\n\n{text}".strip()
    else:
        last["content"] = [*last["content"], {"type": "text", "text": text}]


def system_prompt(harness: Harness) -> str:
    """The harness's system prompt, rendered. It sees facts of the harness only, so that it is the same for every task.

    Raises:
        HarnessError: the template is wrong or names something that is not there.
    """
    return _render(harness)


def response_message(turn: Turn) -> Message:
    """What the model answered in `turn`, as the assistant's message of the chat: in later prompts, and to be learned."""
    message: Message = {"role": "assistant", "content": turn.text}
    if turn.tool_calls:
        message["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": _object(call)},
            }
            for call in turn.tool_calls
        ]
    return message


def clip(text: str, limit: int) -> str:
    """At most about `limit` characters: head and tail, with a note of how much lies between."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n[... {len(text) - head - tail} characters left out ...]\n{text[-tail:]}"


@lru_cache(maxsize=64)
def _render(harness: Harness) -> str:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=False)
    try:
        return environment.from_string(harness.system_prompt).render(
            name=harness.name,
            channel=harness.channel,
            tools=harness.tools,
            actions=harness.actions,
            python_layers=harness.terminal.python,
            command_layers=harness.terminal.commands,
            max_turns=harness.max_turns,
            actions_per_turn=harness.actions_per_turn,
            elements=harness.observation.elements,
            responses_kept=harness.observation.responses_kept,
            screenshots_kept=harness.observation.screenshots_kept,
            user=USER,
            home=f"/home/{USER}",
        )
    except jinja2.TemplateError as error:
        line = getattr(error, "lineno", None)
        place = f" (line {line} of the prompt)" if line else ""
        raise HarnessError(f"system_prompt of harness {harness.name!r}: {error}{place}") from None


def _views(
    harness: Harness, turns: Sequence[Turn], by_turn: dict[int, list[ActionRecord]], observation: Observation
) -> list[str | None]:
    """The screenshot at each point: `views[i]` before turn i, the last one now."""
    records = [record for turn in turns for record in by_turn[turn.index]]
    now = records[0].before.screenshot if records else observation.screenshot
    views = [now]
    for turn in turns:
        if by_turn[turn.index]:
            now = by_turn[turn.index][-1].after.screenshot
        views.append(now)
    views[-1] = observation.screenshot
    return views if harness.observation.screenshot else [None] * len(views)


def _shown(harness: Harness, views: list[str | None], folded: int) -> set[int]:
    """Which points show their screenshot: the latest ones, each only where it differs from the one before it."""
    points = [
        i for i in range(folded, len(views)) if views[i] is not None and (i == folded or views[i] != views[i - 1])
    ]
    kept = harness.observation.screenshots_kept
    return set(points[-kept:] if kept else [])


def _zooms(harness: Harness, records: Sequence[ActionRecord]) -> list[tuple[str, Zoom]]:
    """The zooms of a turn, each with the screenshot that it was taken from."""
    return [
        (r.before.screenshot, r.action)
        for r in records
        if isinstance(r.action, Zoom) and not r.error and r.before.screenshot
    ]


def _object(call: dict[str, Any]) -> str:
    """The arguments as JSON text of an object: chat templates parse them, and a model may have written anything."""
    try:
        Call(call["id"], call["name"], call["arguments"]).parsed()
    except CallError:
        return json.dumps({"unparsed": call["arguments"]}, ensure_ascii=False)
    return call["arguments"] or "{}"


def _results(harness: Harness, turn: Turn, records: Sequence[ActionRecord]) -> list[Message]:
    """One tool message a call. Calls that were not carried out hold their own error."""
    remaining = iter(records)
    messages = []
    for call in turn.tool_calls:
        error = call.get("error")
        content = f"error: {error}" if error else _result(harness, next(remaining, None))
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
    return messages


def _result(harness: Harness, record: ActionRecord | None) -> str:
    if record is None:
        return "error: interrupted"
    if record.error:
        return f"error: {clip(record.result, harness.observation.output_limit)}"
    if isinstance(record.action, Bash):
        output = clip(record.result, harness.observation.output_limit) or "(no output)"
        code = f"\n[exit code {record.exit_code}]" if record.exit_code else ""
        return output + code
    return record.result or "ok"


def _user(
    harness: Harness, text: str, screenshot: str | None, embed: Embed, pictures: Sequence[Picture] = ()
) -> Message:
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    for picture in pictures:
        parts += [{"type": "text", "text": ENLARGED}, _image(picture, embed)]
    if screenshot:
        parts += [{"type": "text", "text": NOW}] if pictures else []
        parts.append(_image(Picture(screenshot, harness.observation.width), embed))
    return {"role": "user", "content": parts if pictures or screenshot else text}


def _image(picture: Picture, embed: Embed) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": embed(picture)}}
