"""`calc.workbook`: what is read back from the bytes is what the parameters say, the same draw gives the same bytes."""

from __future__ import annotations

import io
import random
import struct
import tempfile
import zipfile
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forge.desktop.office import OfficeClient
from forge.records import Guest, PreparerError
from preparers.base import PREPARERS, Context
from preparers.calc.book import read_book
from preparers.calc.layouts import draw_layout, layouts
from preparers.calc.params import WorkbookParams
from preparers.calc.tables import draw_table, topics
from preparers.calc.workbook import Workbook

MAKER = Workbook()
ALONE = Context(Guest())

LETTERS = st.characters(
    codec="utf-8", exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\u00a0\ufffe\uffff_"
)
TEXT = st.text(LETTERS, min_size=1, max_size=12).filter(lambda text: text == text.strip() and not text.startswith("="))
NAME = TEXT.filter(lambda text: not set(text) & set("[]:*?/\\'") and text.isprintable())
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": TEXT,
    "integer": st.integers(-(10**6), 10**6),
    "number": st.integers(-(10**9), 10**9).map(lambda n: n / 1000),
    "currency": st.integers(-(10**7), 10**7).map(lambda n: n / 100),
    "percent": st.integers(0, 2000).map(lambda n: n / 1000),
    "date": st.dates(date(1950, 1, 1), date(2090, 1, 1)).map(date.isoformat),
    "datetime": st.datetimes(datetime(1950, 1, 1), datetime(2090, 1, 1)).map(lambda m: m.isoformat(timespec="minutes")),
    "time": st.integers(0, 1439).map(lambda m: f"{m // 60:02d}:{m % 60:02d}"),
    "boolean": st.booleans(),
}


@st.composite
def tables(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.lists(NAME, min_size=1, max_size=5, unique_by=str.casefold))
    columns = [{"name": name, "type": draw(st.sampled_from(sorted(VALUES)))} for name in names]
    first = [VALUES[column["type"]] for column in columns]
    others = [st.one_of(st.none(), VALUES[column["type"]]) for column in columns]
    # The first column has no gaps, so that every row is one.
    row = st.tuples(first[0], *others[1:]).map(list)
    return {"columns": columns, "rows": draw(st.lists(row, min_size=1, max_size=6))}


@st.composite
def workbooks(draw: st.DrawFn, suffix: str, formulas: bool) -> dict[str, Any]:
    top = draw(st.integers(1, 5))
    table = draw(tables())
    at = f"{draw(st.sampled_from(['A', 'C', 'AA']))}{top}"
    main: dict[str, Any] = {
        "name": draw(NAME),
        "table": table,
        "at": at,
        "titles": draw(st.lists(TEXT, max_size=top - 1)),
        "freeze": draw(st.sampled_from([None, f"A{top + 1}", f"B{top + 1}"])),
        "autofilter": draw(st.booleans()),
        "hidden_columns": draw(st.sampled_from([[], ["AZ"]])),
        "hidden_rows": draw(st.sampled_from([[], [40]])),
        "notes": draw(st.sampled_from([[], [{"cell": at, "text": "look here"}]])),
        "conditional": draw(st.sampled_from([[], [{"range": "AX1:AX9", "criteria": ">", "value": 3}]])),
        "validation": draw(st.sampled_from([[], [{"range": "AX1:AX9", "values": ["yes", "no"]}]])),
        "pictures": draw(st.sampled_from([[], [{"cell": "AX2"}]])),
        "merged": draw(st.sampled_from([[], ["AX20:AY21"]])),
        "banded": draw(st.sampled_from(["", "EEEEEE"])),
    }
    if formulas:
        numeric = [c["name"] for c in table["columns"] if c["type"] in ("integer", "number", "currency")]
        if numeric:
            main["total"] = {"columns": numeric[:1], "gap": draw(st.integers(0, 1))}
        main["formulas"] = [{"cell": "AX30", "formula": f"=COUNTA({at}:AC9)"}]
    if suffix == ".csv":
        return {"path": "~/Documents/book.csv", "sheets": [main], "delimiter": draw(st.sampled_from([",", ";", "\t"]))}
    other = {
        "name": draw(NAME.filter(lambda name: name.casefold() != main["name"].casefold())),
        "cells": [{"cell": "B2", "value": draw(TEXT)}, {"cell": "B3", "value": 0.19, "look": {"format": "0%"}}],
        "hidden": draw(st.booleans()),
    }
    chart = {"sheet": main["name"], "kind": "line", "at": "AX5", "title": "One", "series": [{"values": f"{at}:{at}"}]}
    return {
        "path": f"~/Documents/book{suffix}",
        "sheets": [main, other],
        "charts": draw(st.sampled_from([[], [chart]])),
        "names": draw(st.sampled_from([{}, {"Rate_1": f"'{other['name']}'!$B$3"}])),
        "main": 0,
    }


