"""What stands in every cell of a planned workbook: parameters laid out, before anything is written or computed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import time
from typing import Any

from forge.harness.layers.office.python.sheetpatch.references import Area, address, column_letters, column_number
from forge.harness.layers.office.python.sheetpatch.values import to_date, to_number
from forge.records import JSON, PreparerError
from preparers.calc.formats import classify
from preparers.calc.params import Column, Look, Sheet, WorkbookParams, moment

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
_LINES = {"thin": 1, "medium": 2, "thick": 5, "double": 6}


@dataclass
class PlannedCell:
    """A value or a formula, and how it looks (names of XlsxWriter's format properties)."""

    value: JSON = None
    formula: str | None = None
    look: dict[str, Any] = field(default_factory=dict)


@dataclass
class PlannedTable:
    """Where a table stands. Rows and columns are counted from 1; `first`..`last` are its data rows."""

    header: int
    left: int
    first: int
    last: int
    total: int | None

    @property
    def area(self) -> Area:
        """Header and data."""
        return Area(self.header, self.left, max(self.header, self.last), self.left)


@dataclass
class PlannedSheet:
    """One sheet, cell by cell."""

    params: Sheet
    cells: dict[tuple[int, int], PlannedCell]
    table: PlannedTable | None

    @property
    def name(self) -> str:
        """The sheet's name."""
        return self.params.name

    def widths(self) -> dict[int, float]:
        """Column number to width in characters: as told, else what its content needs."""
        needed: dict[int, float] = {}
        titles = len(self.params.titles)
        for (row, column), cell in self.cells.items():
            if row > titles and not (cell.look.get("text_wrap")):
                needed[column] = max(needed.get(column, 0.0), _length(cell))
        found = {column: min(max(width + 2.0, 8.5), 42.0) for column, width in needed.items()}
        if self.params.table and self.table:
            for offset, told in enumerate(self.params.table.columns):
                if told.width is not None:
                    found[self.table.left + offset] = told.width
        found |= {column_number(letters): width for letters, width in self.params.widths.items()}
        return found


def plan(params: WorkbookParams) -> list[PlannedSheet]:
    """Lay out all sheets. Raises PreparerError where two things would stand in one cell."""
    return [_Layout(params, sheet).run() for sheet in params.sheets]


def number_of(value: JSON, code: str) -> JSON:
    """A JSON value as the cell holds it: a date or a time of day in a cell formatted as such is a number of days."""
    if isinstance(value, str) and classify(code).kind in ("date", "datetime", "time"):
        found = moment(value)
        return value if found is None else to_number(found)
    return value


class _Layout:
    def __init__(self, params: WorkbookParams, sheet: Sheet):
        self._params = params
        self._sheet = sheet
        self._cells: dict[tuple[int, int], PlannedCell] = {}

    def run(self) -> PlannedSheet:
        sheet = self._sheet
        anchor = Area.parse(sheet.at)
        for row, text in enumerate(sheet.titles, 1):
            self._put(row, anchor.left, text, look=sheet.title_look)
        table = self._table(anchor) if sheet.table is not None else None
        for value in sheet.cells:
            area = Area.parse(value.cell)
            self._put(area.top, area.left, value.value, look=value.look)
        for formula in sheet.formulas:
            area = Area.parse(formula.cell)
            self._put(area.top, area.left, None, formula.formula, formula.look)
        for styled in sheet.styles:
            for row, column in Area.parse(styled.range).cells():
                self._cells.setdefault((row, column), PlannedCell()).look.update(_look(styled.look))
        for (_row, _column), cell in self._cells.items():
            cell.value = number_of(cell.value, cell.look.get("num_format", ""))
        return PlannedSheet(sheet, self._cells, table)

    def _table(self, anchor: Area) -> PlannedTable:
        sheet, table = self._sheet, self._sheet.table
        assert table is not None
        first, last = anchor.top + 1, anchor.top + len(table.rows)
        for offset, column in enumerate(table.columns):
            self._put(anchor.top, anchor.left + offset, column.name, look=sheet.header)
        for down, row in enumerate(table.rows):
            for offset, (column, value) in enumerate(zip(table.columns, row, strict=True)):
                place = (first + down, anchor.left + offset)
                formula = (
                    self._row_formula(column, first + down, anchor.left) if sheet.live and column.formula else None
                )
                self._put(*place, None if formula else value, formula, sheet.body)
                cell = self._cells[place]
                if column.code != "General":
                    cell.look["num_format"] = column.code
                if sheet.banded and down % 2:
                    cell.look.setdefault("bg_color", f"#{sheet.banded}")
        total_row = self._total(anchor.left, first, last) if sheet.total is not None else None
        return PlannedTable(anchor.top, anchor.left, first, last, total_row)

    def _total(self, left: int, first: int, last: int) -> int:
        sheet, table = self._sheet, self._sheet.table
        assert table is not None
        assert sheet.total is not None
        row = last + 1 + sheet.total.gap
        names = [column.name for column in table.columns]
        for offset, column in enumerate(table.columns):
            if column.name in sheet.total.columns:
                letters = column_letters(left + offset)
                formula = f"={sheet.total.function}({letters}{first}:{letters}{last})"
                self._put(row, left + offset, None, formula, sheet.total.look)
                if column.code != "General" and sheet.total.function != "COUNT":
                    self._cells[row, left + offset].look["num_format"] = column.code
        free = next((i for i, name in enumerate(names) if name not in sheet.total.columns), None)
        if free is not None and sheet.total.label:
            self._put(row, left + free, sheet.total.label, look=sheet.total.look)
        return row

    def _row_formula(self, column: Column, row: int, left: int) -> str:
        table = self._sheet.table
        assert table is not None
        names = [other.name for other in table.columns]

        def place(found: re.Match[str]) -> str:
            if found[1] not in names:
                raise PreparerError(
                    f"column {column.name}: its formula {column.formula!r} names no column {found[1]!r}"
                )
            return address(row, left + names.index(found[1]))

        return _PLACEHOLDER.sub(place, column.formula)

    def _put(self, row: int, column: int, value: JSON, formula: str | None = None, look: Look | None = None) -> None:
        cell = self._cells.get((row, column))
        if cell is not None and (cell.value is not None or cell.formula is not None):
            raise PreparerError(f"sheet {self._sheet.name!r}: two things would stand in {address(row, column)}")
        looks = _look(look) if look is not None else {}
        self._cells[row, column] = PlannedCell(value, formula, {**(cell.look if cell else {}), **looks})


def _look(look: Look) -> dict[str, Any]:
    """A look as XlsxWriter's format properties."""
    found: dict[str, Any] = {}
    for name, key in (("bold", "bold"), ("italic", "italic"), ("wrap", "text_wrap")):
        if getattr(look, name) is not None:
            found[key] = getattr(look, name)
    if look.underline is not None:
        found["underline"] = 1 if look.underline else 0
    if look.color:
        found["font_color"] = f"#{look.color}"
    if look.fill:
        found["bg_color"] = f"#{look.fill}"
    if look.align:
        found["align"] = look.align
    if look.size:
        found["font_size"] = look.size
    if look.font:
        found["font_name"] = look.font
    if look.border:
        found["border"] = _LINES[look.border]
    if look.format:
        found["num_format"] = look.format
    return found


def _length(cell: PlannedCell) -> float:
    """About how many characters a cell shows."""
    kind = classify(cell.look.get("num_format", "General"))
    if isinstance(cell.value, str):
        return len(cell.value) * (1.1 if cell.look.get("bold") else 1.0)
    if kind.kind in ("date", "datetime"):
        return 11.0 if kind.kind == "date" else 16.0
    if cell.formula is not None:
        return 9.0 + kind.decimals
    if isinstance(cell.value, int | float):
        return len(f"{cell.value:,.{kind.decimals}f}") + 2.0 * bool(kind.symbol)
    return 0.0


def plain_date(value: float) -> str:
    """The ISO text of a number of days: date, or date and time."""
    found = to_date(value)
    return found.date().isoformat() if found.time() == time() else found.isoformat(timespec="minutes")
