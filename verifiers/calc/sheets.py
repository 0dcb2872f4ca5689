"""`calc.sheets`: which sheets a workbook has, and in which order."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from pydantic import Field

from forge.harness.layers.office.python.sheetpatch import Book as Patch
from verifiers.base import Case, Finding, Mutant, check, mutants
from verifiers.calc.opening import InFile, after, before
from verifiers.calc.spoiling import edited


class Sheets(InFile):
    """The names of sheets, letter by letter."""

    names: tuple[str, ...] = Field(min_length=1)
    order: bool = Field(True, description="they stand in this order")
    others: bool = Field(False, description="there may be more sheets")
    hidden: tuple[str, ...] | None = Field(None, description="exactly these are hidden; None: not looked at")


@check("calc.sheets", Sheets)
def sheets(case: Case, args: Sheets) -> Finding:
    """The workbook has the sheets of these names, in this order, and no others."""
    book = after(case, args.file).book
    names = book.sheet_names
    problems = [f"no sheet {name!r}" for name in args.names if name not in names]
    extra = [name for name in names if name not in args.names]
    if extra and not args.others:
        problems.append(f"unexpected {', '.join(map(repr, extra))}")
    there = [name for name in names if name in args.names]
    if args.order and there != [name for name in args.names if name in names]:
        problems.append(f"the order is {', '.join(map(repr, there))}")
    if args.hidden is not None:
        hidden = [sheet.name for sheet in book.sheets if sheet.state != "visible"]
        if set(hidden) != set(args.hidden):
            problems.append(
                f"hidden are {', '.join(map(repr, hidden)) or 'none'}, expected {', '.join(args.hidden) or 'none'}"
            )
    told = f"the sheets are {', '.join(map(repr, names))}"
    return Finding(float(not problems), f"{told}; {'; '.join(problems)}" if problems else told)


@mutants("calc.sheets")
def other_sheets(case: Case, args: Sheets, rng: random.Random) -> Iterator[Mutant]:
    """A wrong name, another order, one sheet too many, a hidden sheet shown; what the task itself changed, undone."""
    book = after(case, args.file).book
    old = before(case, args.file)
    known = old.book.sheet_names if old is not None else []
    new = [name for name in args.names if name not in known]
    renamed = bool(new) and len(book.sheets) == len(known)
    names = book.sheet_names
    for index, name in enumerate(new):
        wrong = _other_name(name, names)
        yield Mutant(
            f"misnamed {index + 1}",
            edited(args.file, _rename(name, wrong)),
            only=renamed,
            note=f"{name!r} as {wrong!r}",
        )
        yield Mutant(
            f"lower case {index + 1}", edited(args.file, _rename(name, _recased(name))), only=False, audit=True
        )
        if renamed and known:
            gone = next((other for other in known if other not in names), None)
            if gone is not None:
                yield Mutant(f"old name {index + 1}", edited(args.file, _rename(name, gone)), only=False)
    listed = [name for name in names if name in args.names]
    if args.order and len(listed) > 1:
        moved = new[0] if new and not renamed else listed[-1]
        position = len(names) - 1 if moved == listed[0] else 0
        yield Mutant(
            "other order", edited(args.file, lambda patch: patch.move_sheet(moved, position)), only=not renamed
        )
    if not new and listed:
        wrong = _other_name(listed[0], names)
        yield Mutant("one misnamed", edited(args.file, _rename(listed[0], wrong)), only=False, audit=True)
    if args.hidden is not None:
        for name in names:
            shown = name not in args.hidden
            if not (shown and len(names) - len(args.hidden) < 2):
                yield Mutant(
                    f"{name} {'hidden' if shown else 'shown'}", edited(args.file, _hide(name, shown)), only=not shown
                )
    if not args.others:
        extra = _other_name("Sheet9", names)
        yield Mutant(
            "one sheet more", edited(args.file, lambda patch: patch.add_sheet(extra)), only=False, audit=bool(new)
        )


def _other_name(name: str, taken: list[str]) -> str:
    """A name that is not taken, by a slip of the keyboard."""
    folded = {other.casefold() for other in taken}
    slips = [name[:-1], f"{name[:30]}s", f"{name[:29]} 1", f"{name[:28]}_2"]
    return next(slip for slip in slips if slip.strip() and slip.strip() == slip and slip.casefold() not in folded)


def _recased(name: str) -> str:
    return name.lower() if name != name.lower() else name.upper() if name != name.upper() else f"{name} "


def _rename(old: str, new: str) -> Callable[[Patch], None]:
    return lambda book: book.rename(old, new)


def _hide(name: str, hidden: bool) -> Callable[[Patch], None]:
    return lambda book: book.hide_sheet(name, hidden)
