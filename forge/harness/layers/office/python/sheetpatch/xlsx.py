"""Workbooks in Excel's format (.xlsx): ECMA-376 part 1, edited part by part."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from .book import Book
from .filters import COMPARISONS, Filter, comparison, passes, shown
from .formulas import references, renamed
from .markup import Node, element, escape
from .package import Package, SheetPatchError
from .references import Area, column_letters, column_number, quote
from .values import Value, number_text
from .xlsx_sheet import Worksheet, string_text
from .xlsx_styles import Styles

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORKSHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"
_FORMULA_PARTS = ("f", "formula", "formula1", "formula2", "definedName")


class XlsxBook(Book):
    """An .xlsx workbook; see `Book` for what it can do."""

    def __init__(self, data: bytes, path: Path | None = None):
        super().__init__(path, path.name if path else "workbook.xlsx")
        self._package = Package(data, self.name)
        self._part = next(
            (part for kind, part in self._package.relations("").values() if kind == "officeDocument"), "xl/workbook.xml"
        )
        root = self._package.document(self._part)
        if root.local != "workbook" or root.find("sheets") is None:
            raise SheetPatchError(f"{self.name}: {self._part} is no workbook")
        self._worksheets: dict[str, Worksheet] = {}

    @property
    def package(self) -> Package:
        """The parts below, for edits that this class does not know."""
        return self._package

    @property
    def sheets(self) -> list[str]:
        return [node.get("name") or "" for node in self._entries()]

    def part(self, sheet: str) -> str:
        """The name of the part that holds a sheet."""
        entry = self._entries()[self.sheets.index(self._sheet(sheet))]
        identity = next((value for name, value in entry.attributes.items() if name.endswith(":id")), "")
        try:
            return self._package.relations(self._part)[identity][1]
        except KeyError:
            raise SheetPatchError(f"{self.name}: sheet {sheet!r} leads to no part") from None

    def worksheet(self, sheet: str) -> Worksheet:
        """The cells of a sheet."""
        name = self._sheet(sheet)
        if name not in self._worksheets:
            self._worksheets[name] = Worksheet(self._package, self.part(name), name, self._strings)
        return self._worksheets[name]

    def number_format(self, ref: str, code: str | None = None) -> str:
        if code is None:
            area = self._one(ref)
            return self._styles.number_format(self.worksheet(area.sheet or "").style(area.top, area.left))
        self._restyle(ref, lambda index: self._styles.with_number_format(index, code))
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
        def change(index: int) -> int:
            lettering = {
                "bold": bold, "italic": italic, "underline": underline, "color": color, "size": size, "font": font,
            }  # fmt: skip
            if any(value is not None for value in lettering.values()):
                index = self._styles.with_font(index, **lettering)  # type: ignore[arg-type]
            if fill is not None:
                index = self._styles.with_fill(index, fill)
            if border is not None:
                index = self._styles.with_border(index, border)
            wanted: dict[str, str | None] = {} if align is None else {"horizontal": align}
            wanted |= {} if wrap is None else {"wrapText": "1" if wrap else None}
            return self._styles.with_alignment(index, **wanted) if wanted else index

        self._restyle(ref, change)

    def rename(self, old: str, new: str) -> None:
        old = self._sheet(old)
        self._check_name(new, old)
        for part in self._package.parts:
            if part.endswith(".xml") and part.startswith("xl/") and _mentions(self._package.read(part), old):
                self._rename_in(part, old, new)
        self._rename_title(old, new)
        entry = self._entries(change=True)[self.sheets.index(old)]
        entry.set("name", new)
        if old in self._worksheets:
            sheet = self._worksheets.pop(old)
            sheet.name = new
            self._worksheets[new] = sheet

    def add_sheet(self, name: str, position: int | None = None) -> None:
        self._check_name(name)
        taken = set(self._package.parts)
        part = next(
            f"xl/worksheets/sheet{n}.xml" for n in range(1, 10_000) if f"xl/worksheets/sheet{n}.xml" not in taken
        )
        head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
        self._package.write(part, f'{head}<worksheet xmlns="{_MAIN}"><sheetData/></worksheet>'.encode())
        types = self._package.document("[Content_Types].xml", change=True)
        types.append(Node(f"{types.prefix}Override", {"PartName": f"/{part}", "ContentType": _WORKSHEET}))
        identity = self._package.relate(self._part, f"{_OFFICE}/worksheet", part)
        entries = self._entries(change=True)
        free = max((int(entry.get("sheetId") or 0) for entry in entries), default=0) + 1
        sheets = self._workbook(change=True).find("sheets")
        assert sheets is not None
        prefix = _relation_prefix(self._workbook(change=True), entries)
        sheets.append(Node(f"{sheets.prefix}sheet", {"name": name, "sheetId": str(free), f"{prefix}:id": identity}))
        if position is not None:
            self.move_sheet(name, position)

    def move_sheet(self, name: str, position: int) -> None:
        names = self.sheets
        moved = names.index(self._sheet(name))
        order = [index for index in range(len(names)) if index != moved]
        order.insert(max(0, min(position, len(order))), moved)
        self._arrange(order)

    def remove_sheet(self, name: str) -> None:
        name = self._sheet(name)
        names = self.sheets
        if len(names) == 1:
            raise SheetPatchError(f"{self.name}: {name!r} is the only sheet")
        user = self._user_of(name)
        if user is not None:
            raise SheetPatchError(f"{self.name}: {name!r} cannot be removed: {user} refers to it")
        gone = names.index(name)
        part = self.part(name)
        identity = next(k for k, (_, target) in self._package.relations(self._part).items() if target == part)
        self._arrange([index for index in range(len(names)) if index != gone])
        self._package.unrelate(self._part, identity)
        types = self._package.document("[Content_Types].xml", change=True)
        for node in types.children:
            if node.get("PartName") == f"/{part}":
                types.remove(node)
        self._package.drop(part)
        self._worksheets.pop(name, None)

    def hide_sheet(self, name: str, hidden: bool = True) -> None:
        entry = self._entries(change=True)[self.sheets.index(self._sheet(name))]
        entry.set("state", "hidden" if hidden else None)

    def autofilter(self, ref: str | None, sheet: str | None = None, **show: Filter) -> None:
        area = self._area(ref) if ref else None
        name = area.sheet or "" if area else self._sheet(sheet)
        worksheet = self.worksheet(name)
        old = worksheet.root.find("autoFilter")
        if old is not None and old.get("ref"):
            covered = Area.parse(old.get("ref") or "")
            for row in range(covered.top + 1, covered.bottom + 1):
                worksheet.hide_row(row, False)
        self._name_filter(name, area)
        if area is None:
            if old is not None:
                worksheet.change().remove(old)
            return
        bare = Area(area.top, area.left, area.bottom, area.right)
        node = worksheet.child("autoFilter")
        node.set("ref", str(bare))
        node.replace([])
        left = set(range(area.top + 1, area.bottom + 1))
        for letters in sorted(show, key=column_number):
            column = column_number(letters)
            if not area.left <= column <= area.right:
                raise SheetPatchError(f"{self.name}: column {letters} is not in {area}")
            node.append(_filter_column(node.prefix, column - area.left, show[letters]))
            left = {row for row in left if passes(worksheet.value(row, column), show[letters])}
        for row in range(area.top + 1, area.bottom + 1):
            worksheet.hide_row(row, row not in left)

    def freeze(self, ref: str) -> None:
        """Freeze the rows above and the columns left of a cell; `A1` frees them."""
        area = self._one(ref)
        views = self.worksheet(area.sheet or "").child("sheetViews")
        view = views.find("sheetView") or views.append(Node(f"{views.prefix}sheetView", {"workbookViewId": "0"}))
        for child in view.children:
            if child.local in ("pane", "selection"):
                view.remove(child)
        if area.top == area.left == 1:
            return
        pane = "bottomRight" if area.top > 1 and area.left > 1 else "bottomLeft" if area.top > 1 else "topRight"
        attributes = {"xSplit": str(area.left - 1)} if area.left > 1 else {}
        attributes |= {"ySplit": str(area.top - 1)} if area.top > 1 else {}
        corner = f"{column_letters(area.left)}{area.top}"
        attributes |= {"topLeftCell": corner, "activePane": pane, "state": "frozen"}
        view.insert(0, Node(f"{view.prefix}pane", attributes))

    def render(self) -> bytes:
        return self._package.render()

    def _save(self, path: Path) -> None:
        self._package.save(path)

    def _value(self, sheet: str, row: int, column: int) -> Value:
        return self.worksheet(sheet).value(row, column)

    def _formula(self, sheet: str, row: int, column: int) -> str | None:
        return self.worksheet(sheet).formula(row, column)

    def _used(self, sheet: str) -> Area | None:
        return self.worksheet(sheet).used()

    def _put(self, sheet: str, row: int, column: int, value: Value, formula: str | None) -> None:
        worksheet = self.worksheet(sheet)
        had_formula = worksheet.formula(row, column) is not None
        worksheet.put(row, column, value, formula)
        if had_formula or formula is not None:
            self._forget_chain()
        self._calculate_on_load()

    def _move(
        self,
        sheet: str,
        moves: dict[tuple[int, int], tuple[int, int]],
        formulas: dict[tuple[int, int], str],
    ) -> None:
        self.worksheet(sheet).move(moves, formulas)
        if formulas:
            self._forget_chain()
        self._calculate_on_load()

    def _merged(self, sheet: str) -> list[Area]:
        node = self.worksheet(sheet).root.find("mergeCells")
        return [Area.parse(cell.get("ref") or "") for cell in node.children] if node is not None else []

    @cached_property
    def _strings(self) -> list[str]:
        for kind, part in self._package.relations(self._part).values():
            if kind == "sharedStrings":
                return [string_text(node) for node in self._package.document(part).all("si")]
        return []

    @cached_property
    def _styles(self) -> Styles:
        for kind, part in self._package.relations(self._part).values():
            if kind == "styles":
                return Styles(self._package, part)
        raise SheetPatchError(f"{self.name}: has no styles part")

    def _workbook(self, *, change: bool = False) -> Node:
        return self._package.document(self._part, change=change)

    def _entries(self, *, change: bool = False) -> list[Node]:
        node = self._workbook(change=change).find("sheets")
        return node.all("sheet") if node is not None else []

    def _restyle(self, ref: str, change: Callable[[int], int]) -> None:
        area = self._clipped(self._area(ref))
        done: dict[int, int] = {}
        if area is None:
            return
        worksheet = self.worksheet(area.sheet or "")
        for row, column in area.cells():
            old = worksheet.style(row, column)
            if old not in done:
                done[old] = change(old)
            worksheet.set_style(row, column, done[old])

    def _check_name(self, name: str, old: str | None = None) -> None:
        if not 1 <= len(name) <= 31 or set(name) & set("[]:*?/\\") or name[0] == "'" or name[-1] == "'":
            raise SheetPatchError(f"{name!r} is no name for a sheet: 1 to 31 characters, none of []:*?/\\")
        if any(name.casefold() == other.casefold() for other in self.sheets if other != old):
            raise SheetPatchError(f"{self.name}: there is a sheet {name!r} already")

    def _rename_in(self, part: str, old: str, new: str) -> None:
        for node in list(self._package.document(part).walk()):
            if node.local in _FORMULA_PARTS and not node.children:
                text = node.text
                try:
                    after = renamed(text, old, new)
                except ValueError:
                    raise SheetPatchError(f"{self.name}: {part}: cannot read the formula {text!r}") from None
                if after != text:
                    self._package.document(part, change=True)
                    node.replace([escape(after)])
            elif node.local == "hyperlink" and node.get("location"):
                after = renamed(node.get("location") or "", old, new)
                self._package.document(part, change=True)
                node.set("location", after)
            elif node.local == "worksheetSource" and node.get("sheet") == old:
                self._package.document(part, change=True)
                node.set("sheet", new)

    def _rename_title(self, old: str, new: str) -> None:
        part = "docProps/app.xml"
        if part not in self._package:
            return
        titles = self._package.document(part).find("TitlesOfParts")
        for node in titles.walk() if titles is not None else ():
            if node.local == "lpstr" and node.text == old:
                self._package.document(part, change=True)
                node.replace([escape(new)])
                return

    def _arrange(self, order: list[int]) -> None:
        """Put the sheets in a new order, given by their old positions; names and the shown sheet follow."""
        book = self._workbook(change=True)
        sheets = book.find("sheets")
        assert sheets is not None
        entries = sheets.all("sheet")
        sheets.replace([entries[index] for index in order])
        names = book.find("definedNames")
        for node in names.children if names is not None else []:
            local = node.get("localSheetId")
            if local is not None and int(local) in order:
                node.set("localSheetId", str(order.index(int(local))))
            elif local is not None:
                names.remove(node)  # type: ignore[union-attr]
        views = book.find("bookViews")
        for view in views.children if views is not None else []:
            for name in ("activeTab", "firstSheet"):
                old = int(view.get(name) or 0)
                if view.get(name) is not None or name == "activeTab":
                    position = order.index(old) if old in order else 0
                    view.set(name, str(position) if position or view.get(name) is not None else None)

    def _user_of(self, sheet: str) -> str | None:
        """A place whose formula refers to a sheet, or None."""
        own = self.part(sheet)
        for part in self._package.parts:
            if part == own or not part.endswith(".xml") or not _mentions(self._package.read(part), sheet):
                continue
            for node in self._package.document(part).walk():
                if node.local in _FORMULA_PARTS and node.get("localSheetId") != str(self.sheets.index(sheet)):
                    try:
                        found = references(node.text)
                    except ValueError:
                        return part
                    if any((reference.sheet or "").casefold() == sheet.casefold() for reference in found):
                        return f"{part} ({node.text})"
        return None

    def _name_filter(self, sheet: str, area: Area | None) -> None:
        book = self._workbook(change=True)
        local = str(self.sheets.index(sheet))
        names = book.find("definedNames")
        for node in names.children if names is not None else []:
            if node.get("name") == "_xlnm._FilterDatabase" and node.get("localSheetId") == local:
                names.remove(node)  # type: ignore[union-attr]
        if area is None:
            if names is not None and not names.children:
                book.remove(names)
            return
        if names is None:
            sheets = book.find("externalReferences", "functionGroups", "sheets")
            assert sheets is not None
            names = book.insert(book.content.index(sheets) + 1, Node(f"{book.prefix}definedNames"))
        corners = [f"${column_letters(c)}${r}" for r, c in ((area.top, area.left), (area.bottom, area.right))]
        attributes = {"name": "_xlnm._FilterDatabase", "localSheetId": local, "hidden": "1"}
        text = f"{quote(sheet)}!{':'.join(corners)}"
        names.insert(0, element(f"{names.prefix}definedName", attributes, text))

    def _forget_chain(self) -> None:
        for identity, (kind, part) in self._package.relations(self._part).items():
            if kind == "calcChain":
                self._package.unrelate(self._part, identity)
                self._package.drop(part)
                types = self._package.document("[Content_Types].xml", change=True)
                for node in types.children:
                    if node.get("PartName") == f"/{part}":
                        types.remove(node)

    def _calculate_on_load(self) -> None:
        """Have readers calculate anew: values that the file remembers may be stale now."""
        node = self._workbook().find("calcPr")
        if node is not None and node.get("fullCalcOnLoad") in ("1", "true"):
            return
        book = self._workbook(change=True)
        if node is None:
            last = max(book.content.index(c) for c in book.children if c.local in _BEFORE_CALCULATION)
            node = book.insert(last + 1, Node(f"{book.prefix}calcPr"))
        node.set("fullCalcOnLoad", "1")


_BEFORE_CALCULATION = ("sheets", "functionGroups", "externalReferences", "definedNames")


def _mentions(data: bytes, sheet: str) -> bool:
    text = data.decode("utf-8", "replace").casefold()
    name = sheet.casefold()
    return any(escape(form, quotes=True) in text or escape(form) in text for form in (name, name.replace("'", "''")))


def _relation_prefix(book: Node, entries: list[Node]) -> str:
    """The prefix under which the workbook part knows the namespace of relationships."""
    for entry in entries:
        for name in entry.attributes:
            if name.endswith(":id"):
                return name.partition(":")[0]
    book.set("xmlns:r", _OFFICE)
    return "r"


def _filter_column(prefix: str, index: int, show: Filter) -> Node:
    column = Node(f"{prefix}filterColumn", {"colId": str(index)})
    compared = comparison(show)
    if compared:
        sign = {"operator": COMPARISONS[compared[0]][0]} if compared[0] != "=" else {}
        child = Node(f"{prefix}customFilter", {**sign, "val": number_text(compared[1])})
        column.append(Node(f"{prefix}customFilters", {}, [child]))
    else:
        values: list[Node | str] = [Node(f"{prefix}filter", {"val": shown(value)}) for value in show]
        column.append(Node(f"{prefix}filters", {}, values))
    return column
