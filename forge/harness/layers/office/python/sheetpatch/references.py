"""Cell addresses in A1 notation: letters and numbers, areas, and sheet names with or without quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LAST_ROW = 1_048_576
LAST_COLUMN = 16_384

_CELL = r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})"
_AREA = re.compile(rf"{_CELL}(?::{_CELL})?")
_COLUMNS = re.compile(r"\$?([A-Za-z]{1,3}):\$?([A-Za-z]{1,3})")
_ROWS = re.compile(r"\$?([0-9]{1,7}):\$?([0-9]{1,7})")
_PLAIN_NAME = re.compile(r"[A-Za-z_\u00a1-\uffff][A-Za-z0-9_.\u00a1-\uffff]*")
_LOOKS_LIKE_A_CELL = re.compile(r"[A-Za-z]{1,3}[0-9]{1,7}|[Rr][0-9]*[Cc][0-9]*")


def column_number(letters: str) -> int:
    """The number of a column, counted from 1: `A` is 1, `AB` is 28."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def column_letters(number: int) -> str:
    """The letters of a column counted from 1: 28 is `AB`."""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def quote(sheet: str) -> str:
    """A sheet's name as formulas write it: in quotes unless it is one plain word that looks like no cell."""
    if _PLAIN_NAME.fullmatch(sheet) and not _LOOKS_LIKE_A_CELL.fullmatch(sheet):
        return sheet
    return "'" + sheet.replace("'", "''") + "'"


def unquote(name: str) -> str:
    """A sheet's name without the quotes that a formula may put around it."""
    if len(name) >= 2 and name[0] == name[-1] == "'":
        return name[1:-1].replace("''", "'")
    return name


def split_sheet(reference: str) -> tuple[str | None, str]:
    """`Data!A1:B2` as (sheet or None, rest)."""
    sheet, mark, rest = reference.rpartition("!")
    return (unquote(sheet), rest) if mark else (None, rest)


@dataclass(frozen=True)
class Area:
    """A rectangle of cells; rows and columns are counted from 1, both ends belong to it."""

    top: int
    left: int
    bottom: int
    right: int
    sheet: str | None = None

    @classmethod
    def parse(cls, text: str) -> Area:
        """Read `B7`, `A1:C9`, `C:C`, `3:5`, each with an optional `Sheet!` before it. Raises ValueError."""
        sheet, rest = split_sheet(text.strip())
        if found := _AREA.fullmatch(rest):
            first, row, last, end = found.groups()
            rows = sorted((int(row), int(end or row)))
            columns = sorted((column_number(first), column_number(last or first)))
        elif found := _COLUMNS.fullmatch(rest):
            rows, columns = [1, LAST_ROW], sorted(column_number(part) for part in found.groups())
        elif found := _ROWS.fullmatch(rest):
            rows, columns = sorted(int(part) for part in found.groups()), [1, LAST_COLUMN]
        else:
            raise ValueError(f"{text!r} is no cell or range; write B7, A1:C9, C:C or 3:5")
        if not (rows[0] >= 1 and rows[1] <= LAST_ROW and columns[1] <= LAST_COLUMN):
            raise ValueError(f"{text!r} lies outside a sheet")
        return cls(rows[0], columns[0], rows[1], columns[1], sheet)

    def __str__(self) -> str:
        first = f"{column_letters(self.left)}{self.top}"
        last = f"{column_letters(self.right)}{self.bottom}"
        text = first if first == last else f"{first}:{last}"
        return text if self.sheet is None else f"{quote(self.sheet)}!{text}"

    def __contains__(self, cell: tuple[int, int]) -> bool:
        """Whether (row, column) lies inside; the sheet is not looked at."""
        return self.top <= cell[0] <= self.bottom and self.left <= cell[1] <= self.right

    def cells(self) -> Iterator[tuple[int, int]]:
        """(row, column) of every cell, row by row."""
        for row in range(self.top, self.bottom + 1):
            for column in range(self.left, self.right + 1):
                yield row, column

    @property
    def single(self) -> bool:
        """Whether it is one cell."""
        return self.top == self.bottom and self.left == self.right


def address(row: int, column: int) -> str:
    """The A1 name of a cell, both counted from 1."""
    return f"{column_letters(column)}{row}"
