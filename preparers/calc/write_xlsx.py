"""Writing a planned workbook as .xlsx with XlsxWriter: the same plan gives the same bytes."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from datetime import datetime
from typing import Any

from forge.harness.layers.office.python.sheetpatch.future import futured
from forge.harness.layers.office.python.sheetpatch.references import Area, address, quote
from forge.records import JSON, PreparerError
from preparers.calc.params import ChartPlan, Conditional, Look, Picture, Validation, WorkbookParams
from preparers.calc.plan import PlannedSheet, _look

Values = dict[str, dict[str, JSON]]
"""Sheet name to cell to value, as an office computes them."""

_FONT = {"font_name": "Liberation Sans", "font_size": 10}
"""A font that the guest has; with Excel's own the guest would show a wider one, and columns would be too narrow."""

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time stamp of every member of the zip: the first that the format can hold."""


def write_xlsx(params: WorkbookParams, sheets: list[PlannedSheet], values: Values | None, clock: datetime) -> bytes:
    """The file's bytes.

    Args:
        params: the workbook's.
        sheets: its plan.
        values: what the formulas give, to be remembered by the file; None writes them without.
        clock: when it says it was created.
    """
    import xlsxwriter

    buffer = io.BytesIO()
    # a copy: the writer puts more into the mapping, and the next workbook would come out with other bytes
    book = xlsxwriter.Workbook(buffer, {"in_memory": True, "default_format_properties": dict(_FONT)})
    book.set_properties({"title": params.title, "author": "Alex", "created": clock})
    writer = _Writer(book, values or {})
    pages = {sheet.name.casefold(): book.add_worksheet(sheet.name) for sheet in sheets}
    for sheet in sheets:
        writer.sheet(pages[sheet.name.casefold()], sheet)
    for chart in params.charts:
        writer.chart(pages[chart.sheet.casefold()], chart)
    for name, meaning in sorted(params.names.items()):
        book.define_name(name, "=" + meaning.removeprefix("="))
    first = next(index for index, sheet in enumerate(sheets) if not sheet.params.hidden)
    active = params.main if not sheets[params.main].params.hidden else first
    pages[sheets[active].name.casefold()].activate()
    if first > 0:
        pages[sheets[first].name.casefold()].set_first_sheet()
    book.close()
    return normalised(buffer.getvalue())


def normalised(data: bytes) -> bytes:
    """A zip with its members in one order and all with one time stamp."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(buffer, "w") as target:
        names = sorted(source.namelist(), key=lambda name: (name not in ("mimetype", "[Content_Types].xml"), name))
        for name in names:
            info = zipfile.ZipInfo(name, EPOCH)
            info.compress_type = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            info.create_system = 3
            target.writestr(info, source.read(name))
    return buffer.getvalue()


def picture_bytes(picture: Picture) -> bytes:
    """The PNG of a plain logo: its colours side by side, the corners of each band cut."""
    width, height = picture.width, picture.height
    band = max(1, width // len(picture.colors))
    lines = []
    for y in range(height):
        line = bytearray(b"\0")
        for x in range(width):
            index = min(x // band, len(picture.colors) - 1)
            inside = x - index * band
            corner = min(inside, band - 1 - inside) + min(y, height - 1 - y) < min(band, height) // 6
            line += b"\xff\xff\xff" if corner else bytes.fromhex(picture.colors[index])
        lines.append(bytes(line))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(b"".join(lines), 9)), (b"IEND", b""))
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


