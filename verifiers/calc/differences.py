"""In what two workbooks differ by meaning: cells, looks, and everything around them, each difference in one line.

Values that formulas give are not compared: they follow from formulas and inputs, which are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

from forge.harness.layers.office.python.sheetpatch.formulas import canonical, renamed
from forge.harness.layers.office.python.sheetpatch.references import Area, address
from preparers.calc.book import Book, Cell, CellStyle, Chart, Sheet
from verifiers.calc.compare import close, plain, same_font

ASPECTS = {
    "sheets.added": "sheets may be added",
    "sheets.removed": "sheets may be removed",
    "sheets.order": "the sheets may stand in another order",
    "sheets.hidden": "sheets may be hidden or shown",
    "styles": "cells anywhere may look different",
    "merged": "cells may be merged or parted",
    "widths": "columns may have another width",
    "heights": "rows may have another height",
    "rows.hidden": "rows may be hidden or shown",
    "columns.hidden": "columns may be hidden or shown",
    "freeze": "rows and columns may be frozen or freed",
    "filter": "the autofilter may change, with the rows that it hides",
    "conditional": "conditional formats may change",
    "validation": "what cells accept may change",
    "notes": "comments may change",
    "links": "hyperlinks may change",
    "charts.added": "charts may be added",
    "charts": "charts may change in any way",
    "pictures": "pictures may change",
    "shapes": "shapes may change",
    "names": "defined names may change",
    "page": "the page set-up may change",
    "tab.color": "colours of tabs may change",
    "protection": "sheets may be protected or freed",
}
"""What may be allowed besides cells; each also as `aspect@sheet`, for one sheet only."""

SOFT = {
    "style",
    "page",
    "widths",
    "heights",
    "conditional",
    "validation",
    "charts",
    "shapes",
    "notes",
    "freeze",
    "links",
}
"""Kinds of differences that come from another program's way of writing as easily as from an edit."""


@dataclass(frozen=True)
class Difference:
    """One difference. `kind` tells what of: cell, style, sheet, or an aspect."""

    kind: str
    text: str


@dataclass
class Allowed:
    """What may differ.

    Args:
        cells: sheet name in lower case to areas; everything about these cells may change.
        looks: the same, for how the cells look only.
        aspects: keys of ASPECTS, with or without `@sheet`.
        renamed: old name of a sheet to its new one.
        added, removed: names of sheets.
    """

    cells: Mapping[str, list[Area]] = field(default_factory=dict)
    looks: Mapping[str, list[Area]] = field(default_factory=dict)
    aspects: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def aspect(self, name: str, sheet: str = "") -> bool:
        """Whether an aspect may change, anywhere or on this sheet."""
        return name in self.aspects or f"{name}@{sheet}".casefold() in {a.casefold() for a in self.aspects}

    def cell(self, sheet: str, place: tuple[int, int]) -> bool:
        """Whether everything about a cell may change."""
        return any(place in area for area in self.cells.get(sheet.casefold(), ()))

    def look(self, sheet: str, place: tuple[int, int]) -> bool:
        """Whether the look of a cell may change."""
        return any(place in area for area in self.looks.get(sheet.casefold(), ()))


def differences(old: Book, new: Book, allowed: Allowed) -> list[Difference]:
    """All differences that are not allowed. Sheets are matched by name; renamed ones by the name they should have now,
    or, failing that, as the one sheet that is left over."""
    found: list[Difference] = []
    pairs = _paired(old, new, allowed, found)
    if not allowed.aspect("sheets.order"):
        there = [other.name for other in new.sheets if any(other is twin for _, twin in pairs)]
        wanted = [twin.name for _, twin in pairs]
        if there != wanted:
            found.append(
                Difference("order", f"the sheets stand in the order {', '.join(there)}, not {', '.join(wanted)}")
            )
    names = {one.name: other.name for one, other in pairs if one.name != other.name}
    for one, other in pairs:
        found += _sheet(one, other, allowed, names)
    if not allowed.aspect("names"):
        was = {_rename(key, names): _rename(meaning, names) for key, meaning in old.names.items()}
        found += _mapping("names", "defined name", was, new.names, "")
    for kind, count in old.extras.items():
        if new.extras.get(kind, 0) < count:
            found.append(Difference("parts", f"{count - new.extras.get(kind, 0)} {kind} gone"))
    return found


