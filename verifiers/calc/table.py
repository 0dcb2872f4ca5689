"""`calc.table`: a table of values at a place."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import Field, model_validator

from forge.harness.layers.office.python.sheetpatch import Book as Patch
from forge.harness.layers.office.python.sheetpatch.references import address
from forge.records import JSON
from preparers.calc.book import Sheet
from verifiers.base import Case, Finding, Mutant, check, mutants
from verifiers.calc.cell import wrong_value
from verifiers.calc.compare import same_value
from verifiers.calc.opening import OnSheet, Place, after, area_of, name_of, sheet_before, shown
from verifiers.calc.spoiling import at, edited
from verifiers.calc.values import values_of
from verifiers.credit import credit


class Values(OnSheet):
    """Rows of values and where they begin."""

    at: str = Field(description="the upper left cell")
    rows: tuple[tuple[JSON, ...], ...] = Field(min_length=1, description="null: the cell is empty")
    tolerance: float = Field(1e-6, ge=0, description="numbers: allowed absolute difference")
    ordered: bool = Field(True, description="the rows stand in this order")
    alone: bool = Field(False, description="the row below and the column at the right are empty")

    @model_validator(mode="after")
    def _rectangular(self) -> Values:
        if len({len(row) for row in self.rows}) != 1 or not self.rows[0]:
            raise ValueError("all rows need the same number of values")
        return self


@check("calc.table", Values, version=3)
def table(case: Case, args: Values) -> Finding:
    """The cells from a place on show the expected rows of values.

    The score is the share of right cells (rows, where the order does not matter) among those that were wrong before. A
    sheet that is new was empty before.
    """
    workbook = after(case, args.file)
    sheet = workbook.sheet(args.sheet, args.at)
    places = _places(args)
    right, problems = _right(values_of(case, workbook, sheet, places), sheet, args)
    was = sheet_before(case, args.file, args.sheet, args.at)
    had = _right(dict.fromkeys(places) if was is None else values_of(case, *was, places), sheet, args)[0]
    told = "; ".join(problems[:3]) or f"all {len(args.rows) * len(args.rows[0])} cells from {args.at} are as expected"
    return Finding(credit(had, right), told + (f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""))


def _places(args: Values) -> list[Place]:
    """Rows and columns of the table's cells and, where it must be alone, of those around it."""
    start = area_of(args.at)
    height, width = len(args.rows) + args.alone, len(args.rows[0]) + args.alone
    return [(start.top + r, start.left + c) for r in range(height) for c in range(width)]


def _right(values: Mapping[Place, Any], sheet: Sheet, args: Values) -> tuple[list[bool], list[str]]:
    """Whether each cell (or row) is right and, where it must be, the table alone; and what is wrong, in words."""
    start = area_of(args.at)
    width, height = len(args.rows[0]), len(args.rows)
    right, problems = [], []
    if args.ordered:
        for r, row in enumerate(args.rows):
            for c, wanted in enumerate(row):
                place = start.top + r, start.left + c
                right.append(same_value(wanted, values[place], args.tolerance))
                if not right[-1]:
                    problems.append(f"{name_of(sheet, *place)} shows {shown(values[place])}, expected {shown(wanted)}")
    else:
        left = [[values[start.top + r, start.left + c] for c in range(width)] for r in range(height)]
        for row in args.rows:
            match = next((one for one in left if _same_row(row, one, args.tolerance)), None)
            right.append(match is not None)
            if match is None:
                problems.append(f"no row {', '.join(map(shown, row))}")
            else:
                left.remove(match)
    if not args.alone:
        return right, problems
    around = [p for p in values if p[0] - start.top >= height or p[1] - start.left >= width]
    stray = [place for place in around if values[place] not in (None, "")]
    problems += [f"{name_of(sheet, *place)} shows {shown(values[place])}, expected nothing" for place in stray]
    return [*right, not stray], problems


@mutants("calc.table")
def other_tables(case: Case, args: Values, rng: random.Random) -> Iterator[Mutant]:
    """One value off, the last row missing, two rows exchanged, a row too many, all of it one row lower."""
    sheet = after(case, args.file).sheet(args.sheet, args.at)
    start = area_of(args.at)
    spots = [(r, c) for r, row in enumerate(args.rows) for c, value in enumerate(row) if value not in (None, "")]
    if not spots:
        return
    numbers = [
        (r, c) for r, c in spots if isinstance(args.rows[r][c], int | float) and not isinstance(args.rows[r][c], bool)
    ]
    r, c = (numbers or spots)[int(rng.random() * len(numbers or spots))]
    spot = at(sheet.name, address(start.top + r, start.left + c))
    value = args.rows[r][c]
    wrong = wrong_value(value, args.tolerance)
    yield Mutant("one value off", edited(args.file, lambda book: book.set(spot, wrong)), note=f"{value!r} as {wrong!r}")
    height, width = len(args.rows), len(args.rows[0])
    bottom = start.top + height - 1
    last = at(sheet.name, f"{address(bottom, start.left)}:{address(bottom, start.left + width - 1)}")
    if height > 1:
        yield Mutant("last row missing", edited(args.file, lambda book: book.clear(last)))
    pair = next((i for i in range(height - 1) if not _same_row(args.rows[i], args.rows[i + 1], args.tolerance)), None)
    if args.ordered and pair is not None:
        yield Mutant(
            "two rows exchanged",
            edited(args.file, _exchange(args, sheet.name, start.top, start.left, pair)),
            audit=True,
        )
    else:
        text = at(sheet.name, address(start.top + spots[-1][0], start.left + spots[-1][1]))
        yield Mutant("last value as another text", edited(args.file, lambda book: book.set(text, "?")), audit=True)
    if args.alone:
        extra = at(sheet.name, address(start.top + height, start.left))
        yield Mutant("one row more", edited(args.file, lambda book: book.set(extra, "Sum")), only=False)


def _exchange(args: Values, sheet: str, top: int, left: int, pair: int) -> Callable[[Patch], None]:
    def edit(book: Patch) -> None:
        for column in range(len(args.rows[0])):
            one, other = (at(sheet, address(top + pair + down, left + column)) for down in (0, 1))
            first = book.formula(one) or book.cell(one)
            second = book.formula(other) or book.cell(other)
            book.set(one, second)
            book.set(other, first)

    return edit


def _same_row(wanted: tuple[JSON, ...], actual: Any, tolerance: float) -> bool:
    return all(same_value(one, other, tolerance) for one, other in zip(wanted, actual, strict=True))
