"""`calc.cell_value`: what one cell shows."""

from __future__ import annotations

import random
from collections.abc import Iterator

from pydantic import Field, model_validator

from forge.harness.layers.office.python.sheetpatch.references import address
from forge.records import JSON
from verifiers.base import Case, Finding, Mutant, check, mutants
from verifiers.calc.compare import days, same_value
from verifiers.calc.opening import OnSheet, after, area_of, name_of, shown
from verifiers.calc.spoiling import at, edited, off_by_little
from verifiers.calc.values import values_of


class CellValue(OnSheet):
    """A cell and the value that it must show."""

    cell: str = Field(description="C27, or Data!C27")
    value: JSON = Field(description="number, text, truth or null; dates as 2026-03-16")
    tolerance: float = Field(1e-6, ge=0, description="numbers: allowed absolute difference")

    @model_validator(mode="after")
    def _plain(self) -> CellValue:
        if isinstance(self.value, dict | list | tuple):
            raise ValueError(f"{self.value!r} is no value of a cell")
        return self


@check("calc.cell_value", CellValue)
def cell_value(case: Case, args: CellValue) -> Finding:
    """A cell shows the expected value, typed in or computed."""
    workbook = after(case, args.file)
    sheet = workbook.sheet(args.sheet, args.cell)
    area = area_of(args.cell)
    place = (area.top, area.left)
    value = values_of(case, workbook, sheet, [place])[place]
    right = same_value(args.value, value, args.tolerance)
    formula = sheet.formula(*place)
    how = f" by {formula}" if formula else ""
    return Finding(float(right), f"{name_of(sheet, *place)} shows {shown(value)}{how}; expected {shown(args.value)}")


@mutants("calc.cell_value")
def other_values(case: Case, args: CellValue, rng: random.Random) -> Iterator[Mutant]:
    """Another value, none, the right one a cell further down, and the right one as a text."""
    workbook = after(case, args.file)
    sheet = workbook.sheet(args.sheet, args.cell)
    area = area_of(args.cell)
    ref, below = (at(sheet.name, address(area.top + down, area.left)) for down in (0, 1))
    value = args.value
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if number is None and isinstance(value, str):
        number = days(value)
    wrong = wrong_value(value, args.tolerance)
    yield Mutant("another value", edited(args.file, lambda book: book.set(ref, wrong)), note=f"{wrong!r}")
    if value is not None and value != "":
        yield Mutant("emptied", edited(args.file, lambda book: book.clear(ref)), only=False)

        def move(book: object) -> None:
            book.set(below, value if number is None or not isinstance(value, str) else number)  # type: ignore[attr-defined]
            book.clear(ref)  # type: ignore[attr-defined]

        yield Mutant("cell below", edited(args.file, move), only=False)
    if number is not None and not isinstance(value, str):
        yield Mutant("number as text", edited(args.file, lambda book: book.set(ref, f"{value} ")), audit=True)
    elif isinstance(value, str) and len(value) > 1:
        cut = value[:-1]
        yield Mutant("last letter missing", edited(args.file, lambda book: book.set(ref, cut)), audit=True)


def wrong_value(value: JSON, tolerance: float) -> JSON:
    """A value that could be taken for the right one and is not."""
    if isinstance(value, bool):
        return not value
    number = value if isinstance(value, int | float) else days(value) if isinstance(value, str) else None
    if number is not None:
        slipped = off_by_little(number)
        return number + 2 * tolerance if abs(slipped - number) <= tolerance else slipped
    return 1 if value is None else f"{value} 2"