def _paired(old: Book, new: Book, allowed: Allowed, found: list[Difference]) -> list[tuple[Sheet, Sheet]]:
    targets = {name.casefold(): target for name, target in allowed.renamed.items()}
    left = list(new.sheets)
    pairs: list[tuple[Sheet, Sheet | None]] = []
    for sheet in old.sheets:
        wanted = targets.get(sheet.name.casefold(), sheet.name)
        twin = next((s for s in left if s.name == wanted), None) or next(
            (s for s in left if s.name.casefold() == wanted.casefold()), None
        )
        if twin is not None:
            left.remove(twin)
        pairs.append((sheet, twin))
    extra = [sheet for sheet in left if sheet.name.casefold() not in {name.casefold() for name in allowed.added}]
    missing = len(allowed.added) - (len(left) - len(extra))
    result: list[tuple[Sheet, Sheet]] = []
    for sheet, twin in pairs:
        # What a sheet should be called is another criterion's matter: here a misnamed one is looked at all the same.
        if twin is None and sheet.name.casefold() in targets and extra:
            twin = extra.pop(0)
        if twin is not None:
            result.append((sheet, twin))
        elif not allowed.aspect("sheets.removed") and sheet.name.casefold() not in map(str.casefold, allowed.removed):
            found.append(Difference("sheet", f"sheet {sheet.name!r} is gone"))
    del extra[: max(0, missing)]
    if not allowed.aspect("sheets.added"):
        found += [Difference("sheet", f"sheet {sheet.name!r} is new") for sheet in extra]
    return result


def _sheet(old: Sheet, new: Sheet, allowed: Allowed, names: Mapping[str, str]) -> Iterator[Difference]:
    where = old.name
    if old.state != new.state and not allowed.aspect("sheets.hidden", where):
        yield Difference("hidden", f"sheet {where!r} is {new.state}, was {old.state}")
    yield from _cells(old, new, allowed, names)
    if not allowed.aspect("merged", where):
        yield from _set(
            "merged", f"{where}: merged", _outside(allowed, where, old.merged), _outside(allowed, where, new.merged)
        )
    for kind, noun, one, other in (
        ("widths", "width of column", _lettered(old.widths), _lettered(new.widths)),
        ("heights", "height of row", _keyed(old.heights), _keyed(new.heights)),
    ):
        if not allowed.aspect(kind, where):
            yield from _mapping(kind, noun, one, other, where, same=lambda a, b: abs(float(a) - float(b)) < 0.25)
    filtered = allowed.aspect("filter", where)
    rows = _filter_rows(old) | _filter_rows(new) if filtered else set()
    if not allowed.aspect("rows.hidden", where):
        gone = sorted((old.hidden_rows ^ new.hidden_rows) - rows)
        if gone:
            state = "hidden" if gone[0] in new.hidden_rows else "shown"
            yield Difference("rows.hidden", f"{where}: row {gone[0]} is {state} now ({len(gone)} rows changed)")
    if not allowed.aspect("columns.hidden", where) and old.hidden_columns != new.hidden_columns:
        letters = sorted(_letters(c) for c in old.hidden_columns ^ new.hidden_columns)
        yield Difference("columns.hidden", f"{where}: columns {', '.join(letters[:5])} are hidden or shown now")
    if old.freeze != new.freeze and not allowed.aspect("freeze", where):
        yield Difference("freeze", f"{where}: {new.freeze} rows and columns are frozen, were {old.freeze}")
    if old.filter != new.filter and not filtered:
        yield Difference("filter", f"{where}: the autofilter is {_told(new.filter)}, was {_told(old.filter)}")
    for kind in ("conditional", "validation", "pictures", "shapes", "tables"):
        if not allowed.aspect(kind, where):
            yield from _set(kind, f"{where}: {kind}", getattr(old, kind), getattr(new, kind))
    for kind, noun in (("notes", "comment on"), ("links", "link on")):
        if not allowed.aspect(kind, where):
            was, now = (_unallowed(allowed, where, getattr(sheet, kind)) for sheet in (old, new))
            yield from _mapping(kind, noun, was, now, where, same=lambda a, b: plain(str(a)) == plain(str(b)))
    yield from _charts(old, new, allowed, names)
    for kind, aspect in (("page", "page"), ("tab_color", "tab.color"), ("protection", "protection")):
        one, other = getattr(old, kind), getattr(new, kind)
        if one != other and not allowed.aspect(aspect, where):
            yield Difference(aspect, f"{where}: {aspect} is {other or 'none'}, was {one or 'none'}")


def _cells(old: Sheet, new: Sheet, allowed: Allowed, names: Mapping[str, str]) -> Iterator[Difference]:
    looks = allowed.aspect("styles", old.name)
    empty = Cell()
    for place in sorted(old.cells.keys() | new.cells.keys()):
        one, other = old.cells.get(place, empty), new.cells.get(place, empty)
        if allowed.cell(old.name, place):
            continue
        if not _same_content(one, other, old.name, names):
            text = f"{old.name}!{address(*place)} holds {_content(other)}, held {_content(one)}"
            yield Difference("cell", text)
        was, now = old.style(*place), new.style(*place)
        if was is not now and not looks and not same_look(was, now) and not allowed.look(old.name, place):
            yield Difference("style", f"{old.name}!{address(*place)} looks different: {_look_difference(was, now)}")


def _same_content(one: Cell, other: Cell, sheet: str, names: Mapping[str, str]) -> bool:
    if one.formula is not None or other.formula is not None:
        if one.formula is None or other.formula is None or bool(one.array) != bool(other.array):
            return False
        if one.formula == other.formula:
            return True
        try:
            was = canonical(_rename(one.formula, names), absolute=True)
            return was == canonical(other.formula, absolute=True)
        except ValueError:
            return False
    if one.rich != other.rich:
        return False
    a, b = one.value, other.value
    if isinstance(a, str) and isinstance(b, str):
        return a == b or plain(a) == plain(b)
    if (
        isinstance(a, int | float)
        and isinstance(b, int | float)
        and not isinstance(a, bool)
        and not isinstance(b, bool)
    ):
        return close(a, b)
    return (a is None or a == "") and (b is None or b == "") if a in (None, "") or b in (None, "") else a is b


