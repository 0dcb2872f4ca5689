"""`calc.changed_elsewhere`: nothing of a workbook but what the task is about has changed.

The final file is compared with the original by meaning. LibreOffice rewrites every part of a file that it saves, so a file
that it saved is compared with a save of the untouched original by the same program; what that leaves out (frozen panes,
without a window) is taken from the original itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, Literal

from pydantic import Field, field_validator

from forge.harness.layers.office.python.sheetpatch import Book as Patch
from forge.harness.layers.office.python.sheetpatch.references import Area, address
from forge.harness.layers.office.python.sheetpatch.xlsx import XlsxBook
from forge.records import PreparerError, VerifierError
from preparers.calc.book import Book, Sheet, read_book
from verifiers.base import Case, Finding, Mutant, check, mutants
from verifiers.calc.differences import ASPECTS, SOFT, Allowed, Difference, differences
from verifiers.calc.opening import InFile, Workbook, after, opened
from verifiers.calc.spoiling import at, edited

SHOWN = 5
"""Differences that the evidence lists."""


class Elsewhere(InFile):
    """A workbook and what of it may change; everything else must be as it was."""

    allow: tuple[str, ...] = Field(
        (), description="cells and ranges: C27, Data!A3:E26, Data!C:C; all about them may change"
    )
    looks: tuple[str, ...] = Field((), description="cells and ranges of which only the look may change")
    aspects: tuple[str, ...] = Field((), description=f"{', '.join(ASPECTS)}; each also as aspect@sheet")
    renamed: dict[str, str] = Field(default_factory=dict, description="sheets that get another name: old to new")
    added: tuple[str, ...] = Field((), description="sheets that are added")
    removed: tuple[str, ...] = Field((), description="sheets that are removed")
    against: Literal["before", "gold"] = Field(
        "before", description="what to compare with: the original, or a gold file"
    )

    @field_validator("allow", "looks")
    @classmethod
    def _areas(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for ref in value:
            Area.parse(ref)
        return value

    @field_validator("aspects")
    @classmethod
    def _known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for aspect in value:
            if aspect.partition("@")[0] not in ASPECTS:
                raise ValueError(f"unknown aspect {aspect!r}; there are {', '.join(ASPECTS)}")
        return value


@check("calc.changed_elsewhere", Elsewhere)
def changed_elsewhere(case: Case, args: Elsewhere) -> Finding:
    """Nothing but what is allowed has changed: values, formulas, looks, sheets, charts, pictures, filters, names, notes."""
    final = after(case, args.file)
    original = _original(case, args)
    allowed = _allowed(args, original.book)
    best: list[Difference] | None = None
    for reference in _references(case, original, final):
        found = differences(reference, final.book, allowed)
        if best is None or len(found) < len(best):
            best = found
        # Values and formulas are the same in every save of the original: another reference absolves nothing.
        if not found or any(difference.kind not in SOFT for difference in found):
            break
    assert best is not None
    if not best:
        return Finding(1.0, "nothing else changed")
    best.sort(key=lambda difference: difference.kind in SOFT)
    told = "; ".join(difference.text for difference in best[:SHOWN])
    return Finding(0.0, f"{len(best)} other changes: {told}{' ...' if len(best) > SHOWN else ''}")


def _references(case: Case, original: Workbook, final: Workbook) -> Iterator[Book]:
    """What to compare with: the original, and what LibreOffice makes of it, where LibreOffice may have saved the file."""
    yield original.book
    if final.suffix != ".csv" and case.office is not None and final.book.producer.startswith("LibreOffice"):
        yield _saved_by_office(case, original)


def _saved_by_office(case: Case, original: Workbook) -> Book:
    assert case.office is not None
    try:
        data = case.office.convert(original.data, original.suffix, original.suffix)
        book = read_book(data, original.suffix, original.file)
    except PreparerError as error:
        raise VerifierError(f"the original {original.file} cannot be saved by LibreOffice: {error.message}") from error
    for sheet in book.sheets:
        twin = original.book.sheet(sheet.name)
        if twin is not None:
            sheet.freeze = twin.freeze
    return book


def _original(case: Case, args: Elsewhere) -> Workbook:
    tree = case.before if args.against == "before" else case.gold
    if tree is None or not tree.exists(args.file):
        raise VerifierError(f"there is no {args.file} {args.against} to compare with")
    return opened(tree, args.file)


def _allowed(args: Elsewhere, original: Book) -> Allowed:
    back = {new.casefold(): old for old, new in args.renamed.items()}

    def by_sheet(refs: tuple[str, ...]) -> dict[str, list[Area]]:
        found: dict[str, list[Area]] = {}
        for ref in refs:
            area = Area.parse(ref)
            name = area.sheet or original.sheets[0].name
            found.setdefault(back.get(name.casefold(), name).casefold(), []).append(area)
        return found

    return Allowed(
        by_sheet(args.allow),
        by_sheet(args.looks),
        frozenset(args.aspects),
        args.renamed,
        args.added,
        args.removed,
    )


@mutants("calc.changed_elsewhere")
def over_edits(case: Case, args: Elsewhere, rng: random.Random) -> Iterator[Mutant]:
    """Over-edits: another cell written, changed, emptied or restyled; a formula frozen; sheets, charts, names touched."""
    final = after(case, args.file)
    original = _original(case, args)
    allowed = _allowed(args, original.book)
    file = args.file
    known = {sheet.name.casefold(): sheet for sheet in original.book.sheets}
    forward = {old.casefold(): new for old, new in args.renamed.items()}
    pairs = []
    for name, old in known.items():
        now = final.book.sheet(forward.get(name, old.name))
        if now is not None:
            pairs.append((old, now))
    if not pairs:
        return
    yield from _cell_edits(file, pairs, allowed, rng)
    yield from _sheet_edits(file, pairs, final, allowed)
    if final.suffix == ".xlsx":
        yield from _part_edits(file, pairs, original.book, allowed)


def _cell_edits(file: str, pairs: list[tuple[Sheet, Sheet]], allowed: Allowed, rng: random.Random) -> Iterator[Mutant]:
    old, now = max(pairs, key=lambda pair: len(pair[0].cells))
    used = now.used() or (1, 1, 1, 1)
    far = (used[2] + 5, used[3] + 3)
    if not allowed.cell(old.name, far):
        stray = at(now.name, address(*far))
        yield Mutant("stray value", edited(file, lambda book: book.set(stray, "x")), note=stray)
        if not allowed.look(old.name, far) and not allowed.aspect("styles", old.name):
            yield Mutant("stray fill", edited(file, lambda book: book.style(stray, fill="FFC000")), audit=True)
    touchable = [
        (one, other, place)
        for one, other in pairs
        for place in one.filled()
        if place in other.cells and not allowed.cell(one.name, place) and not other.cells[place].array
    ]
    plain = [(s, n, p) for s, n, p in touchable if n.formula(*p) is None and isinstance(n.value(*p), str)]
    numbers = [(s, n, p) for s, n, p in touchable if n.formula(*p) is None and _is_number(n.value(*p))]
    formulas = [(s, n, p) for s, n, p in touchable if n.formula(*p) is not None]
    if plain:
        one, other, place = plain[int(rng.random() * len(plain))]
        ref, text = at(other.name, address(*place)), str(other.value(*place))
        yield Mutant("another text", edited(file, lambda book: book.set(ref, text + "s")), only=False, note=ref)
        if not allowed.look(one.name, place) and not allowed.aspect("styles", one.name):
            bold = not other.style(*place).bold
            yield Mutant("restyled", edited(file, lambda book: book.style(ref, bold=bold)), only=False, note=ref)
    if numbers:
        _, other, place = numbers[int(rng.random() * len(numbers))]
        number = at(other.name, address(*place))
        value = other.value(*place)
        yield Mutant(
            "another number",
            edited(file, lambda book: book.set(number, float(value or 0) + 1)),
            only=False,
            note=number,
        )
        yield Mutant("emptied", edited(file, lambda book: book.clear(number)), only=False, audit=True, note=number)
    if formulas:
        _, other, place = formulas[int(rng.random() * len(formulas))]
        held = at(other.name, address(*place))
        result = other.value(*place)
        yield Mutant("formula frozen", edited(file, lambda book: book.set(held, result)), only=False, note=held)


def _sheet_edits(file: str, pairs: list[tuple[Sheet, Sheet]], final: Workbook, allowed: Allowed) -> Iterator[Mutant]:
    last, shown = pairs[-1]
    if last.name.casefold() not in {name.casefold() for name in allowed.renamed}:
        yield Mutant(
            "sheet renamed", edited(file, lambda book: book.rename(shown.name, f"{shown.name[:28]}_x")), only=False
        )
    if not allowed.aspect("sheets.added"):
        taken = {name.casefold() for name in final.book.sheet_names}
        name = next(name for name in ("Sheet7", "Sheet8", "Sheet9") if name.casefold() not in taken)
        yield Mutant("sheet added", edited(file, lambda book: book.add_sheet(name)), only=False)
    if len(pairs) > 1 and not allowed.aspect("sheets.order"):
        first = pairs[0][1].name
        yield Mutant(
            "sheets reordered", edited(file, lambda book: book.move_sheet(first, len(book.sheets) - 1)), only=False
        )
    for one, other in pairs:
        if one.state != "visible" and not allowed.aspect("sheets.hidden", one.name):
            yield Mutant("hidden sheet shown", edited(file, _shown(other.name)), only=False)
            break


def _shown(sheet: str) -> Callable[[Patch], None]:
    return lambda book: book.hide_sheet(sheet, False)


def _part_edits(file: str, pairs: list[tuple[Sheet, Sheet]], original: Book, allowed: Allowed) -> Iterator[Mutant]:
    for one, other in pairs:
        if (one.charts or one.pictures or one.shapes) and not any(
            allowed.aspect(kind, one.name) for kind in ("charts", "pictures", "shapes")
        ):
            yield Mutant("drawings dropped", edited(file, _without(other.name, "drawing")), only=False)
        if one.conditional and not allowed.aspect("conditional", one.name):
            yield Mutant(
                "conditional format dropped", edited(file, _without(other.name, "conditionalFormatting")), only=False
            )
        if one.validation and not allowed.aspect("validation", one.name):
            yield Mutant("validation dropped", edited(file, _without(other.name, "dataValidations")), only=False)
        if one.merged and not allowed.aspect("merged", one.name):
            yield Mutant("merged cells parted", edited(file, _without(other.name, "mergeCells")), only=False)
        if one.freeze != (0, 0) and not allowed.aspect("freeze", one.name):
            yield Mutant("panes freed", edited(file, _unfrozen(other.name)), only=False)
        if one.widths and not allowed.aspect("widths", one.name):
            yield Mutant("widths reset", edited(file, _without(other.name, "cols")), only=False, audit=True)
        break
    if original.names and not allowed.aspect("names"):
        yield Mutant("names dropped", edited(file, _without_names), only=False, audit=True)


def _without(sheet: str, local: str) -> Callable[[Patch], None]:
    """All children of a worksheet with this name taken out."""

    def edit(book: Patch) -> None:
        assert isinstance(book, XlsxBook)
        root = book.worksheet(sheet).change()
        for node in root.all(local):
            root.remove(node)

    return edit


def _without_names(book: Patch) -> None:
    assert isinstance(book, XlsxBook)
    root = book.package.document("xl/workbook.xml", change=True)
    for node in root.all("definedNames"):
        root.remove(node)


def _unfrozen(sheet: str) -> Callable[[Patch], None]:
    def edit(book: Patch) -> None:
        assert isinstance(book, XlsxBook)
        book.freeze(at(sheet, "A1"))

    return edit


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
