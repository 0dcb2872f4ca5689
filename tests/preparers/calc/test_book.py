"""The readers see everything that a workbook holds, and the same in .xlsx, in .ods and after LibreOffice saved it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forge.desktop.office import OfficeClient
from forge.records import Guest
from preparers.base import Context
from preparers.calc.book import Filter, Series, read_book
from preparers.calc.formats import classify, compose, normal
from preparers.calc.workbook import Workbook

SHEETS = [
    {
        "name": "Data",
        "table": {
            "columns": [
                {"name": "Day", "type": "date"},
                {"name": "Kind"},
                {"name": "Sum", "type": "currency"},
                {"name": "Ok", "type": "boolean"},
            ],
            "rows": [
                ["2026-01-02", "a", 1.5, True],
                ["2026-01-03", "b  c", 20, False],
                ["2026-01-04", "ü & <x>", -3.25, True],
            ],
        },
        "at": "B2",
        "header": {
            "bold": True,
            "italic": True,
            "fill": "FFF2CC",
            "color": "C00000",
            "align": "center",
            "border": "thin",
            "wrap": True,
        },
        "total": {"columns": ["Sum"]},
        "freeze": "C3",
        "autofilter": True,
        "notes": [{"cell": "B3", "text": "look"}],
        "merged": ["B8:D8"],
        "cells": [{"cell": "B8", "value": "wide"}],
        "conditional": [{"range": "D3:D5", "criteria": ">", "value": 2, "look": {"fill": "FFC7CE"}}],
        "validation": [{"range": "C3:C5", "values": ["a", "b  c"]}],
        "pictures": [{"cell": "H10"}],
        "hidden_rows": [12],
        "hidden_columns": ["G"],
        "tab_color": "70AD47",
        "landscape": True,
    },
    {"name": "My rates", "hidden": True, "cells": [{"cell": "A1", "value": 0.19, "look": {"format": "0.0%"}}]},
]
CHARTS = [
    {
        "sheet": "Data",
        "kind": "bar",
        "title": "Sums",
        "at": "H2",
        "series": [{"values": "D3:D5", "categories": "C3:C5", "name": "D2"}],
    }
]


@pytest.mark.desktop
@pytest.mark.parametrize("suffix", [".xlsx", ".ods"])
@pytest.mark.parametrize("through", [False, True])
def test_the_same_is_seen_in_every_format_and_after_a_save(office: OfficeClient, suffix: str, through: bool) -> None:
    maker = Workbook()
    params = {"path": f"~/a{suffix}", "sheets": SHEETS, "charts": CHARTS, "names": {"VAT": "'My rates'!$A$1"}}
    data = maker.prepare(maker.validate(params), Context(Guest(), office)).files[0].data
    if through:
        data = office.convert(data, suffix, suffix)
    book = read_book(data, suffix)
    sheet, rates = book.sheets
    assert (sheet.name, sheet.state, rates.name, rates.state) == ("Data", "visible", "My rates", "hidden")
    assert book.names == {"VAT": "'My rates'!A1"}
    assert [sheet.value(row, 3) for row in (2, 3, 4, 5)] == ["Kind", "a", "b  c", "ü & <x>"]
    assert [sheet.value(row, 5) for row in (3, 4)] == [True, False]
    assert (sheet.value(3, 2), sheet.value(6, 4), sheet.formula(6, 4)) == (46024, 18.25, "=SUM(D3:D5)")
    assert sheet.formula(3, 5) is None
    head = sheet.style(2, 3)
    assert (head.bold, head.italic, head.fill, head.color, head.horizontal, head.wrap) == (
        True,
        True,
        "FFF2CC",
        "C00000",
        "center",
        True,
    )
    assert {head.left, head.right, head.top, head.bottom} == {"thin 000000"}
    assert replace(sheet.style(40, 2), font="", size=0.0, color="") == type(head)()
    assert classify(sheet.style(3, 4).number_format) == classify("#,##0.00 [$€-407]")
    assert (classify(sheet.style(3, 2).number_format).kind, rates.style(1, 1).number_format) == ("date", "0.0%")
    assert sheet.freeze == ((0, 0) if through else (2, 2))
    assert sheet.filter == Filter("B2:E5")
    assert sheet.notes == {"B3": "look"}
    assert sheet.merged == {"B8:D8"}
    assert (sheet.hidden_rows, sheet.hidden_columns, sheet.tab_color) == ({12}, {7}, "70AD47")
    assert len(sheet.pictures) == 1
    assert [(c.kind, c.title, c.at) for c in sheet.charts] == [("bar", "Sums", "H2")]
    assert sheet.charts[0].series == (Series("Data!D2", "Data!C3:C5", "Data!D3:D5"),)
    assert len(sheet.conditional) == 1
    assert "FFC7CE" in sheet.conditional[0]
    assert sheet.validation
    assert "landscape" in sheet.page
    assert book.producer.startswith("LibreOffice") is (through or suffix == ".ods")


@pytest.mark.parametrize(
    ("code", "kind", "decimals", "symbol"),
    [
        ("General", "general", 0, ""),
        ("#,##0.00 [$€-407]", "currency", 2, "€"),
        ('[$$-409]#,##0;[RED]-[$$-409]#,##0', "currency", 0, "$"),
        ('0.00 "EUR"', "currency", 2, "EUR"),
        ("0.0%", "percent", 1, ""),
        ("yyyy-mm-dd", "date", 0, ""),
        ("mmmm", "date", 0, ""),
        ("dd/mm/yyyy hh:mm", "datetime", 0, ""),
        ("[h]:mm:ss", "time", 0, ""),
        ("@", "text", 0, ""),
        ("0.00E+00", "scientific", 2, ""),
        ("# ?/?", "fraction", 0, ""),
        ('0.0 "kWh"', "number", 1, ""),
        ('"Q"0', "number", 0, ""),
        ("0.00;-0.00", "number", 2, ""),
    ],
)  # fmt: skip
def test_number_formats_by_class(code: str, kind: str, decimals: int, symbol: str) -> None:
    found = classify(code)
    assert (found.kind, found.decimals, found.symbol) == (kind, decimals, symbol)


@pytest.mark.parametrize(
    "kind", ["number", "currency", "percent", "date", "time", "datetime", "text", "general", "scientific"]
)
def test_composed_formats_are_of_their_class(kind: str) -> None:
    assert classify(compose(kind)).kind == kind


def test_one_spelling_of_a_format() -> None:
    assert normal("#,##0.00\\ [$€-407]") == normal('#,##0.00" "[$€-407]') == "#,##0.00 [$€-407]"
    assert normal("GENERAL") == "General"
