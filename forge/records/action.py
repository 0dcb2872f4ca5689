"""The canonical action space. Every dialect, teacher and trainer translates to and from these.

Coordinates are floats in [0, 1] of the screen's width and height; scrolling counts wheel clicks, positive down and
right; keys are written with xdotool's names joined by `+` ("ctrl+s", "Return").
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from forge.records.base import Record

Fraction = Annotated[float, Field(ge=0, le=1)]


class Point(Record):
    """A place on the screen: fractions of width and height, 0 = left or top edge."""

    x: Fraction
    y: Fraction


class Pointer(Record):
    """Move the pointer there and, but for `mouse_move`, click."""

    kind: Literal["left_click", "right_click", "middle_click", "double_click", "triple_click", "mouse_move"]
    at: Point
    modifiers: tuple[str, ...] = Field((), description="keys held meanwhile: ctrl, shift, alt, super")


class Drag(Record):
    """Press the left button at `start`, move to `at`, release."""

    kind: Literal["left_click_drag"] = "left_click_drag"
    start: Point
    at: Point


class Button(Record):
    """Press or release the left button where the pointer is."""

    kind: Literal["left_mouse_down", "left_mouse_up"]


class Scroll(Record):
    """Turn the wheel at a place; clicks, positive = down, right."""

    kind: Literal["scroll"] = "scroll"
    at: Point
    dx: int = Field(0, ge=-100, le=100)
    dy: int = Field(0, ge=-100, le=100)


class Type(Record):
    """Type text, any Unicode; a line feed is Return, a tab is Tab."""

    kind: Literal["type"] = "type"
    text: str


class Key(Record):
    """Press a chord of keys, `repeat` times."""

    kind: Literal["key"] = "key"
    keys: str = Field(min_length=1)
    repeat: int = Field(1, ge=1, le=100)


class HoldKey(Record):
    """Hold a chord of keys for some seconds."""

    kind: Literal["hold_key"] = "hold_key"
    keys: str = Field(min_length=1)
    seconds: float = Field(ge=0, le=60)


class Wait(Record):
    """Let the desktop go on for some seconds."""

    kind: Literal["wait"] = "wait"
    seconds: float = Field(1.0, ge=0, le=60)


class Zoom(Record):
    """Look closer at a region of the screen; changes nothing. The result is a picture of that region."""

    kind: Literal["zoom"] = "zoom"
    top_left: Point
    bottom_right: Point


class Bash(Record):
    """Run a command in the episode's persistent shell, or restart that shell."""

    kind: Literal["bash"] = "bash"
    command: str = ""
    timeout: float = Field(60.0, gt=0, le=600, description="seconds")
    restart: bool = False


class Answer(Record):
    """Give the answer to a question; the last one counts."""

    kind: Literal["answer"] = "answer"
    text: str


class Done(Record):
    """Stop: the task is done, failed, or cannot be done."""

    kind: Literal["done"] = "done"
    status: Literal["success", "failure", "infeasible"] = "success"


Action = Annotated[
    Pointer | Drag | Button | Scroll | Type | Key | HoldKey | Wait | Zoom | Bash | Answer | Done,
    Field(discriminator="kind"),
]

ActionAdapter: TypeAdapter[Action] = TypeAdapter(Action)
"""Validates and dumps any canonical action: `ActionAdapter.validate_python({"kind": "key", "keys": "ctrl+s"})`."""


def channel_of(action: Action) -> Literal["gui", "terminal", "control"]:
    """The channel an action belongs to, for counting shares: `bash` is terminal, `answer` and `done` are control."""
    if isinstance(action, Bash):
        return "terminal"
    if isinstance(action, Answer | Done):
        return "control"
    return "gui"
