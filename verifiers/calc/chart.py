"""`calc.chart`: a chart of the right kind over the right cells."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Literal

from pydantic import Field, model_validator

from forge.harness.layers.office.python.sheetpatch import Book as Patch
from forge.harness.layers.office.python.sheetpatch.formulas import Reference, canonical, rewritten
from forge.harness.layers.office.python.sheetpatch.markup import Node, escape
from forge.harness.layers.office.python.sheetpatch.openformula import area_from_odf
from forge.harness.layers.office.python.sheetpatch.package import Package
from forge.harness.layers.office.python.sheetpatch.references import Area, column_letters, quote
from preparers.calc.book import Chart
from verifiers.base import Case, Finding, Mutant, check, mutants
from verifiers.calc.compare import plain
from verifiers.calc.opening import OnSheet, after, before
from verifiers.calc.spoiling import edited

Kind = Literal["column", "bar", "line", "pie", "doughnut", "area", "scatter", "radar"]


class Charted(OnSheet):
    """A chart; what is None may be anything. Ranges without a sheet mean the chart's `source`, else its own sheet."""

    kind: Kind | None = None
    values: tuple[str, ...] = Field((), description="the series' values in order, e.g. C3:C26; empty: not looked at")
    categories: str | None = Field(None, description="the labels of the category axis, or the x values")
    title: str | None = None
    axes: tuple[str, ...] | None = Field(None, description="titles of the axes, in any order")
    source: str | None = Field(None, description="the sheet that ranges mean")
    new: bool = Field(True, description="charts that were there before do not count")

    @model_validator(mode="after")
    def _asks_something(self) -> Charted:
        for ref in (*self.values, *([self.categories] if self.categories else [])):
            Area.parse(ref)
        if self.kind is None and not self.values and self.title is None:
            raise ValueError("says nothing about the chart; give kind, values or title")
        return self


@check("calc.chart", Charted)
def chart(case: Case, args: Charted) -> Finding:
    """A sheet has a chart of this kind, over these cells, with this title."""
    workbook = after(case, args.file)
    sheet = workbook.sheet(args.sheet)
    origin = before(case, args.file)
    old = origin.book.sheet(sheet.name) if origin is not None else None
    charts = list(sheet.charts)
    if args.new and old is not None:
        known = {(c.kind, c.title, c.series) for c in old.charts}
        charts = [c for c in charts if (c.kind, c.title, c.series) not in known]
    if not charts:
        return Finding(0.0, f"sheet {sheet.name!r} has no {'new ' if args.new else ''}chart")
    found = [(_lacks(args, one, sheet.name), one) for one in charts]
    lacks, best = min(found, key=lambda pair: len(pair[0]))
    told = f"the chart at {best.at} ({best.kind}, {len(best.series)} series, title {best.title!r})"
    return Finding(float(not lacks), f"{told} {'lacks: ' + '; '.join(lacks) if lacks else 'is as asked'}")


def _lacks(args: Charted, one: Chart, sheet: str) -> list[str]:
    found = []
    home = args.source or sheet
    if args.kind is not None and one.kind.partition(" ")[0] != args.kind:
        found.append(f"kind {one.kind}, expected {args.kind}")
    if args.values:
        wanted = [_spelled(ref, home) for ref in args.values]
        has = [_spelled(series.values, home) for series in one.series]
        if has != wanted:
            found.append(
                f"values {', '.join(s.values for s in one.series) or 'none'}, expected {', '.join(args.values)}"
            )
    if args.categories is not None:
        wanted_labels = _spelled(args.categories, home)
        labels = {_spelled(series.categories, home) for series in one.series}
        if labels != {wanted_labels}:
            shown = ", ".join(sorted({s.categories or "none" for s in one.series}))
            found.append(f"categories {shown}, expected {args.categories}")
    if args.title is not None and plain(one.title).casefold() != plain(args.title).casefold():
        found.append(f"title {one.title!r}, expected {args.title!r}")
    if args.axes is not None and {plain(axis) for axis in one.axes} != {plain(axis) for axis in args.axes}:
        found.append(f"axis titles {one.axes}, expected {args.axes}")
    return found


def _spelled(ref: str, sheet: str) -> str:
    try:
        return canonical(ref, sheet)
    except ValueError:
        return ref


@mutants("calc.chart")
def other_charts(case: Case, args: Charted, rng: random.Random) -> Iterator[Mutant]:
    """The chart gone, of another kind, over a range one row short, with another title, over another column."""
    workbook = after(case, args.file)
    sheet = workbook.sheet(args.sheet)
    origin = before(case, args.file)
    old = origin.book.sheet(sheet.name) if origin is not None else None
    known = {(c.kind, c.title, c.series) for c in old.charts} if args.new and old is not None else set()
    target = next(
        (c for c in sheet.charts if (c.kind, c.title, c.series) not in known and not _lacks(args, c, sheet.name)), None
    )
    if target is None:
        return
    change = (_XlsxChart if workbook.suffix == ".xlsx" else _OdsChart)(sheet.name, target)
    if args.kind is not None:
        yield Mutant("another kind", edited(args.file, change.other_kind))
    if args.values:
        yield Mutant("one row short", edited(args.file, change.shorter))
        yield Mutant("another column", edited(args.file, change.beside), audit=True)
    if args.title is not None:
        yield Mutant("another title", edited(args.file, change.other_title))
    if not args.values and args.title is None:
        yield Mutant("moved range", edited(args.file, change.beside), only=False, audit=True)


