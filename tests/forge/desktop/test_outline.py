"""Outlines tell what can be used and read on the screen, briefly, and the same element by the same id."""

from __future__ import annotations

from typing import Any

import pytest

from forge.desktop.outline import MOST, NAME, Line, Outline, Outliner
from forge.desktop.windows import Window
from forge.records import Element

MAIN = Window(1, "Book", 0, 0, 1280, 800, False)


def thing(
    role: str, name: str = "", path: tuple[int, ...] = (0, 0), box: Any = (10, 10, 40, 20), **more: Any
) -> Element:
    return Element(role=role, name=name, box=box, path=path, app="calc", **more)


def frame(name: str = "Book", number: int = 0, box: Any = (0, 0, 1280, 800)) -> Element:
    return thing("frame", name, (number,), box)


def told(outline: Outline) -> list[tuple[int, str, str]]:
    return [(line.depth, line.role, line.name) for line in outline.lines]


def ids(outline: Outline) -> dict[str, int]:
    return {line.name: line.id for line in outline.lines}


def outliner() -> Outliner:
    return Outliner(1280, 800)


def test_only_what_can_be_used_or_read_is_told_and_what_it_lies_in() -> None:
    outline = outliner().read(
        [
            frame(),
            thing("panel", "", (0, 0)),
            thing("tool bar", "Formatting", (0, 0, 0)),
            thing("toggle button", "Bold", (0, 0, 0, 0), states=("checked",)),
            thing("separator", "", (0, 0, 0, 1)),
            thing("tool bar", "Empty", (0, 0, 1)),
            thing("scroll bar", "Vertical scroll bar", (0, 0, 2)),
            thing("label", "", (0, 0, 3), text="Slide 1 of 3"),
            thing("label", "", (0, 0, 4)),
            thing("text", "", (0, 0, 5), text="A1"),
            thing("push button", "", (0, 0, 6)),
            thing("list item", "", (0, 0, 7)),
        ],
        [MAIN],
    )
    assert told(outline) == [
        (0, "frame", "Book"),
        (1, "tool bar", "Formatting"),
        (2, "toggle button", "Bold"),
        (1, "label", ""),
        (1, "text", ""),
        (1, "push button", ""),
    ]
    assert outline.lines[2].states == ("checked",)
    assert [line.text for line in outline.lines[3:5]] == ["Slide 1 of 3", "A1"]


def test_what_is_outside_the_screen_or_under_a_window_is_left_out() -> None:
    dialog = Window(2, "Sort", 400, 300, 300, 200, True)
    elements = [
        frame(),
        thing("push button", "Seen", (0, 0), (10, 10, 40, 20)),
        thing("push button", "Covered", (0, 1), (500, 400, 40, 20)),
        thing("push button", "Outside", (0, 2), (10, 900, 40, 20)),
        thing("push button", "Closed", (0, 3), (-2147483648, -2147483648, 40, 20)),
        thing("dialog", "Sort", (1,), (400, 300, 300, 200)),
        thing("push button", "OK", (1, 0), (600, 460, 80, 30)),
    ]
    assert list(ids(outliner().read(elements, [MAIN, dialog]))) == ["Book", "Seen", "Sort", "OK"]
    assert "Covered" in ids(outliner().read(elements, [dialog, MAIN]))


def test_a_buttons_own_label_is_not_told_again_and_long_names_are_cut() -> None:
    outline = outliner().read(
        [
            frame(),
            thing("push button", "Send", (0, 0)),
            thing("label", "Send", (0, 0, 0)),
            thing("link", "x" * 200, (0, 1)),
        ]
    )
    assert told(outline)[1:] == [(1, "push button", "Send"), (1, "link", "x" * (NAME - 1) + "…")]


def test_cells_that_hold_something_are_told() -> None:
    sheet = thing("table", "Sheet Data", (0, 0), (40, 100, 800, 600))
    cells = [
        thing("table cell", "A1", (0, 0, 0), text="Item", states=("editable",)),
        thing("table cell", "B1", (0, 0, 1), text=""),
    ]
    outline = outliner().read([frame(), sheet], [MAIN], cells)
    assert told(outline) == [(0, "frame", "Book"), (1, "table", "Sheet Data"), (2, "table cell", "A1")]
    assert (outline.lines[2].text, outline.lines[2].states) == ("Item", ())


def rows(*names: str) -> list[Element]:
    return [thing("list item", name, (0, 0, i), (10, 20 * i, 40, 20)) for i, name in enumerate(names)]


@pytest.mark.parametrize(
    ("then", "same"),
    [
        (("b", "c", "a"), {"a", "b", "c"}),
        (("new", "a", "b", "c"), {"a", "b", "c"}),
        (("a", "c"), {"a", "c"}),
    ],
)
def test_ids_stay_when_things_move_come_or_go(then: tuple[str, ...], same: set[str]) -> None:
    reader, parts = outliner(), [frame(), thing("list", "Files", (0, 0))]
    first = ids(reader.read([*parts, *rows("a", "b", "c")]))
    second = ids(reader.read([*parts, *rows(*then)]))
    assert {name for name in second if first.get(name) == second[name]} - {"Book", "Files"} == same
    assert len(set(first.values()) | set(second.values())) == len(first | second)


def test_ids_stay_when_windows_open_names_change_and_what_was_gone_comes_back() -> None:
    reader = outliner()
    ok = thing("push button", "OK", (0, 0))
    first = reader.read([frame("Untitled"), ok])
    other = [frame("Sort", 0, (400, 300, 300, 200)), thing("push button", "Cancel", (0, 0))]
    moved = [frame("saved.xlsx", 1), thing("push button", "OK", (1, 0))]
    second = reader.read([*other, *moved])
    assert ids(second)["OK"] == ids(first)["OK"]
    third = reader.read([frame("saved.xlsx", 0), ok])
    assert ids(third)["OK"] == ids(first)["OK"]
    fourth = reader.read([*other, *moved])
    assert ids(fourth) == ids(second)
    renamed = reader.read([*other, frame("saved.xlsx", 1), thing("push button", "Close", (1, 0))])
    assert ids(renamed)["Close"] == ids(first)["OK"], "a button that got another name is the same button"


def test_an_outline_is_bounded_and_stored_as_it_is() -> None:
    many = [thing("push button", f"b{i}", (0, i)) for i in range(MOST + 50)]
    outline = outliner().read([frame(), *many])
    assert (len(outline.lines), outline.more) == (MOST, 51)
    assert Outline.from_json(outline.to_json()) == outline
    assert isinstance(outline.lines[0], Line)
    with pytest.raises((KeyError, ValueError, TypeError)):
        Outline.from_json(b"{}")
