"""Functions on spreadsheet cells and ranges, written as in A1, B2:D9."""

from __future__ import annotations

import re
from typing import Any

from skills.language.functions import function
from skills.language.shapes import NUMBER, TEXT, list_of

_GROUP = "Cells and ranges"
_REFERENCE = re.compile(r"\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6})(?::\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6}))?$")
_COLUMNS, _ROWS = 16384, 1048576


def _corners(reference: str) -> tuple[int, int, int, int]:
    """(first column, first row, last column, last row), counted from 1."""
    match = _REFERENCE.match(reference)
    if not match:
        raise ValueError(f"{reference!r} is no cell or range; write B7 or B2:D9")
    c1, r1, c2, r2 = match.groups()
    left, top = column_number(c1), int(r1)
    right, bottom = (column_number(c2), int(r2)) if c2 else (left, top)
    return min(left, right), min(top, bottom), max(left, right), max(top, bottom)


def _cell(column: int, row: int) -> str:
    if not (1 <= column <= _COLUMNS and 1 <= row <= _ROWS):
        raise ValueError(f"column {column}, row {row} lies outside the sheet")
    return f"{column_letter(column)}{row}"


@function(_GROUP, TEXT, example="column_letter(28)")
def column_letter(number: int) -> str:
    """`1` is A, `28` is AB."""
    if not 1 <= number <= _COLUMNS:
        raise ValueError(f"there is no column {number}")
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


@function(_GROUP, NUMBER, example="column_number('AB')")
def column_number(letters: str) -> int:
    """`"A"` is 1, `"AB"` is 28."""
    if not re.fullmatch("[A-Za-z]{1,3}", letters):
        raise ValueError(f"{letters!r} is no column")
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


@function(_GROUP, TEXT, example="cell('C', 27)")
def cell(column: str | int, row: int) -> str:
    """`cell("C", 27)` and `cell(3, 27)` are C27."""
    return _cell(column_number(column) if isinstance(column, str) else column, row)


@function(_GROUP, TEXT, example="cell_range('C2', 'C9')")
def cell_range(first: str, last: str) -> str:
    """`cell_range("C2", "C9")` is C2:C9."""
    left, top, _, _ = _corners(first)
    _, _, right, bottom = _corners(last)
    return f"{_cell(left, top)}:{_cell(right, bottom)}"


@function(_GROUP, TEXT, example="below('C2:C26')")
def below(reference: str, rows: int = 1) -> str:
    """The cell `rows` rows below the first column of a cell or range: below C2:C26 lies C27."""
    left, _, _, bottom = _corners(reference)
    return _cell(left, bottom + rows)


@function(_GROUP, TEXT, example="above('C2:C26')")
def above(reference: str, rows: int = 1) -> str:
    """The cell `rows` rows above the first column of a cell or range."""
    left, top, _, _ = _corners(reference)
    return _cell(left, top - rows)


@function(_GROUP, TEXT, example="right_of('B2:E9')")
def right_of(reference: str, columns: int = 1) -> str:
    """The cell `columns` columns right of the first row of a cell or range: right of B2:E9 lies F2."""
    _, top, right, _ = _corners(reference)
    return _cell(right + columns, top)


@function(_GROUP, TEXT, example="left_of('B2:E9')")
def left_of(reference: str, columns: int = 1) -> str:
    """The cell `columns` columns left of the first row of a cell or range."""
    left, top, _, _ = _corners(reference)
    return _cell(left - columns, top)


@function(_GROUP, TEXT, example="shift('C2:C26', columns=1)")
def shift(reference: str, columns: int = 0, rows: int = 0) -> str:
    """A cell or range, moved."""
    left, top, right, bottom = _corners(reference)
    start, end = _cell(left + columns, top + rows), _cell(right + columns, bottom + rows)
    return f"{start}:{end}" if ":" in reference else start


@function(_GROUP, TEXT, example="column_of('C2:E9')")
def column_of(reference: str) -> str:
    """The letters of the first column."""
    return column_letter(_corners(reference)[0])


@function(_GROUP, NUMBER, example="row_of('C2:E9')")
def row_of(reference: str) -> int:
    """The number of the first row."""
    return _corners(reference)[1]


@function(_GROUP, list_of(TEXT), example="cells_of('B2:C3')")
def cells_of(reference: str) -> list[Any]:
    """All cells of a range, row by row."""
    left, top, right, bottom = _corners(reference)
    if (right - left + 1) * (bottom - top + 1) > 100_000:
        raise ValueError("the range has more than 100000 cells")
    return [_cell(column, row) for row in range(top, bottom + 1) for column in range(left, right + 1)]


@function(_GROUP, TEXT, example="fixed('C2:C9')")
def fixed(reference: str) -> str:
    """With dollar signs: `$C$2:$C$9`."""
    return re.sub(r"\$?([A-Za-z]+)\$?([0-9]+)", r"$\1$\2", reference)


@function(_GROUP, TEXT, example="in_sheet('May 2026', 'C2')")
def in_sheet(sheet: str, reference: str, mark: str = "!") -> str:
    """A reference into another sheet, quoted where needed: `'May 2026'!C2`. LibreOffice's windows write `.` for `!`."""
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", sheet) and not _REFERENCE.match(sheet)
    name = sheet if plain else "'" + sheet.replace("'", "''") + "'"
    return f"{name}{mark}{reference}"
