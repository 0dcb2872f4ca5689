"""Actions in words: one short line each, with the name of the element they met. Folded turns are shown as such lines."""

from __future__ import annotations

from collections.abc import Iterable

from forge.records import (
    Action,
    ActionRecord,
    Answer,
    Bash,
    Button,
    Done,
    Drag,
    Element,
    HoldKey,
    Key,
    Point,
    Pointer,
    Scroll,
    Type,
    Wait,
    Zoom,
)

_VERBS = {
    "left_click": "Clicked",
    "right_click": "Right-clicked",
    "middle_click": "Middle-clicked",
    "double_click": "Double-clicked",
    "triple_click": "Triple-clicked",
    "mouse_move": "Moved the pointer to",
}


def describe(action: Action, element: Element | None = None) -> str:
    """One line: `Clicked "Bold" (toggle button)`, `Typed "=SUM(B2:B9)⏎"`, `Ran: ls -l`."""
    match action:
        case Pointer():
            held = f" holding {'+'.join(action.modifiers)}" if action.modifiers else ""
            return f"{_VERBS[action.kind]} {thing(action.at, element)}{held}"
        case Drag():
            return f"Dragged from {thing(action.start, element)} to {_place(action.at)}"
        case Button():
            return "Pressed the left button" if action.kind == "left_mouse_down" else "Released the left button"
        case Scroll():
            ways = [(action.dy, "down", "up"), (action.dx, "right", "left")]
            parts = [f"{abs(count)} {plus if count > 0 else minus}" for count, plus, minus in ways if count]
            return f"Scrolled {' and '.join(parts) or 'nothing'} at {thing(action.at, element)}"
        case Type():
            return f'Typed "{short(action.text.replace(chr(10), "⏎").replace(chr(9), "⇥"))}"'
        case Key():
            return f"Pressed {action.keys}" + (f" {action.repeat} times" if action.repeat > 1 else "")
        case HoldKey():
            return f"Held {action.keys} for {action.seconds:g} s"
        case Wait():
            return f"Waited {action.seconds:g} s"
        case Zoom():
            return f"Zoomed into {_place(action.top_left)} to {_place(action.bottom_right)}"
        case Bash():
            return (
                "Restarted the shell" if action.restart and not action.command else f"Ran: {short(action.command, 160)}"
            )
        case Answer():
            return f'Answered "{short(action.text)}"'
        case Done():
            return f"Ended with {action.status}"


def summarize(records: Iterable[ActionRecord], rejected: int = 0) -> str:
    """One line for a turn: its actions joined, failures marked; `rejected` counts the calls that could not be read."""
    parts = []
    for record in records:
        line = describe(record.action, record.element)
        if record.error:
            line += f" (failed: {short(record.result, 80)})"
        elif record.exit_code:
            line += f" (exit code {record.exit_code})"
        parts.append(line)
    if rejected:
        parts.append(f"{rejected} invalid tool call{'s' if rejected > 1 else ''}")
    return "; ".join(parts) or "Called no tool"


def thing(point: Point, element: Element | None) -> str:
    """What lies at a point: `"Bold" (toggle button)`, `a text beside "Height" at (412, 300)`, or the place on the grid of
    1000 when nothing is known.
    """
    if element is None:
        return _place(point)
    if element.name:
        return f'"{short(element.name)}" ({element.role})'
    return " ".join(part for part in (_article(element.role), element.near, "at", _place(point)) if part)


def short(text: str, limit: int = 60) -> str:
    """One line of at most `limit` characters, cut at the end."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _place(point: Point) -> str:
    return f"({min(999, int(point.x * 1000))}, {min(999, int(point.y * 1000))})"


def _article(noun: str) -> str:
    return f"an {noun}" if noun[:1] in "aeiou" else f"a {noun}"
