"""`calc.style`: how the cells of a range look."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from forge.harness.layers.office.python.sheetpatch import Book as Patch
from forge.harness.layers.office.python.sheetpatch.references import address
from preparers.calc.book import CellStyle
from verifiers.base import Case, Finding, Mutant, check, mutants
from verifiers.calc.compare import same_font
from verifiers.calc.opening import OnSheet, after, area_of, name_of, sheet_before
from verifiers.calc.spoiling import at, edited
from verifiers.credit import credit

_ASPECTS = (
    "bold",
    "italic",
    "underline",
    "strike",
    "fill",
    "color",
    "align",
    "vertical",
    "wrap",
    "size",
    "font",
    "border",
)


class Style(OnSheet):
    """A range and how it must look; what is None may be anything. Colours are RRGGBB, empty for none."""

    range: str
    bold: bool | None = None
    italic: bool | None = None
    underline: bool | None = None
    strike: bool | None = None
    fill: str | None = None
    color: str | None = None
    near: int = Field(0, ge=0, le=128, description="how far each of red, green and blue may be off (of 255)")
    align: Literal["left", "center", "right", "justify"] | None = None
    vertical: Literal["top", "center", "bottom"] | None = None
    wrap: bool | None = None
    size: float | None = Field(None, gt=0)
    font: str | None = None
    border: bool | None = Field(None, description="a line on all four sides of every cell, or on none")

    @field_validator("fill", "color")
    @classmethod
    def _capitals(cls, value: str | None) -> str | None:
        if value and (len(value) != 6 or set(value.upper()) - set("0123456789ABCDEF")):
            raise ValueError(f"{value!r} is no colour; write RRGGBB")
        return value.upper() if value else value

    @model_validator(mode="after")
    def _asks_something(self) -> Style:
        if all(getattr(self, name) is None for name in _ASPECTS):
            raise ValueError(f"says nothing about the look; give one of {', '.join(_ASPECTS)}")
        return self


@check("calc.style", Style, version=2)
def style(case: Case, args: Style) -> Finding:
    """Every cell of a range is bold, filled, aligned, ... as asked; conditional formats do not count.

    The score is the share of right cells among those that did not look so before.
    """
    sheet = after(case, args.file).sheet(args.sheet, args.range)
    places = list(area_of(args.range).cells())
    lacks = [_lacks(args, sheet.style(*place)) for place in places]
    wrong = [f"{name_of(sheet, *p)}: {', '.join(what)}" for p, what in zip(places, lacks, strict=True) if what]
    told = "; ".join(wrong[:3]) or f"{args.range} looks as asked"
    was = sheet_before(case, args.file, args.sheet, args.range)
    had = [was is not None and not _lacks(args, was[1].style(*place)) for place in places]
    return Finding(
        credit(had, [not what for what in lacks]),
        f"{told} ({len(places) - len(wrong)} of {len(places)} cells right, {sum(had)} before)",
    )


@mutants("calc.style")
def other_looks(case: Case, args: Style, rng: random.Random) -> Iterator[Mutant]:
    """Each aspect undone on the whole range and on its last cell."""
    sheet = after(case, args.file).sheet(args.sheet, args.range)
    area = area_of(args.range)
    whole = at(sheet.name, f"{address(area.top, area.left)}:{address(area.bottom, area.right)}")
    last = at(sheet.name, address(area.bottom, area.right))
    first = at(sheet.name, address(area.top, area.left))
    for aspect in _ASPECTS:
        undone = _undone(aspect, getattr(args, aspect))
        if undone is None:
            continue
        yield Mutant(f"{aspect} undone", edited(args.file, _styling(whole, undone)))
        if not area.single:
            yield Mutant(f"{aspect} undone in the last cell", edited(args.file, _styling(last, undone)))
            yield Mutant(f"{aspect} undone in the first cell", edited(args.file, _styling(first, undone)), audit=True)
        elif aspect in ("fill", "color") and getattr(args, aspect):
            inverted = {aspect: _inverted(getattr(args, aspect))}
            yield Mutant(f"{aspect} inverted", edited(args.file, _styling(last, inverted)), audit=True)
    if area.single:
        below = at(sheet.name, address(area.bottom + 1, area.right))
        yield Mutant("cell below instead", edited(args.file, _moving(args, last, below)), only=False, audit=True)


def _moving(args: Style, ref: str, below: str) -> Callable[[Patch], None]:
    """The first aspect asked for that can be undone, done on the cell below instead."""

    def edit(book: Patch) -> None:
        for aspect in _ASPECTS:
            undone = _undone(aspect, getattr(args, aspect))
            if undone is not None and aspect != "border":
                book.style(ref, **undone)
                book.style(below, **{aspect: getattr(args, aspect)})
                return

    return edit


def _styling(ref: str, look: dict[str, Any]) -> Callable[[Patch], None]:
    return lambda book: book.style(ref, **look)


def _lacks(args: Style, look: CellStyle) -> list[str]:
    found = []
    for name in ("bold", "italic", "strike", "wrap"):
        wanted, has = getattr(args, name), getattr(look, name)
        if wanted is not None and has != wanted:
            found.append(f"{'' if has else 'not '}{name}")
    if args.underline is not None and bool(look.underline) != args.underline:
        found.append("underlined" if look.underline else "not underlined")
    for name in ("fill", "color"):
        wanted, has = getattr(args, name), getattr(look, name)
        if wanted is not None and not _same_color(wanted, has, args.near, black=name == "color"):
            found.append(f"{name} {has or 'none'}, expected {wanted or 'none'}")
    if args.align is not None and look.horizontal != args.align:
        found.append(f"aligned {look.horizontal or 'by content'}, expected {args.align}")
    if args.vertical is not None and (look.vertical or "bottom") != args.vertical:
        found.append(f"vertically {look.vertical or 'bottom'}, expected {args.vertical}")
    if args.size is not None and abs(look.size - args.size) > 0.05:
        found.append(f"size {look.size:g}, expected {args.size:g}")
    if args.font is not None and not same_font(look.font, args.font):
        found.append(f"font {look.font or 'default'}, expected {args.font}")
    lines = [look.left, look.right, look.top, look.bottom]
    if args.border is not None and not (all(lines) if args.border else not any(lines)):
        found.append(f"lines on {sum(map(bool, lines))} of 4 sides")
    return found


def _same_color(wanted: str, has: str, near: int, *, black: bool) -> bool:
    if black:
        wanted, has = wanted or "000000", has or "000000"
    if not wanted or len(has) != 6:
        return wanted == has
    pairs = [(int(wanted[i : i + 2], 16), int(has[i : i + 2], 16)) for i in (0, 2, 4)]
    return all(abs(one - other) <= near for one, other in pairs)


def _undone(aspect: str, wanted: Any) -> dict[str, Any] | None:
    """What breaks an aspect, as sheetpatch's `style` takes it; None where it was not asked or cannot be undone."""
    if wanted is None:
        return None
    if aspect in ("bold", "italic", "underline", "wrap"):
        return {aspect: not wanted}
    if aspect == "fill":
        return {"fill": "" if wanted else "FFC7CE"}
    if aspect == "color":
        return {"color": _inverted(wanted or "000000")}
    if aspect == "align":
        return {"align": "left" if wanted != "left" else "right"}
    if aspect == "size":
        return {"size": wanted + 2}
    if aspect == "font":
        return {"font": "DejaVu Sans" if wanted.casefold() != "dejavu sans" else "Liberation Serif"}
    if aspect == "border":
        return {"border": {"bottom": "none" if wanted else "thin"}}
    return None


def _inverted(color: str) -> str:
    return f"{0xFFFFFF - int(color, 16):06X}" if color not in ("7F7F7F", "808080") else "FF0000"
