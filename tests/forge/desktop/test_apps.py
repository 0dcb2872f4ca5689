"""The applications: what is said of them is true, and each comes up in a slot with contents, one window and no question."""

from __future__ import annotations

import io
from collections.abc import Callable

import openpyxl
import pytest
from PIL import Image

from forge.desktop import Slot
from forge.desktop.apps import APPS, app_of, find_app
from forge.records import InputError

PAGE = b"<!doctype html><title>Order form</title><h1>Order</h1><p>Two boxes of pears.</p><button>Send</button>"


def picture() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (320, 200), (200, 40, 40)).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("bus_name", "titles", "wanted", "app"),
    [
        ("soffice", ["a.ods - LibreOffice Calc"], None, "calc"),
        ("soffice", ["Find & Replace", "a.odt - LibreOffice Writer", "a.ods - LibreOffice Calc"], None, "writer"),
        ("soffice", ["a.odp - LibreOffice Impress"], "calc", "impress"),
        ("soffice", ["LibreOffice"], "impress", "impress"),
        ("soffice", ["LibreOffice"], "gimp", "calc"),
        ("soffice", [], None, "calc"),
        ("Chromium", ["Notes - LibreOffice Writer"], None, "chromium"),
        ("gimp", [], None, "gimp"),
        ("stranger", ["x"], "calc", "stranger"),
    ],
)
def test_an_application_is_known_by_its_bus_name_and_its_windows(
    bus_name: str, titles: list[str], wanted: str | None, app: str
) -> None:
    assert app_of(bus_name, titles, wanted) == app


def test_an_unknown_application_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'paint'.*\n.*gimp"):
        find_app("paint")


def test_a_file_name_is_quoted_for_the_browser() -> None:
    command: Callable[[str | None], list[str]] = APPS["chromium"].command
    assert command("/home/alex/Über uns #1.html")[-1] == "file:///home/alex/%C3%9Cber%20uns%20%231.html"
    assert command(None)[-1].startswith("--")


@pytest.mark.desktop
@pytest.mark.parametrize(
    ("app", "path", "content", "title", "shows"),
    [
        ("writer", None, b"", "Untitled 1 - LibreOffice Writer", ("toggle button", "Bold")),
        ("impress", None, b"", "Untitled 1 - LibreOffice Impress", ("panel", "PresentationTitle*")),
        ("chromium", "~/Documents/Order #1.html", PAGE, "Order form - Chromium", ("push button", "Send")),
        ("chromium", None, b"", "New Tab - Chromium", ("push button", "Reload")),
        ("gimp", "~/Pictures/red.png", picture(), "[red] (imported)-1.0 *", ("menu", "Colors")),
        ("gimp", None, b"", "GNU Image Manipulation Program", ("menu", "Filters")),
        ("vlc", None, b"", "VLC media player", ("menu item", "Playback")),
        ("editor", "~/notes.txt", b"one\n", "~/notes.txt - Mousepad", ("menu", "Search")),
        ("terminal", None, b"", "Terminal", ("menu", "Tabs")),
        ("files", None, b"", "alex", ("menu", "Go")),
    ],
)
def test_an_application_comes_up_without_a_question(
    app: str, path: str | None, content: bytes, title: str, shows: tuple[str, str]
) -> None:
    from forge.harness.moves.hands import Hands, same_name

    files = [(path, content, 0o644, False)] if path else []
    with Slot.open(home_files=files) as slot:
        slot.launch(app, path)
        (window,) = slot.windows()
        assert same_name(window.title, title), window.title
        assert (window.x, window.width, window.y + window.height) == (0, 1280, 800)
        hands = Hands(slot)
        element = hands.find(shows[1], shows[0], app=app)
        assert element.app == app
        x, y, width, height = element.box
        hit = slot.element_at(x + width // 2, y + height // 2)
        assert hit is not None
        assert hit.app == app
        slot.alive()


@pytest.mark.desktop
def test_documents_of_two_office_applications_are_told_apart_in_one_slot() -> None:
    with Slot.open(home_files=[("~/list.csv", b"item,price\npear,3\n", 0o644, False)]) as slot:
        slot.preload("calc")
        slot.launch("writer")
        slot.launch("calc", "~/list.csv")
        assert {element.app for element in slot.tree()} == {"calc"}
        cell = slot.cell("A2")
        assert cell is not None
        assert (cell.text, cell.app) == ("pear", "calc")
        slot.input.key("alt+Tab")
        slot.settle(lambda: any(w.active and w.title.endswith("Writer") for w in slot.windows()))
        assert {element.app for element in slot.tree()} == {"writer"}
        assert any(element.role == "document text" for element in slot.tree("writer"))
        slot.alive()


@pytest.mark.desktop
def test_cells_of_every_pane_are_found_where_rows_and_columns_are_frozen() -> None:
    workbook = openpyxl.Workbook()
    for row in range(1, 60):
        workbook.active.append([f"r{row}c{column}" for column in range(1, 12)])
    workbook.active.freeze_panes = "C4"
    buffer = io.BytesIO()
    workbook.save(buffer)
    with Slot.open(home_files=[("~/Documents/frozen.xlsx", buffer.getvalue(), 0o644, False)]) as slot:
        slot.launch("calc", "~/Documents/frozen.xlsx")
        for ref, text in (("A1", "r1c1"), ("H3", "r3c8"), ("A10", "r10c1"), ("H10", "r10c8"), ("B3", "r3c2")):
            cell = slot.cell(ref)
            assert cell is not None
            assert cell.text == text
            x, y, width, height = cell.box
            met = slot.element_at(x + width // 2, y + height // 2)
            assert met is not None
            assert met.name == ref
