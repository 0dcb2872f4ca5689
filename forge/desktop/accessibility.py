"""What is on the screen, by meaning: elements with true pixels.

LibreOffice's own widgets (tool bars, sheet, status bar) report boxes from an origin that depends on the last pointer
event; its native GTK widgets report true ones. The true origin is known from the X window: the root pane fills its
client area and is aligned with its bottom. The difference is added to the descendants, except where a native widget sits
among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from forge.desktop.windows import Window
from forge.records.trajectory import Element

Node = dict[str, Any]
Box = tuple[int, int, int, int]

_WINDOW_ROLES = ("frame", "window", "dialog", "alert", "file chooser")
_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6})")


@dataclass(frozen=True)
class Found:
    """An element with what a look-up needs besides."""

    element: Element
    window: int
    shift: tuple[int, int]
    many: bool


def elements(app: str, nodes: Sequence[Node], windows: Sequence[Window]) -> list[Found]:
    """Turn one application's nodes (parents before children) into elements with corrected boxes.

    Args:
        app: the name that the elements carry.
        nodes: as the supervisor gives them.
        windows: the managed windows, the topmost last.
    """
    result: list[Found] = []
    shifts: list[tuple[int, int]] = []
    boxes: list[Box | None] = []
    paths: list[tuple[int, ...]] = []
    tops: list[int] = []
    for number, node in enumerate(nodes):
        parent = node["parent"]
        shift = shifts[parent] if parent >= 0 else (0, 0)
        paths.append((*paths[parent], node["index"]) if parent >= 0 else ())
        tops.append(-1 if parent < 0 else number if nodes[parent]["parent"] < 0 else tops[parent])
        raw = tuple(node["box"]) if node["box"] else None
        if raw and node["role"] == "root pane":
            shift = _origin(nodes, number, raw, windows) or shift
        elif raw and shift != (0, 0) and _is_native(node, raw, boxes[parent], shift):
            shift = (0, 0)
        box = None if raw is None else (raw[0] + shift[0], raw[1] + shift[1], raw[2], raw[3])
        shifts.append(shift)
        boxes.append(box)
        element = Element(
            role=node["role"],
            name=node["name"],
            box=box or (0, 0, 0, 0),
            app=app,
            states=tuple(node["states"]),
            text=node.get("text"),
            path=paths[-1],
        )
        top = nodes[tops[-1]]["name"] if tops[-1] >= 0 else ""
        rank = next((i for i in reversed(range(len(windows))) if windows[i].title == top), len(windows))
        result.append(Found(element, rank, shift, bool(node.get("many"))))
    return result


def at_point(found: Iterable[Found], x: int, y: int) -> Found | None:
    """What lies uppermost at a point: in the topmost window, the smallest box, the deepest of equals."""
    best: tuple[tuple[int, int, int], Found] | None = None
    for item in found:
        left, top, width, height = item.element.box
        if not item.element.path or not (left <= x < left + width and top <= y < top + height):
            continue
        # fillers and panels lie over what they hold; equal boxes go to the deeper one
        key = (item.window, -(width * height), len(item.element.path))
        if best is None or key >= best[0]:
            best = (key, item)
    return best[1] if best else None


def cell_elements(app: str, answer: dict[str, Any], windows: Sequence[Window]) -> list[Element]:
    """Elements of cells from the supervisor's answer; only those that lie inside the sheet's visible part."""
    chain: list[Node] = [{"parent": -1, "index": 0, "role": "application", "name": app, "box": None, "states": []}]
    for node in answer["above"]:
        chain.append({**node, "parent": len(chain) - 1, "states": []})
    table = len(chain) - 1
    nodes = chain + [{**cell, "parent": table} for cell in answer["cells"]]
    found = elements(app, nodes, windows)
    left, top, width, height = found[table].element.box
    inside = []
    for item in found[table + 1 :]:
        x, y, w, h = item.element.box
        # where cells end: a cell whose middle is out of the sheet's box cannot be pointed at
        if w > 0 and h > 0 and left <= x + w // 2 < left + width and top <= y + h // 2 < top + height:
            inside.append(item.element)
    return inside


def parse_ref(ref: str) -> tuple[int, int]:
    """(row, column), counted from 0, of a cell reference like "B7". Raises ValueError."""
    match = _CELL.fullmatch(ref.rpartition(".")[2].rpartition("!")[2])
    if match is None:
        raise ValueError(f"{ref!r} is no cell reference; write B7")
    column = 0
    for letter in match[1].upper():
        column = column * 26 + ord(letter) - 64
    return int(match[2]) - 1, column - 1


def _origin(nodes: Sequence[Node], number: int, raw: Box, windows: Sequence[Window]) -> tuple[int, int] | None:
    """True minus reported origin of a root pane, from the X window that its outermost frame is."""
    title = None
    parent = nodes[number]["parent"]
    while parent >= 0:
        if nodes[parent]["role"] in _WINDOW_ROLES:
            title = nodes[parent]["name"]
        parent = nodes[parent]["parent"]
    window = next((w for w in reversed(windows) if w.title == title), None)
    if window is None:
        return None
    return window.x - raw[0], window.y + window.height - raw[3] - raw[1]


def _is_native(node: Node, raw: Box, parent: Box | None, shift: tuple[int, int]) -> bool:
    """Whether a box is told truly although those around it are shifted: the one of the two that its parent holds."""
    if parent is None:
        return bool(node["role"] == "filler")

    def outside(dx: int, dy: int) -> int:
        """Pixels by which it sticks out of its parent; what is scrolled may do so truly."""
        x, y = raw[0] + dx, raw[1] + dy
        over = (parent[0] - x, parent[1] - y, x + raw[2] - parent[0] - parent[2], y + raw[3] - parent[1] - parent[3])
        return sum(pixels for pixels in over if pixels > 2)

    true, shifted = outside(0, 0), outside(*shift)
    # a native part begins with a filler; where both would fit, that tells
    return true < shifted or (true == shifted == 0 and bool(node["role"] == "filler"))
