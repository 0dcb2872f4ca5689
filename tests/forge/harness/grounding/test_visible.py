"""What of a sight can be pointed at."""

from __future__ import annotations

import numpy
import pytest

from forge.harness.grounding.sight import is_flat
from forge.harness.grounding.visible import clean, things
from tests.forge.harness.grounding.desks import DIALOG, FILE_MENU, OVER, WINDOW, Detail, Surface, element, popup, sight


def names(found):
    return [thing.name for thing in found]


def test_a_window_shows_its_menus_and_buttons():
    found = things(sight(*WINDOW))
    assert names(found) == ["File", "Edit", "Bold", "Italic", "Sort Ascending"]
    assert [thing.word for thing in found] == ["menu", "menu", "button", "button", "button"]
    assert [thing.context for thing in found] == ["window", "window", *["window, Standard"] * 3]


def test_entries_of_a_closed_menu_do_not_show():
    assert "Save" not in names(things(sight(*WINDOW, *FILE_MENU)))


def test_entries_of_an_open_menu_show_and_cover_what_is_below():
    whole = Surface(x=0, y=0, width=800, height=600, title="Main")
    found = things(sight(*WINDOW, *FILE_MENU, surfaces=(whole, popup(0, 44, 160, 80))))
    assert names(found) == ["File", "Edit", "Open", "Save", "Export"]
    entry = next(thing for thing in found if thing.name == "Save")
    assert (entry.context, entry.home, entry.word) == ("menu File", 'the "File" menu', "menu entry")
    assert next(thing for thing in found if thing.name == "Export").word == "submenu"


def test_a_dialog_covers_the_window_and_belongs_to_itself():
    under = element((0, 2), "push button", "Under", (300, 300, 80, 30))
    found = things(sight(*WINDOW, under, *DIALOG, surfaces=OVER, window="Sort"))
    assert "Under" not in names(found)
    assert {t.context for t in found if t.name in ("OK", "Cancel", "Match case")} == {"dialog Sort"}


def test_a_half_covered_thing_does_not_count():
    half = element((0, 2), "push button", "Half", (150, 300, 100, 30))
    assert "Half" not in names(things(sight(*WINDOW, half, surfaces=OVER)))
    assert "Half" in names(things(sight(*WINDOW, half)))


@pytest.mark.parametrize(
    ("box", "shows"),
    [
        ((20, 120, 100, 24), True),
        ((20, 290, 100, 24), False),  # half of it is below the list's edge
        ((20, 400, 100, 24), False),
        ((20, 120, 100, 2), False),
        ((760, 120, 100, 24), False),  # beyond the screen
    ],
)
def test_what_is_scrolled_out_of_its_list_does_not_count(box, shows):
    pane = element((0, 2), "scroll pane", "", (10, 100, 790, 200))
    row = element((0, 2, 0), "list item", "Row", box)
    assert ("Row" in names(things(sight(*WINDOW, pane, row)))) is shows


def test_what_moved_or_is_blank_does_not_count():
    number = 6  # Bold: the application comes first
    assert "Bold" not in names(things(sight(*WINDOW, moved=(number,))))
    assert "Bold" not in names(things(sight(*WINDOW, flat=(number,))))
    field = element((0, 2), "entry", "Search", (300, 300, 100, 30))
    assert "Search" in names(things(sight(*WINDOW, field, flat=(len(WINDOW) + 1,))))


def test_names_come_from_label_description_and_panel():
    label = element((0, 2), "label", "Rows:", (300, 300, 50, 20))
    spin = element((0, 3), "spin button", "", (355, 300, 60, 20))
    panel = element((0, 4), "panel", "Font Name", (100, 300, 100, 30))
    text = element((0, 4, 0), "text", "", (102, 302, 90, 26))
    close = element((0, 5), "push button", "", (600, 300, 20, 20))
    combo = element((0, 6), "combo box", "Descending", (600, 400, 90, 30))
    elements = (*WINDOW, label, spin, panel, text, close, combo)
    told = {len(elements): Detail(label="Order:"), len(elements) - 1: Detail(description="Close Document")}
    found = {thing.element.role: thing.name for thing in things(sight(*elements, details=told)) if thing.index > 8}
    assert found == {
        "spin button": "Rows", "text": "Font Name", "push button": "Close Document", "combo box": "Order",
    }  # fmt: skip


