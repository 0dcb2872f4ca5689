"""Opening the workbooks of a case, and saying where in them a check looks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from pydantic import Field

from forge.desktop.office import OfficeClient
from forge.harness.layers.office.python.sheetpatch.references import Area, address
from forge.records import VerifierError
from forge.records.artifact import GuestPath
from preparers.calc.book import Book, Scalar, Sheet, read_book
from verifiers.base import Args, Case, Tree

Place = tuple[int, int]
"""Row and column of a cell, from 1."""


class InFile(Args):
    """Base of the arguments of checks of one workbook."""

    file: GuestPath = Field(description="the workbook, ~/...")


class OnSheet(InFile):
    """Base of the arguments of checks of one place in a workbook."""

    sheet: str | None = Field(None, description="its name; None: the one named in the reference, else the first")


@dataclass(frozen=True)
class Workbook:
    """A workbook as it was read. The book is shared and never changed."""

    file: str
    suffix: str
    data: bytes
    book: Book
    tree: Tree

    def sheet(self, name: str | None, ref: str = "") -> Sheet:
        """The sheet of that name, or the one that a reference names, or the first.

        Raises AgentFault (on the agent's side) when there is none of that name.
        """
        wanted = name or (Area.parse(ref).sheet if ref else None)
        if wanted is None:
            return self.book.sheets[0]
        found = self.book.sheet(wanted)
        if found is None:
            names = ", ".join(map(repr, self.book.sheet_names))
            raise self.tree.fault(f"{self.file} has no sheet {wanted!r}; it has {names}")
        return found


def opened(tree: Tree, file: str) -> Workbook:
    """A workbook of any side of a case. Raises AgentFault or PreparerError when it is missing or cannot be read."""
    with tree.reading(file) as path:
        data = tree.read(file) or path.read_bytes()
        suffix = PurePosixPath(file).suffix.lower()
        return Workbook(file, suffix, data, _read(data, suffix, file), tree)


def after(case: Case, file: str) -> Workbook:
    """The workbook that the agent left. Raises AgentFault when it is missing or cannot be read."""
    return opened(case.after, file)


def before(case: Case, file: str) -> Workbook | None:
    """The workbook as it was before, or None when it is new."""
    return opened(case.before, file) if case.before.exists(file) else None


def sheet_before(case: Case, file: str, name: str | None, ref: str = "") -> tuple[Workbook, Sheet] | None:
    """The sheet as it was before, with its workbook; None when either is new. Arguments as of `Workbook.sheet`."""
    workbook = before(case, file)
    wanted = name or (Area.parse(ref).sheet if ref else None)
    if workbook is None or (wanted is not None and workbook.book.sheet(wanted) is None):
        return None
    return workbook, workbook.sheet(name, ref)


def office_of(case: Case) -> OfficeClient:
    """The office that computes. Raises VerifierError when the case has none."""
    if case.office is None:
        raise VerifierError("this check computes formulas and the case has no office", mend="grade with an Office open")
    return case.office


def name_of(sheet: Sheet, row: int, column: int) -> str:
    """`Data!C27`, for evidence."""
    return f"{sheet.name}!{address(row, column)}"


def shown(value: Scalar | dict[str, str]) -> str:
    """A value as evidence shows it."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return value.get("error", "an error")
    if isinstance(value, float):
        return f"{value:.10g}"
    return repr(value) if isinstance(value, str) else str(value)


def area_of(ref: str) -> Area:
    """A reference among a check's arguments. Raises VerifierError when it is none."""
    try:
        return Area.parse(ref)
    except ValueError as error:
        raise VerifierError(str(error)) from None


@lru_cache(maxsize=8)
def _read(data: bytes, suffix: str, name: str) -> Book:
    return read_book(data, suffix, name)
