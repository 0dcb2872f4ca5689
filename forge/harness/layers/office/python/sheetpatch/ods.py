"""Workbooks in OpenDocument format (.ods), as LibreOffice writes them: OASIS OpenDocument 1.3.

What it does NOT do: number formats with several sections, fractions or exponents, and files whose XML uses other prefixes
than LibreOffice's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from .book import Book
from .filters import Filter, comparison, passes, shown
from .markup import Node, escape
from .ods_formats import data_style, format_code
from .ods_sheet import Table, moment_attributes
from .openformula import area_from_odf, renamed_in_odf
from .package import Package, SheetPatchError
from .references import Area, address, column_number
from .values import Value, number_text

_FORMULAS = ("table:formula", "table:condition", "table:expression")
_ALIGN = {"left": "start", "right": "end", "center": "center", "justify": "justify"}
_LINES = {"thin": "0.74pt solid #000000", "medium": "1.76pt solid #000000", "thick": "2.49pt solid #000000",
          "double": "2.01pt double-thin #000000", "none": "none"}  # fmt: skip


class OdsBook(Book):
    """An .ods workbook; see `Book` for what it can do."""

    def __init__(self, data: bytes, path: Path | None = None):
        super().__init__(path, path.name if path else "workbook.ods")
        self._package = Package(data, self.name)
        root = self._package.document("content.xml")
        body = root.find("body")
        sheet = body.find("spreadsheet") if body is not None else None
        if sheet is None or sheet.name != "office:spreadsheet":
            raise SheetPatchError(f"{self.name}: content.xml is no spreadsheet")
        self._body = sheet
        self._tables = [Table(node) for node in sheet.all("table")]

    @property
    def package(self) -> Package:
        """The parts below, for edits that this class does not know."""
        return self._package

    @property
    def sheets(self) -> list[str]:
        return [table.name for table in self._tables]

    def table(self, sheet: str) -> Table:
        """The cells of a sheet."""
        return self._tables[self.sheets.index(self._sheet(sheet))]

    def number_format(self, ref: str, code: str | None = None) -> str:
        if code is None:
            area = self._one(ref)
            name = self.table(area.sheet or "").style_name(area.top, area.left)
            return self._code_of(self._inherited(name, "style:data-style-name"))
        target = "" if code == "General" else self._data_style(code)
        self._restyle(ref, lambda node: node.set("style:data-style-name", target or None))
        self._retype(ref, code)
        return code

    def style(
        self,
        ref: str,
        *,
        bold: bool | None = None,
        italic: bool | None = None,
        underline: bool | None = None,
        color: str | None = None,
        size: float | None = None,
        font: str | None = None,
        fill: str | None = None,
        align: str | None = None,
        wrap: bool | None = None,
        border: dict[str, str] | None = None,
    ) -> None:
        text: dict[str, str] = {}
        cell: dict[str, str] = {}
        if bold is not None:
            text |= dict.fromkeys(_scripts("font-weight"), "bold" if bold else "normal")
        if italic is not None:
            text |= dict.fromkeys(_scripts("font-style"), "italic" if italic else "normal")
        if underline is not None:
            text["style:text-underline-style"] = "solid" if underline else "none"
        if color is not None:
            text["fo:color"] = f"#{color.lower()}"
        if size is not None:
            text |= dict.fromkeys(_scripts("font-size"), f"{size:g}pt")
        if font is not None:
            text["style:font-name"] = font
        if fill is not None:
            cell["fo:background-color"] = f"#{fill.lower()}" if fill else "transparent"
        if wrap is not None:
            cell["fo:wrap-option"] = "wrap" if wrap else "no-wrap"
        for side, line in (border or {}).items():
            cell[f"fo:border-{side}"] = _LINES[line]
        paragraph = {} if align is None else {"fo:text-align": _ALIGN[align]}
        if align is not None:
            cell["style:text-align-source"] = "fix"

        def change(node: Node) -> None:
            for local, wanted in (("table-cell", cell), ("paragraph", paragraph), ("text", text)):
                if wanted:
                    _properties(node, local, wanted)

        self._restyle(ref, change)

    def rename(self, old: str, new: str) -> None:
        old = self._sheet(old)
        self._check_name(new, old)
        for part in self._package.parts:
            if part == "content.xml" or part.endswith("/content.xml"):
                for node in self._package.document(part, change=True).walk():
                    for name, value in node.attributes.items():
                        if name in _FORMULAS or re.search(r"address(es)?$|ranges?$", name):
                            node.set(name, renamed_in_odf(value, old, new))
        self.table(old).node.set("table:name", new)
        for node in self._settings(change=True):
            if node.local == "config-item-map-entry" and node.get("config:name") == old:
                node.set("config:name", new)
            elif node.get("config:name") == "ActiveTable" and node.text == old:
                node.replace([escape(new)])

    def add_sheet(self, name: str, position: int | None = None) -> None:
        self._check_name(name)
        self._change()
        like = self._tables[0].node.get("table:style-name")
        attributes = {"table:name": name} | ({"table:style-name": like} if like else {})
        row = Node("table:table-row", {}, [Node("table:table-cell")])
        node = Node("table:table", attributes, [Node("table:table-column"), row])
        self._tables.append(Table(node))
        self._body.insert(self._body.content.index(self._tables[-2].node) + 1, node)
        if position is not None:
            self.move_sheet(name, position)

    def move_sheet(self, name: str, position: int) -> None:
        self._change()
        moved = self.table(name)
        place = min(self._body.content.index(table.node) for table in self._tables)
        self._tables.remove(moved)
        self._tables.insert(max(0, min(position, len(self._tables))), moved)
        for table in self._tables:
            self._body.remove(table.node)
        for offset, table in enumerate(self._tables):
            self._body.insert(place + offset, table.node)

    def remove_sheet(self, name: str) -> None:
        name = self._sheet(name)
        if len(self._tables) == 1:
            raise SheetPatchError(f"{self.name}: {name!r} is the only sheet")
        gone = self.table(name)
        for node in self._body.walk():
            if node is gone.node:
                continue
            for key, value in node.attributes.items():
                used = key in _FORMULAS and renamed_in_odf(value, name, name + "\0") != value
                if used and not _inside(node, gone.node):
                    raise SheetPatchError(f"{self.name}: {name!r} cannot be removed: {value} refers to it")
        self._change()
        self._tables.remove(gone)
        self._body.remove(gone.node)

    def hide_sheet(self, name: str, hidden: bool = True) -> None:
        self._change()
        node = self.table(name).node
        style = self._automatic(node.get("table:style-name"))
        twin = style.copy() if style is not None else Node("style:style", {"style:family": "table"})
        _properties(twin, "table", {"table:display": "false" if hidden else "true"})
        node.set("table:style-name", self._add_style(twin, "ta"))

    def autofilter(self, ref: str | None, sheet: str | None = None, **show: Filter) -> None:
        self._change()
        area = self._area(ref) if ref else None
        name = area.sheet or "" if area else self._sheet(sheet)
        ranges = self._body.find("database-ranges")
        for node in ranges.all("database-range") if ranges is not None else []:
            old = Area.parse(area_from_odf(node.get("table:target-range-address") or ""))
            if old.sheet == name and node.get("table:display-filter-buttons") == "true":
                for row in range(old.top + 1, old.bottom + 1):
                    self.table(name).hide_row(row, None)
                ranges.remove(node)  # type: ignore[union-attr]
        if area is None:
            return
        if ranges is None:
            ranges = self._body.append(Node("table:database-ranges"))
        corner = [f"{_quoted(name)}.{address(*place)}" for place in ((area.top, area.left), (area.bottom, area.right))]
        attributes = {
            "table:name": f"__Anonymous_Sheet_DB__{self.sheets.index(name)}",
            "table:target-range-address": ":".join(corner),
            "table:display-filter-buttons": "true",
        }
        conditions: list[Node | str] = []
        left = set(range(area.top + 1, area.bottom + 1))
        for letters in sorted(show, key=column_number):
            column = column_number(letters)
            if not area.left <= column <= area.right:
                raise SheetPatchError(f"{self.name}: column {letters} is not in {area}")
            conditions.append(_condition(column - area.left, show[letters]))
            left = {row for row in left if passes(self.table(name).value(row, column), show[letters])}
        node = ranges.append(Node("table:database-range", attributes))
        if conditions:
            several = len(conditions) > 1
            node.append(Node("table:filter", {}, [Node("table:filter-and", {}, conditions)] if several else conditions))
        for row in range(area.top + 1, area.bottom + 1):
            self.table(name).hide_row(row, None if row in left else "filter")

    def render(self) -> bytes:
        return self._package.render()

    def _save(self, path: Path) -> None:
        self._package.save(path)

    def _value(self, sheet: str, row: int, column: int) -> Value:
        return self.table(sheet).value(row, column)

    def _formula(self, sheet: str, row: int, column: int) -> str | None:
        return self.table(sheet).formula(row, column)

    def _used(self, sheet: str) -> Area | None:
        return self.table(sheet).used()

    def _put(self, sheet: str, row: int, column: int, value: Value, formula: str | None) -> None:
        self._change()
        table = self.table(sheet)
        table.put(row, column, value, formula)
        ref = str(Area(row, column, row, column, sheet))
        if isinstance(value, bool):
            self.number_format(ref, "BOOLEAN")  # without it LibreOffice shows a truth as 1
        elif isinstance(value, int | float):
            self._retype(ref, self.number_format(ref))

    def _move(
        self,
        sheet: str,
        moves: dict[tuple[int, int], tuple[int, int]],
        formulas: dict[tuple[int, int], str],
    ) -> None:
        self._change()
        self.table(sheet).move(moves, formulas)

    def _merged(self, sheet: str) -> list[Area]:
        return self.table(sheet).merged()

    def _change(self) -> None:
        self._package.document("content.xml", change=True)

    def _settings(self, *, change: bool) -> list[Node]:
        if "settings.xml" not in self._package:
            return []
        return list(self._package.document("settings.xml", change=change).walk())

    def _check_name(self, name: str, old: str | None = None) -> None:
        if not name or set(name) & set("[]:*?/\\") or name[0] == "'" or name[-1] == "'":
            raise SheetPatchError(f"{name!r} is no name for a sheet: none of []:*?/\\")
        if any(name.casefold() == other.casefold() for other in self.sheets if other != old):
            raise SheetPatchError(f"{self.name}: there is a sheet {name!r} already")

    def _restyle(self, ref: str, change: Callable[[Node], None]) -> None:
        self._change()
        area = self._clipped(self._area(ref))
        done: dict[str | None, str] = {}
        if area is None:
            return
        table = self.table(area.sheet or "")
        for row, column in area.cells():
            old = table.style_name(row, column)
            if old not in done:
                style = self._automatic(old)
                fresh = {"style:family": "table-cell", "style:parent-style-name": old or "Default"}
                twin = style.copy() if style is not None else Node("style:style", fresh)
                change(twin)
                done[old] = self._add_style(twin, "ce")
            table.own(row, column).set("table:style-name", done[old])

    def _retype(self, ref: str, code: str) -> None:
        """Have the cells' value types follow their number format, as LibreOffice writes them."""
        area = self._clipped(self._area(ref))
        bare = re.sub(r'"[^"]*"|\[[^\]]*\]|\\.', "", code)
        dated, timed = re.search(r"[yd]", bare), re.search(r"[hs]", bare)
        if area is None:
            return
        table = self.table(area.sheet or "")
        for row, column in area.cells():
            node, value = table.own(row, column), table.value(row, column)
            if isinstance(value, bool) or not isinstance(value, int | float) or code == "BOOLEAN":
                continue
            if node.get("table:formula"):
                continue
            attributes = {"office:value-type": "float", "office:value": number_text(value)}
            if dated or timed:
                attributes = moment_attributes(value, only_time=not dated)
            elif "%" in bare:
                attributes["office:value-type"] = "percentage"
            for name in (
                "office:value",
                "office:date-value",
                "office:time-value",
                "calcext:value-type",
                "office:currency",
            ):
                node.set(name, None)
            for name, text in attributes.items():
                node.set(name, text)

    def _styles(self) -> list[Node]:
        """All styles that cells may use, automatic ones first."""
        found = []
        for part in ("content.xml", "styles.xml"):
            root = self._package.document(part) if part in self._package else None
            for holder in root.children if root is not None else []:
                if holder.local in ("automatic-styles", "styles"):
                    found += holder.children
        return found

    def _automatic(self, name: str | None) -> Node | None:
        holder = self._package.document("content.xml").find("automatic-styles")
        nodes = holder.children if holder is not None else []
        return next((node for node in nodes if name and node.get("style:name") == name), None)

    def _add_style(self, node: Node, prefix: str) -> str:
        """The name of an automatic style like this one, added when there is none."""
        holder = self._package.document("content.xml", change=True).find("automatic-styles")
        assert holder is not None
        taken = {}
        for other in holder.children:
            name = other.get("style:name") or ""
            twin = other.copy()
            twin.set("style:name", None)
            taken[name] = twin.source()
        node.set("style:name", None)
        source = node.source()
        for name, text in taken.items():
            if text == source:
                return name
        free = next(f"{prefix}{n}" for n in range(1, len(taken) + 2) if f"{prefix}{n}" not in taken)
        node.set("style:name", free)
        holder.append(node)
        return free

    def _data_style(self, code: str) -> str:
        for node in self._styles():
            if node.name.startswith("number:") and self._code_of(node.get("style:name")) == code:
                return node.get("style:name") or ""
        taken = {node.get("style:name") for node in self._styles()}
        free = next(f"N{n}" for n in range(1000, 10_000) if f"N{n}" not in taken)
        holder = self._package.document("content.xml", change=True).find("automatic-styles")
        assert holder is not None
        holder.insert(0, data_style(free, code))
        return free

    def _code_of(self, name: str | None) -> str:
        if name is None:
            return "General"
        styles = {node.get("style:name"): node for node in self._styles() if node.name.startswith("number:")}
        node = styles.get(name)
        if node is None:
            return "General"
        # A format with an own form for negative numbers is written as that form, with a map to the positive one.
        for child in node.all("map"):
            positive = styles.get(child.get("style:apply-style-name"))
            if positive is not None and (child.get("style:condition") or "").replace(" ", "").startswith("value()>"):
                node = positive
        pieces = []
        for child in node.children:
            attributes = {key.rpartition(":")[2]: value for key, value in child.attributes.items()}
            pieces.append((child.local, attributes, child.text))
        return format_code(node.local, pieces)

    def _inherited(self, name: str | None, attribute: str) -> str | None:
        styles = {n.get("style:name"): n for n in self._styles() if n.get("style:family") == "table-cell"}
        for _ in range(8):
            node = styles.get(name or "Default")
            if node is None:
                return None
            if node.get(attribute) is not None:
                return node.get(attribute)
            name = node.get("style:parent-style-name")
            if name is None:
                return None
        return None


