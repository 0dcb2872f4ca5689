"""The accessibility tree as a compact observation: what a person could name or use on the screen, a line each.

Lines have ids that stay: the same element keeps its id from one reading to the next, also when windows open, entries are
added above it, or its name or state changes. An element that went away and came back at the same place keeps it too.

Left out are parts without meaning of their own (frames of the layout, scroll bars, separators), what lies outside the
screen or under a window that covers it, and repetitions (a button's own label). Of a spreadsheet the cells in view that
hold something are told. It does NOT cover pictures, and not what an application does not tell.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field

from forge.desktop.windows import Window
from forge.records.trajectory import Element

MOST = 400
"""Lines at most; what comes later is counted only."""
NAME, TEXT = 80, 160
"""Characters kept of a name and of a text."""

_WINDOWS = ("frame", "dialog", "alert", "file chooser", "window")
_USED = {  # what is used, with a name or without
    *("push button", "toggle button", "radio button", "check box", "switch", "link", "menu", "menu item"),
    *("check menu item", "radio menu item", "page tab", "combo box", "spin button", "slider", "text", "entry"),
    *("password text", "terminal", "tree item", "list item", "option", "icon", "table cell", "table row"),
    *("column header", "table column header", "document text", "document presentation"),
}
_TOLD = {  # what is read, where it says something
    *("label", "static", "heading", "paragraph", "status bar", "image", "alert", "notification", "info bar"),
    *("tool tip", "progress bar", "caption", "level bar"),
}
_GROUPS = {  # what is named around things, where it holds any
    *("tool bar", "panel", "grouping", "table", "tree table", "tree", "list", "list box", "document frame"),
    *("document web", "document spreadsheet", "form", "landmark", "section", "page tab list", "internal frame"),
}
_NEEDS_WORDS = {"table cell", "table row", "list item", "tree item", "icon", "option"}  # nothing to say without any


@dataclass(frozen=True)
class Line:
    """One element.

    Args:
        id: stays the same within an episode.
        depth: how many lines it lies in.
        role, name, text, states: as the accessibility tree has them; name and text cut.
        box: (x, y, width, height) in pixels of the screen.
    """

    id: int
    depth: int
    role: str
    name: str
    text: str
    states: tuple[str, ...]
    box: tuple[int, int, int, int]


@dataclass(frozen=True)
class Outline:
    """One reading."""

    lines: tuple[Line, ...]
    more: int = 0
    """How many lines were left out at the end."""

    def to_json(self) -> bytes:
        """As it is stored."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Outline:
        """What `to_json` wrote. Raises ValueError, KeyError or TypeError when it is something else."""
        value = json.loads(data)
        lines = (
            Line(**{**line, "states": tuple(line["states"]), "box": tuple(line["box"])}) for line in value["lines"]
        )
        return cls(tuple(lines), value["more"])


@dataclass
class _Node:
    """An element with its place among the others, and who it was before."""

    element: Element
    children: list[_Node] = field(default_factory=list)
    id: int = 0


