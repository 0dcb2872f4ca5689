"""Boxes are put right for LibreOffice and left alone elsewhere; what lies at a point is what a person would say."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from forge.desktop import inside
from forge.desktop.accessibility import at_point, cell_elements, elements, parse_ref
from forge.desktop.windows import Window

CLIENT = Window(1, "book.xlsx - LibreOffice Calc", 0, 19, 1280, 781, True)


def node(
    parent: int, role: str, name: str = "", box: tuple[int, int, int, int] | None = None, index: int = 0
) -> dict[str, Any]:
    return {"parent": parent, "index": index, "role": role, "name": name, "box": box, "states": []}


def calc(shift_x: int, shift_y: int) -> list[dict[str, Any]]:
    """A window whose own widgets are reported `shift` away from where they are."""
    return [
        node(-1, "application", "soffice"),
        node(0, "frame", CLIENT.title, (0, 19, 1280, 781)),
        node(1, "menu bar", "", (0, 19, 1280, 25)),
        node(1, "root pane", CLIENT.title, (shift_x, 44 + shift_y, 1280, 756), 1),
        node(3, "tool bar", "Formatting", (shift_x, 84 + shift_y, 1280, 38)),
        node(4, "toggle button", "Bold", (328 + shift_x, 85 + shift_y, 33, 35), 3),
        node(4, "filler", "", (5, 86, 170, 32), 4),
        node(6, "combo box", "Font Name", (5, 86, 170, 32)),
    ]


@pytest.mark.parametrize("shift", [(0, -25), (0, 0), (9, 1), (-40, 13)])
def test_own_widgets_are_moved_and_native_ones_are_not(shift: tuple[int, int]) -> None:
    found = {f.element.name or f.element.role: f.element.box for f in elements("calc", calc(*shift), [CLIENT])}
    assert found["Bold"] == (328, 85, 33, 35)
    assert found["Formatting"] == (0, 84, 1280, 38)
    assert found["Font Name"] == (5, 86, 170, 32)
    assert found["menu bar"] == (0, 19, 1280, 25)


@pytest.mark.parametrize("shift", [(0, -25), (0, 0), (9, 1)])
def test_native_parts_are_told_by_where_they_lie_also_where_they_are_scrolled(shift: tuple[int, int]) -> None:
    dx, dy = shift
    nodes = [
        *calc(*shift)[:4],
        node(3, "panel", "Sidebar", (957 + dx, 124 + dy, 321, 652)),
        node(4, "filler", "", (957 + dx, 124 + dy, 273, 652)),
        node(5, "panel", "Deck", (957, 124, 273, 667)),
        node(6, "list item", "Wipe", (1045, 155, 81, 51)),
    ]
    found = {f.element.name or f.element.role: f.element.box for f in elements("impress", nodes, [CLIENT])}
    assert found["Sidebar"] == (957, 124, 321, 652)
    assert found["Deck"] == (957, 124, 273, 667)
    assert found["Wipe"] == (1045, 155, 81, 51)


def test_nothing_is_moved_where_the_window_is_not_known() -> None:
    found = {f.element.name: f.element.box for f in elements("calc", calc(0, -25), [])}
    assert found["Bold"] == (328, 60, 33, 35)


def test_paths_are_child_indices_from_the_application() -> None:
    found = {f.element.name: f.element.path for f in elements("calc", calc(0, 0), [CLIENT])}
    assert found["soffice"] == ()
    assert found["Bold"] == (0, 1, 0, 3)


def test_the_smallest_of_the_topmost_window_is_hit() -> None:
    dialog = Window(2, "Sort", 300, 60, 300, 200, True)
    nodes = [
        *calc(0, 0),
        node(0, "dialog", "Sort", (300, 60, 300, 200), 1),
        node(8, "push button", "OK", (500, 220, 80, 30)),
    ]
    found = elements("calc", nodes, [CLIENT, dialog])

    def hit(x: int, y: int) -> str:
        item = at_point(found, x, y)
        return item.element.name if item else ""

    assert hit(510, 230) == "OK"
    assert hit(340, 100) == "Sort"  # the dialog lies over the Bold button
    assert hit(50, 100) == "Font Name"
    assert at_point(found, 2000, 10) is None


def test_cells_out_of_view_are_not_given() -> None:
    table = {"role": "table", "name": "Sheet Data", "box": (0, 125, 1200, 500), "index": 0}
    above = [
        {"role": "frame", "name": CLIENT.title, "box": (0, 19, 1280, 781), "index": 0},
        {"role": "root pane", "name": CLIENT.title, "box": (0, 19, 1280, 756), "index": 1},
        table,
    ]
    cells = [
        {"role": "table cell", "name": "B2", "box": (118, 170, 77, 20), "index": 1, "states": [], "text": "7"},
        {"role": "table cell", "name": "B900", "box": (118, 18000, 77, 20), "index": 2, "states": [], "text": "8"},
    ]
    found = cell_elements("calc", {"app": "soffice", "above": above, "cells": cells}, [CLIENT])
    assert [(e.name, e.box, e.text) for e in found] == [("B2", (118, 195, 77, 20), "7")]


@pytest.mark.parametrize(
    ("ref", "place"),
    [("A1", (0, 0)), ("$B$7", (6, 1)), ("aa10", (9, 26)), ("XFD1048576", (1048575, 16383)), ("Data.C3", (2, 2))],
)
def test_references_are_read(ref: str, place: tuple[int, int]) -> None:
    assert parse_ref(ref) == place


@pytest.mark.parametrize("ref", ["", "7", "B", "B0", "A1:B2", "B7x"])
def test_what_is_no_reference_is_refused(ref: str) -> None:
    with pytest.raises(ValueError, match="no cell reference"):
        parse_ref(ref)


@pytest.mark.parametrize("states", [None, []])
def test_what_vanishes_while_it_is_looked_at_is_left_out(
    states: list[int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(inside.__file__).parent))
    from access import Look, flags_of

    parent: dict[str, Any] = {"role": "frame", "children": {}}
    Look().on_states(("app", "/node"), parent, 0, 1, "label", states)
    assert parent["children"] == {}
    assert flags_of(states) == []


ROGUE, HONEST = (":1.9", "/root"), (":1.5", "/root")
BOX, SHOWS = (0, 0, 90, 40), [1 << 25 | 1 << 30 | 1 << 8]
TRUE = {"Name": "honest", "GetRole": 23, "GetState": SHOWS, "GetExtents": BOX, "GetChildren": [], "GetKeyBinding": ""}
ODD: tuple[Any, ...] = (
    *(None, "rogue", "", 7, 0, -1, -(1 << 31), (1 << 31) - 1, 1 << 63, 1.5, float("nan"), [], (), [[]], [None], ["a"]),
    *([7], [-1], [1.5], [1 << 60], (1, 2), ("a", "b"), ("", "/null"), (1, "/a"), ROGUE, [ROGUE] * 3, [ROGUE] * 400),
    *([ROGUE, 7], (0, 0, 9, 9), (-(1 << 31),) * 4, ((1 << 31) - 1,) * 4, (0, 0, "9", 9), (1.5,) * 4, [(2, [ROGUE])]),
    *([(2, [])], [(2, 7)], [(2, ["a"])], [("a", [ROGUE])], [([], [ROGUE])], [(2, [("", "")])], SHOWS, 54, 301, 2000000),
)


FITTING: dict[str, list[Any]] = {
    "Name": ["soffice", "soffice", ""],
    "Description": ["told"],
    "ChildCount": [1, 301, 2000000],
    "CharacterCount": [5],
    "NColumns": [5, 1024],
    "GetRole": [11, 23, 29, 31, 33, 35, 55, 55, 55, 56, 60, 61, 69],  # windows, lists, menus, tables, texts
    "GetState": [SHOWS, [SHOWS[0] | 1 << 12]],
    "GetChildren": [[ROGUE], [ROGUE] * 3],
    "GetChildAtIndex": [ROGUE],
    "GetIndexInParent": [0, 5, 900, (1 << 31) - 1],
    "GetRelationSet": [[(2, [ROGUE])]],
    "GetExtents": [BOX, (0, 0, (1 << 31) - 1, (1 << 31) - 1)],
    "GetAccessibleAtPoint": [ROGUE],
    "GetAccessibleAt": [ROGUE],
    "GetText": ["text"],
    "GetKeyBinding": ["k"],
    "GetSelection": [0],
}


class Accessible:
    """A bus on which one application answers as it should, in order, and another often anything, in any order."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.odd = (0.01, 0.05, 0.2, 0.5)[seed % 4]
        self.waiting: list[tuple[str, Callable[[list[Any] | None], None], list[Any] | None]] = []
        self.asked = 0

    def post(
        self, name: str, path: str, _: str, member: str, then: Any, signature: str = "", body: bytes = b""
    ) -> None:
        self.asked += 1
        if member == "Get":
            member = body[:-1].rpartition(b"\0")[2].decode()
        choice = self.random.choice
        if name == "org.a11y.atspi.Registry":
            answer: list[Any] | None = [[ROGUE, HONEST]]
        elif (name, path) == HONEST:
            answer = [TRUE[member]] if member in TRUE else None
        elif self.asked > 500:
            answer = None
        elif self.random.random() < self.odd:
            answer = choice((None, [], [choice(ODD)], [choice(ODD)], [choice(ODD), choice(ODD)]))
        else:
            answer = [choice(FITTING[member])] * (2 if member == "GetSelection" else 1)
        self.waiting.append((name, then, answer))

    def begin(self) -> None:
        pass

    def run(self) -> None:
        while self.waiting:
            name, then, answer = next_one = self.random.choice(self.waiting)
            if name != ROGUE[0]:
                name, then, answer = next_one = next(one for one in self.waiting if one[0] == name)
            self.waiting.remove(next_one)
            then(answer)

    def close(self) -> None:
        pass