def check_round_trip(values: dict[str, Any], context: Context) -> None:
    params = MAKER.validate(values)
    made = MAKER.prepare(params, context)
    assert made.facts == MAKER.facts(params, context)
    assert made.files == MAKER.prepare(params, context).files
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / params.path[2:]
        target.parent.mkdir(parents=True)
        target.write_bytes(made.files[0].data)
        assert MAKER.inspect(Path(folder), params) == made.facts


SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]


@given(workbooks(".xlsx", formulas=False))
@settings(max_examples=35, deadline=None, suppress_health_check=SLOW)
def test_xlsx_is_read_back_as_it_was_meant(values: dict[str, Any]) -> None:
    check_round_trip(values, ALONE)


@given(workbooks(".csv", formulas=False))
@settings(max_examples=35, deadline=None, suppress_health_check=SLOW)
def test_csv_is_read_back_as_it_was_meant(values: dict[str, Any]) -> None:
    check_round_trip(values, ALONE)


@pytest.mark.desktop
@given(st.sampled_from([".xlsx", ".ods", ".csv"]).flatmap(lambda suffix: workbooks(suffix, formulas=True)))
@settings(max_examples=15, deadline=None, suppress_health_check=SLOW)
def test_formulas_and_ods_are_read_back_as_they_were_meant(office: OfficeClient, values: dict[str, Any]) -> None:
    check_round_trip(values, Context(Guest(), office))


def drawn(layout: str, suffix: str, seed: int) -> WorkbookParams:
    rng = random.Random(seed)
    table = draw_table(topics()[seed % len(topics())], 5 + seed % 30, rng)
    plan = draw_layout(table, rng, only=[layout], suffixes=[suffix])
    fields = {key: plan[key] for key in ("sheets", "charts", "names", "main")}
    return MAKER.validate({"path": f"~/Documents/{table['file']}{suffix}", **fields})


@pytest.mark.desktop
@pytest.mark.parametrize("suffix", [".xlsx", ".ods"])
@pytest.mark.parametrize("layout", layouts())
def test_every_layout_makes_a_workbook_that_reads_back(office: OfficeClient, layout: str, suffix: str) -> None:
    for seed in range(3 if suffix == ".xlsx" else 1):
        params = drawn(layout, suffix, seed)
        check_round_trip(params.model_dump(mode="json"), Context(Guest(), office))


@pytest.mark.desktop
@pytest.mark.parametrize("suffix", [".xlsx", ".ods"])
def test_the_same_draw_gives_the_same_bytes_in_another_office(office: OfficeClient, suffix: str) -> None:
    from forge.desktop.office import _kept

    params = drawn("annotated", suffix, 4)
    first = MAKER.prepare(params, Context(Guest(), office)).files[0].data
    for _ in range(3):
        _kept._items.clear()
        assert MAKER.prepare(params, Context(Guest(), office)).files[0].data == first


def test_time_stamps_are_the_guests_or_none() -> None:
    params = MAKER.validate({"path": "~/a.xlsx", "sheets": [{"name": "A", "cells": [{"cell": "A1", "value": 1}]}]})
    data = MAKER.prepare(params, Context(Guest(clock="2025-05-04T10:00:00"))).files[0].data
    archive = zipfile.ZipFile(io.BytesIO(data))
    assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert archive.namelist()[0] == "[Content_Types].xml"
    assert openpyxl.load_workbook(io.BytesIO(data)).properties.created == datetime(2025, 5, 4, 10)


@pytest.mark.desktop
def test_formulas_remember_what_libreoffice_computes(office: OfficeClient) -> None:
    table = {
        "columns": [{"name": "N", "type": "integer"}, {"name": "Half", "type": "number", "formula": "={N}/2"}],
        "rows": [[3, 1.5], [4, 2], [5, 2.5]],
    }
    sheet = {
        "name": "S",
        "table": table,
        "live": True,
        "total": {"columns": ["N", "Half"]},
        "formulas": [
            {"cell": "D1", "formula": '=IFS(A2>2,"big",TRUE,"small")'},
            {"cell": "D2", "formula": "=1/0"},
            {"cell": "D3", "formula": "=A2>2"},
        ],
    }
    params = MAKER.validate({"path": "~/a.xlsx", "sheets": [sheet]})
    made = MAKER.prepare(params, Context(Guest(), office))
    seen = openpyxl.load_workbook(io.BytesIO(made.files[0].data), data_only=True)["S"]
    assert [seen[ref].value for ref in ("B2", "A5", "B5", "D1", "D2", "D3")] == [1.5, 12, 6, "big", "#DIV/0!", True]
    main = made.facts["main"]
    assert main["totals"]["Half"] == {"cell": "B5", "formula": "=SUM(B2:B4)", "value": 6}
    assert main["formulas"]["D1"]["value"] == "big"
    assert main["columns"]["Half"]["formula"] is True


