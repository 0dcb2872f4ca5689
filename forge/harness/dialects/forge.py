"""The dialect `forge`: four functions `computer`, `bash`, `answer`, `done`; coordinates are integers from 0 to 999.

A coordinate names one of 1000 equal bins of the picture's width or height and means the middle of it, so that reading and
writing again is exact. The action names are those of the canonical space (`forge.records.action`).
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from forge.harness.dialects.base import COMPUTER_ACTIONS, Call, CallError, Dialect, dialect
from forge.records import (
    Action,
    ActionAdapter,
    Answer,
    Bash,
    Done,
    Drag,
    Harness,
    HarnessError,
    HoldKey,
    Key,
    Point,
    Pointer,
    Scroll,
    Type,
    Wait,
    Zoom,
)

BINS = 1000

_COORDINATE = "[x, y], integers from 0 to 999"

_ARGUMENTS: dict[str, dict[str, Any]] = {
    "coordinate": {
        "type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 999}, "minItems": 2, "maxItems": 2,
        "description": "[x, y]: where to point, click, scroll or let go; 0 to 999 from left to right and top to bottom",
    },
    "start_coordinate": {
        "type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 999}, "minItems": 2, "maxItems": 2,
        "description": "[x, y]: where a drag begins",
    },
    "region": {
        "type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 999}, "minItems": 4, "maxItems": 4,
        "description": "[left, top, right, bottom]: what zoom shows larger",
    },
    "modifiers": {
        "type": "array", "items": {"type": "string", "enum": ["ctrl", "shift", "alt", "super"]},
        "description": "keys held during a click",
    },
    "text": {"type": "string", "description": "what type writes; a line feed is Return, a tab is Tab"},
    "keys": {"type": "string", "description": "a key or chord by X names joined with +: ctrl+s, Return, shift+F3"},
    "repeat": {"type": "integer", "minimum": 1, "maximum": 100, "description": "how often key presses it, normally once"},
    "seconds": {"type": "number", "minimum": 0, "maximum": 60, "description": "how long wait and hold_key last"},
    "dx": {"type": "integer", "description": "wheel clicks to the right (negative: left)"},
    "dy": {"type": "integer", "description": "wheel clicks down (negative: up)"},
}  # fmt: skip

_FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    **dict.fromkeys(
        ("left_click", "right_click", "middle_click", "double_click", "triple_click", "mouse_move"),
        (("coordinate",), ("modifiers",)),
    ),
    "left_click_drag": (("start_coordinate", "coordinate"), ()),
    "left_mouse_down": ((), ()),
    "left_mouse_up": ((), ()),
    "scroll": (("coordinate",), ("dx", "dy")),
    "type": (("text",), ()),
    "key": (("keys",), ("repeat",)),
    "hold_key": (("keys", "seconds"), ()),
    "wait": ((), ("seconds",)),
    "zoom": (("region",), ()),
}
"""Computer action to its arguments: required, optional."""

_OTHER: dict[str, dict[str, Any]] = {
    "bash": {
        "description": "Run a command in the persistent shell and see its output, or restart the shell.",
        "properties": {
            "command": {"type": "string", "description": "the command; may have several lines"},
            "timeout": {"type": "number", "description": "seconds after which it is ended; 60 if not given, at most 600"},
            "restart": {"type": "boolean", "description": "start a new shell instead"},
        },
        "required": [],
    },
    "answer": {
        "description": "Give the answer to the question that the task asks. The last answer counts.",
        "properties": {"text": {"type": "string", "description": "the bare answer"}},
        "required": ["text"],
    },
    "done": {
        "description": "Stop. Nothing can be done afterwards.",
        "properties": {"status": {"type": "string", "enum": ["success", "failure", "infeasible"]}},
        "required": ["status"],
    },
}  # fmt: skip


@dialect
class ForgeDialect(Dialect):
    """Integers from 0 to 999; one `computer` function for all pointer and keyboard actions."""

    name = "forge"

    def tools(self, harness: Harness) -> list[dict[str, Any]]:
        found = []
        for tool in harness.tools:
            if tool == "computer":
                kinds = harness.actions or COMPUTER_ACTIONS
                used = {name for kind in kinds for group in _FIELDS[kind] for name in group}
                properties = {"action": {"type": "string", "enum": list(kinds)}}
                properties |= {name: schema for name, schema in _ARGUMENTS.items() if name in used}
                found.append(_function("computer", _computer_description(kinds), properties, ["action"]))
            else:
                spec = _OTHER[tool]
                found.append(_function(tool, spec["description"], spec["properties"], spec["required"]))
        return found

    def encode(self, action: Action, call_id: str = "call") -> Call:
        name, values = _wire(action)
        return Call(call_id, name, json.dumps(values, ensure_ascii=False))

    def decode(self, call: Call, harness: Harness) -> Action:
        if call.name not in harness.tools:
            raise CallError(f"there is no tool {call.name!r}; the tools are {', '.join(harness.tools)}")
        values = call.parsed()
        if call.name != "computer":
            known = _OTHER[call.name]
            _check_names(call.name, values, tuple(known["required"]), tuple(known["properties"]))
            if call.name == "bash" and not values.get("restart") and not values.get("command"):
                raise CallError("bash: give a `command`, or `restart`: true")
            return _build(call.name, call.name, values)
        kind = values.pop("action", None)
        allowed = harness.actions or COMPUTER_ACTIONS
        if kind not in allowed:
            raise CallError(f"computer: `action` must be one of {', '.join(allowed)}; got {json.dumps(kind)}")
        required, optional = _FIELDS[kind]
        _check_names(f"computer, {kind}", values, required, optional)
        for key in ("coordinate", "start_coordinate", "region"):
            if key in values:
                values[key] = _coordinates(f"computer, {kind}", key, values[key])
        if kind == "zoom":
            (left, top), (right, bottom) = values["region"]
            if not (left < right and top < bottom):
                raise CallError(
                    "computer, zoom: `region` is [left, top, right, bottom] with left < right, top < bottom"
                )
            return _build(
                f"computer, {kind}", kind, {"top_left": _point(left, top), "bottom_right": _point(right, bottom)}
            )
        renamed = {"coordinate": "at", "start_coordinate": "start"}
        fields = {
            renamed.get(key, key): _point(*value[0]) if key in renamed else value for key, value in values.items()
        }
        return _build(f"computer, {kind}", kind, fields)


def _function(name: str, description: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def _computer_description(kinds: tuple[str, ...]) -> str:
    lines = []
    for kind in kinds:
        required, optional = _FIELDS[kind]
        lines.append(f"{kind}({', '.join([*required, *(f'{name}?' for name in optional)])})")
    return "Use the pointer and the keyboard. Actions and their arguments: " + ", ".join(lines) + "."


def _wire(action: Action) -> tuple[str, dict[str, Any]]:
    match action:
        case Pointer():
            values: dict[str, Any] = {"action": action.kind, "coordinate": _bins(action.at)}
            if action.modifiers:
                values["modifiers"] = list(action.modifiers)
        case Drag():
            values = {"action": action.kind, "start_coordinate": _bins(action.start), "coordinate": _bins(action.at)}
        case Scroll():
            values = {"action": "scroll", "coordinate": _bins(action.at)}
            values |= {name: value for name, value in (("dx", action.dx), ("dy", action.dy)) if value}
        case Type():
            values = {"action": "type", "text": action.text}
        case Key():
            values = {"action": "key", "keys": action.keys} | ({"repeat": action.repeat} if action.repeat != 1 else {})
        case HoldKey():
            values = {"action": "hold_key", "keys": action.keys, "seconds": action.seconds}
        case Wait():
            values = {"action": "wait", "seconds": action.seconds}
        case Zoom():
            region = [*_bins(action.top_left), *_bins(action.bottom_right)]
            if not (region[0] < region[2] and region[1] < region[3]):
                raise HarnessError(f"zoom: the region {region} is empty on the grid of {BINS}")
            values = {"action": "zoom", "region": region}
        case Bash():
            values = {"command": action.command} if action.command or not action.restart else {}
            values |= {"restart": True} if action.restart else {}
            if action.timeout != 60.0:
                values["timeout"] = action.timeout
            return "bash", values
        case Answer():
            return "answer", {"text": action.text}
        case Done():
            return "done", {"status": action.status}
        case _:
            values = {"action": action.kind}
    if action.kind not in COMPUTER_ACTIONS:
        raise HarnessError(f"the dialect forge cannot carry the action {action.kind!r}")
    return "computer", values


def _bins(point: Point) -> list[int]:
    return [min(BINS - 1, int(point.x * BINS)), min(BINS - 1, int(point.y * BINS))]


def _point(x: int, y: int) -> dict[str, float]:
    return {"x": (x + 0.5) / BINS, "y": (y + 0.5) / BINS}


def _coordinates(where: str, key: str, value: Any) -> list[tuple[int, int]]:
    """Check and pair up the bins; whole floats and digits in strings are not taken for integers by guess."""
    count = 4 if key == "region" else 2
    form = "[left, top, right, bottom], integers from 0 to 999" if key == "region" else _COORDINATE
    if not isinstance(value, list) or len(value) != count:
        raise CallError(f"{where}: `{key}` must be {form}; got {json.dumps(value)[:80]}")
    for number in value:
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < BINS:
            raise CallError(f"{where}: `{key}` must be {form}; got {json.dumps(value)[:80]}")
    return [(value[i], value[i + 1]) for i in range(0, count, 2)]


def _check_names(where: str, values: dict[str, Any], required: tuple[str, ...], optional: tuple[str, ...]) -> None:
    unknown = [name for name in values if name not in (*required, *optional)]
    missing = [name for name in required if name not in values]
    takes = (
        ", ".join([*required, *(f"{name} (optional)" for name in optional if name not in required)]) or "no arguments"
    )
    if unknown:
        raise CallError(f"{where}: unknown argument {', '.join(f'`{name}`' for name in unknown)}; it takes {takes}")
    if missing:
        raise CallError(f"{where}: {', '.join(f'`{name}`' for name in missing)} missing; it takes {takes}")


def _build(where: str, kind: str, fields: dict[str, Any]) -> Action:
    try:
        return ActionAdapter.validate_python({"kind": kind, **fields})
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"][1:]) or "arguments"
        raise CallError(
            f"{where}: `{name}`: {first['msg']}; got {json.dumps(first.get('input'), default=str)[:80]}"
        ) from None
