"""`calc.cells`: what several cells show, one criterion over a list of cells."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from pydantic import Field, field_validator

from forge.harness.layers.office.python.sheetpatch.references import Area, address
from forge.records import JSON
from preparers.calc.book import Sheet
from verifiers.base import Case, Finding, Mutant, check, mutants
from verifiers.calc.cell import wrong_value
from verifiers.calc.compare import same_value
from verifiers.calc.opening import OnSheet, Place, Workbook, after, name_of, sheet_before, shown
from verifiers.calc.spoiling import at, edited
from verifiers.calc.values import values_of
from verifiers.credit import credit
from verifiers.items import as_mapping, told


class Cells(OnSheet):
    """Cells and the value that each must show."""

    cells: dict[str, JSON] = Field(
        min_length=1,
        description="cell (C27, or Data!C27) to number, text, truth or null, as a mapping or as a list of {cell, value}: "
        "\"${[{'cell': e.cell, 'value': e.amount} for e in entries]}\"; dates as 2026-03-16",
    )
    tolerance: float = Field(1e-6, ge=0, description="numbers: allowed absolute difference")

    @field_validator("cells", mode="before")
    @classmethod
    def _as_mapping(cls, value: Any) -> Any:
        return as_mapping(value, "cell", "value")

    @field_validator("cells")
    @classmethod
    def _plain_values_of_single_cells(cls, value: dict[str, JSON]) -> dict[str, JSON]:
        for ref, wanted in value.items():
            area = Area.parse(ref)
            if (area.top, area.left) != (area.bottom, area.right):
                raise ValueError(f"{ref} is no single cell")
            if isinstance(wanted, dict | list | tuple):
                raise ValueError(f"{ref}: {wanted!r} is no value of a cell")
        return value


@check("calc.cells", Cells)
def cells(case: Case, args: Cells) -> Finding:
    """Several cells show what each should, typed in or computed; the score is the share of those that were wrong before."""
    workbook = after(case, args.file)
    now = _values(case, workbook, args)
    was = _before(case, args)
    right = [same_value(wanted, now[ref][1], args.tolerance) for ref, wanted in args.cells.items()]
    had = [ref in was and same_value(wanted, was[ref][1], args.tolerance) for ref, wanted in args.cells.items()]
    wrong = [
        f"{now[ref][0]} shows {shown(now[ref][1])}, expected {shown(wanted)}"
        for (ref, wanted), good in zip(args.cells.items(), right, strict=True)
        if not good
    ]
    return Finding(credit(had, right), told(right, had, wrong, "cells"))


@mutants("calc.cells")
def other_cells(case: Case, args: Cells, rng: random.Random) -> Iterator[Mutant]:
    """One cell with another value, emptied, as it was, or as a text; two cells exchanged."""
    workbook = after(case, args.file)
    refs = list(args.cells)
    ref = refs[int(rng.random() * len(refs))]
    value = args.cells[ref]
    wrong = wrong_value(value, args.tolerance)
    spot = _spot(workbook, args, ref)
    yield Mutant("one another value", edited(args.file, lambda book: book.set(spot, wrong)), note=f"{ref}: {wrong!r}")
    filled = [one for one in refs if args.cells[one] not in (None, "")]
    if filled:
        last = _spot(workbook, args, filled[-1])
        yield Mutant("one emptied", edited(args.file, lambda book: book.clear(last)), only=False, note=filled[-1])
        text = f"{args.cells[filled[0]]} (?)"
        first = _spot(workbook, args, filled[0])
        yield Mutant("one with a remark", edited(args.file, lambda book: book.set(first, text)), audit=True)
    other = next((one for one in refs if not same_value(args.cells[one], value, args.tolerance)), None)
    if other is not None and value is not None and args.cells[other] is not None:
        swapped = _spot(workbook, args, other)
        beside = args.cells[other]

        def swap(book: Any) -> None:
            book.set(spot, beside)
            book.set(swapped, value)

        yield Mutant("two exchanged", edited(args.file, swap), audit=True, note=f"{ref} and {other}")


def _values(case: Case, workbook: Workbook, args: Cells) -> dict[str, tuple[str, Any]]:
    """Reference to the cell's name and what it shows.

    Raises AgentFault (on the agent's side) or PreparerError when a sheet is not there.
    """
    by_sheet: dict[str, tuple[Sheet, dict[str, Place]]] = {}
    for ref in args.cells:
        area = Area.parse(ref)
        sheet = workbook.sheet(area.sheet or args.sheet)
        by_sheet.setdefault(sheet.name, (sheet, {}))[1][ref] = (area.top, area.left)
    found: dict[str, tuple[str, Any]] = {}
    for sheet, places in by_sheet.values():
        values = values_of(case, workbook, sheet, list(places.values()))
        found |= {ref: (name_of(sheet, *place), values[place]) for ref, place in places.items()}
    return {ref: found[ref] for ref in args.cells}


def _before(case: Case, args: Cells) -> dict[str, tuple[str, Any]]:
    """The same of the workbook as it was; nothing where it, or a sheet of it, is new."""
    names = {Area.parse(ref).sheet or args.sheet for ref in args.cells}
    known = [workbook for workbook, _ in filter(None, (sheet_before(case, args.file, name) for name in names))]
    return _values(case, known[0], args) if len(known) == len(names) else {}


def _spot(workbook: Workbook, args: Cells, ref: str) -> str:
    area = Area.parse(ref)
    return at(workbook.sheet(area.sheet or args.sheet).name, address(area.top, area.left))
