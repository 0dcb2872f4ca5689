"""`calc.chart` and `calc.file`: charts made by a writer or saved by LibreOffice, exports as typed and as shown."""

from __future__ import annotations

from typing import Any

import pytest

from forge.records import Guest
from preparers.base import Context
from preparers.calc.workbook import Workbook

pytestmark = pytest.mark.desktop

ROWS = [["Item", "Sold"], ["Pens", 12], ["Paper", 30], ["Ink", 7]]


def book(office: Any, suffix: str, chart: dict[str, Any] | None) -> tuple[str, bytes]:
    cells = [{"cell": f"{'AB'[c]}{r + 1}", "value": v} for r, row in enumerate(ROWS) for c, v in enumerate(row)]
    params = {"path": f"~/Documents/sold{suffix}", "sheets": [{"name": "Data", "cells": cells}, {"name": "Other"}]}
    if chart is not None:
        params["charts"] = [{"sheet": "Data", "kind": "column", "at": "D2", **chart}]
    maker = Workbook()
    return params["path"], maker.prepare(maker.validate(params), Context(Guest(), office)).files[0].data


RIGHT = {
    "title": "Sales",
    "series": [{"values": "B2:B4", "categories": "A2:A4", "name": "B1"}],
    "axes": ["Item", "Pieces"],
}
ASKED = {"sheet": "Data", "kind": "column", "values": ["B2:B4"], "categories": "A2:A4", "title": "sales"}


@pytest.mark.parametrize("suffix", [".xlsx", ".ods"])
@pytest.mark.parametrize("through", [False, True])
def test_chart_right_and_nearly_right(desk: Any, run: Any, suffix: str, through: bool) -> None:
    path, before = book(desk.office, suffix, None)

    def ask(chart: dict[str, Any] | None, **args: Any) -> Any:
        _, after = book(desk.office, suffix, chart)
        after = desk.office.convert(after, suffix, suffix) if through else after
        return run("calc.chart", desk.of(path, before, after), **{**ASKED, **args})

    assert ask(RIGHT).score == 1
    assert ask(RIGHT, axes=["Item", "Pieces"]).score == 1
    assert ask(RIGHT | {"kind": "bar"}).score == 0
    assert ask(RIGHT | {"title": "Sale"}).score == 0
    assert ask(RIGHT | {"series": [{"values": "B2:B3", "categories": "A2:A3"}]}).score == 0
    assert ask(RIGHT, values=["B1:B4"]).score == 0
    assert ask(RIGHT, sheet="Other").score == 0
    assert ask(None).score == 0


@pytest.mark.parametrize("kind", ["column", "bar", "line", "pie", "area", "scatter", "doughnut"])
@pytest.mark.parametrize("suffix", [".xlsx", ".ods"])
def test_every_kind_of_chart_is_told_apart(desk: Any, run: Any, kind: str, suffix: str) -> None:
    path, before = book(desk.office, suffix, None)
    _, after = book(desk.office, suffix, RIGHT | {"kind": kind, "axes": None})
    finding = run("calc.chart", desk.of(path, before, after), **{**ASKED, "kind": kind})
    assert finding.score == 1, finding.evidence


def test_a_chart_that_was_there_before_does_not_count(desk: Any, run: Any) -> None:
    path, data = book(desk.office, ".xlsx", RIGHT)
    case = desk.of(path, data, data)
    assert run("calc.chart", case, **ASKED).score == 0
    assert run("calc.chart", case, **ASKED, new=False).score == 1


@pytest.mark.parametrize("suffix", [".xlsx", ".ods"])
@pytest.mark.parametrize("kind", ["column", "line", "pie"])
def test_every_near_miss_of_a_chart_is_noticed(desk: Any, rubric: Any, survivors: Any, suffix: str, kind: str) -> None:
    path, before = book(desk.office, suffix, None)
    _, after = book(desk.office, suffix, RIGHT | {"kind": kind, "axes": None})
    asked = rubric(path, [("calc.chart", {**ASKED, "kind": kind})], aspects=["charts.added@Data"])
    assert survivors(asked, desk.of(path, before, after)) == []


SHOWN = """Date,Item,Net,Share,Paid
2026-01-05,Oak table,"1,234.50 €",12.5%,TRUE
2026-01-06,Lamp,62.00 €,8%,FALSE
""".encode()
EXPECTED = [
    ["Date", "Item", "Net", "Share", "Paid"],
    ["2026-01-05", "Oak table", 1234.5, 0.125, True],
    ["2026-01-06", "Lamp", 62, 0.08, False],
]


@pytest.mark.parametrize(
    ("data", "score"),
    [
        (SHOWN, 1),
        (SHOWN.replace(b"2026-01-05", b"01/05/2026").replace(b"2026-01-06", b"01/06/2026"), 1),
        (b"\xef\xbb\xbf" + SHOWN, 1),
        (SHOWN.replace(b"\n", b"\r\n"), 1),
        (SHOWN.replace('"1,234.50 €"'.encode(), b"1234.5").replace(b"12.5%", b"0.125"), 1),
        (SHOWN.replace(b"1,234.50", b"1,243.50"), 0),
        (SHOWN.replace(b"Oak table", b"Oak tables"), 0),
        (SHOWN.replace(b"12.5%", b"12.5"), 0),
        (SHOWN + b"2026-01-07,Rug,1,1%,TRUE\n", 0),
        (SHOWN.split(b"\n", 1)[1], 0),
        (SHOWN.replace(b"TRUE", b"FALSE"), 0),
        (None, 0),
    ],
)
def test_exported_rows_as_typed_and_as_shown(desk: Any, rubric: Any, data: bytes | None, score: int) -> None:
    from forge.records import Rubric
    from verifiers.grading import grade

    path = "~/Documents/out.csv"
    criterion = {"id": "rows", "kind": "must", "check": "calc.file", "args": {"file": path, "rows": EXPECTED}}
    verdict = grade(Rubric.model_validate({"criteria": [criterion]}), desk.of(path, None, data))
    assert verdict.score == score, verdict


def test_what_libreoffice_exports_is_right_and_spoiled_exports_are_not(desk: Any, survivors: Any) -> None:
    from forge.records import Rubric

    _, data = book(desk.office, ".xlsx", None)
    exported = desk.office.convert(data, ".xlsx", ".csv")
    path = "~/Documents/sold.csv"
    criterion = {"id": "rows", "kind": "must", "check": "calc.file",
                 "args": {"file": path, "rows": ROWS, "delimiter": ","}}  # fmt: skip
    rubric = Rubric.model_validate({"criteria": [criterion]})
    assert survivors(rubric, desk.of(path, None, exported)) == []
