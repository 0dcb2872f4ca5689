"""Facts of a workbook: where everything stands and what it is, in a form that workflows refer to.

Facts have one shape whether they come from the plan (`planned`) or from a file's bytes (`seen`); both fill a `Seen`
sheet first, so that the shape is made in one place, and the two sides share nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from forge.harness.layers.office.python.sheetpatch.formulas import canonical
from forge.harness.layers.office.python.sheetpatch.references import Area, address, column_letters, quote
from forge.records import JSON, digest
from preparers.calc.book.text import field_value
from preparers.calc.formats import classify
from preparers.calc.params import WorkbookParams, moment
from preparers.calc.plan import PlannedSheet, plain_date

Place = tuple[int, int]


@dataclass
class SeenCell:
    """A cell's value (dates as numbers of days), formula and number format."""

    value: JSON = None
    formula: str | None = None
    code: str = "General"


@dataclass
class SeenSheet:
    """One sheet as it was planned or read."""

    name: str
    hidden: bool = False
    cells: dict[Place, SeenCell] = field(default_factory=dict)
    header: Area | None = None
    last: int = 0
    total: int | None = None
    freeze: tuple[int, int] = (0, 0)
    filter: str = ""
    notes: dict[str, str] = field(default_factory=dict)
    merged: tuple[str, ...] = ()
    conditional: int = 0
    validation: int = 0
    pictures: int = 0
    hidden_rows: tuple[int, ...] = ()
    hidden_columns: tuple[str, ...] = ()


def planned(sheets: list[PlannedSheet], values: Mapping[str, Mapping[str, JSON]], suffix: str) -> list[SeenSheet]:
    """What the plan says, with the values that an office computed for its formulas."""
    return [_planned(sheet, values.get(sheet.name, {}), suffix) for sheet in sheets]


def workbook_facts(
    params: WorkbookParams, sheets: list[SeenSheet], charts: list[dict[str, JSON]], names: Mapping[str, str]
) -> dict[str, JSON]:
    """The facts of a whole workbook."""
    path = PurePosixPath(params.path)
    told = [_sheet_facts(sheet, index) for index, sheet in enumerate(sheets)]
    ordered = sorted(charts, key=lambda chart: (str(chart["sheet"]), str(chart["at"]), str(chart["title"])))
    return {
        "path": params.path,
        "name": path.name,
        "stem": path.stem,
        "suffix": path.suffix.lower(),
        "sheet_names": [sheet.name for sheet in sheets],
        "sheets": told,
        "main": told[params.main],
        "charts": ordered,
        "chart_count": len(ordered),
        "names": dict(sorted(names.items())),
    }


def column_type(cells: list[SeenCell]) -> str:
    """The type of a column, from what its cells hold and how they are shown."""
    filled = [cell for cell in cells if cell.value is not None and cell.value != ""]
    if not filled:
        return "text"
    if all(isinstance(cell.value, bool) for cell in filled):
        return "boolean"
    if all(isinstance(cell.value, int | float) and not isinstance(cell.value, bool) for cell in filled):
        kind = classify(filled[0].code).kind
        if kind in ("currency", "percent", "date", "time", "datetime"):
            return kind
        return "integer" if all(float(cell.value).is_integer() for cell in filled) else "number"
    if all(isinstance(cell.value, str) and moment(cell.value) is not None and len(cell.value) == 10 for cell in filled):
        return "date"
    return "text"


def _sheet_facts(sheet: SeenSheet, index: int) -> dict[str, JSON]:
    filled = sorted(place for place, cell in sheet.cells.items() if _filled(cell))
    used = None
    if filled:
        columns = [column for _, column in filled]
        used = str(Area(filled[0][0], min(columns), filled[-1][0], max(columns)))
    facts: dict[str, JSON] = {
        "name": sheet.name,
        "index": index,
        "prefix": f"{quote(sheet.name)}!",
        "hidden": sheet.hidden,
        "used": used,
        "next_row": filled[-1][0] + 1 if filled else 1,
        "freeze": list(sheet.freeze),
        "filter": sheet.filter,
        "notes": dict(sorted(sheet.notes.items())),
        "merged": sorted(sheet.merged),
        "conditional": sheet.conditional,
        "validation": sheet.validation,
        "pictures": sheet.pictures,
        "hidden_rows": list(sheet.hidden_rows),
        "hidden_columns": list(sheet.hidden_columns),
        "content": digest({address(*place): _told(sheet.cells[place]) for place in filled}),
        "table": None,
        "columns": {},
        "order": [],
        "totals": {},
    }
    inside: set[Place] = set()
    if sheet.header is not None:
        facts |= _table_facts(sheet, inside)
    facts["formulas"] = {
        address(*place): {"formula": cell.formula, "value": _value(cell)}
        for place, cell in sorted(sheet.cells.items())
        if cell.formula is not None and place not in inside
    }
    return facts


