"""Instructions: by name, by function, by position; each means one thing on its screen."""

from __future__ import annotations

import pytest

from forge.harness.grounding.pairing import instructions
from forge.harness.grounding.phrases import by_function, functions, pick, verbs
from forge.harness.grounding.visible import things
from forge.records import Style
from tests.forge.harness.grounding.desks import (
    DIALOG,
    FILE_MENU,
    OVER,
    WINDOW,
    Detail,
    Surface,
    element,
    popup,
    sight,
)

MENU_OPEN = (Surface(x=0, y=0, width=800, height=600, title="Main"), popup(0, 44, 160, 80))


def said(shown):
    """Name to its instructions."""
    return {thing.name: texts for thing, texts in instructions(shown, things(shown))}


def test_three_styles_for_one_button():
    texts = said(sight(*WINDOW))["Bold"]
    assert set(texts) == {Style.NAME, Style.FUNCTION, Style.POSITION}
    assert '"Bold"' in texts[Style.NAME]
    assert texts[Style.FUNCTION] == "Make the text bold"
    assert texts[Style.POSITION] in (
        'Click the button directly to the left of "Italic"', 'Click the button directly below "File"',
    )  # fmt: skip


def test_positions_are_of_the_nearest_neighbour():
    found = said(sight(*WINDOW))
    assert found["Italic"][Style.POSITION] in (
        'Click the button directly to the right of "Bold"', 'Click the button directly to the left of "Sort Ascending"',
        'Click the button directly below "Edit"',
    )  # fmt: skip
    assert "Bold" not in found["Sort Ascending"][Style.POSITION]


def test_a_position_with_two_candidates_is_not_used():
    anchor = element((0, 2), "push button", "Anchor", (300, 300, 200, 30))
    left = element((0, 3), "check box", "Left", (300, 340, 120, 24))
    right = element((0, 4), "check box", "Right", (380, 344, 120, 24))
    found = said(sight(*WINDOW, anchor, left, right))
    assert all(
        "Anchor" not in texts.get(Style.POSITION, "") for name, texts in found.items() if name in ("Left", "Right")
    )


def test_an_anchor_of_an_ambiguous_name_is_not_used():
    twins = [element((0, 2 + n), "push button", "Twin", (300, 200 + 100 * n, 80, 30)) for n in range(2)]
    target = element((0, 9), "push button", "Target", (390, 200, 80, 30))
    texts = said(sight(*WINDOW, *twins, target))
    assert "Twin" not in texts["Target"].get(Style.POSITION, "")
    assert set(texts["Twin"]) == {Style.POSITION}, "things of one kind, name and home are not told apart by name"


def test_the_same_name_in_two_homes_is_told_by_home():
    button = element((0, 2), "push button", "Save", (300, 300, 80, 30))
    inside = element((1, 3), "push button", "Save", (220, 300, 80, 30))
    shown = sight(
        *WINDOW, button, *DIALOG, inside, surfaces=(OVER[0], Surface(x=390, y=150, width=300, height=300, title="Sort"))
    )
    assert [t.name for t in things(shown)].count("Save") == 1, (
        "the dialog covers nothing here, and the inner one is outside it"
    )
    entry = said(sight(*WINDOW, *FILE_MENU, button, surfaces=MENU_OPEN))
    assert "menu entry" in entry["Save"][Style.NAME] or "button" in entry["Save"][Style.NAME]


def test_dialog_buttons_and_check_boxes_say_what_they_do():
    texts = said(sight(*WINDOW, *DIALOG, surfaces=OVER, window="Sort"))
    assert texts["OK"][Style.FUNCTION] == 'Confirm the "Sort" dialog'
    assert texts["Cancel"][Style.FUNCTION] == 'Leave the "Sort" dialog without changing anything'
    assert texts["Match case"][Style.FUNCTION].startswith("Turn off")


def test_menu_entries_with_dots_open_dialogs():
    texts = said(sight(*WINDOW, *FILE_MENU, surfaces=MENU_OPEN))
    assert texts["Open"][Style.FUNCTION] in ('Bring up the dialog for "Open"', 'Open the "Open" settings from the menu')
    assert "Export" in texts["Export"][Style.FUNCTION]


@pytest.mark.parametrize(
    ("detail", "function"),
    [
        (Detail(description="Create new tab for this folder"), "Create new tab for this folder"),
        (Detail(description="File menu"), None),
        (Detail(keys="b;<Alt>o:b;<Primary><Shift>b"), "Choose the menu entry that the keys Ctrl+Shift+B stand for"),
        (Detail(keys="b;<Alt>o;"), None),
        (Detail(keys=";;F11"), "Choose the menu entry that the keys F11 stand for"),
    ],
)
def test_functions_from_what_the_application_tells(detail, function):
    entry = element((0, 0, 0, 0), "menu item", "Frobnicate", (0, 44, 160, 24))
    shown = sight(*WINDOW, entry, surfaces=MENU_OPEN, details={len(WINDOW) + 1: detail})
    thing = next(t for t in things(shown) if t.name == "Frobnicate")
    assert by_function(thing) == function


def test_cells_are_told_by_content_and_by_reference():
    sheet = (
        element((0, 2), "document spreadsheet", "book", (0, 100, 800, 400)),
        element((0, 2, 0), "table", "Sheet 1", (0, 100, 800, 400)),
        element((0, 2, 0, 5), "table cell", "B2", (80, 120, 80, 20), text="Printer paper"),
    )
    texts = said(sight(*WINDOW, *sheet))["Printer paper"]
    assert '"Printer paper"' in texts[Style.NAME]
    assert "B2" in texts[Style.POSITION]


def test_the_corner_of_a_dialog():
    corner = element((1, 3), "push button", "Help", (210, 410, 60, 30))
    shown = sight(*WINDOW, *DIALOG, corner, surfaces=OVER, window="Sort")
    assert said(shown)["Help"][Style.POSITION] == 'Click the button in the lower left corner of the "Sort" dialog'


def test_the_bank_is_sound():
    assert len(functions()) > 100
    assert all(phrase[0].isupper() and not phrase.endswith(".") for phrase in functions().values())
    assert {"insert", "sort", "delete"} <= verbs()


def test_picking_is_the_same_every_time_and_uses_every_option():
    assert pick(["a", "b"], "seed") == pick(["a", "b"], "seed")
    assert {pick(["a", "b", "c"], str(n)) for n in range(50)} == {"a", "b", "c"}