def _charts(old: Sheet, new: Sheet, allowed: Allowed, names: Mapping[str, str]) -> Iterator[Difference]:
    if allowed.aspect("charts", old.name):
        return
    left = list(new.charts)
    for chart in old.charts:
        wanted = _followed(chart, names)
        twin = next((other for other in left if other == wanted), None)
        if twin is not None:
            left.remove(twin)
            continue
        near = next((other for other in left if other.at == chart.at), None)
        if near is None:
            yield Difference("charts", f"{old.name}: the chart {chart.title or chart.kind!r} at {chart.at} is gone")
        else:
            left.remove(near)
            changed = ", ".join(f.name for f in fields(chart) if getattr(wanted, f.name) != getattr(near, f.name))
            yield Difference("charts", f"{old.name}: the chart at {chart.at} has another {changed}")
    if not allowed.aspect("charts.added", old.name):
        for chart in left:
            yield Difference("charts", f"{old.name}: a chart {chart.title or chart.kind!r} at {chart.at} is new")


def _followed(chart: Chart, names: Mapping[str, str]) -> Chart:
    """A chart whose ranges follow renamed sheets."""
    if not names:
        return chart
    series = tuple(
        type(one)(_rename(one.name, names), _rename(one.categories, names), _rename(one.values, names))
        for one in chart.series
    )
    return Chart(chart.kind, chart.title, series, chart.axes, chart.at, chart.look)


def _rename(text: str, names: Mapping[str, str]) -> str:
    for one, other in names.items():
        try:
            text = renamed(text, one, other)
        except ValueError:
            return text
    return text


@lru_cache(maxsize=65536)
def same_look(one: CellStyle, other: CellStyle) -> bool:
    """Whether two cells look the same."""
    return not _look_difference(one, other)


def _look_difference(one: CellStyle, other: CellStyle) -> str:
    if one == other:
        return ""
    pairs = [(f.name, getattr(one, f.name), getattr(other, f.name)) for f in fields(one)]
    told = []
    for name, a, b in pairs:
        same = a == b
        if name == "font":
            same = same_font(a, b)
        elif name == "color":
            same = (a or "000000") == (b or "000000")
        elif name == "size":
            same = abs(a - b) < 0.05
        if not same:
            told.append(f"{name} {b!r}, was {a!r}")
    return ", ".join(told)


def _content(cell: Cell) -> str:
    if cell.formula is not None:
        return cell.formula
    return "nothing" if cell.value is None else repr(cell.value)


def _set(kind: str, noun: str, old: Iterable[str], new: Iterable[str]) -> Iterator[Difference]:
    was, now = Counter(old), Counter(new)
    for text in (was - now).elements():
        yield Difference(kind, f"{noun}: {text!r} is gone")
    for text in (now - was).elements():
        yield Difference(kind, f"{noun}: {text!r} is new")


def _mapping(
    kind: str,
    noun: str,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    where: str,
    same: Callable[[Any, Any], bool] = lambda a, b: a == b,
) -> Iterator[Difference]:
    head = f"{where}: {noun}" if where else noun
    for key in sorted(old.keys() | new.keys()):
        if key not in new:
            yield Difference(kind, f"{head} {key} ({old[key]!r}) is gone")
        elif key not in old:
            yield Difference(kind, f"{head} {key} ({new[key]!r}) is new")
        elif not same(old[key], new[key]):
            yield Difference(kind, f"{head} {key} is {new[key]!r}, was {old[key]!r}")


def _outside(allowed: Allowed, sheet: str, areas: Iterable[str]) -> list[str]:
    return [area for area in areas if not allowed.cell(sheet, (Area.parse(area).top, Area.parse(area).left))]


def _unallowed(allowed: Allowed, sheet: str, notes: Mapping[str, str]) -> dict[str, str]:
    kept = {}
    for ref, text in notes.items():
        area = Area.parse(ref)
        if not allowed.cell(sheet, (area.top, area.left)):
            kept[ref] = text
    return kept


def _filter_rows(sheet: Sheet) -> set[int]:
    if sheet.filter is None:
        return set()
    area = Area.parse(sheet.filter.area)
    return set(range(area.top + 1, area.bottom + 1))


def _told(found: Any) -> str:
    return "none" if found is None else f"{found.area} {' '.join(found.columns)}".strip()


def _lettered(found: Mapping[int, float]) -> dict[str, float]:
    return {_letters(column): width for column, width in found.items()}


def _keyed(found: Mapping[int, float]) -> dict[str, float]:
    return {str(row): height for row, height in found.items()}


def _letters(column: int) -> str:
    return address(1, column).removesuffix("1")
