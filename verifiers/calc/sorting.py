"""`calc.sorted`: the rows of a table are the ones there were, in another order."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import Field, field_validator

from forge.harness.layers.office.python.sheetpatch import Book as Patch
from forge.harness.layers.office.python.sheetpatch.references import Area, address, column_letters, column_number
from forge.harness.layers.office.python.sheetpatch.values import sort_key
from forge.records import PreparerError
from verifiers.base import Args, Case, Finding, Mutant, check, mutants
from verifiers.calc.opening import OnSheet, after, area_of, before, name_of, shown
from verifiers.calc.spoiling import at, edited
from verifiers.calc.values import values_of


class SortKey(Args):
    """A column, by its letters, and a direction."""

    column: str = Field(pattern=r"^[A-Z]{1,3}$")
    descending: bool = False


class Sorted(OnSheet):
    """Rows of data, without their header, and what they are sorted by."""

    range: str = Field(description="A3:E26: whole rows of the table, no header, no total")
    keys: tuple[SortKey, ...] = Field(min_length=1)

    @field_validator("range")
    @classmethod
    def _several_rows(cls, value: str) -> str:
        area = Area.parse(value)
        if area.bottom == area.top:
            raise ValueError(f"{value!r} is one row; nothing to sort")
        return value


@check("calc.sorted", Sorted)
def in_order(case: Case, args: Sorted) -> Finding:
    """The rows stand in the order asked for, and each is whole: the same rows as before, none torn, none lost."""
    workbook = after(case, args.file)
    sheet = workbook.sheet(args.sheet, args.range)
    area = area_of(args.range)
    rows = _rows(values_of(case, workbook, sheet, area.cells()), area)
    origin = before(case, args.file)
    if origin is None:
        raise PreparerError(f"{args.file} was not there before; calc.sorted compares with the rows that were")
    was = origin.sheet(args.sheet, args.range)
    old = _rows(values_of(case, origin, was, area.cells()), area)
    lost = Counter(map(_row_key, old)) - Counter(map(_row_key, rows))
    if lost:
        gone = next(row for row in old if _row_key(row) in lost)
        told = ", ".join(shown(value) for value in gone[:6])
        return Finding(0.0, f"{sum(lost.values())} of {len(old)} rows are not there any more as they were, e.g. {told}")
    for upper, lower in zip(range(len(rows) - 1), range(1, len(rows)), strict=True):
        for key in args.keys:
            column = column_number(key.column) - area.left
            one, other = rows[upper][column], rows[lower][column]
            verdict = _compare(one, other, key.descending)
            if verdict > 0:
                place = name_of(sheet, area.top + upper, column_number(key.column))
                falling = "descending" if key.descending else "ascending"
                return Finding(0.0, f"{place} shows {shown(one)} above {shown(other)}: not {falling}")
            if verdict < 0:
                break
    told = ", ".join(f"{key.column} {'descending' if key.descending else 'ascending'}" for key in args.keys)
    return Finding(1.0, f"{args.range} is sorted by {told}; all {len(rows)} rows are whole")


@mutants("calc.sorted")
def other_orders(case: Case, args: Sorted, rng: random.Random) -> Iterator[Mutant]:
    """The other direction, two rows exchanged, the key column sorted without its rows, another column, as before."""
    workbook = after(case, args.file)
    sheet = workbook.sheet(args.sheet, args.range)
    area = area_of(args.range)
    ref = at(sheet.name, f"{address(area.top, area.left)}:{address(area.bottom, area.right)}")
    letters = [key.column for key in args.keys]
    falling = [key.descending for key in args.keys]
    rows = _rows(values_of(case, workbook, sheet, area.cells()), area)

    def sort(columns: list[str], directions: list[bool]) -> Callable[[Patch], None]:
        return lambda book: book.sort(ref, columns, directions)

    yield Mutant("other direction", edited(args.file, sort(letters, [not down for down in falling])))
    if len(letters) > 1:
        yield Mutant(
            "second key ignored", edited(args.file, sort(letters, [falling[0], *(not d for d in falling[1:])]))
        )
    column = column_number(letters[0]) - area.left
    pair = next((i for i in range(len(rows) - 1) if _compare(rows[i][column], rows[i + 1][column], False) != 0), None)
    if pair is not None:
        upper, lower = area.top + pair, area.top + pair + 1
        yield Mutant("two rows exchanged", edited(args.file, _exchange(sheet.name, area, upper, lower)), audit=True)
    torn = _torn(rows, column)
    if torn is not None:
        place, value = torn
        cell = at(sheet.name, address(area.top + place[0], area.left + place[1]))
        twin = at(sheet.name, address(area.top + value[0], area.left + value[1]))
        if all(sheet.formula(area.top + r, area.left + c) is None for r, c in (place, value)):
            yield Mutant(
                "rows torn apart", edited(args.file, _swap(cell, twin)), note="two cells of a column exchanged"
            )
    other = next(
        (c for c in range(area.right - area.left + 1) if c != column and len({_text(r[c]) for r in rows}) > 2), None
    )
    if other is not None:
        by = column_letters(area.left + other)
        yield Mutant("by another column", edited(args.file, sort([by], [False])), note=by)


def _rows(values: dict[tuple[int, int], Any], area: Area) -> list[list[Any]]:
    columns = range(area.left, area.right + 1)
    return [[values[row, column] for column in columns] for row in range(area.top, area.bottom + 1)]


def _row_key(row: list[Any]) -> tuple[str, ...]:
    return tuple(_text(value) for value in row)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return f"error {value.get('error')}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"number {value:.10g}"
    return "" if value in (None, "") else f"{type(value).__name__} {value}"


def _compare(one: Any, other: Any, descending: bool) -> int:
    """Below 0 when `one` belongs before `other`, 0 when either order will do. Empty cells come last both ways."""
    empty = [value is None or value == "" for value in (one, other)]
    if any(empty):
        return empty[0] - empty[1]
    left, right = _order(one), _order(other)
    if left == right:
        return 0
    return -1 if (left < right) != descending else 1


def _order(value: Any) -> Any:
    return (3, 0.0, ()) if isinstance(value, dict) else sort_key(value)


def _exchange(sheet: str, area: Area, upper: int, lower: int) -> Callable[[Patch], None]:
    """Two neighbouring rows in the other order, by sorting them by a column in which they differ."""

    def edit(book: Patch) -> None:
        ref = at(sheet, f"{address(upper, area.left)}:{address(lower, area.right)}")
        rows = book.rows(ref)
        for offset in range(area.right - area.left + 1):
            one, other = rows[0][offset], rows[1][offset]
            if one not in (None, "") and other not in (None, "") and sort_key(one) != sort_key(other):
                down = sort_key(one) < sort_key(other)
                book.sort(ref, column_letters(area.left + offset), down)
                return

    return edit


def _torn(rows: list[list[Any]], key: int) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Two cells of a column that is no key, in different rows and with different values; by (row, column) offsets."""
    for column in range(len(rows[0])):
        if column == key:
            continue
        for row in range(len(rows) - 1):
            one, other = rows[row][column], rows[row + 1][column]
            if _text(one) != _text(other) and _row_key(rows[row][:column]) != _row_key(rows[row + 1][:column]):
                return (row, column), (row + 1, column)
    return None


def _swap(one: str, other: str) -> Callable[[Patch], None]:
    def edit(book: Patch) -> None:
        first, second = book.cell(one), book.cell(other)
        book.set(one, second)
        book.set(other, first)

    return edit
