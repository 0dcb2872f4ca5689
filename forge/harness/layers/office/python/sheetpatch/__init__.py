"""Edit a workbook in one place and leave all the rest as it is.

    import sheetpatch

    book = sheetpatch.open("~/Documents/budget.xlsx")
    amounts = [row[2] for row in book.rows("Data!A3:C26")]
    book.set("Data!C27", "=SUM(C3:C26)")
    book.number_format("Data!C27", "#,##0.00 [$€-407]")
    book.style("Data!C27", bold=True)
    book.save()

Libraries that load a whole workbook and write it anew lose what they do not know: charts, pictures, shapes. Here only
the parts of the file that an edit concerns are changed, and within them only the cells concerned. Needs nothing but
Python's standard library. What it does NOT do: calculate (a formula is written without a value, for the program that
opens the file to compute), insert or delete rows and columns, and make charts.
"""

from __future__ import annotations

from pathlib import Path

from .book import Book
from .package import SheetPatchError
from .values import Value, to_date, to_number

__all__ = ["Book", "SheetPatchError", "Value", "from_bytes", "open", "to_date", "to_number"]


def open(path: str | Path) -> Book:
    """Open a workbook, .xlsx or .ods; `~` is the home folder.

    Raises SheetPatchError when there is no such file, or it is no workbook of these formats.
    """
    place = Path(path).expanduser()
    try:
        data = place.read_bytes()
    except OSError as error:
        raise SheetPatchError(f"{place}: {error.strerror or error}") from None
    return from_bytes(data, place.suffix, place)


def from_bytes(data: bytes, suffix: str, path: Path | None = None) -> Book:
    """A workbook from its bytes; `suffix` is `.xlsx` or `.ods`, `path` where `save` will write it."""
    kind = suffix.lower()
    if kind in (".xlsx", ".xlsm"):
        from .xlsx import XlsxBook

        return XlsxBook(data, path)
    if kind == ".ods":
        from .ods import OdsBook

        return OdsBook(data, path)
    raise SheetPatchError(f"{path or 'workbook'}: {suffix or 'no suffix'} is not edited here; only .xlsx and .ods are")
