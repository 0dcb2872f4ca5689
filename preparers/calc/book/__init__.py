"""Reading workbooks for what they mean: `read_book(data, suffix)`; .xlsx and .ods by the XML itself, .csv by the text.

Values are those that the file remembers; nothing is calculated. What is NOT read: pivot tables, macros, controls and
embedded objects (only counted), scenarios, sort states, outlines, and data bars' newer extensions.
"""

from __future__ import annotations

from forge.records import PreparerError
from preparers.calc.book.model import PLAIN, Book, Cell, CellStyle, Chart, Filter, Scalar, Series, Sheet

__all__ = ["PLAIN", "Book", "Cell", "CellStyle", "Chart", "Filter", "Scalar", "Series", "Sheet", "read_book"]

SUFFIXES = (".xlsx", ".ods", ".csv")


def read_book(data: bytes, suffix: str, name: str = "workbook") -> Book:
    """Read a workbook.

    Args:
        data: the file's bytes.
        suffix: `.xlsx`, `.ods` or `.csv`.
        name: the file's name, for messages.

    Raises:
        PreparerError: the bytes are no workbook of that suffix; names the file and what is wrong.
    """
    kind = suffix.lower()
    if kind == ".xlsx":
        from preparers.calc.book.xlsx import read_xlsx as read
    elif kind == ".ods":
        from preparers.calc.book.ods import read_ods as read
    elif kind == ".csv":
        from preparers.calc.book.text import read_csv as read
    else:
        raise PreparerError(f"{name}: {suffix or 'no suffix'} is no workbook", mend=f"read are {', '.join(SUFFIXES)}")
    try:
        return read(data, name)
    except (ValueError, KeyError, IndexError, AttributeError, TypeError) as error:
        # The parts are XML, but not the XML of a workbook: attributes that are no numbers, indices to nowhere.
        raise PreparerError(f"{name} is no well-formed {kind} workbook: {type(error).__name__}: {error}") from error
