"""Which menus are open: the entries of a closed one are not on the screen, whatever the toolkit says."""

from __future__ import annotations

import pytest

from forge.desktop.accessibility import Found
from forge.desktop.menus import without_closed
from forge.desktop.windows import Pane
from forge.records import Element

WINDOW = Pane(0, 0, 640, 480, 7)
MENU = Pane(0, 20, 100, 60, None)
SUBMENU = Pane(100, 40, 100, 40, None)


def found(role: str, name: str, path: tuple[int, ...], box: tuple[int, int, int, int]) -> Found:
    return Found(Element(role=role, name=name, box=box, path=path, app="gimp"), 0, (0, 0), False)


ALL = [
    found("frame", "Picture", (0,), (0, 0, 640, 480)),
    found("menu bar", "", (0, 0), (0, 0, 640, 20)),
    found("menu", "Colors", (0, 0, 0), (0, 0, 60, 20)),
    found("menu item", "Invert", (0, 0, 0, 0), (0, 20, 100, 20)),
    found("menu", "Auto", (0, 0, 0, 1), (0, 40, 100, 20)),
    found("menu item", "Equalize", (0, 0, 0, 1, 0), (100, 40, 100, 20)),
    found("push button", "OK", (0, 1), (10, 30, 60, 20)),
]


@pytest.mark.parametrize(
    ("panes", "gone"),
    [
        ([WINDOW, MENU, SUBMENU], set()),
        ([WINDOW, MENU], {"Equalize"}),
        ([WINDOW], {"Invert", "Auto", "Equalize"}),
        ([WINDOW, Pane(0, 20, 300, 200, None)], {"Invert", "Auto", "Equalize"}),
    ],
)
def test_only_what_a_popup_shows_is_kept_of_a_menu(panes: list[Pane], gone: set[str]) -> None:
    kept = {each.element.name for each in without_closed(ALL, panes)}
    assert {each.element.name for each in ALL} - kept == gone