def test_facts_say_where_everything_stands() -> None:
    table = {
        "columns": [{"name": "Day", "type": "date"}, {"name": "Net amount", "type": "currency"}],
        "rows": [["2026-03-01", 5.5], ["2026-03-02", 7]],
    }
    sheet = {"name": "My data", "table": table, "at": "C4", "titles": ["Head"], "autofilter": True, "freeze": "A5"}
    facts = MAKER.facts(MAKER.validate({"path": "~/Documents/a b.xlsx", "sheets": [sheet]}), ALONE)
    assert (facts["name"], facts["stem"], facts["suffix"], facts["sheet_names"]) == (
        "a b.xlsx",
        "a b",
        ".xlsx",
        ["My data"],
    )
    main = facts["main"]
    assert main == facts["sheets"][0]
    assert (main["used"], main["next_row"], main["filter"], main["freeze"]) == ("C1:D6", 7, "C4:D6", [4, 0])
    assert main["table"]["data"] == "C5:D6"
    assert main["columns"]["Net amount"] == {
        "letter": "D",
        "header": "D4",
        "type": "currency",
        "decimals": 2,
        "symbol": "€",
        "range": "D5:D6",
        "absolute": "$D$5:$D$6",
        "qualified": "'My data'!D5:D6",
        "first": "D5",
        "last": "D6",
        "below": "D7",
        "formula": False,
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"path": "~/a.xls"}, "a workbook is .xlsx, .ods or .csv"),
        ({"path": "/a.xlsx"}, "below the guest's home"),
        ({"sheets": []}, "sheets"),
        ({"sheets": [{"name": "a/b"}]}, "no name for a sheet"),
        ({"sheets": [{"name": "A"}, {"name": "a"}]}, "unique"),
        ({"sheets": [{"name": "A", "hidden": True}]}, "at least one sheet must be visible"),
        ({"sheets": [{"name": "A", "cells": [{"cell": "a1", "value": 1}]}]}, "is no cell"),
        ({"sheets": [{"name": "A", "formulas": [{"cell": "A1", "formula": "SUM(B1)"}]}]}, "begins with ="),
        ({"sheets": [{"name": "A", "colour": 1}]}, "Extra inputs"),
        ({"main": 3}, "main is 3"),
        ({"charts": [{"sheet": "Z", "series": [{"values": "A1:A2"}]}]}, "no sheet 'Z'"),
        (
            {"sheets": [{"name": "A", "table": {"columns": [{"name": "N", "type": "integer"}], "rows": [["x"]]}}]},
            "is no integer",
        ),
        ({"sheets": [{"name": "A", "table": {"columns": [{"name": "N"}], "rows": [["x", "y"]]}}]}, "2 values for 1"),
        ({"sheets": [{"name": "A", "cells": [{"cell": "A1", "value": "\ud83d"}]}]}, "half of a character pair"),
        ({"sheets": [{"name": "A", "widths": {"4": 9}}]}, "is no column"),
        ({"sheets": [{"name": "A", "hidden_rows": [0]}]}, "greater than or equal to 1"),
        ({"sheets": [{"name": "A", "merged": ["A1:B2", "B2:C3"]}]}, "overlap"),
        ({"sheets": [{"name": "A", "merged": ["A1"]}]}, "a single cell cannot be merged"),
        ({"sheets": [{"name": "A", "styles": [{"range": "A1:ZZ99999", "look": {"bold": True}}]}]}, "more than 100000"),
        (
            {"sheets": [{"name": "A", "conditional": [{"range": "A1:A9", "criteria": "between", "value": 1}]}]},
            "maximum",
        ),
        ({"charts": [{"sheet": "A", "series": [{"values": "Z!A1:A2"}]}]}, "the sheet 'Z', which there is not"),
        ({"charts": [{"sheet": "A", "series": [{"values": "A1:A2", "name": "=1+1"}]}]}, "taken for a reference"),
        ({"names": {"A1": "A!$B$1"}}, "no name that can be defined"),
    ],
)
def test_bad_parameters_name_what_is_wrong(change: dict[str, Any], said: str) -> None:
    values = {"path": "~/a.xlsx", "sheets": [{"name": "A"}], **change}
    with pytest.raises(PreparerError, match=said):
        MAKER.validate(values)