def test_a_row_and_its_text_are_one_thing():
    row = element((0, 2), "tree item", "Inbox", (20, 120, 200, 24))
    text = element((0, 2, 0), "table cell", "Inbox", (40, 120, 100, 24))
    assert names(things(sight(*WINDOW, row, text))).count("Inbox") == 1


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("Save As…", "Save As"), ("Open...", "Open"), ("Width:", "Width"), ("Copy (Ctrl+C)", "Copy"), ("  ", ""), ("x", ""),
        ("7", "7"), ("Play\nIf the list is empty, open a file", "Play"), ("a" * 90, ""), ("\u2400", ""), ("Über uns", "Über uns"),
    ],
)  # fmt: skip
def test_names_are_cleaned(raw, name):
    assert clean(raw) == name


def test_flat_areas():
    pixels = numpy.full((50, 50, 4), 200, numpy.uint8)
    assert is_flat(pixels, (5, 5, 20, 20))
    pixels[10, 10] = 0
    assert not is_flat(pixels, (5, 5, 20, 20))
    assert is_flat(pixels, (20, 20, 20, 20))
    assert is_flat(pixels, (200, 200, 20, 20)), "beyond the picture there is nothing to see"


def test_a_text_s_table_cells_are_not_called_by_their_place():
    text = (
        element((0, 2), "document text", "letter", (0, 100, 800, 400)),
        element((0, 2, 0), "table", "Table1", (0, 100, 800, 400)),
        element((0, 2, 0, 0), "table cell", "E5", (80, 120, 80, 20)),
    )
    assert "E5" not in names(things(sight(*WINDOW, *text)))


def test_a_list_s_entry_that_begins_in_its_text_is_widened_to_the_left():
    table = element((1, 3), "tree table", "", (210, 240, 300, 100))
    row = element((1, 3, 0), "table cell", "General", (250, 250, 258, 20))
    shown = sight(*WINDOW, *DIALOG, table, row, surfaces=OVER, cut=(len(WINDOW) + len(DIALOG) + 2,))
    assert next(t.box for t in things(shown) if t.name == "General") == (232, 250, 276, 20)


def test_an_unfolded_entry_ends_where_its_children_begin():
    outer = element((0, 2), "tree item", "Archives", (20, 120, 200, 72))
    inner = element((0, 2, 0), "tree item", "2025", (20, 144, 200, 24))
    boxes = {t.name: t.box for t in things(sight(*WINDOW, outer, inner))}
    assert boxes["Archives"] == (20, 120, 200, 24)
    assert boxes["2025"] == (20, 144, 200, 24)


def test_things_over_each_other_are_left_out():
    one = element((0, 2), "push button", "One", (300, 300, 80, 30))
    other = element((0, 3), "push button", "Other", (340, 310, 80, 30))
    assert not {"One", "Other"} & set(names(things(sight(*WINDOW, one, other))))


def test_pages_of_one_dialog_share_what_every_page_has():
    surfaces = (OVER[0], Surface(x=200, y=130, width=400, height=320, title="Options - Desk - View"))
    page = element((1,), "dialog", "Options - Desk - View", (200, 150, 400, 300))
    contexts = {t.name: t.context for t in things(sight(*WINDOW, page, *DIALOG[1:], surfaces=surfaces))}
    assert contexts["OK"] == "dialog Options"
    assert contexts["Match case"] == "dialog Options - Desk - View"


def test_a_window_called_otherwise_on_the_bus_is_told_by_its_size():
    other = tuple(e if e.path != (0,) else element((0,), "frame", "Main - changed", (0, 0, 800, 600)) for e in WINDOW)
    assert "Bold" in names(things(sight(*other)))
    over = (OVER[0], Surface(x=0, y=10, width=400, height=300, title="Sort"))
    assert "Bold" not in names(things(sight(*other, surfaces=over, window="Sort"))), "the dialog lies over it"