class _Writer:
    def __init__(self, book: Any, values: Values):
        self._book = book
        self._values = values
        self._formats: dict[tuple[tuple[str, Any], ...], Any] = {}

    def sheet(self, page: Any, sheet: PlannedSheet) -> None:
        params = sheet.params
        for column, width in sorted(sheet.widths().items()):
            page.set_column(column - 1, column - 1, width)
        for letters in params.hidden_columns:
            page.set_column(f"{letters}:{letters}", None, None, {"hidden": True})
        for area in params.merged:
            found = Area.parse(area)
            look = sheet.cells[found.top, found.left].look if (found.top, found.left) in sheet.cells else {}
            page.merge_range(area, "", self._format(look))
        for (row, column), cell in sorted(sheet.cells.items()):
            look = self._format(cell.look)
            if cell.formula is not None:
                value = self._values.get(sheet.name, {}).get(address(row, column), 0)
                page.write_formula(row - 1, column - 1, _written(cell.formula), look, _cached(value))
            elif isinstance(cell.value, bool):
                page.write_boolean(row - 1, column - 1, cell.value, look)
            elif isinstance(cell.value, int | float):
                page.write_number(row - 1, column - 1, cell.value, look)
            elif isinstance(cell.value, str) and cell.value:
                page.write_string(row - 1, column - 1, cell.value, look)
            elif look is not None:
                page.write_blank(row - 1, column - 1, None, look)
        for row in params.hidden_rows:
            page.set_row(row - 1, None, None, {"hidden": True})
        if params.freeze:
            corner = Area.parse(params.freeze)
            page.freeze_panes(corner.top - 1, corner.left - 1)
        if params.autofilter and sheet.table and params.table:
            right = sheet.table.left + len(params.table.columns) - 1
            page.autofilter(sheet.table.header - 1, sheet.table.left - 1, sheet.table.last - 1, right - 1)
        for note in params.notes:
            page.write_comment(note.cell, note.text, {"author": "Alex"})
        for rule in params.conditional:
            page.conditional_format(rule.range, self._rule(rule))
        for validation in params.validation:
            page.data_validation(validation.range, _validation(validation))
        for index, picture in enumerate(params.pictures, 1):
            image = io.BytesIO(picture_bytes(picture))
            page.insert_image(picture.cell, f"logo{index}.png", {"image_data": image, "description": "Logo"})
        if params.tab_color:
            page.set_tab_color(f"#{params.tab_color}")
        if params.landscape:
            page.set_landscape()
        if params.hidden:
            page.hide()

    def chart(self, page: Any, plan: ChartPlan) -> None:
        kind = {"doughnut": "doughnut"}.get(plan.kind, plan.kind)
        chart = self._book.add_chart({"type": kind})
        source = plan.source or plan.sheet
        for series in plan.series:
            options: dict[str, Any] = {"values": _absolute(series.values, source)}
            if series.categories:
                options["categories"] = _absolute(series.categories, source)
            if series.name:
                options["name"] = _absolute(series.name, source) if _is_area(series.name) else series.name
            chart.add_series(options)
        chart.set_title({"name": plan.title} if plan.title else {"none": True})
        if plan.axes and plan.kind not in ("pie", "doughnut"):
            chart.set_x_axis({"name": plan.axes[0]})
            chart.set_y_axis({"name": plan.axes[1]})
        if len(plan.series) == 1 and plan.kind not in ("pie", "doughnut"):
            chart.set_legend({"none": True})
        chart.set_size({"width": plan.width, "height": plan.height})
        page.insert_chart(plan.at, chart)

    def _format(self, look: dict[str, Any]) -> Any:
        if not look:
            return None
        key = tuple(sorted(look.items()))
        if key not in self._formats:
            self._formats[key] = self._book.add_format(look)
        return self._formats[key]

    def _rule(self, rule: Conditional) -> dict[str, Any]:
        if rule.kind == "data_bar":
            return {"type": "data_bar", "bar_color": f"#{rule.look.fill or '63C384'}", "data_bar_2010": False}
        if rule.kind == "color_scale":
            return {"type": "3_color_scale"}
        look = self._format(_look(rule.look if _look(rule.look) else Look(fill="FFC7CE")))
        if rule.kind == "top":
            return {"type": "top", "value": rule.value or 3, "format": look}
        if rule.kind == "text":
            return {"type": "text", "criteria": rule.criteria or "containing", "value": rule.value, "format": look}
        if rule.criteria == "between":
            bounds = {"minimum": rule.value, "maximum": rule.maximum}
            return {"type": "cell", "criteria": "between", **bounds, "format": look}
        value = f'"{rule.value}"' if isinstance(rule.value, str) and not rule.value.startswith("=") else rule.value
        return {"type": "cell", "criteria": rule.criteria or ">", "value": value, "format": look}


def _written(formula: str) -> str:
    try:
        return futured(formula)
    except ValueError as error:
        raise PreparerError(str(error)) from None


def _cached(value: JSON) -> Any:
    return value["error"] if isinstance(value, dict) else value


def _validation(rule: Validation) -> dict[str, Any]:
    if rule.kind == "list":
        return {"validate": "list", "source": list(rule.values)}
    return {"validate": rule.kind, "criteria": "between", "minimum": rule.minimum, "maximum": rule.maximum}


def _is_area(text: str) -> bool:
    try:
        Area.parse(text)
    except ValueError:
        return False
    return True


def _absolute(text: str, sheet: str) -> str:
    """`C3:C26` as `='My data'!$C$3:$C$26`."""
    area = Area.parse(text)
    corners = [(area.top, area.left)] if area.single else [(area.top, area.left), (area.bottom, area.right)]
    shown = ":".join("$" + address(row, column).rstrip("0123456789") + f"${row}" for row, column in corners)
    return f"={quote(area.sheet or sheet)}!{shown}"
