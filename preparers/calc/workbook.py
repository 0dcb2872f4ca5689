"""`calc.workbook`: workbooks with typed tables, formulas, styles and charts, as .xlsx, .ods or .csv.

Formulas remember the values that real LibreOffice computes, so that every reader sees numbers. .ods files are LibreOffice's
own conversion, with time stamps made fixed. What it does NOT make: pivot tables, macros, form controls, links to other files.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import ClassVar

from forge.records import JSON, PreparerError
from preparers.base import Context, Prepared, PreparedFile, Preparer, preparer
from preparers.calc.facts import as_text, planned, workbook_facts
from preparers.calc.params import WorkbookParams
from preparers.calc.plan import PlannedSheet, plan


@preparer
class Workbook(Preparer[WorkbookParams]):
    """One workbook in the guest's home: typed tables, formulas, styles, charts, as .xlsx, .ods or .csv.

    A table is a drawn one or `{columns: [{name: Item}, {name: Price, type: currency}], rows: [[Ink, 4.5]]}`; other cells are
    given by `cells` and `formulas`. Usually a drawn `layout` goes in by `with`.

    Of the facts, `main` is the sheet that `main` numbers. A column's `range` is that of its data, without the header; `below` is
    the first free cell under it. `next_row` is the first row below all that stands on a sheet, `used` the range with content,
    `content` a hash of it. In a `.csv` all facts are those of its texts.
    """

    name = "calc.workbook"
    version = 1
    example = """\
path: ~/Documents/prices.xlsx
sheets:
  - name: Prices
    at: B3
    titles: [Spring prices]
    table:
      columns: [{name: Item}, {name: Price, type: currency}, {name: Since, type: date}]
      rows: [[Ink, 4.5, 2026-01-05], [Paper, 3.2, 2026-02-09]]
"""
    example_facts: ClassVar[dict[str, JSON]] = {
        "main.columns.Price.range": "C4:C5",
        "main.columns.Price.below": "C6",
        "main.table.data": "B4:D5",
        "main.order": ["Item", "Price", "Since"],
    }
    params: ClassVar[type[WorkbookParams]] = WorkbookParams

    def prepare(self, params: WorkbookParams, context: Context) -> Prepared:
        sheets = plan(params)
        values = _values(params, sheets, context)
        if params.suffix == ".csv":
            data = _csv(sheets[0], values.get(sheets[0].name, {}), params.delimiter)
        else:
            from preparers.calc.write_xlsx import write_xlsx

            data = write_xlsx(params, sheets, values, context.guest.now)
            if params.suffix == ".ods":
                from preparers.calc.write_ods import write_ods

                data = write_ods(data, params, context)
        return Prepared((PreparedFile(params.path, data),), _facts(params, sheets, values))

    def facts(self, params: WorkbookParams, context: Context) -> dict[str, JSON]:
        sheets = plan(params)
        return _facts(params, sheets, _values(params, sheets, context))

    def inspect(self, home: Path, params: WorkbookParams) -> dict[str, JSON]:
        from preparers.calc.seeing import see

        path = home / params.path[2:]
        if not path.is_file():
            raise PreparerError(f"{params.path} is not there")
        return see(path.read_bytes(), params)


def _facts(params: WorkbookParams, sheets: list[PlannedSheet], values: dict[str, dict[str, JSON]]) -> dict[str, JSON]:
    charts: list[dict[str, JSON]] = [
        {"sheet": chart.sheet, "kind": chart.kind, "title": chart.title, "at": chart.at, "series": len(chart.series)}
        for chart in params.charts
    ]
    from preparers.calc.book.xlsx import spelled

    names = {name: spelled(meaning.removeprefix("=")) for name, meaning in params.names.items()}
    return workbook_facts(params, planned(sheets, values, params.suffix), charts, names)


def _values(params: WorkbookParams, sheets: list[PlannedSheet], context: Context) -> dict[str, dict[str, JSON]]:
    """What LibreOffice computes for the formulas; nothing where there are none."""
    if all(cell.formula is None for sheet in sheets for cell in sheet.cells.values()):
        return {}
    if context.office is None:
        raise PreparerError(
            f"{params.path} has formulas, and there is no office to compute them", mend="open an Office"
        )
    from preparers.calc.write_xlsx import write_xlsx

    return context.office.values(write_xlsx(params, sheets, None, context.guest.now), ".xlsx")


def _csv(sheet: PlannedSheet, values: dict[str, JSON], delimiter: str) -> bytes:
    from forge.harness.layers.office.python.sheetpatch.references import address

    filled = {}
    for place, cell in sheet.cells.items():
        value = values.get(address(*place)) if cell.formula is not None else cell.value
        text = as_text(value, cell.look.get("num_format", "General"))
        if text:
            filled[place] = text
    bottom, right = max((row for row, _ in filled), default=0), max((column for _, column in filled), default=0)
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    for row in range(1, bottom + 1):
        writer.writerow([filled.get((row, column), "") for column in range(1, right + 1)])
    return buffer.getvalue().encode()
