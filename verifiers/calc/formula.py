"""`calc.formula`: a cell, or every cell of a range, holds a formula that means what it should."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from pydantic import Field, field_validator

from forge.harness.layers.office.python.sheetpatch import Book as Patch
from forge.harness.layers.office.python.sheetpatch.formulas import Reference, references, rewritten, shifted, tokens
from forge.harness.layers.office.python.sheetpatch.references import address
from forge.records import VerifierError
from preparers.calc.book import Sheet
from verifiers.base import Case, Finding, Mutant, check, mutants
from verifiers.calc.meaning import compare_formulas
from verifiers.calc.opening import OnSheet, Place, Workbook, after, area_of, name_of, sheet_before
from verifiers.calc.spoiling import at, edited
from verifiers.calc.values import values_of
from verifiers.credit import credit

_OTHERS = {"SUM": "AVERAGE", "AVERAGE": "MEDIAN", "MAX": "MIN", "MIN": "MAX", "COUNT": "SUM", "COUNTA": "COUNTBLANK",
           "COUNTIF": "SUMIF", "SUMIF": "AVERAGEIF", "AVERAGEIF": "SUMIF", "SUMIFS": "AVERAGEIFS", "MEDIAN": "AVERAGE",
           "ROUND": "ROUNDDOWN", "IF": "IFS", "SUMPRODUCT": "SUM"}  # fmt: skip


class Formula(OnSheet):
    """A cell, or a range filled with one formula, and what it must mean."""

    cell: str = Field(description="C27, or a range such as D3:D26")
    means: str = Field(description="a formula of the same meaning, for the first cell of a range: =SUM(C3:C26)")
    tolerance: float = Field(1e-7, ge=0, description="numbers: allowed absolute difference")

    @field_validator("means")
    @classmethod
    def _is_formula(cls, value: str) -> str:
        if not value.startswith("=") or not tokens(value):
            raise ValueError(f"{value!r} is no formula; it begins with =")
        return value


@check("calc.formula", Formula, version=2)
def formula(case: Case, args: Formula) -> Finding:
    """A cell holds a formula that gives what the expected one gives, also after its inputs change; spelling is free.

    Of a range, cells that held a right formula before earn nothing.
    """
    workbook = after(case, args.file)
    sheet = workbook.sheet(args.sheet, args.cell)
    faults, right = _faults(case, workbook, sheet, args)
    was = sheet_before(case, args.file, args.sheet, args.cell)
    had: dict[Place, str] = {} if was is None else _faults(case, *was, args)[0]
    places = list(area_of(args.cell).cells())
    told = [*(faults[place] for place in places if faults[place]), *right]
    good = [not faults[place] for place in places]
    more = f" (and {len(told) - 3} more)" if len(told) > 3 else ""
    return Finding(
        credit([was is not None and not had[place] for place in places], good),
        f"{sum(good)} of {len(good)} right. " * (len(good) > 1) + "; ".join(told[:3]) + more,
    )


def _faults(case: Case, workbook: Workbook, sheet: Sheet, args: Formula) -> tuple[dict[Place, str], list[str]]:
    """What is wrong with each cell, empty where nothing is; and why the others are right."""
    area = area_of(args.cell)
    name = sheet.name.casefold()
    actual, expected = {}, {}
    faults: dict[Place, str] = {}
    for row, column in area.cells():
        held = sheet.formula(row, column)
        if held is None:
            value = sheet.value(row, column)
            what = "is empty" if value is None else f"holds the typed value {value!r}"
            faults[row, column] = f"{name_of(sheet, row, column)} {what}, no formula"
            continue
        actual[name, row, column] = held
        expected[name, row, column] = shifted(args.means, row - area.top, column - area.left)
    if not actual:
        return faults, []
    try:
        found = compare_formulas(
            case.office, workbook.book, actual, expected, args.tolerance, f"{args.file} {args.cell} {args.means}"
        )
    except ValueError as error:
        raise VerifierError(f"formula of {args.cell}, meant as {args.means}: {error}") from None
    right = []
    for (_, row, column), result in found.items():
        told = f"{name_of(sheet, row, column)}: {result.why}"
        faults[row, column] = "" if result.same else told
        right += [told] if result.same else []
    return faults, right


@mutants("calc.formula")
def wrong_formulas(case: Case, args: Formula, rng: random.Random) -> Iterator[Mutant]:
    """The value typed in, a range one row short, a neighbour's inputs, another function, the formula elsewhere."""
    workbook = after(case, args.file)
    sheet = workbook.sheet(args.sheet, args.cell)
    area = area_of(args.cell)
    places = [place for place in area.cells() if sheet.formula(*place) is not None]
    if not places:
        return
    last = places[-1]
    held = sheet.formula(*last) or ""
    value = values_of(case, workbook, sheet, [last])[last]
    plain = value if not isinstance(value, dict) else 0
    ref, below = (at(sheet.name, address(last[0] + down, last[1])) for down in (0, 1))
    here = last[0]

    def setting(text: object) -> Callable[[Patch], None]:
        return lambda book: book.set(ref, text)  # type: ignore[arg-type]

    yield Mutant("hard-coded value", edited(args.file, setting(plain)), note=f"{plain!r} instead of {held}")
    if isinstance(plain, int | float) and not isinstance(plain, bool):
        yield Mutant("typed into a formula", edited(args.file, setting(f"={plain!r}")))
    short = _shortened(args.means, here - area.top, last[1] - area.left)
    if short is not None:
        yield Mutant("range one row short", edited(args.file, setting(short)), note=short)
    else:
        beside = shifted(shifted(args.means, here - area.top, last[1] - area.left), -1 if here > 1 else 1, 0)
        yield Mutant("inputs of another row", edited(args.file, setting(beside)), note=beside)
    other = _other_function(shifted(args.means, here - area.top, last[1] - area.left))
    if other is not None:
        yield Mutant("another function", edited(args.file, setting(other)), note=other, audit=True)
    yield Mutant(
        "as text", edited(args.file, lambda book: book.set(ref, " " + held)), audit=True, note="a text, no formula"
    )
    if len(places) > 1:
        first = at(sheet.name, address(*places[0]))
        yield Mutant("first cell only", edited(args.file, _clearing(sheet.name, places[1:], first)), only=False)
    else:

        def move(book: Patch) -> None:
            book.set(below, held)
            book.clear(ref)

        yield Mutant("cell below", edited(args.file, move), only=False)


def _shortened(means: str, rows: int, columns: int) -> str | None:
    """The formula with the last row of its first range of several rows left out."""
    text = shifted(means, rows, columns)
    done = False

    def cut(reference: Reference) -> Reference:
        nonlocal done
        area = reference.area
        whole = reference.first[1] is None or reference.last is None
        if done or whole or area.bottom - area.top < 1:
            return reference
        done = True
        last = (reference.last[0], max(reference.first[1] or 1, reference.last[1] or 1) - 1)  # type: ignore[index]
        first = (reference.first[0], min(reference.first[1] or 1, last[1] + 1))
        return Reference(reference.sheet, first, last, reference.absolute)

    changed = rewritten(text, cut)
    return changed if done else None


def _other_function(text: str) -> str | None:
    found = tokens(text)
    for index, token in enumerate(found):
        name = token.text.upper()
        if token.kind == "function" and name in _OTHERS and references(text):
            pieces = [t.text for t in found]
            pieces[index] = _OTHERS[name]
            return "=" + "".join(pieces)
    return None


def _clearing(sheet: str, places: list[Place], kept: str) -> Callable[[Patch], None]:
    def edit(book: Patch) -> None:
        for place in places:
            book.clear(at(sheet, address(*place)))

    return edit
