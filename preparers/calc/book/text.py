"""Reading .csv: one sheet of texts and numbers."""

from __future__ import annotations

import csv
import io
import re
from pathlib import PurePosixPath

from forge.records import PreparerError
from preparers.calc.book.model import Book, Cell, Sheet

_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


def delimiter_of(text: str) -> str:
    """The character that parts the fields, judged by the first line: comma, semicolon or tab."""
    first = text.split("\n", 1)[0]
    return max(",;\t", key=first.count)


def rows_of(data: bytes, name: str, delimiter: str | None = None) -> list[list[str]]:
    """The fields of a .csv file, UTF-8 with or without a mark. Raises PreparerError when it is no text."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PreparerError(f"{name} is no UTF-8 text: {error}") from None
    if "\0" in text:
        raise PreparerError(f"{name} holds zero bytes and is no text")
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter or delimiter_of(text)))
    except csv.Error as error:
        raise PreparerError(f"{name} is no table: {error}") from None


def read_csv(data: bytes, name: str, delimiter: str | None = None) -> Book:
    """Read a table; fields that are plainly numbers become numbers. The delimiter is guessed unless it is given."""
    sheet = Sheet(PurePosixPath(name).stem or "Sheet1")
    for row, fields in enumerate(rows_of(data, name, delimiter), 1):
        for column, text in enumerate(fields, 1):
            if text != "":
                sheet.cells[row, column] = Cell(field_value(text))
    return Book([sheet])


def field_value(text: str) -> float | str:
    """What a field means to a reader: a plain number, or its text. A text that looks like a number is lost as such."""
    return float(text) if _NUMBER.fullmatch(text) else text
