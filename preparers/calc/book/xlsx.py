"""Reading .xlsx (ECMA-376 part 1, chapter 18)."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable
from typing import Any

from forge.harness.layers.office.python.sheetpatch.formulas import plain, shifted
from forge.harness.layers.office.python.sheetpatch.references import Area, address, column_number, quote
from forge.harness.layers.office.python.sheetpatch.values import decode_text, number
from forge.records import PreparerError
from preparers.calc.book.container import Parts
from preparers.calc.book.model import TRUTHS, Book, Cell, Filter, Scalar, Sheet
from preparers.calc.book.xlsx_drawings import drawing
from preparers.calc.book.xlsx_styles import MAIN, Formats

_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}"
_YES = ("1", "true", "on")
_ORDINARY = {
    "worksheet", "styles", "theme", "sharedStrings", "calcChain", "drawing", "vmlDrawing", "comments", "image", "chart",
    "hyperlink", "printerSettings", "officeDocument", "core-properties", "extended-properties", "custom-properties",
    "thumbnail", "chartUserShapes", "chartStyle", "chartColorStyle", "metadata", "chartsheet", "table",
}  # fmt: skip
"""Kinds of parts that are read elsewhere, or that say nothing a person would miss."""

_FILTER_SIGNS = {
    "equal": "=", "notEqual": "<>", "greaterThan": ">", "greaterThanOrEqual": ">=", "lessThan": "<", "lessThanOrEqual": "<=",
}  # fmt: skip


def read_xlsx(data: bytes, name: str) -> Book:
    """Read a workbook. Raises PreparerError (and, for odd XML, what `read_book` turns into one)."""
    parts = Parts(data, name)
    top = dict(relations(parts, "").values())
    main = top.get("officeDocument", "xl/workbook.xml")
    root = parts.xml(main)
    if root.tag != f"{MAIN}workbook":
        raise PreparerError(f"{name}: {main} is no workbook")
    links = relations(parts, main)
    by_kind = dict(links.values())
    formats = Formats(parts, by_kind.get("styles"), by_kind.get("theme"))
    strings = _strings(parts, by_kind.get("sharedStrings"))
    sheets = []
    for node in root.iterfind(f"{MAIN}sheets/{MAIN}sheet"):
        kind, part = links[node.get(f"{_RELATION}id")]
        sheet = Sheet(node.get("name"), node.get("state") or "visible")
        if kind == "worksheet":
            _Reader(parts, part, formats, strings).read(sheet)
        sheets.append(sheet)
    if not sheets:
        raise PreparerError(f"{name}: the workbook has no sheet")
    return Book(sheets, _names(root, sheets), _producer(parts, top), _extras(parts))


def relations(parts: Parts, part: str) -> dict[str, tuple[str, str]]:
    """Relationship id of a part to (kind, part or address)."""
    folder, file = posixpath.split(part)
    place = posixpath.join(folder, "_rels", f"{file}.rels")
    if place not in parts:
        return {}
    found = {}
    for node in parts.xml(place).iterfind(f"{_PACKAGE}Relationship"):
        target = node.get("Target") or ""
        if node.get("TargetMode") != "External":
            target = target[1:] if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
        found[node.get("Id")] = ((node.get("Type") or "").rpartition("/")[2], target)
    return found


def spelled(formula: str | None) -> str:
    """A formula or reference in one spelling, `$` and spaces dropped; as it stands when it cannot be read."""
    if not formula:
        return ""
    try:
        return plain(formula)
    except ValueError:
        return formula


class _Reader:
    """Reads one worksheet part into a Sheet."""

    def __init__(self, parts: Parts, part: str, formats: Formats, strings: list[tuple[str, str]]):
        self._parts = parts
        self._root = parts.xml(part)
        self._links = relations(parts, part)
        self._formats = formats
        self._strings = strings
        self._shared: dict[str, tuple[int, int, str]] = {}

    def read(self, sheet: Sheet) -> None:
        root = self._root
        self._cells(sheet)
        self._columns(sheet)
        self._view(sheet)
        sheet.merged = frozenset(
            str(Area.parse(n.get("ref"))) for n in root.iterfind(f"{MAIN}mergeCells/{MAIN}mergeCell")
        )
        sheet.filter = _filter(root.find(f"{MAIN}autoFilter"))
        sheet.conditional = self._conditional()
        sheet.validation = self._validation()
        for node in root.iterfind(f"{MAIN}hyperlinks/{MAIN}hyperlink"):
            _, target = self._links.get(node.get(f"{_RELATION}id"), ("", ""))
            sheet.links[node.get("ref")] = target or "#" + (node.get("location") or "")
        protection = root.find(f"{MAIN}sheetProtection")
        if protection is not None and protection.get("sheet") in _YES:
            sheet.protection = " ".join(sorted(k for k, v in protection.attrib.items() if v in _YES))
        color = root.find(f"{MAIN}sheetPr/{MAIN}tabColor")
        sheet.tab_color = self._formats.colors.resolve(color)
        sheet.page = _page(root)
        for kind, part in self._links.values():
            if kind == "comments" and part in self._parts:
                for node in self._parts.xml(part).iterfind(f".//{MAIN}comment"):
                    sheet.notes[node.get("ref")] = "".join(t.text or "" for t in node.iter(f"{MAIN}t")).strip()
            elif kind == "table" and part in self._parts:
                table = self._parts.xml(part)
                columns = ",".join(c.get("name") for c in table.iter(f"{MAIN}tableColumn"))
                sheet.tables += (f"{table.get('displayName')} {table.get('ref')} {columns}",)
        node = root.find(f"{MAIN}drawing")
        if node is not None:
            part = self._links[node.get(f"{_RELATION}id")][1]
            sheet.charts, sheet.pictures, sheet.shapes = drawing(self._parts, part)

    def _cells(self, sheet: Sheet) -> None:
        row = 0
        tag_cell = f"{MAIN}c"
        cells = sheet.cells
        for line in self._root.iterfind(f"{MAIN}sheetData/{MAIN}row"):
            row = int(line.get("r") or row + 1)
            if line.get("hidden") in _YES:
                sheet.hidden_rows.add(row)
            if line.get("customFormat") in _YES:
                sheet.row_styles[row] = self._formats.style(line.get("s"))
            if line.get("customHeight") in _YES and line.get("ht"):
                sheet.heights[row] = round(float(line.get("ht")), 1)
            column = 0
            for node in line.iterfind(tag_cell):
                reference = node.get("r")
                column = column_number(reference.rstrip("0123456789")) if reference else column + 1
                cells[row, column] = self._cell(node, row, column)

    def _cell(self, node: Any, row: int, column: int) -> Cell:
        cell = Cell(style=self._formats.style(node.get("s")))
        kind = node.get("t") or "n"
        for child in node:
            tag = child.tag
            if tag == f"{MAIN}v":
                cell.value, cell.rich = self._value(kind, child.text or "")
            elif tag == f"{MAIN}f":
                self._formula(cell, child, row, column)
            elif tag == f"{MAIN}is" and kind == "inlineStr":
                cell.value, cell.rich = _string(child)
        return cell

    def _value(self, kind: str, text: str) -> tuple[Scalar, str]:
        if kind == "s":
            return self._strings[int(text)]
        if kind == "b":
            return text.strip() in _YES, ""
        if kind in ("n", ""):
            return (number(text) if text.strip() else None), ""
        return decode_text(text), ""

    def _formula(self, cell: Cell, node: Any, row: int, column: int) -> None:
        text = decode_text(node.text or "")
        kind = node.get("t")
        if kind == "shared":
            if node.get("ref"):
                self._shared[node.get("si")] = (row, column, text)
            elif node.get("si") in self._shared:
                top, left, master = self._shared[node.get("si")]
                text = shifted(master, row - top, column - left)
        elif kind in ("array", "dataTable"):
            cell.array = node.get("ref") or address(row, column)
        if (text or kind) and "=" + text not in TRUTHS:
            cell.formula = "=" + text

    def _columns(self, sheet: Sheet) -> None:
        for node in self._root.iterfind(f"{MAIN}cols/{MAIN}col"):
            first, last = int(node.get("min")), int(node.get("max"))
            if node.get("style"):
                sheet.column_styles.append((first, last, self._formats.style(node.get("style"))))
            # A span to the sheet's end is a default, not a decision about single columns.
            for column in range(first, min(last, first + 255) + 1):
                if node.get("hidden") in _YES:
                    sheet.hidden_columns.add(column)
                elif node.get("customWidth") in _YES and node.get("width"):
                    sheet.widths[column] = round(float(node.get("width")), 1)

    def _view(self, sheet: Sheet) -> None:
        pane = self._root.find(f"{MAIN}sheetViews/{MAIN}sheetView/{MAIN}pane")
        if pane is not None and pane.get("state") in ("frozen", "frozenSplit"):
            sheet.freeze = (int(float(pane.get("ySplit") or 0)), int(float(pane.get("xSplit") or 0)))

    def _conditional(self) -> tuple[str, ...]:
        found = []
        for holder in self._root.iterfind(f"{MAIN}conditionalFormatting"):
            area = " ".join(sorted((holder.get("sqref") or "").split()))
            for rule in holder.iterfind(f"{MAIN}cfRule"):
                pieces = [area, rule.get("type") or ""]
                told = {"cellIs": ("operator",), "top10": ("rank",), "timePeriod": ("timePeriod",)}
                pieces += [f"{k}={rule.get(k)}" for k in (*told.get(rule.get("type"), ()), "text") if rule.get(k)]
                flags = ("percent", "bottom", "equalAverage", "stopIfTrue")
                pieces += [k for k in flags if rule.get(k) in _YES]
                if rule.get("type") == "aboveAverage" and rule.get("aboveAverage") in ("0", "false"):
                    pieces.append("below")
                pieces += [spelled(node.text) for node in rule.iterfind(f"{MAIN}formula")]
                pieces.append(self._formats.dxf(rule.get("dxfId")))
                for scale in rule:
                    if scale.tag != f"{MAIN}formula" and not scale.tag.endswith("}extLst"):
                        pieces.append(_outline(scale, self._formats))
                found.append(" | ".join(piece for piece in pieces if piece))
        return tuple(sorted(found))

    def _validation(self) -> tuple[str, ...]:
        found = []
        for node in self._root.iterfind(f"{MAIN}dataValidations/{MAIN}dataValidation"):
            pieces = [" ".join(sorted((node.get("sqref") or "").split())), node.get("type") or "none"]
            if node.get("type") not in (None, "none", "list", "custom"):
                pieces.append(node.get("operator") or "between")
            bounds = ("formula1",) if node.get("type") in ("list", "custom") else ("formula1", "formula2")
            pieces += [spelled(node.findtext(MAIN + name)) for name in bounds]
            found.append(" | ".join(piece for piece in pieces if piece))
        return tuple(sorted(found))


def _strings(parts: Parts, part: str | None) -> list[tuple[str, str]]:
    return [_string(node) for node in parts.xml(part).iterfind(f"{MAIN}si")] if part and part in parts else []


def _string(node: Any) -> tuple[str, str]:
    """(text, what tells its runs apart; empty for a plain text)."""
    runs = node.findall(f"{MAIN}r")
    if not runs:
        return decode_text(node.findtext(f"{MAIN}t") or ""), ""
    texts = [decode_text(run.findtext(f"{MAIN}t") or "") for run in runs]
    marks = []
    for text, run in zip(texts, runs, strict=True):
        look = run.find(f"{MAIN}rPr")
        flags = [n for n in ("b", "i", "u", "strike") if look is not None and (f := look.find(MAIN + n)) is not None
                 and f.get("val") not in ("0", "false", "none")]  # fmt: skip
        marks.append(f"{len(text)}{''.join(flags)}")
    plain = all(mark == str(len(text)) for mark, text in zip(marks, texts, strict=True))
    return "".join(texts), "" if plain else " ".join(marks)


def _filter(node: Any) -> Filter | None:
    if node is None:
        return None
    area = Area.parse(node.get("ref"))
    columns = []
    for column in node.iterfind(f"{MAIN}filterColumn"):
        shown: list[str] = []
        for part in column:
            if part.tag == f"{MAIN}filters":
                shown += sorted(f"={child.get('val')}" for child in part.iterfind(f"{MAIN}filter"))
                shown += sorted(_date_group(child) for child in part.iterfind(f"{MAIN}dateGroupItem"))
                shown += ["=(blank)"] if part.get("blank") in _YES else []
            elif part.tag == f"{MAIN}customFilters":
                joint = [" and "] if part.get("and") in _YES and len(part) > 1 else []
                shown += [
                    f"{_FILTER_SIGNS[child.get('operator') or 'equal']}{child.get('val')}" for child in part
                ] + joint
            else:
                shown.append(_plain_outline(part))
        if shown:
            place = address(1, area.left + int(column.get("colId"))).rstrip("1")
            columns.append(f"{place}: {', '.join(shown)}")
    return Filter(str(area), tuple(sorted(columns)))


def _date_group(node: Any) -> str:
    return "=" + "-".join(node.get(part) for part in ("year", "month", "day") if node.get(part))


def _page(root: Any) -> str:
    """Paper, orientation, margins, header, footer: what a print would look like."""
    pieces = []
    setup = root.find(f"{MAIN}pageSetup")
    if setup is not None:
        # Only what differs from the defaults that programs write or leave out as they please.
        for name, usual in (("orientation", "portrait default"), ("paperSize", "1 9"), ("scale", "100")):
            value = setup.get(name)
            if value is not None and value not in usual.split():
                pieces.append(f"{name}={value}")
        fitted = root.find(f"{MAIN}sheetPr/{MAIN}pageSetUpPr")
        if fitted is not None and fitted.get("fitToPage") in _YES:
            pieces += [f"{name}={setup.get(name) or 1}" for name in ("fitToWidth", "fitToHeight")]
    margins = root.find(f"{MAIN}pageMargins")
    if margins is not None:
        pieces += [f"{k}={float(margins.get(k)):.2f}" for k in ("left", "right", "top", "bottom")]
    pieces += [node.text for node in root.iterfind(f"{MAIN}headerFooter/*") if node.text]
    breaks = [node.get("id") for node in root.iterfind(f"{MAIN}rowBreaks/{MAIN}brk")]
    return " ".join([*pieces, *(f"break{place}" for place in breaks)])


def _names(root: Any, sheets: list[Sheet]) -> dict[str, str]:
    found = {}
    for node in root.iterfind(f"{MAIN}definedNames/{MAIN}definedName"):
        name = node.get("name")
        if name == "_xlnm._FilterDatabase":
            continue
        local = node.get("localSheetId")
        key = name if local is None else f"{quote(sheets[int(local)].name)}!{name}"
        found[key] = spelled(node.text)
    return found


def _producer(parts: Parts, top: dict[str, str]) -> str:
    part = top.get("extended-properties")
    if part is None or part not in parts:
        return ""
    return next((child.text or "" for child in parts.xml(part) if child.tag.endswith("}Application")), "")


def _extras(parts: Parts) -> dict[str, int]:
    """How many parts of each further kind there are: pivot tables, macros, controls, embedded objects."""
    found: Counter[str] = Counter()
    for part in parts.names:
        if part.endswith(".rels"):
            for node in parts.xml(part).iterfind(f"{_PACKAGE}Relationship"):
                kind = (node.get("Type") or "").rpartition("/")[2]
                if kind not in _ORDINARY:
                    found[kind] += 1
    return dict(found)


def _outline(node: Any, formats: Formats) -> str:
    """An element in one spelling, colours resolved."""
    local = node.tag.rpartition("}")[2]
    if local == "color":
        return formats.colors.resolve(node)
    attributes = [f"{k}={_short(v)}" for k, v in sorted(node.attrib.items()) if k in ("type", "val", "iconSet")]
    inside = _join(_outline(child, formats) for child in node)
    return f"{local}({' '.join([*attributes, inside]).strip()})"


def _plain_outline(node: Any) -> str:
    attributes = " ".join(f"{k}={_short(v)}" for k, v in sorted(node.attrib.items()))
    return f"{node.tag.rpartition('}')[2]}({attributes})"


def _short(text: str) -> str:
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


def _join(pieces: Iterable[str]) -> str:
    return " ".join(pieces)
