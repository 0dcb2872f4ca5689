"""`calc.number_format`: how a range shows its numbers, by class and not by code."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from forge.harness.layers.office.python.sheetpatch.references import address
from preparers.calc.formats import NumberFormat, classify, compose
from verifiers.base import Case, Finding, Mutant, check, mutants
from verifiers.calc.opening import OnSheet, after, area_of, name_of, sheet_before
from verifiers.calc.spoiling import at, edited
from verifiers.credit import credit

Kind = Literal["general", "number", "currency", "percent", "date", "time", "datetime", "scientific", "text", "boolean"]


class Format(OnSheet):
    """A range and the class of its number format; what is None may be anything."""

    range: str
    kind: Kind
    decimals: int | None = Field(None, ge=0, le=15)
    symbol: str | None = Field(None, description="of a currency, e.g. €; EUR and € are one")
    thousands: bool | None = None


_SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥"}


@check("calc.number_format", Format, version=2)
def number_format(case: Case, args: Format) -> Finding:
    """Every cell of a range has a number format of this kind (currency, percent, date, ...), with these decimals.

    The score is the share of right cells among those that had another format before.
    """
    sheet = after(case, args.file).sheet(args.sheet, args.range)
    places = list(area_of(args.range).cells())
    lacks = [_lacks(args, classify(sheet.style(*place).number_format)) for place in places]
    wrong = [
        f"{name_of(sheet, *place)} has {sheet.style(*place).number_format!r}: {what}"
        for place, what in zip(places, lacks, strict=True)
        if what
    ]
    told = "; ".join(wrong[:3]) or f"{args.range} has {sheet.style(*places[0]).number_format!r}"
    was = sheet_before(case, args.file, args.sheet, args.range)
    had = [was is not None and not _lacks(args, classify(was[1].style(*place).number_format)) for place in places]
    return Finding(
        credit(had, [not what for what in lacks]),
        f"{told} ({len(places) - len(wrong)} of {len(places)} cells right, {sum(had)} before)",
    )


@mutants("calc.number_format")
def other_formats(case: Case, args: Format, rng: random.Random) -> Iterator[Mutant]:
    """The default format, other decimals, another currency, another kind; on the whole range or on its last cell."""
    sheet = after(case, args.file).sheet(args.sheet, args.range)
    area = area_of(args.range)
    whole = at(sheet.name, f"{address(area.top, area.left)}:{address(area.bottom, area.right)}")
    last = at(sheet.name, address(area.bottom, area.right))
    if args.kind == "general":
        yield Mutant("not the default", edited(args.file, lambda book: book.number_format(whole, "0.00")))
        yield Mutant("as percent", edited(args.file, lambda book: book.number_format(last, "0%")), audit=True)
        return
    yield Mutant("default format", edited(args.file, lambda book: book.number_format(whole, "General")))
    numeric = args.kind in ("number", "currency", "percent")
    decimals = args.decimals if args.decimals is not None else 2
    symbol = args.symbol or "€"
    if not area.single:
        yield Mutant("last cell default", edited(args.file, lambda book: book.number_format(last, "General")))
    if numeric and args.decimals is not None:
        code = compose(args.kind, 0 if decimals else 2, symbol)
        yield Mutant("other decimals", edited(args.file, lambda book: book.number_format(whole, code)), note=code)
        more = compose(args.kind, decimals + 1, symbol)
        yield Mutant(
            "one more decimal", edited(args.file, lambda book: book.number_format(last, more)), audit=True, note=more
        )
    if args.kind == "currency" and args.symbol is not None:
        other = compose("currency", decimals, "$" if args.symbol != "$" else "€")
        yield Mutant("other currency", edited(args.file, lambda book: book.number_format(whole, other)), note=other)
    if args.kind != "text":
        yield Mutant("as text", edited(args.file, lambda book: book.number_format(whole, "@")), audit=True)
    else:
        yield Mutant("as number", edited(args.file, lambda book: book.number_format(whole, "0")), audit=True)


def _lacks(args: Format, found: NumberFormat) -> str:
    if found.kind != args.kind:
        return f"that is {found.kind}, expected {args.kind}"
    if args.decimals is not None and found.decimals != args.decimals:
        return f"{found.decimals} decimals, expected {args.decimals}"
    if args.symbol is not None and _SYMBOLS.get(found.symbol, found.symbol) != _SYMBOLS.get(args.symbol, args.symbol):
        return f"currency {found.symbol or 'none'}, expected {args.symbol}"
    if args.thousands is not None and found.thousands != args.thousands:
        return f"thousands {'parted' if found.thousands else 'not parted'}"
    return ""