def _table_facts(sheet: SeenSheet, inside: set[Place]) -> dict[str, JSON]:
    header = sheet.header
    assert header is not None
    first, last = header.top + 1, sheet.last
    columns: dict[str, JSON] = {}
    totals: dict[str, JSON] = {}
    for column in range(header.left, header.right + 1):
        name = str(sheet.cells[header.top, column].value)
        letters = column_letters(column)
        cells = [sheet.cells.get((row, column), SeenCell()) for row in range(first, last + 1)]
        inside.update((row, column) for row in range(first, last + 1))
        area = f"{letters}{first}:{letters}{last}" if last > first else f"{letters}{first}"
        code = next((cell.code for cell in cells if _filled(cell)), "General")
        kind = classify(code)
        columns[name] = {
            "letter": letters,
            "header": f"{letters}{header.top}",
            "type": column_type(cells),
            "decimals": kind.decimals,
            "symbol": kind.symbol,
            "range": area,
            "absolute": ":".join(f"${letters}${row}" for row in dict.fromkeys((first, last))),
            "qualified": f"{quote(sheet.name)}!{area}",
            "first": f"{letters}{first}",
            "last": f"{letters}{last}",
            "below": f"{letters}{last + 1}",
            "formula": any(cell.formula is not None for cell in cells),
        }
        if sheet.total is not None:
            cell = sheet.cells.get((sheet.total, column), SeenCell())
            inside.add((sheet.total, column))
            if cell.formula is not None:
                totals[name] = {
                    "cell": f"{letters}{sheet.total}",
                    "formula": cell.formula,
                    "value": _value(cell),
                }
    left, right = column_letters(header.left), column_letters(header.right)
    table = {
        "range": f"{left}{header.top}:{right}{last}",
        "header": f"{left}{header.top}:{right}{header.top}",
        "data": f"{left}{first}:{right}{last}",
        "first": first,
        "last": last,
        "rows": last - first + 1,
        "left": left,
        "right": right,
        "after": column_letters(header.right + 1),
        "below": last + 1,
        "total_row": sheet.total,
    }
    return {"table": table, "columns": columns, "order": list(columns), "totals": totals}


def _planned(sheet: PlannedSheet, values: Mapping[str, JSON], suffix: str) -> SeenSheet:
    params = sheet.params
    text = suffix == ".csv"
    cells = {}
    for place, cell in sheet.cells.items():
        code = cell.look.get("num_format", "General")
        value = values.get(address(*place)) if cell.formula is not None else cell.value
        if cell.formula is not None and value is None:
            value = ""
        if text:
            cells[place] = SeenCell(field_value(as_text(value, code)))
            continue
        formula = None if cell.formula is None else canonical(cell.formula, absolute=True)
        cells[place] = SeenCell(value, formula, code)
    found = SeenSheet(sheet.name, params.hidden and not text, cells)
    if sheet.table and params.table:
        right = sheet.table.left + len(params.table.columns) - 1
        found.header = Area(sheet.table.header, sheet.table.left, sheet.table.header, right)
        found.last, found.total = sheet.table.last, sheet.table.total
    if text:
        return found
    if params.autofilter and found.header is not None:
        found.filter = str(Area(found.header.top, found.header.left, found.last, found.header.right))
    if params.freeze:
        corner = Area.parse(params.freeze)
        found.freeze = (corner.top - 1, corner.left - 1)
    found.notes = {note.cell: note.text for note in params.notes}
    found.merged = params.merged
    found.conditional, found.validation = len(params.conditional), len(params.validation)
    found.pictures = len(params.pictures)
    found.hidden_rows = tuple(sorted(params.hidden_rows))
    found.hidden_columns = tuple(sorted(params.hidden_columns))
    return found


def as_text(value: JSON, code: str) -> str:
    """A value as a .csv holds it: dates are ISO texts, truths TRUE and FALSE, whole numbers without a point."""
    if isinstance(value, dict):
        return str(value.get("error"))
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        kind = classify(code).kind
        if kind in ("date", "datetime"):
            return plain_date(value)
        if kind == "time":
            minutes = round(value * 1440)
            return f"{minutes // 60:02d}:{minutes % 60:02d}"
        return str(int(value)) if float(value).is_integer() else repr(float(f"{value:.15g}"))
    return "" if value is None else str(value)


def _filled(cell: SeenCell) -> bool:
    return cell.formula is not None or (cell.value is not None and cell.value != "")


def _told(cell: SeenCell) -> list[JSON]:
    return [_value(cell), cell.formula]


def _value(cell: SeenCell) -> JSON:
    """A value to twelve digits: a file's decimals and a processor's are not always the same number."""
    if isinstance(cell.value, dict):
        return str(cell.value.get("error"))
    if isinstance(cell.value, bool) or not isinstance(cell.value, int | float):
        return cell.value
    rounded = float(f"{cell.value:.12g}")
    return int(rounded) if rounded.is_integer() else rounded