@pytest.mark.parametrize("seed", range(24))
def test_an_application_may_answer_anything_and_the_others_still_show(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(inside.__file__).parent))
    import access

    def on_bus(ask: Callable[[], Any]) -> Any:
        monkeypatch.setattr(access, "_connection", [Accessible(seed)])
        return json.loads(json.dumps(ask()))

    for options in ({}, {"at": (5, 5)}, {"under": [0, 1, 0]}, {"text": False, "menus": False}):
        found = on_bus(partial(access.tree, **options))
        nodes = next(app["nodes"] for app in found if app["app"] == "honest")
        assert [(node["role"], node["box"], node["states"]) for node in nodes] == [("frame", list(BOX), [])]
        for app in found:
            elements(app["app"], app["nodes"], [CLIENT])
    told = on_bus(lambda: access.details("honest", [[], [0]]))
    assert told == [{"description": "", "keys": "", "label": ""}, None]
    for name in ("soffice", "rogue", ""):
        on_bus(partial(access.details, name, [[], [0], [0, 1], [1, 2, 3]]))
        sheets = access.Sheets()
        for look, where in ((sheets.cell, (3, 4)), (sheets.at, (5, 5)), (sheets.visible, ())):
            answer = on_bus(partial(look, name, *where))
            if answer:
                cell_elements("calc", answer, [CLIENT])
