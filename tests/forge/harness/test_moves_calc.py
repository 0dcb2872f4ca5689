"""The moves for Calc, in a real window; what they did is read from the saved file."""

import io
import random
from collections.abc import Callable
from typing import Any

import openpyxl
import pytest

pytestmark = pytest.mark.desktop

PATH = "~/Documents/stock.xlsx"
ROWS = 40


def book() -> bytes:
    """Two sheets; the first has 40 rows of items, regions, quantities and prices."""
    chance = random.Random(1)
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "Data"
    sheet.append(["Item", "Region", "Qty", "Price"])
    for number in range(1, ROWS + 1):
        region = chance.choice(["North", "South", "East", "West"])
        sheet.append([f"Item {number}", region, chance.randint(1, 90), round(chance.random() * 400, 2)])
    workbook.create_sheet("Notes")["A1"] = "hello"
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def calc(play_for_real: Callable[..., Any], *steps: dict[str, Any], **options: Any) -> tuple[Any, Any]:
    """Play steps on the book; the trajectory and the workbook that was left."""
    played = play_for_real([*steps], files=[(PATH, book(), 0o644, False)], start=[("calc", PATH)], **options)
    played.check()
    return played.trajectory, openpyxl.load_workbook(played.home / PATH[2:])


def test_cells_sheets_and_saving(play_for_real: Callable[..., Any]) -> None:
    went, workbook = calc(
        play_for_real,
        {"enter": {"cell": "F2", "text": "Total"}},
        {"enter": {"cell": "C42", "text": "=SUM(C2:C41)"}},
        {"select": "A1:D1"},
        {"toolbar": "Bold"},
        {"sheet": "Notes"},
        {"rename_sheet": {"sheet": "Notes", "to": "Remarks"}},
        {"save": PATH},
    )
    assert workbook.sheetnames == ["Data", "Remarks"]
    sheet = workbook["Data"]
    assert (sheet["F2"].value, sheet["C42"].value) == ("Total", "=SUM(C2:C41)")
    assert [sheet[f"{column}1"].font.b for column in "ABCD"] == [True] * 4
    assert not sheet["A2"].font.b
    kinds = [record.action.kind for record in went.actions]
    assert kinds.count("left_click") + kinds.count("right_click") > kinds.count("type")
    assert went.actions[0].element.name.startswith("F2")
    assert len(went.turns) <= 20


@pytest.mark.slow
def test_sorting_by_two_columns(play_for_real: Callable[..., Any]) -> None:
    keys = ["Region", {"column": "Price", "descending": True}]
    _, workbook = calc(
        play_for_real, {"sort": {"range": "A1:D41", "keys": keys}}, {"save": {"path": PATH, "way": "menu"}}
    )
    rows = [[cell.value for cell in row] for row in workbook["Data"].iter_rows(min_row=2, max_row=ROWS + 1)]
    assert [row[1:4:2] for row in rows] == sorted((row[1:4:2] for row in rows), key=lambda row: (row[0], -row[1]))
    assert workbook["Data"]["A1"].value == "Item"


@pytest.mark.slow
def test_formats_charts_filters_and_the_order_of_sheets(play_for_real: Callable[..., Any]) -> None:
    _, workbook = calc(
        play_for_real,
        {"number_format": {"cells": "D2:D41", "code": "#,##0.00"}},
        {"chart": {"range": "C1:D12", "kind": "Line", "title": "Quantity"}},
        {"insert_sheet": {"name": "Summary", "place": "before"}},
        {"move_sheet": {"sheet": "Summary"}},
        {"move_sheet": {"sheet": "Notes", "before": "Data"}},
        {"delete_sheet": "Summary"},
        {"sheet": "Data"},
        {"autofilter": "A1:D41"},
        {"filter": {"heading": "B1", "keep": ["North", "West"]}},
        {"save": PATH},
    )
    sheet = workbook["Data"]
    assert workbook.sheetnames == ["Notes", "Data"]
    assert sheet["D2"].number_format == "#,##0.00"
    assert len(sheet._charts) == 1
    assert sheet.auto_filter.ref == "A1:D41"
    assert sheet.auto_filter.filterColumn[0].filters.filter == ["North", "West"]


@pytest.mark.slow
def test_general_moves_in_a_dialog(play_for_real: Callable[..., Any]) -> None:
    _, workbook = calc(
        play_for_real,
        {"select": "B2:B9"},
        {"menu": {"path": ["Format", "Cells..."], "opens": "Format Cells"}},
        {"tab": {"name": "Alignment", "within": "Format Cells"}},
        {"check": {"name": "Wrap text automatically", "within": "Format Cells"}},
        {"press": {"button": "OK", "dialog": "Format Cells"}},
        {"menu": ["Format", "Text", "Italic"]},
        {"context_menu": {"on": {"name": "Notes", "role": "page tab"}, "path": ["Rename Sheet..."], "opens": "Rename Sheet"}},
        {"fill": {"text": "Old", "within": "Rename Sheet"}},
        {"press": {"button": "OK", "dialog": "Rename Sheet"}},
        {"save": PATH},
    )  # fmt: skip
    sheet = workbook["Data"]
    assert (sheet["B5"].alignment.wrap_text, sheet["B5"].font.i, sheet["B10"].font.i) == (True, True, False)
    assert workbook.sheetnames == ["Data", "Old"]


@pytest.mark.slow
def test_a_hybrid_solution_needs_both_its_channels(play_for_real: Callable[..., Any]) -> None:
    script = "python3 -c \"import os; open(os.path.expanduser('~/limit.txt'), 'w').write('17')\""
    steps = [
        {"bash": script},
        {"enter": {"cell": "F1", "text": "17"}},
        {"save": PATH},
    ]
    options: dict[str, Any] = {"files": [(PATH, book(), 0o644, False)], "start": [("calc", PATH)], "channel": "hybrid"}
    found = {}
    for harness in ("hybrid", "gui", "terminal"):
        played = play_for_real(steps, harness=harness, **options)
        cell = openpyxl.load_workbook(played.home / PATH[2:])["Data"]["F1"].value
        found[harness] = (played.trajectory.done_status, (played.home / "limit.txt").exists(), cell)
    assert found == {
        "hybrid": ("success", True, 17),
        "gui": ("failure", False, 17),
        "terminal": ("failure", True, None),
    }


@pytest.mark.slow
def test_a_value_far_down_in_a_filter_list_is_scrolled_to(play_for_real: Callable[..., Any]) -> None:
    _, workbook = calc(
        play_for_real,
        {"autofilter": "A1:D41"},
        {"filter": {"heading": "A1", "keep": ["Item 9", "Item 2"]}},
        {"save": PATH},
    )
    assert sorted(workbook["Data"].auto_filter.filterColumn[0].filters.filter) == ["Item 2", "Item 9"]
