"""The cells of one worksheet part of an .xlsx, edited in place."""

from __future__ import annotations

from collections.abc import Iterator

from .formulas import shifted
from .future import futured
from .markup import Node, element, escape
from .package import Package, SheetPatchError
from .references import Area, address, column_number
from .values import Value, decode_text, encode_text, number, number_text

ORDER = (
    "sheetPr", "dimension", "sheetViews", "sheetFormatPr", "cols", "sheetData", "sheetCalcPr", "sheetProtection",
    "protectedRanges", "scenarios", "autoFilter", "sortState", "dataConsolidate", "customSheetViews", "mergeCells",
    "phoneticPr", "conditionalFormatting", "dataValidations", "hyperlinks", "printOptions", "pageMargins", "pageSetup",
    "headerFooter", "rowBreaks", "colBreaks", "customProperties", "cellWatches", "ignoredErrors", "smartTags",
    "drawing", "legacyDrawing", "legacyDrawingHF", "drawingHF", "picture", "oleObjects", "controls",
    "webPublishItems", "tableParts", "extLst",
)  # fmt: skip
"""The order that the schema wants of a worksheet's children (ECMA-376 part 1, 18.3.1.99)."""


class Worksheet:
    """One worksheet. Rows and columns are counted from 1."""

    def __init__(self, package: Package, part: str, name: str, strings: list[str]):
        self.part = part
        self.name = name
        self._package = package
        self._strings = strings
        data = self.root.find("sheetData")
        if data is None:
            raise SheetPatchError(f"{package.name}: {part} is no worksheet")
        self._data = data
        self._rows: dict[int, Node] = {}
        self._cells: dict[int, dict[int, Node]] = {}
        self._shared: dict[str, tuple[int, int, str]] = {}
        self._arrays: list[tuple[int, int, Area]] = []
        self._index()

    @property
    def root(self) -> Node:
        """The part's root, for reading."""
        return self._package.document(self.part)

    def change(self) -> Node:
        """The part's root, for editing."""
        return self._package.document(self.part, change=True)

    def cell(self, row: int, column: int) -> Node | None:
        """The cell's element, if the file has one."""
        return self._cells.get(row, {}).get(column)

    def used(self) -> Area | None:
        """The area that holds values and formulas, from A1's corner of it to the last; None for an empty sheet."""
        places = [(row, column) for row, column, node in self.items() if node.find("v", "f", "is") is not None]
        if not places:
            return None
        rows, columns = [row for row, _ in places], [column for _, column in places]
        return Area(min(rows), min(columns), max(rows), max(columns))

    def items(self) -> Iterator[tuple[int, int, Node]]:
        """(row, column, element) of every cell in the file."""
        for row, cells in self._cells.items():
            for column, node in cells.items():
                yield row, column, node

    def value(self, row: int, column: int) -> Value:
        """The value of a cell; of a formula the one that the file remembers, None if it remembers none."""
        node = self.cell(row, column)
        if node is None:
            return None
        kind = node.get("t", "n")
        if kind == "inlineStr":
            inside = node.find("is")
            return None if inside is None else string_text(inside)
        held = node.find("v")
        if held is None:
            return None
        text = held.text
        if kind == "s":
            return self._strings[int(text)]
        if kind == "b":
            return text.strip() in ("1", "true")
        if kind == "n":
            return number(text) if text.strip() else None
        return decode_text(text)

    def formula(self, row: int, column: int) -> str | None:
        """The formula of a cell with its `=`; members of a shared formula give their own reading of it."""
        node = self.cell(row, column)
        held = None if node is None else node.find("f")
        if held is None:
            return None
        if held.get("t") == "shared" and held.get("si") in self._shared:
            top, left, text = self._shared[held.get("si") or ""]
            return "=" + shifted(text, row - top, column - left)
        return "=" + decode_text(held.text)

    def style(self, row: int, column: int) -> int:
        """The cell format's index: the cell's own, else its row's, else its column's."""
        node = self.cell(row, column)
        if node is not None:
            return int(node.get("s") or 0)
        line = self._rows.get(row)
        if line is not None and line.get("customFormat") in ("1", "true"):
            return int(line.get("s") or 0)
        columns = self.root.find("cols")
        for col in columns.children if columns is not None else []:
            if int(col.get("min") or 0) <= column <= int(col.get("max") or 0):
                return int(col.get("style") or 0)
        return 0

    def set_style(self, row: int, column: int, index: int) -> None:
        """Give a cell another format."""
        self.make(row, column).set("s", str(index))

    def put(self, row: int, column: int, value: Value, formula: str | None = None) -> None:
        """Set a value, or a formula (its value is forgotten: a reader must calculate). The format stays.

        Raises SheetPatchError when the cell lies in an array formula that fills other cells too.
        """
        self.check(row, column)
        if value is None and formula is None:
            node = self.cell(row, column)
            if node is not None:
                self.change()
                node.replace([])
                _plain(node)
            return
        try:
            written = futured(formula or "").removeprefix("=")
        except ValueError as error:
            raise SheetPatchError(str(error)) from None
        node = self.make(row, column)
        _plain(node)
        head = node.prefix
        if formula is not None:
            node.replace([element(f"{head}f", {}, encode_text(written))])
        elif isinstance(value, bool):
            node.set("t", "b")
            node.replace([element(f"{head}v", {}, str(int(value)))])
        elif isinstance(value, int | float):
            node.replace([element(f"{head}v", {}, number_text(value))])
        else:
            node.set("t", "inlineStr")
            text = Node(f"{head}t", {"xml:space": "preserve"}, [escape(encode_text(str(value)))])
            node.replace([Node(f"{head}is", {}, [text])])

    def check(self, row: int, column: int) -> None:
        """Get a cell ready to change: write out a formula that it shares. Raises SheetPatchError inside an array."""
        node = self.cell(row, column)
        held = None if node is None else node.find("f")
        if held is not None and held.get("t") == "shared":
            self._unshare(held.get("si"))
        for top, left, area in self._arrays:
            if (row, column) in area and not area.single:
                where = f"{self._package.name}: {self.name}!{address(row, column)}"
                raise SheetPatchError(f"{where} lies in the array formula of {address(top, left)} ({area})")

    def make(self, row: int, column: int) -> Node:
        """The cell's element, made in its place if the file has none; it takes the format of its row or column."""
        self.change()
        node = self.cell(row, column)
        if node is not None:
            return node
        style = self.style(row, column)
        line = self._rows.get(row)
        if line is None:
            line = Node(f"{self._data.prefix}row", {"r": str(row)})
            _insert(self._data, line, self._rows, row)
            self._cells.setdefault(row, {})
        node = Node(f"{self._data.prefix}c", {"r": address(row, column)})
        if style:
            node.set("s", str(style))
        _insert(line, node, self._cells[row], column)
        line.set("spans", None)
        self._grow(row, column)
        return node

    def move(self, moves: dict[tuple[int, int], tuple[int, int]], formulas: dict[tuple[int, int], str]) -> None:
        """Move whole cells (value, formula, format) from place to place, all at once; `formulas` by their old place."""
        self.change()
        for source in moves:
            self.check(*source)
        taken = {source: self._take(*source) for source in moves}
        for source, target in moves.items():
            node = taken[source]
            self._take(*target)
            if node is None:
                continue
            if source in formulas and (held := node.find("f")) is not None:
                held.replace([escape(encode_text(formulas[source].removeprefix("=")))])
            node.set("r", address(*target))
            self.make(*target)
            line = self._rows[target[0]]
            line.content[line.content.index(self._cells[target[0]][target[1]])] = node
            node.parent = line
            self._cells[target[0]][target[1]] = node

    def child(self, local: str) -> Node:
        """A child of the worksheet, made in the place that the schema wants."""
        root = self.change()
        found = root.find(local)
        if found is not None:
            return found
        behind = [
            node for node in root.children if node.local in ORDER and ORDER.index(node.local) > ORDER.index(local)
        ]
        place = root.content.index(behind[0]) if behind else len(root.content)
        return root.insert(place, Node(root.prefix + local))

    def hide_row(self, row: int, hidden: bool) -> None:
        """Hide or show a row."""
        line = self._rows.get(row)
        if line is None:
            if not hidden:
                return
            line = Node(f"{self._data.prefix}row", {"r": str(row)})
            self.change()
            _insert(self._data, line, self._rows, row)
            self._cells.setdefault(row, {})
        self.change()
        line.set("hidden", "1" if hidden else None)

    def _unshare(self, identity: str | None) -> None:
        """Give every member of a shared formula its own copy of it, so that one of them can change."""
        self.change()
        texts = {(row, column): self.formula(row, column) for row, column, _ in self.items()}
        for row, column, node in self.items():
            held = node.find("f")
            if held is not None and held.get("t") == "shared" and held.get("si") == identity:
                for name in ("t", "si", "ref"):
                    held.set(name, None)
                held.replace([escape(encode_text((texts[row, column] or "=").removeprefix("=")))])
        self._shared.pop(identity or "", None)

    def _take(self, row: int, column: int) -> Node | None:
        node = self._cells.get(row, {}).pop(column, None)
        if node is not None and node.parent is not None:
            node.parent.remove(node)
        return node

    def _grow(self, row: int, column: int) -> None:
        dimension = self.root.find("dimension")
        if dimension is None or not dimension.get("ref"):
            return
        area = Area.parse(dimension.get("ref") or "")
        if (row, column) not in area:
            bounds = Area(min(area.top, row), min(area.left, column), max(area.bottom, row), max(area.right, column))
            dimension.set("ref", str(bounds))

    def _index(self) -> None:
        last_row = 0
        for line in self._data.all("row"):
            last_row = int(line.get("r") or last_row + 1)
            self._rows[last_row] = line
            cells = self._cells[last_row] = {}
            last_column = 0
            for node in line.all("c"):
                reference = node.get("r")
                last_column = column_number(reference.rstrip("0123456789")) if reference else last_column + 1
                cells[last_column] = node
                held = node.find("f")
                if held is None or not held.get("ref"):
                    continue
                if held.get("t") == "shared":
                    self._shared[held.get("si") or ""] = (last_row, last_column, decode_text(held.text))
                elif held.get("t") in ("array", "dataTable"):
                    self._arrays.append((last_row, last_column, Area.parse(held.get("ref") or "")))


def string_text(node: Node) -> str:
    """The text of a string item (`si`, `is`): all runs, without phonetic hints."""
    pieces = []
    for child in node.children:
        if child.local == "t":
            pieces.append(child.text)
        elif child.local == "r":
            pieces.extend(part.text for part in child.all("t"))
    return decode_text("".join(pieces))


def _plain(node: Node) -> None:
    for name in ("t", "cm", "vm"):
        node.set(name, None)


def _insert(parent: Node, node: Node, index: dict[int, Node], key: int) -> None:
    """Put a row or cell where its number belongs, in the tree and in the index (which stays sorted)."""
    behind = [other for number, other in index.items() if number > key]
    parent.insert(parent.content.index(behind[0]) if behind else len(parent.content), node)
    index[key] = node
    for place in sorted(index):
        index[place] = index.pop(place)