class Outliner:
    """Makes the outlines of one episode.

    Args:
        width, height: of the screen, pixels.
    """

    def __init__(self, width: int, height: int):
        self._width, self._height = width, height
        self._before: list[_Node] = []
        self._last = 0

    def read(
        self, elements: Iterable[Element], windows: Sequence[Window] = (), cells: Iterable[Element] = ()
    ) -> Outline:
        """The outline of what shows now.

        Args:
            elements: what shows, parents before children, of all applications.
            windows: the managed windows, the topmost last.
            cells: cells of the sheet in view.
        """
        self._before = self._recognize(self._before, _forest([*elements, *(cell for cell in cells if cell.text)]))
        lines: list[Line] = []
        for node in self._before:
            self._tell(node, 0, windows, len(windows), None, lines)
        return Outline(tuple(lines[:MOST]), max(0, len(lines) - MOST))

    def _recognize(self, before: list[_Node], now: list[_Node]) -> list[_Node]:
        """Give what was there before its old id; returns all that is there or was, for the next time."""
        old, new = list(before), list(now)

        def pair(known: _Node, node: _Node) -> None:
            node.id = known.id
            node.children = self._recognize(known.children, node.children)
            old.remove(known)
            new.remove(node)

        for rule in _SAME_NAME:
            self._match(old, new, rule, pair)
        for node in [node for node in new if node.element.role in _WINDOWS]:  # of another title: by what is in it
            alike = max(old, key=lambda known: _likeness(known, node), default=None)
            if alike is not None and _likeness(alike, node) > 0.5:
                pair(alike, node)
        self._match(old, new, _same_place, pair)
        for node in new:
            node.children = self._recognize([], node.children)
        return [*now, *(_gone(node) for node in old[-MOST:])]

    @staticmethod
    def _match(old: list[_Node], new: list[_Node], rule: _Rule, pair: Callable[[_Node, _Node], None]) -> None:
        waiting: dict[tuple[object, ...], list[_Node]] = {}
        for node in old:
            waiting.setdefault(rule(node.element), []).append(node)
        for node in list(new):
            same = waiting.get(rule(node.element))
            if same:
                pair(same.pop(0), node)

    def _tell(
        self, node: _Node, depth: int, windows: Sequence[Window], rank: int, parent: Line | None, lines: list[Line]
    ) -> None:
        element = node.element
        if element.box == _GONE:
            return
        if element.role in _WINDOWS and element.name:
            rank = next((i for i in reversed(range(len(windows))) if windows[i].title == element.name), rank)
        line = None
        if self._counts(node, windows, rank) and not _repeats(element, parent):
            if not node.id:
                self._last += 1
                node.id = self._last
            text = element.text or ""
            line = Line(
                node.id,
                depth,
                element.role,
                _cut(element.name, NAME),
                _cut(text, TEXT) if text != element.name else "",
                tuple(s for s in element.states if s != "editable" or element.role != "table cell"),
                element.box,
            )
            lines.append(line)
        place = len(lines)
        for child in node.children:
            self._tell(child, depth + (line is not None), windows, rank, line or parent, lines)
        if line is not None and element.role in _GROUPS and len(lines) == place:
            lines.pop()  # it holds nothing that is told

    def _counts(self, node: _Node, windows: Sequence[Window], rank: int) -> bool:
        element = node.element
        x, y, width, height = element.box
        if not element.path or width <= 1 or height <= 1:
            return False
        middle = x + width // 2, y + height // 2
        if element.role in _WINDOWS:
            return bool(element.name or node.children)
        if not (x < self._width and y < self._height and x + width > 0 and y + height > 0):
            return False
        if any(_holds(window, *middle) for window in windows[rank + 1 :]):
            return False
        says = bool(element.name or (element.text or "").strip())
        if element.role in _USED:
            return says or element.role not in _NEEDS_WORDS or "checked" in element.states
        if element.role in _TOLD:
            return says
        return bool(element.name) and element.role in _GROUPS


_Rule = Callable[[Element], tuple[object, ...]]
_SAME_NAME: tuple[_Rule, ...] = (
    lambda e: (e.app, e.role, e.name, e.path[-1:]),
    lambda e: (e.app, e.role, e.name),
)


def _same_place(element: Element) -> tuple[object, ...]:
    return element.app, element.role, element.path[-1:]


def _likeness(known: _Node, node: _Node) -> float:
    """How much of what two windows hold is the same, from 0 to 1."""
    if (known.element.app, known.element.role) != (node.element.app, node.element.role):
        return 0.0
    one, other = _holdings(known), _holdings(node)
    return len(one & other) / max(1, len(one | other))


def _holdings(node: _Node) -> set[tuple[str, str]]:
    found = {(child.element.role, child.element.name) for child in node.children if child.element.box != _GONE}
    return found.union(*(_holdings(child) for child in node.children if child.element.box != _GONE))


_GONE = (0, 0, -1, -1)
"""The box of what is only remembered."""


def _gone(node: _Node) -> _Node:
    return _Node(node.element.model_copy(update={"box": _GONE}), node.children, node.id)


def _forest(elements: Sequence[Element]) -> list[_Node]:
    """Elements as trees, by their paths; an application is no node of its own."""
    known: dict[tuple[str, tuple[int, ...]], _Node] = {}
    roots = []
    for element in elements:
        node = known[element.app, element.path] = _Node(element)
        parent = known.get((element.app, element.path[:-1])) if len(element.path) > 1 else None
        if parent is not None:
            parent.children.append(node)
        elif element.path:
            roots.append(node)
    return roots


def _repeats(element: Element, parent: Line | None) -> bool:
    """Whether it only says again what it lies in."""
    says = _cut(element.name or element.text or "", NAME)
    return parent is not None and element.role in _TOLD | {"link", "text"} and says in (parent.name, parent.text)


def _cut(text: str, size: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= size else line[: size - 1] + "…"


def _holds(window: Window, x: int, y: int) -> bool:
    return window.x <= x < window.x + window.width and window.y <= y < window.y + window.height
