"""`calc.filter`: an autofilter on a table, and which rows it leaves in view."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, Literal

from pydantic import Field, model_validator

from forge.harness.layers.office.python.sheetpatch import Book as Patch
from forge.harness.layers.office.python.sheetpatch.filters import COMPARISONS
from forge.harness.layers.office.python.sheetpatch.references import Area, address, column_number
from forge.records import JSON
from verifiers.base import Case, Finding, Mutant, check, mutants
from verifiers.calc.compare import days, same_value
from verifiers.calc.opening import OnSheet, after, area_of, shown
from verifiers.calc.spoiling import at, edited
from verifiers.calc.values import values_of


class Filtered(OnSheet):
    """A table with its header, and what is in view: values of a column, or those of a comparison."""

    range: str = Field(description="A2:E26, header included")
    column: str | None = Field(None, pattern=r"^[A-Z]{1,3}$", description="the column that is filtered; None: none is")
    values: tuple[JSON, ...] | None = Field(None, description="rows with one of these are in view")
    compare: Literal["=", "<>", ">", ">=", "<", "<="] | None = None
    value: float | str | None = Field(None, description="what `compare` compares with; dates as 2026-03-16")

    @model_validator(mode="after")
    def _complete(self) -> Filtered:
        asked = (self.values is not None) + (self.compare is not None)
        if asked != (self.column is not None) or (self.compare is not None) != (self.value is not None):
            raise ValueError("give a column with either values, or compare and value; or none of them")
        return self


@check("calc.filter", Filtered)
def filtered(case: Case, args: Filtered) -> Finding:
    """The table has filter buttons, and exactly the rows that fit are in view."""
    workbook = after(case, args.file)
    sheet = workbook.sheet(args.sheet, args.range)
    area = area_of(args.range)
    if sheet.filter is None:
        return Finding(0.0, f"sheet {sheet.name!r} has no autofilter; {len(sheet.hidden_rows)} rows are hidden")
    there = Area.parse(sheet.filter.area)
    # A program may let the buttons' area end at the last filled row, or one column further; what it must cover is the data.
    if there.top != area.top or not (
        there.left <= area.left and there.right >= area.right and there.bottom >= area.bottom
    ):
        return Finding(0.0, f"the autofilter covers {there}, expected {args.range}")
    hidden = {row for row in sheet.hidden_rows if area.top < row <= area.bottom}
    wanted = set()
    if args.column is not None:
        column = column_number(args.column)
        places = [(row, column) for row in range(area.top + 1, area.bottom + 1)]
        wanted = {
            place[0] for place, value in values_of(case, workbook, sheet, places).items() if not _fits(args, value)
        }
    if hidden != wanted:
        one = min(hidden ^ wanted)
        state = "hidden" if one in hidden else "in view"
        return Finding(
            0.0, f"row {one} is {state} and should not be; hidden are {len(hidden)} rows, expected {len(wanted)}"
        )
    if args.column is not None and not sheet.filter.columns and wanted:
        return Finding(0.0, f"{len(hidden)} rows are hidden by hand: the autofilter itself filters nothing")
    condition = "; ".join(sheet.filter.columns) or "no condition"
    return Finding(1.0, f"autofilter on {there}: {condition}; {len(hidden)} rows hidden as expected")


@mutants("calc.filter")
def other_filters(case: Case, args: Filtered, rng: random.Random) -> Iterator[Mutant]:
    """No filter at all, another condition, a table one row short, rows hidden by hand."""
    workbook = after(case, args.file)
    sheet = workbook.sheet(args.sheet, args.range)
    area = area_of(args.range)
    ref = at(sheet.name, f"{address(area.top, area.left)}:{address(area.bottom, area.right)}")
    short = at(sheet.name, f"{address(area.top, area.left)}:{address(area.bottom - 1, area.right)}")
    yield Mutant("no filter", edited(args.file, lambda book: book.autofilter(None, sheet.name)))
    if args.column is None:
        yield Mutant("one row short", edited(args.file, lambda book: book.autofilter(short)))
        letters = address(1, area.left).rstrip("1")
        first = sheet.value(area.top + 1, area.left)
        yield Mutant(
            "filtered by the first row",
            edited(args.file, _showing(ref, letters, [first])),
            audit=True,
        )
        return
    yield Mutant("buttons only", edited(args.file, lambda book: book.autofilter(ref)))
    column = column_number(args.column)
    places = [(row, column) for row in range(area.top + 1, area.bottom + 1)]
    values = list(values_of(case, workbook, sheet, places).values())
    others = [value for value in values if not _fits(args, value)]
    fitting = [value for value in values if _fits(args, value)]
    if others:
        other = others[0]
        yield Mutant(
            "another value",
            edited(args.file, _showing(ref, args.column, [other])),
            note=shown(other),
        )
        both = list({shown(v): v for v in [*fitting, other]}.values())
        yield Mutant("one value more", edited(args.file, _showing(ref, args.column, both)))
        visible = [place[0] for place, value in zip(places, values, strict=True) if not _fits(args, value)]

        def by_hand(book: Any) -> None:
            book.autofilter(ref)
            for row in visible:
                _hide(book, sheet.name, row)

        yield Mutant("hidden by hand", edited(args.file, by_hand), audit=True)


def _showing(ref: str, column: str, values: list[Any]) -> Callable[[Patch], None]:
    show: dict[str, Any] = {column: values}
    return lambda book: book.autofilter(ref, None, **show)


def _fits(args: Filtered, value: Any) -> bool:
    if args.values is not None:
        return any(same_value(wanted, value, 1e-6) or _told(wanted) == _told(value) for wanted in args.values)
    wanted = days(args.value) if isinstance(args.value, str) else args.value
    if wanted is None:
        equal = _told(args.value) == _told(value)
        return equal if args.compare == "=" else not equal if args.compare == "<>" else False
    if isinstance(value, bool) or not isinstance(value, int | float):
        return args.compare == "<>"
    return COMPARISONS[args.compare or "="][1](value, wanted)


def _told(value: Any) -> str:
    return "" if value is None else str(value).strip().casefold()


def _hide(book: Any, sheet: str, row: int) -> None:
    if hasattr(book, "worksheet"):
        book.worksheet(sheet).hide_row(row, True)
    else:
        book.table(sheet).hide_row(row, "collapse")
