"""Small ways to spoil a workbook, for mutants: each edits one place in the solved file and leaves the rest alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from forge.harness.layers.office.python.sheetpatch import Book, from_bytes

Edit = Callable[[Book], object]


def edited(file: str, edit: Edit) -> Callable[[Path], None]:
    """A mutant's `apply`: open the workbook below the home, edit it, write it back."""

    def apply(home: Path) -> None:
        path = home / file[2:]
        book = from_bytes(path.read_bytes(), path.suffix, path)
        edit(book)
        book.save()

    return apply


def at(sheet: str, ref: str) -> str:
    """A reference with its sheet, as sheetpatch takes it."""
    return f"'{sheet.replace(chr(39), chr(39) * 2)}'!{ref}"


def off_by_little(value: float | int) -> float | int:
    """A number near another, as a slip would make it."""
    return value + 1 if isinstance(value, int) or abs(value) >= 100 else round(value * 1.1 + 0.01, 4)