class _XlsxChart:
    """Edits of one chart part of an .xlsx."""

    def __init__(self, sheet: str, chart: Chart):
        self._sheet = sheet
        self._chart = chart

    def other_kind(self, book: Patch) -> None:
        root = self._root(book)
        for node in root.walk():
            if node.local == "barDir":
                node.set("val", "bar" if node.get("val") == "col" else "col")
                return
        for node in root.walk():
            if (
                node.local.endswith("Chart")
                and node.local != "chart"
                and node.local in ("lineChart", "areaChart", "pieChart", "doughnutChart")
            ):
                self._swap_kind(node)
                return

    def shorter(self, book: Patch) -> None:
        self._ranges(book, lambda reference: _cut(reference))

    def beside(self, book: Patch) -> None:
        self._ranges(book, lambda reference: _beside(reference))

    def other_title(self, book: Patch) -> None:
        root = self._root(book)
        chart = next(node for node in root.walk() if node.local == "chart")
        title = chart.find("title")
        for node in title.walk() if title is not None else ():
            if node.local in ("t", "v"):
                node.replace([escape(node.text[:-1] or "x")])
                return

    def _swap_kind(self, node: Node) -> None:
        other = {
            "lineChart": "areaChart",
            "areaChart": "lineChart",
            "pieChart": "doughnutChart",
            "doughnutChart": "pieChart",
        }
        twin = Node(node.prefix + other[node.local], node.attributes, list(node.content))
        for child in twin.children:
            if child.local in ("marker", "smooth", "firstSliceAng", "holeSize", "upDownBars", "hiLowLines"):
                twin.remove(child)
        parent = node.parent
        assert parent is not None
        index = parent.content.index(node)
        parent.content[index] = twin
        twin.parent = parent

    def _ranges(self, book: Patch, change: Callable[[Reference], Reference]) -> None:
        for node in self._root(book).walk():
            if node.local in ("val", "yVal"):
                for inner in node.walk():
                    if inner.local == "f":
                        inner.replace([escape(rewritten(inner.text, change))])

    def _root(self, book: Patch) -> Node:
        from forge.harness.layers.office.python.sheetpatch.xlsx import XlsxBook

        assert isinstance(book, XlsxBook)
        package = book.package
        for kind, part in package.relations(book.part(self._sheet)).values():
            if kind != "drawing":
                continue
            for inner, place in package.relations(part).values():
                if inner == "chart" and self._is(package, place):
                    return package.document(place, change=True)
        raise ValueError(f"no chart part of {self._chart.title!r}")

    def _is(self, package: Package, part: str) -> bool:
        root = package.document(part)
        found = [
            canonical(inner.text)
            for node in root.walk()
            if node.local in ("val", "yVal")
            for inner in node.walk()
            if inner.local == "f"
        ]
        return found == [canonical(series.values) for series in self._chart.series if series.values]


class _OdsChart:
    """Edits of one chart of an .ods."""

    def __init__(self, sheet: str, chart: Chart):
        self._chart = chart

    def other_kind(self, book: Patch) -> None:
        root = self._root(book)
        chart = next(node for node in root.walk() if node.name == "chart:chart")
        now = (chart.get("chart:class") or "").rpartition(":")[2]
        other = {"bar": "line", "line": "area", "area": "line", "circle": "ring", "ring": "circle"}.get(now, "bar")
        for node in root.walk():
            if node.get("chart:class") == f"chart:{now}":
                node.set("chart:class", f"chart:{other}")

    def shorter(self, book: Patch) -> None:
        self._ranges(book, _cut)

    def beside(self, book: Patch) -> None:
        self._ranges(book, _beside)

    def other_title(self, book: Patch) -> None:
        root = self._root(book)
        chart = next(node for node in root.walk() if node.name == "chart:chart")
        title = chart.find("title")
        for node in title.walk() if title is not None else ():
            if node.name == "text:p":
                node.replace([escape(node.text[:-1] or "x")])
                return

    def _ranges(self, book: Patch, change: Callable[[Reference], Reference]) -> None:
        name = "chart:values-cell-range-address"
        for node in self._root(book).walk():
            if node.name == "chart:series" and node.get(name):
                area = Area.parse(rewritten(area_from_odf(node.get(name) or ""), change).replace("$", ""))
                corners = [f".{column_letters(c)}{r}" for r, c in ((area.top, area.left), (area.bottom, area.right))]
                node.set(name, f"{quote(area.sheet or '')}{':'.join(corners)}")

    def _root(self, book: Patch) -> Node:
        from forge.harness.layers.office.python.sheetpatch.ods import OdsBook

        assert isinstance(book, OdsBook)
        wanted = [canonical(series.values) for series in self._chart.series if series.values]
        for part in book.package.parts:
            if part.endswith("/content.xml"):
                root = book.package.document(part)
                refs = [n.get("chart:values-cell-range-address") for n in root.walk() if n.name == "chart:series"]
                if [canonical(area_from_odf(ref)) for ref in refs if ref] == wanted:
                    return book.package.document(part, change=True)
        raise ValueError(f"no chart of {self._chart.title!r}")


def _cut(reference: Reference) -> Reference:
    """A range without its last row, or, for a range of one row, without its last column."""
    if reference.last is None or None in (*reference.first, *reference.last):
        return reference
    top, (right, bottom) = reference.first[1], reference.last
    last = (right, bottom - 1) if bottom > top else (right - 1, bottom)  # type: ignore[operator]
    return Reference(reference.sheet, reference.first, last, reference.absolute)


def _beside(reference: Reference) -> Reference:
    """The same rows of the next column to the left (of the right one, from column A)."""
    move = -1 if (reference.first[0] or 1) > 1 else 1
    first = ((reference.first[0] or 1) + move, reference.first[1])
    last = None if reference.last is None else ((reference.last[0] or 1) + move, reference.last[1])
    return Reference(reference.sheet, first, last, reference.absolute)
