"""The cells of one table of an .ods, edited in place. Repeated rows and cells are split where one of them changes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from .markup import Node, escape
from .openformula import from_odf, to_odf
from .package import SheetPatchError
from .references import Area
from .values import Value, number, number_text, to_date, to_number

_HOLDERS = ("table-row-group", "table-header-rows", "table-rows")
_CELLS = ("table-cell", "covered-table-cell")
_VALUE_ATTRIBUTES = (
    "table:formula", "office:value-type", "office:value", "office:date-value", "office:time-value",
    "office:boolean-value", "office:string-value", "office:currency", "calcext:value-type",
    "table:number-matrix-columns-spanned", "table:number-matrix-rows-spanned",
)  # fmt: skip
_DURATION = re.compile(r"(-?)PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?")


class Table:
    """One sheet. Rows and columns are counted from 1."""

    def __init__(self, node: Node):
        self.node = node
        self._rows: list[tuple[int, int, Node]] | None = None

    @property
    def name(self) -> str:
        """The sheet's name."""
        return self.node.get("table:name") or ""

    def cell(self, row: int, column: int) -> Node | None:
        """The element that stands for a cell (and perhaps for its neighbours too)."""
        for start, count, line in self.lines():
            if start <= row < start + count:
                for left, width, node in cells(line):
                    if left <= column < left + width:
                        return node
                return None
        return None

    def value(self, row: int, column: int) -> Value:
        """The value of a cell, of a formula the one that the file remembers."""
        node = self.cell(row, column)
        return None if node is None else cell_value(node)

    def formula(self, row: int, column: int) -> str | None:
        """The formula of a cell in A1 notation, with its `=`."""
        node = self.cell(row, column)
        text = None if node is None else node.get("table:formula")
        return None if text is None else from_odf(text)

    def used(self) -> Area | None:
        """The area that holds values and formulas."""
        rows: list[int] = []
        columns: list[int] = []
        for start, count, line in self.lines():
            for left, width, node in cells(line):
                if node.get("office:value-type") or node.get("table:formula"):
                    rows += [start, start + count - 1]
                    columns += [left, left + width - 1]
        return Area(min(rows), min(columns), max(rows), max(columns)) if rows else None

    def own(self, row: int, column: int) -> Node:
        """The element of one cell alone: split off from repeated ones, or made beyond the last."""
        line = self._own_row(row)
        end = 0
        for left, width, node in cells(line):
            end = left + width - 1
            if left <= column < left + width:
                return _split(node, "table:number-columns-repeated", column - left, width)
        if column - end > 1:
            line.append(Node("table:table-cell", {"table:number-columns-repeated": str(column - end - 1)}))
        return line.append(Node("table:table-cell"))

    def put(self, row: int, column: int, value: Value, formula: str | None) -> None:
        """Set a value or a formula; notes and pictures that sit on the cell stay."""
        try:
            written = None if formula is None else to_odf(formula)
        except ValueError as error:
            raise SheetPatchError(str(error)) from None
        node = self.own(row, column)
        for name in _VALUE_ATTRIBUTES:
            node.set(name, None)
        kept: list[Node | str] = [child for child in node.children if child.local not in ("p", "h")]
        shown = ""
        if written is not None:
            node.set("table:formula", written)
        elif isinstance(value, bool):
            node.set("office:value-type", "boolean")
            node.set("office:boolean-value", str(value).lower())
            shown = str(value).upper()
        elif isinstance(value, int | float):
            node.set("office:value-type", "float")
            node.set("office:value", number_text(value))
            shown = number_text(value)
        elif value is not None:
            node.set("office:value-type", "string")
            shown = value
        lines = shown.split("\n") if shown else []
        node.replace([*kept, *(Node("text:p", {}, [_spaces(line)]) for line in lines)])

    def move(self, moves: dict[tuple[int, int], tuple[int, int]], formulas: dict[tuple[int, int], str]) -> None:
        """Move whole cells from place to place, all at once; the places must be a permutation."""
        for place in moves:
            self.own(*place)
        nodes = {place: self.own(*place) for place in moves}
        spots = {}
        for place, node in nodes.items():
            assert node.parent is not None
            spots[place] = (node.parent, node.parent.content.index(node))
        for source, target in moves.items():
            node = nodes[source]
            if source in formulas:
                node.set("table:formula", to_odf(formulas[source]))
            parent, index = spots[target]
            parent.content[index] = node
            node.parent = parent

    def merged(self) -> list[Area]:
        """The merged areas."""
        found = []
        for start, _, line in self.lines():
            for left, _, node in cells(line):
                wide = int(node.get("table:number-columns-spanned") or 1)
                high = int(node.get("table:number-rows-spanned") or 1)
                if wide > 1 or high > 1:
                    found.append(Area(start, left, start + high - 1, left + wide - 1))
        return found

    def hide_row(self, row: int, how: str | None) -> None:
        """Hide a row: `filter` or `collapse`; None shows it."""
        self._own_row(row).set("table:visibility", how)

    def lines(self) -> list[tuple[int, int, Node]]:
        """(first row, how many, element) of every row element."""
        if self._rows is None:
            self._rows = []
            position = 1
            for node in _line_nodes(self.node):
                count = int(node.get("table:number-rows-repeated") or 1)
                self._rows.append((position, count, node))
                position += count
        return self._rows

    def column_style(self, column: int) -> str | None:
        """The cell style that a column gives to cells without their own."""
        position = 1
        for node in self.node.walk():
            if node.local == "table-row":
                break
            if node.local == "table-column":
                count = int(node.get("table:number-columns-repeated") or 1)
                if position <= column < position + count:
                    return node.get("table:default-cell-style-name")
                position += count
        return None

    def style_name(self, row: int, column: int) -> str | None:
        """The name of the style of a cell: its own, else its row's, else its column's."""
        for start, count, line in self.lines():
            if start <= row < start + count:
                node = self.cell(row, column)
                own = node.get("table:style-name") if node is not None else None
                return own or line.get("table:default-cell-style-name") or self.column_style(column)
        return self.column_style(column)

    def _own_row(self, row: int) -> Node:
        end = 0
        for start, count, line in self.lines():
            end = start + count - 1
            if start <= row <= end:
                if count > 1:
                    line = _split(line, "table:number-rows-repeated", row - start, count)
                    self._rows = None
                return line
        parent = self.lines()[-1][2].parent if self.lines() else self.node
        assert parent is not None
        place = parent.content.index(self.lines()[-1][2]) + 1 if self.lines() else len(parent.content)
        if row - end > 1:
            gap = Node(
                "table:table-row", {"table:number-rows-repeated": str(row - end - 1)}, [Node("table:table-cell")]
            )
            parent.insert(place, gap)
            place += 1
        line = parent.insert(place, Node("table:table-row"))
        self._rows = None
        return line


