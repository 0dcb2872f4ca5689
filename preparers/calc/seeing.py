"""Reading a prepared workbook's facts back from its bytes: .xlsx by openpyxl, .ods by our own reader, .csv by `csv`."""

from __future__ import annotations

import io
import zipfile
from datetime import date, datetime, time, timedelta
from typing import Any

from forge.harness.layers.office.python.sheetpatch.formulas import canonical
from forge.harness.layers.office.python.sheetpatch.references import Area, column_letters
from forge.harness.layers.office.python.sheetpatch.values import to_number
from forge.records import JSON, PreparerError
from preparers.calc.book import Book, read_book
from preparers.calc.book.text import read_csv
from preparers.calc.facts import SeenCell, SeenSheet, workbook_facts
from preparers.calc.params import WorkbookParams


def see(data: bytes, params: WorkbookParams) -> dict[str, JSON]:
    """The facts of a workbook's bytes; `params` says where its tables begin.

    Raises PreparerError naming the file and what is wrong with it.
    """
    name = params.path
    if params.suffix == ".csv":
        book = read_csv(data, name, params.delimiter)
        sheets = [_from_book(book, 0)]
        sheets[0].name = params.sheets[0].name
        _find_tables(sheets, params)
        return workbook_facts(params, sheets, [], {})
    book = read_book(data, params.suffix, name)
    sheets = (
        _by_openpyxl(data, name) if params.suffix == ".xlsx" else [_from_book(book, i) for i in range(len(book.sheets))]
    )
    _find_tables(sheets, params)
    charts = [
        {"sheet": sheet.name, "kind": chart.kind, "title": chart.title, "at": chart.at, "series": len(chart.series)}
        for sheet in book.sheets
        for chart in sheet.charts
    ]
    return workbook_facts(params, sheets, charts, book.names)


def _by_openpyxl(data: bytes, name: str) -> list[SeenSheet]:
    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        formulas = openpyxl.load_workbook(io.BytesIO(data))
        values = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
    except (zipfile.BadZipFile, InvalidFileException, KeyError, ValueError, TypeError) as error:
        raise PreparerError(f"{name} is no workbook that openpyxl reads: {error}") from None
    return [_openpyxl_sheet(formulas[title], values[title]) for title in formulas.sheetnames]


def _openpyxl_sheet(page: Any, values: Any) -> SeenSheet:
    found = SeenSheet(page.title, page.sheet_state != "visible")
    for line, remembered in zip(page.iter_rows(), values.iter_rows(), strict=True):
        for cell, twin in zip(line, remembered, strict=True):
            formula = cell.value if cell.data_type == "f" else None
            if formula is not None and not isinstance(formula, str):
                formula = formula.text
            code = cell.number_format or "General"
            value = _days(twin.value)
            if formula is not None:
                value = "" if value is None else value
                found.cells[cell.row, cell.column] = SeenCell(value, canonical(formula, absolute=True), code)
            elif value is not None:
                found.cells[cell.row, cell.column] = SeenCell(value, None, code)
            if cell.comment is not None:
                found.notes[cell.coordinate] = cell.comment.text
    if page.freeze_panes:
        corner = Area.parse(page.freeze_panes)
        found.freeze = (corner.top - 1, corner.left - 1)
    found.filter = page.auto_filter.ref or ""
    found.merged = tuple(str(area) for area in page.merged_cells.ranges)
    found.conditional = sum(len(area.rules) for area in page.conditional_formatting)
    found.validation = len(page.data_validations.dataValidation)
    found.pictures = len(page._images)
    found.hidden_rows = tuple(sorted(row for row, look in page.row_dimensions.items() if look.hidden))
    found.hidden_columns = tuple(sorted(letters for letters, look in page.column_dimensions.items() if look.hidden))
    return found


def _from_book(book: Book, index: int) -> SeenSheet:
    sheet = book.sheets[index]
    found = SeenSheet(sheet.name, sheet.state != "visible")
    for place, cell in sheet.cells.items():
        if not cell.empty:
            formula = None if cell.formula is None else canonical(cell.formula, absolute=True)
            value = "" if cell.value is None else cell.value
            found.cells[place] = SeenCell(value, formula, cell.style.number_format)
    found.freeze = sheet.freeze
    found.filter = sheet.filter.area if sheet.filter else ""
    found.notes = dict(sheet.notes)
    found.merged = tuple(sheet.merged)
    found.conditional = len(sheet.conditional)
    found.validation = len({rule.partition(" | ")[2] for rule in sheet.validation})
    found.pictures = len(sheet.pictures)
    found.hidden_rows = tuple(sorted(sheet.hidden_rows))
    found.hidden_columns = tuple(sorted(column_letters(column) for column in sheet.hidden_columns))
    return found


def _find_tables(sheets: list[SeenSheet], params: WorkbookParams) -> None:
    """Find each table's extent from its first header cell: right until a gap, down until an empty row or the total."""
    for told in params.sheets:
        sheet = next((s for s in sheets if s.name == told.name), None)
        if sheet is None or told.table is None:
            continue
        anchor = Area.parse(told.at)
        right = anchor.left
        while (anchor.top, right + 1) in sheet.cells and right - anchor.left + 1 < len(told.table.columns):
            right += 1
        if (anchor.top, anchor.left) not in sheet.cells:
            raise PreparerError(f"{params.path}: sheet {told.name!r} has no table at {told.at}")
        sheet.header = Area(anchor.top, anchor.left, anchor.top, right)
        row = anchor.top
        while any((row + 1, column) in sheet.cells for column in range(anchor.left, right + 1)):
            row += 1
        if told.total is not None:
            sheet.total = row if told.total.gap == 0 else row + 1 + told.total.gap
            row -= told.total.gap == 0
        sheet.last = row


def _days(value: Any) -> JSON:
    """What openpyxl makes of a cell, with dates and times as numbers of days again."""
    if isinstance(value, datetime | date | time):
        return to_number(value)
    if isinstance(value, timedelta):
        return value / timedelta(days=1)
    return value