def _scripts(name: str) -> tuple[str, ...]:
    return f"fo:{name}", f"style:{name}-asian", f"style:{name}-complex"


def _properties(style: Node, family: str, wanted: dict[str, str]) -> None:
    """Set attributes of a style's `<style:FAMILY-properties>`, made in the order that the schema wants."""
    order = ("table", "table-cell", "paragraph", "text")
    node = style.find(f"{family}-properties")
    if node is None:
        behind = [c for c in style.children if c.local.removesuffix("-properties") in order[order.index(family) + 1 :]]
        maps = style.all("map")
        after = behind or maps
        place = style.content.index(after[0]) if after else len(style.content)
        node = style.insert(place, Node(f"style:{family}-properties"))
    for name, value in wanted.items():
        node.set(name, value)


def _condition(index: int, show: Filter) -> Node:
    head = {"table:field-number": str(index)}
    compared = comparison(show)
    if compared:
        kind = {"table:data-type": "number", "table:operator": compared[0], "table:value": number_text(compared[1])}
        return Node("table:filter-condition", {**head, **kind})
    texts = [shown(value) for value in show]
    items: list[Node | str] = [Node("table:filter-set-item", {"table:value": text}) for text in texts]
    first = {"table:operator": "=", "table:value": texts[0] if texts else ""}
    return Node("table:filter-condition", {**head, **first}, items if len(items) > 1 else None)


def _quoted(sheet: str) -> str:
    return "'" + sheet.replace("'", "''") + "'"


def _inside(node: Node, holder: Node) -> bool:
    while node.parent is not None:
        if node.parent is holder:
            return True
        node = node.parent
    return False
