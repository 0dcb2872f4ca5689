"""Reading .ods (OASIS OpenDocument 1.3, part 3), as LibreOffice writes it."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

from forge.harness.layers.office.python.sheetpatch.ods_sheet import duration
from forge.harness.layers.office.python.sheetpatch.openformula import area_from_odf, from_odf
from forge.harness.layers.office.python.sheetpatch.references import Area, address, quote, split_sheet
from forge.harness.layers.office.python.sheetpatch.values import number, to_number
from forge.records import PreparerError
from preparers.calc.book.container import Parts
from preparers.calc.book.model import TRUTHS, Book, Cell, Chart, Filter, Scalar, Series, Sheet
from preparers.calc.book.ods_styles import NAMESPACES, Styles
from preparers.calc.book.xlsx import spelled

_OFFICE = f"{{{NAMESPACES['office']}}}"
_TABLE = f"{{{NAMESPACES['table']}}}"
_TEXT = f"{{{NAMESPACES['text']}}}"
_DRAW = f"{{{NAMESPACES['draw']}}}"
_CHART = f"{{{NAMESPACES['chart']}}}"
_CONFIG = f"{{{NAMESPACES['config']}}}"
_CALCEXT = f"{{{NAMESPACES['calcext']}}}"
_XLINK = f"{{{NAMESPACES['xlink']}}}"
_META = f"{{{NAMESPACES['meta']}}}"

_HOLDERS = (f"{_TABLE}table-row-group", f"{_TABLE}table-header-rows", f"{_TABLE}table-rows")
_FAR = 100_000
"""Repeated rows and columns beyond this are the empty rest of the sheet."""

_KINDS = {"circle": "pie", "ring": "doughnut", "filled-radar": "radar"}


def read_ods(data: bytes, name: str) -> Book:
    """Read a workbook. Raises PreparerError (and, for odd XML, what `read_book` turns into one)."""
    parts = Parts(data, name)
    root = parts.xml("content.xml")
    body = root.find(f"{_OFFICE}body/{_OFFICE}spreadsheet")
    if body is None:
        raise PreparerError(f"{name}: content.xml is no spreadsheet")
    styles = Styles(root, parts.xml("styles.xml") if "styles.xml" in parts else None)
    sheets = [_Reader(parts, node, styles).read() for node in body.iterfind(f"{_TABLE}table")]
    if not sheets:
        raise PreparerError(f"{name}: the workbook has no sheet")
    by_name = {sheet.name: sheet for sheet in sheets}
    _filters(body, by_name)
    _validations(root, body, by_name)
    _views(parts, by_name)
    return Book(sheets, _names(body), _producer(parts))


class _Reader:
    """Reads one table element into a Sheet."""

    def __init__(self, parts: Parts, node: Any, styles: Styles):
        self._parts = parts
        self._node = node
        self._styles = styles
        self._columns: list[tuple[int, int, str | None]] = []

    def read(self) -> Sheet:
        node = self._node
        sheet = Sheet(node.get(f"{_TABLE}name"))
        if not self._styles.shown(node.get(f"{_TABLE}style-name")):
            sheet.state = "hidden"
        sheet.tab_color = self._styles.tab_color(node.get(f"{_TABLE}style-name"))
        self._read_columns(sheet)
        row = 1
        merged: list[str] = []
        charts: list[Chart] = []
        for line in _lines(node):
            count = int(line.get(f"{_TABLE}number-rows-repeated") or 1)
            if count < _FAR:
                self._read_row(sheet, line, row, count, merged, charts)
            row += count
        for frame in node.iterfind(f"{_TABLE}shapes/*"):
            self._frame(sheet, frame, self._place(frame), charts)
        sheet.merged = frozenset(merged)
        sheet.charts = tuple(sorted(charts, key=lambda chart: (chart.at, chart.kind, chart.title, chart.series)))
        sheet.pictures, sheet.shapes = tuple(sorted(sheet.pictures)), tuple(sorted(sheet.shapes))
        sheet.conditional = self._conditional()
        if node.get(f"{_TABLE}protected") == "true":
            sheet.protection = "sheet"
        sheet.page = self._styles.page(node.get(f"{_TABLE}style-name"))
        return sheet

    def _read_columns(self, sheet: Sheet) -> None:
        column = 1
        for node in self._node.iter(f"{_TABLE}table-column"):
            count = int(node.get(f"{_TABLE}number-columns-repeated") or 1)
            last = column + count - 1
            self._columns.append((column, last, node.get(f"{_TABLE}default-cell-style-name")))
            if node.get(f"{_TABLE}default-cell-style-name") not in (None, "Default"):
                style = self._styles.cell(node.get(f"{_TABLE}default-cell-style-name"))
                sheet.column_styles.append((column, last, style))
            hidden = node.get(f"{_TABLE}visibility") in ("collapse", "filter")
            width = self._styles.width(node.get(f"{_TABLE}style-name"))
            for each in range(column, min(last, column + 255) + 1) if count < 1000 else ():
                if hidden:
                    sheet.hidden_columns.add(each)
                elif width:
                    sheet.widths[each] = width
            column += count

    def _read_row(self, sheet: Sheet, line: Any, row: int, count: int, merged: list[str], charts: list[Chart]) -> None:
        rows = range(row, row + count)
        if line.get(f"{_TABLE}visibility") in ("collapse", "filter"):
            sheet.hidden_rows.update(rows)
        height = self._styles.height(line.get(f"{_TABLE}style-name"))
        if height:
            sheet.heights.update(dict.fromkeys(rows, height))
        usual = line.get(f"{_TABLE}default-cell-style-name")
        column = 1
        for node in line:
            if node.tag not in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                continue
            times = int(node.get(f"{_TABLE}number-columns-repeated") or 1)
            named = node.get(f"{_TABLE}style-name")
            content = node.get(f"{_OFFICE}value-type") or node.get(f"{_TABLE}formula")
            if (content or named or usual) and times < 1000:
                for right in range(column, column + times):
                    name = named or usual or self._column_style(right)
                    for each in rows:
                        sheet.cells[each, right] = self._cell(node, name, each, right)
            if len(node):
                self._attached(sheet, node, row, column, charts)
            wide = int(node.get(f"{_TABLE}number-columns-spanned") or 1)
            high = int(node.get(f"{_TABLE}number-rows-spanned") or 1)
            if wide > 1 or high > 1:
                merged.append(str(Area(row, column, row + high - 1, column + wide - 1)))
            column += times

    def _cell(self, node: Any, style: str | None, row: int, column: int) -> Cell:
        cell = Cell(_value(node), style=self._styles.cell(style))
        formula = node.get(f"{_TABLE}formula")
        if formula is not None and (text := from_odf(formula)) not in TRUTHS:
            cell.formula = text
            wide, high = (node.get(f"{_TABLE}number-matrix-{side}-spanned") for side in ("columns", "rows"))
            if wide or high:
                cell.array = str(Area(row, column, row + int(high or 1) - 1, column + int(wide or 1) - 1))
        spans = node.findall(f"{_TEXT}p/{_TEXT}span")
        if spans:
            looks = [self._styles.text(span.get(f"{_TEXT}style-name")) for span in spans]
            cell.rich = " ".join(f"{len(''.join(s.itertext()))}{look}" for s, look in zip(spans, looks, strict=True))
        return cell

    def _attached(self, sheet: Sheet, node: Any, row: int, column: int, charts: list[Chart]) -> None:
        """Notes, links, charts, pictures and shapes that sit on a cell."""
        for child in node:
            if child.tag == f"{_OFFICE}annotation":
                texts = ["".join(p.itertext()) for p in child.iterfind(f"{_TEXT}p")]
                sheet.notes[address(row, column)] = "\n".join(texts).strip()
            elif isinstance(child.tag, str) and child.tag.startswith(_DRAW):
                self._frame(sheet, child, address(row, column), charts)
        link = node.find(f".//{_TEXT}a")
        if link is not None:
            sheet.links[address(row, column)] = link.get(f"{_XLINK}href") or ""

    def _frame(self, sheet: Sheet, node: Any, at: str, charts: list[Chart]) -> None:
        for child in node.iter(
            f"{_DRAW}object", f"{_DRAW}image", f"{_DRAW}custom-shape", f"{_DRAW}line", f"{_DRAW}rect"
        ):
            target = (child.get(f"{_XLINK}href") or "").removeprefix("./")
            if child.tag == f"{_DRAW}object":
                charts.append(_chart(self._parts, f"{target}/content.xml", at))
                return
            if child.tag == f"{_DRAW}image":
                content = hashlib.sha256(self._parts.read(target)).hexdigest()[:16] if target in self._parts else "?"
                sheet.pictures += (f"{at} {content}",)
                return
            geometry = child.find(f"{_DRAW}enhanced-geometry")
            kind = geometry.get(f"{_DRAW}type") if geometry is not None else child.tag.rpartition("}")[2]
            text = "".join("".join(p.itertext()) for p in child.iter(f"{_TEXT}p"))
            sheet.shapes += (f"{at} {kind} {text}".strip(),)

    def _place(self, frame: Any) -> str:
        end = frame.get(f"{_TABLE}end-cell-address") or ""
        return "to " + split_sheet(area_from_odf(end))[1] if end else "?"

    def _column_style(self, column: int) -> str | None:
        return next((style for first, last, style in self._columns if first <= column <= last), None)

    def _conditional(self) -> tuple[str, ...]:
        found = []
        for holder in self._node.iter(f"{_CALCEXT}conditional-format"):
            area = split_sheet(area_from_odf(holder.get(f"{_CALCEXT}target-range-address") or ""))[1]
            for rule in holder:
                pieces = [area, rule.tag.rpartition("}")[2], rule.get(f"{_CALCEXT}value") or ""]
                pieces.append(self._styles.conditional(rule.get(f"{_CALCEXT}apply-style-name")))
                pieces += [
                    " ".join(v for k, v in sorted(c.attrib.items()) if k.endswith(("}value", "}type", "}color")))
                    for c in rule
                ]
                found.append(" | ".join(piece for piece in pieces if piece))
        return tuple(sorted(found))


def _value(node: Any) -> Scalar:
    kind = node.get(f"{_OFFICE}value-type")
    if kind is None:
        return None
    if kind == "boolean":
        return bool(node.get(f"{_OFFICE}boolean-value") == "true")
    if kind == "date":
        return to_number(datetime.fromisoformat(node.get(f"{_OFFICE}date-value").rstrip("Z")))
    if kind == "time":
        return duration(node.get(f"{_OFFICE}time-value"))
    if kind == "string":
        if node.get(f"{_CALCEXT}value-type") == "error":
            return "".join(node.itertext())
        said = node.get(f"{_OFFICE}string-value")
        return said if said is not None else "\n".join(_paragraph(p) for p in node.iterfind(f"{_TEXT}p"))
    return number(node.get(f"{_OFFICE}value"))


def _paragraph(node: Any) -> str:
    pieces = [node.text or ""]
    for child in node:
        local = child.tag.rpartition("}")[2] if isinstance(child.tag, str) else ""
        if local == "s":
            pieces.append(" " * int(child.get(f"{_TEXT}c") or 1))
        elif local in ("tab", "line-break"):
            pieces.append({"tab": "\t", "line-break": "\n"}[local])
        elif local:
            pieces.append(_paragraph(child))
        pieces.append(child.tail or "")
    return "".join(pieces)


def _lines(node: Any) -> Any:
    for child in node:
        if child.tag == f"{_TABLE}table-row":
            yield child
        elif child.tag in _HOLDERS:
            yield from _lines(child)


def _names(body: Any) -> dict[str, str]:
    found = {}
    for node in body.iterfind(f"{_TABLE}named-expressions/*"):
        meaning = node.get(f"{_TABLE}cell-range-address")
        text = area_from_odf(meaning) if meaning else from_odf(node.get(f"{_TABLE}expression") or "")
        found[node.get(f"{_TABLE}name")] = spelled(text)
    for table in body.iterfind(f"{_TABLE}table"):
        for node in table.iterfind(f"{_TABLE}named-expressions/{_TABLE}named-range"):
            key = f"{quote(table.get(f'{_TABLE}name'))}!{node.get(f'{_TABLE}name')}"
            found[key] = spelled(area_from_odf(node.get(f"{_TABLE}cell-range-address") or ""))
    return found


def _filters(body: Any, sheets: dict[str, Sheet]) -> None:
    for node in body.iterfind(f"{_TABLE}database-ranges/{_TABLE}database-range"):
        area = Area.parse(area_from_odf(node.get(f"{_TABLE}target-range-address")))
        sheet = sheets.get(area.sheet or "")
        if sheet is None or node.get(f"{_TABLE}display-filter-buttons") != "true":
            continue
        columns: dict[str, list[str]] = {}
        for condition in node.iter(f"{_TABLE}filter-condition"):
            place = address(1, area.left + int(condition.get(f"{_TABLE}field-number"))).rstrip("1")
            items = [item.get(f"{_TABLE}value") for item in condition.iterfind(f"{_TABLE}filter-set-item")]
            sign = condition.get(f"{_TABLE}operator")
            sign = {"!=": "<>", "empty": "=(blank)"}.get(sign, sign)
            texts = [f"={item}" for item in items] or [f"{sign}{condition.get(f'{_TABLE}value') or ''}"]
            columns.setdefault(place, []).extend(texts)
        shown = tuple(sorted(f"{place}: {', '.join(sorted(texts))}" for place, texts in columns.items()))
        sheet.filter = Filter(str(Area(area.top, area.left, area.bottom, area.right)), shown)


def _validations(root: Any, body: Any, sheets: dict[str, Sheet]) -> None:
    rules = {
        node.get(f"{_TABLE}name"): (node.get(f"{_TABLE}condition") or "").removeprefix("of:")
        for node in body.iterfind(f"{_TABLE}content-validations/{_TABLE}content-validation")
    }
    if not rules:
        return
    for table in body.iterfind(f"{_TABLE}table"):
        found: list[str] = []
        row = 1
        for line in _lines(table):
            column = 1
            for node in line:
                if not isinstance(node.tag, str):
                    continue
                rule = node.get(f"{_TABLE}content-validation-name")
                times = int(node.get(f"{_TABLE}number-columns-repeated") or 1)
                if rule in rules:
                    high = int(line.get(f"{_TABLE}number-rows-repeated") or 1)
                    area = Area(row, column, row + high - 1, column + times - 1)
                    found += [f"{address(*place)} | {rules[rule]}" for place in area.cells()]
                column += times
            row += int(line.get(f"{_TABLE}number-rows-repeated") or 1)
        sheets[table.get(f"{_TABLE}name")].validation = tuple(sorted(found))


def _views(parts: Parts, sheets: dict[str, Sheet]) -> None:
    """Frozen rows and columns, which OpenDocument keeps among the settings of views."""
    if "settings.xml" not in parts:
        return
    for entry in parts.xml("settings.xml").iter(f"{_CONFIG}config-item-map-entry"):
        sheet = sheets.get(entry.get(f"{_CONFIG}name") or "")
        if sheet is None or entry.getparent().get(f"{_CONFIG}name") != "Tables":
            continue
        items = {node.get(f"{_CONFIG}name"): node.text or "" for node in entry.iterfind(f"{_CONFIG}config-item")}
        rows = int(items.get("VerticalSplitPosition", 0)) if items.get("VerticalSplitMode") == "2" else 0
        columns = int(items.get("HorizontalSplitPosition", 0)) if items.get("HorizontalSplitMode") == "2" else 0
        sheet.freeze = (rows, columns)


def _producer(parts: Parts) -> str:
    if "meta.xml" not in parts:
        return ""
    return next((node.text or "" for node in parts.xml("meta.xml").iter(f"{_META}generator")), "")


def _chart(parts: Parts, part: str, at: str) -> Chart:
    root = parts.xml(part)
    chart = root.find(f".//{_CHART}chart")
    if chart is None:
        return Chart("object", at=at)
    style = f"{{{NAMESPACES['style']}}}"
    looks = {node.get(f"{style}name"): node for node in root.iter(f"{style}style")}

    def setting(node: Any, name: str) -> str | None:
        holder = looks.get(node.get(f"{_CHART}style-name"))
        properties = holder.find(f"{style}chart-properties") if holder is not None else None
        return None if properties is None else properties.get(f"{_CHART}{name}")

    plot = chart.find(f"{_CHART}plot-area")
    base = (chart.get(f"{_CHART}class") or "").rpartition(":")[2]
    kind = _KINDS.get(base, base)
    if base == "bar":
        kind = "bar" if setting(plot, "vertical") == "true" else "column"
    if setting(plot, "stacked") == "true":
        kind += " stacked"
    elif setting(plot, "percentage") == "true":
        kind += " percentStacked"
    shared = chart.find(f".//{_CHART}categories")
    categories = _area(shared.get(f"{_TABLE}cell-range-address")) if shared is not None else ""
    series = []
    for node in chart.iter(f"{_CHART}series"):
        own = node.find(f"{_CHART}domain")
        first = _area(own.get(f"{_TABLE}cell-range-address")) if own is not None else categories
        label = _area(node.get(f"{_CHART}label-cell-address"))
        series.append(Series(label, first, _area(node.get(f"{_CHART}values-cell-range-address"))))
    title = chart.find(f"{_CHART}title")
    axes = [_words(node) for node in chart.iterfind(f".//{_CHART}axis/{_CHART}title")]
    return Chart(kind, _words(title) if title is not None else "", tuple(series), tuple(axes), at, _look(root, looks))


def _look(root: Any, looks: dict[str | None, Any]) -> str:
    """A digest of the chart as it looks: its elements with their styles resolved, without the cells' values."""

    def told(node: Any) -> str:
        if not isinstance(node.tag, str) or node.tag.startswith(_TABLE):
            return ""
        local = node.tag.rpartition("}")[2]
        if local == "data-point" and f"{_CHART}style-name" not in node.attrib:
            return ""  # there are as many of these as rows in view
        pairs = []
        for key, value in sorted(node.attrib.items()):
            name = key.rpartition("}")[2]
            if name == "style-name":
                holder = looks.get(value)
                children = list(holder) if holder is not None else []
                value = "".join(told(child) for child in children)
            elif name in ("x", "y", "width", "height", "id", "repeated") or "address" in name:
                continue
            pairs.append(f"{name}={value}")
        return f"<{local} {' '.join(pairs)}>{(node.text or '').strip()}{''.join(told(child) for child in node)}"

    body = root.find(f"{_OFFICE}body")
    return hashlib.sha256(told(body).encode()).hexdigest()[:16]


def _area(text: str | None) -> str:
    return spelled(area_from_odf(text)) if text else ""


def _words(node: Any) -> str:
    return "\n".join("".join(p.itertext()) for p in node.iter(f"{_TEXT}p")).strip()