def test_two_things_in_one_cell_and_formulas_without_office_are_refused() -> None:
    cells = [{"cell": "A1", "value": 1}, {"cell": "A1", "value": 2}]
    with pytest.raises(PreparerError, match="two things would stand in A1"):
        MAKER.prepare(MAKER.validate({"path": "~/a.xlsx", "sheets": [{"name": "A", "cells": cells}]}), ALONE)
    sheet = {"name": "A", "formulas": [{"cell": "A1", "formula": "=1+1"}]}
    with pytest.raises(PreparerError, match="no office"):
        MAKER.prepare(MAKER.validate({"path": "~/a.xlsx", "sheets": [sheet]}), ALONE)
    with pytest.raises(PreparerError, match="made by LibreOffice"):
        MAKER.prepare(MAKER.validate({"path": "~/a.ods", "sheets": [{"name": "A"}]}), ALONE)


def bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", bytes(60 * 2**20))
    return buffer.getvalue()


def lying_bomb(data: bytes) -> bytes:
    """A workbook whose directory says that a part is much smaller than it is."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * 2**20)
    raw = bytearray(buffer.getvalue())
    place = raw.rindex(b"PK\x01\x02")
    raw[place + 24 : place + 28] = struct.pack("<I", 10)
    return bytes(raw)


GOOD = (
    MAKER.prepare(
        MAKER.validate({"path": "~/a.xlsx", "sheets": [{"name": "A", "cells": [{"cell": "A1", "value": "x"}]}]}), ALONE
    )
    .files[0]
    .data
)


def broken(part: str, text: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(GOOD)) as source, zipfile.ZipFile(buffer, "w") as target:
        for name in source.namelist():
            target.writestr(name, text if name == part else source.read(name))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("suffix", "data", "said"),
    [
        (".xlsx", b"", "is empty"),
        (".xlsx", b"hello", "is no zip file"),
        (".xlsx", GOOD[: len(GOOD) // 2], "is cut short"),
        (".xlsx", bomb(), "no honest workbook"),
        (".xlsx", lying_bomb(GOOD), "a.xlsx"),
        (".xlsx", GOOD[:60] + b"\0\0\0\0" + GOOD[64:], "a.xlsx"),
        (".xlsx", broken("xl/workbook.xml", b"<workbook"), "broken XML"),
        (".xlsx", broken("xl/workbook.xml", b"<other/>"), "is no workbook"),
        (
            ".xlsx",
            broken("xl/sharedStrings.xml", b"<sst xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'/>"),
            "IndexError",
        ),
        (".ods", GOOD, "has no part content.xml"),
        (".csv", GOOD, "no UTF-8 text|zero bytes"),
        (".csv", b"\xff\xfe\x00", "no UTF-8 text"),
    ],
)
def test_files_that_are_no_workbooks_name_the_file_and_what_is_wrong(
    tmp_path: Path, suffix: str, data: bytes, said: str
) -> None:
    params = MAKER.validate({"path": f"~/a{suffix}", "sheets": [{"name": "A"}]})
    (tmp_path / f"a{suffix}").write_bytes(data)
    with pytest.raises(PreparerError, match=said) as error:
        MAKER.inspect(tmp_path, params)
    assert f"a{suffix}" in str(error.value)
    with pytest.raises(PreparerError):
        read_book(data, suffix, f"a{suffix}")


def test_a_missing_file_and_an_unknown_suffix_are_named(tmp_path: Path) -> None:
    with pytest.raises(PreparerError, match=r"~/a\.xlsx is not there"):
        MAKER.inspect(tmp_path, MAKER.validate({"path": "~/a.xlsx", "sheets": [{"name": "A"}]}))
    with pytest.raises(PreparerError, match="is no workbook"):
        read_book(GOOD, ".xls", "a.xls")


def test_it_is_registered() -> None:
    assert PREPARERS.get("calc.workbook").version == Workbook.version


def test_serial_numbers_of_dates() -> None:
    from forge.harness.layers.office.python.sheetpatch.values import to_number

    assert to_number(date(2026, 3, 16)) == (date(2026, 3, 16) - date(1899, 12, 30)) / timedelta(days=1)