def cells(line: Node) -> Iterator[tuple[int, int, Node]]:
    """(first column, how many, element) of every cell element of a row."""
    position = 1
    for node in line.children:
        if node.local in _CELLS:
            count = int(node.get("table:number-columns-repeated") or 1)
            yield position, count, node
            position += count


def cell_value(node: Node) -> Value:
    """The value of a cell element."""
    kind = node.get("office:value-type")
    if kind is None:
        return None
    if kind == "boolean":
        return node.get("office:boolean-value") == "true"
    if kind == "date":
        return to_number(datetime.fromisoformat((node.get("office:date-value") or "").rstrip("Z")))
    if kind == "time":
        return duration(node.get("office:time-value") or "")
    if kind == "string":
        said = node.get("office:string-value")
        return (
            said if said is not None else "\n".join(_paragraph(child) for child in node.children if child.local == "p")
        )
    return number(node.get("office:value") or "0")


def duration(text: str) -> float:
    """`PT08H30M00S` as a fraction of a day."""
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no duration")
    sign, hours, minutes, seconds = found.groups()
    total = int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(seconds or 0)
    return (-total if sign else total) / 86400


def moment_attributes(value: float, *, only_time: bool) -> dict[str, str]:
    """The attributes of a cell that holds a date or a time of day."""
    if only_time:
        seconds = round(value * 86400)
        text = f"PT{seconds // 3600:02d}H{seconds % 3600 // 60:02d}M{seconds % 60:02d}S"
        return {"office:value-type": "time", "office:time-value": text}
    moment = to_date(value)
    written = moment.isoformat() if moment.time() else moment.date().isoformat()
    return {"office:value-type": "date", "office:date-value": written}


def _paragraph(node: Node) -> str:
    pieces = []
    for child in node.content:
        if isinstance(child, str):
            pieces.append(Node("x", {}, [child]).text)
        elif child.local == "s":
            pieces.append(" " * int(child.get("text:c") or 1))
        elif child.local == "tab":
            pieces.append("\t")
        elif child.local == "line-break":
            pieces.append("\n")
        elif child.local not in ("annotation", "note"):
            pieces.append(_paragraph(child))
    return "".join(pieces)


def _spaces(line: str) -> str:
    """Text of a paragraph: runs of spaces, which OpenDocument folds, are written as `text:s`."""
    text = re.sub(r" {2,}|^ | $", lambda run: f'\0{len(run[0])}"/>', escape(line))
    return text.replace("\0", '<text:s text:c="').replace("\t", "<text:tab/>")


def _line_nodes(node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.local == "table-row":
            yield child
        elif child.local in _HOLDERS:
            yield from _line_nodes(child)


def _split(node: Node, name: str, before: int, count: int) -> Node:
    """Cut one out of `count` repeated elements, with `before` of them before it. Returns the one."""
    if count == 1:
        return node
    parent = node.parent
    assert parent is not None
    place = parent.content.index(node)
    behind = count - before - 1
    for times, offset in ((behind, 1), (before, 0)):
        if times:
            twin = node.copy()
            twin.set(name, str(times) if times > 1 else None)
            parent.insert(place + offset, twin)
    node.set(name, None)
    return node
