"""Ways to build a workbook around one table: where it stands, what stands around it, how it looks.

    draw_layout(table, rng, suffixes=(".xlsx", ".ods"))

gives the parameters `sheets`, `charts`, `names` and `main` of `calc.workbook`, and the `suffix` and the `layout` drawn.
Every layout leaves free: the cells below the table, the column right of it, and the names Summary, Total and Report.
A table need not be a drawn one: what is missing of one that somebody wrote is filled in (`_Table`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from forge.harness.layers.office.python.sheetpatch.references import Area, address, column_letters
from forge.records import JSON, InputError
from preparers.calc.params import Table
from preparers.calc.tables import pick

Fields = dict[str, Any]

_FILLS = ("DDEBF7", "E2EFDA", "FFF2CC", "FCE4D6", "EDEDED", "D9E1F2")
_DARK = (("1F4E79", "FFFFFF"), ("375623", "FFFFFF"), ("7F6000", "FFFFFF"), ("44546A", "FFFFFF"))
_OTHER = ("Read me", "About", "Notes", "Contacts")
_LISTS = ("Lists", "Categories", "Codes")


def layouts() -> list[str]:
    """The names of all layouts."""
    return list(_LAYOUTS)


def layout_words() -> dict[str, str]:
    """Layout to what it looks like, in a sentence."""
    return {name: " ".join((build.__doc__ or "").split()) for name, build in _LAYOUTS.items()}


def draw_layout(
    table: Mapping[str, JSON],
    rng: random.Random,
    *,
    only: Sequence[str] | None = None,
    suffixes: Sequence[str] = (".xlsx",),
    sheet: str | None = None,
) -> dict[str, JSON]:
    """Draw how a workbook is built around a table.

    Args:
        table: a drawn table (`preparers.calc.tables.draw_table`), or any with columns and at least one row.
        rng: a seeded generator; only its `random()` is used.
        only: the layouts to draw from; all by default.
        suffixes: the formats to draw from, `.xlsx` and `.ods`.
        sheet: the name of the sheet with the table; the table's own suggestion by default.

    Returns:
        JSON: layout, suffix, and `sheets`, `charts`, `names`, `main` as `calc.workbook` takes them.

    Raises:
        InputError: an unknown layout or suffix; the table is none; it has no numbers and the layout needs some.
    """
    known = list(only or _LAYOUTS)
    for name in known:
        if name not in _LAYOUTS:
            raise InputError(f"no workbook layout {name!r}", mend=f"there are {', '.join(_LAYOUTS)}")
    for wanted in suffixes:
        if wanted not in (".xlsx", ".ods"):
            raise InputError(f"no layout has the suffix {wanted!r}", mend="there are .xlsx and .ods")
    laid = _Table(table, sheet)
    if not laid.data["numeric_columns"]:
        known = [name for name in known if name not in _WITH_NUMBERS]
        if not known:
            raise InputError(
                f"the layouts {', '.join(_WITH_NUMBERS)} need a column of numbers",
                mend="give the table a numeric column, or draw from other layouts",
            )
    name = pick(rng, known)
    suffix = pick(rng, list(suffixes))
    built = _LAYOUTS[name](laid, rng)
    return {"layout": name, "suffix": suffix, "charts": [], "names": {}, "main": 0, **built}


class _Table:
    """A table and where it would stand.

    Only `columns` and `rows` are needed, and of a column its name. The rest is filled in where it is missing: a title, the
    usual fields of a column, and the columns by their role, which without a role is judged by the type.
    """

    def __init__(self, table: Mapping[str, JSON], sheet: str | None):
        try:
            whole = Table.model_validate(table)
        except ValidationError as error:
            fault = error.errors()[0]
            where = ".".join(str(part) for part in fault["loc"])
            raise InputError(
                f"the table: {where + ': ' if where else ''}{fault['msg'].removeprefix('Value error, ')}",
                mend="a table has columns, each with a name and a type, and rows with a value for each of them",
            ) from None
        if not whole.rows:
            raise InputError("the table has no rows", mend="give it at least one")
        self.sheet = sheet or whole.sheet or "Data"
        self.names = [column.name for column in whole.columns]
        self.rows = len(whole.rows)
        usual = {"type": "text", "format": "", "unit": "", "formula": "", "choices": [], "role": ""}
        self.data: Fields = {
            **_by_role(whole),
            **table,
            "title": whole.title or whole.topic.capitalize() or self.sheet,
            "columns": [{**usual, **column} for column in table["columns"]],
        }
        named = {name for key in _ROLES for name in self.data[key]}
        if unknown := sorted(named - set(self.names)):
            raise InputError(
                f"the table has no column {unknown[0]!r}, which it lists", mend=f"it has {', '.join(self.names)}"
            )

    def column(self, name: str, at: str) -> str:
        """The data range of a column when the table's header begins at `at`."""
        anchor = Area.parse(at)
        column = anchor.left + self.names.index(name)
        return str(Area(anchor.top + 1, column, anchor.top + self.rows, column))

    def right(self, at: str, gap: int = 1) -> str:
        """A cell in the header's row, `gap` empty columns right of the table."""
        anchor = Area.parse(at)
        return address(anchor.top, anchor.left + len(self.names) + gap)

    @property
    def measure(self) -> str:
        """The last numeric column."""
        found: list[str] = self.data["numeric_columns"]
        return found[-1]

    @property
    def label(self) -> str:
        """A column of words."""
        found = [*self.data["text_columns"], *self.data["category_columns"]]
        return str(found[0] if found else self.names[0])

    def sheet_fields(self, at: str, **more: Any) -> Fields:
        """A sheet's parameters."""
        return {"name": self.sheet, "table": self.data, "at": at, **more}


_ROLES = ("numeric_columns", "category_columns", "text_columns", "date_columns")


def _by_role(table: Table) -> Fields:
    """The names of the columns by their role; of those without one by their type."""
    roles = {"measure": 0, "category": 1, "flag": 1, "label": 2, "person": 2, "code": 2, "date": 3}
    types = {"text": 2, "boolean": 1, "date": 3, "datetime": 3, "integer": 0, "number": 0, "currency": 0, "percent": 0}
    found: dict[str, list[str]] = {key: [] for key in _ROLES}
    for column in table.columns:
        kind = roles.get(column.role) if column.role else 1 if column.choices else types.get(column.type)
        if kind is not None and column.type != "time":
            found[_ROLES[kind]].append(column.name)
    return found


def _plain(table: _Table, rng: random.Random) -> Fields:
    """The table alone from A1 on, with a plain, bold or coloured header."""
    header = pick(rng, [{"bold": True}, {"bold": True, "fill": pick(rng, _FILLS)}, {}])
    return {"sheets": [table.sheet_fields("A1", header=header)]}


def _titled(table: _Table, rng: random.Random) -> Fields:
    """A title and perhaps a remark above the table, which begins somewhere from A3 to C5; a dark header with lines."""
    at = pick(rng, ["A3", "B4", "B3", "C5"])
    titles = [table.data["title"]]
    if Area.parse(at).top > 3:
        titles.append(
            pick(
                rng,
                ["Draft, not for circulation", "As of 13 March 2026", "Prepared by the office", "All figures checked"],
            )
        )
    dark, light = pick(rng, _DARK)
    header = {"bold": True, "fill": dark, "color": light, "border": "thin"}
    return {"sheets": [table.sheet_fields(at, titles=titles, header=header)]}


def _several(table: _Table, rng: random.Random) -> Fields:
    """Three sheets: the table (not always the first sheet, its header frozen), one about it, one with the list of categories."""
    at = pick(rng, ["A1", "A2", "B2"])
    main = table.sheet_fields(at, header={"bold": True, "fill": pick(rng, _FILLS)}, freeze=_below(at))
    about = {
        "name": _free(pick(rng, _OTHER), table.sheet),
        "cells": [
            {"cell": "A1", "value": table.data["title"], "look": {"bold": True, "size": 16}},
            {"cell": "A3", "value": pick(rng, ["Owner", "Contact", "Responsible"]), "look": {"bold": True}},
            {"cell": "B3", "value": pick(rng, ["Alex Morgan", "Front office", "Accounting", "Team North"])},
            {"cell": "A4", "value": "Updated", "look": {"bold": True}},
            {"cell": "B4", "value": "2026-03-13", "look": {"format": "yyyy-mm-dd", "align": "left"}},
            {"cell": "A5", "value": "Rows", "look": {"bold": True}},
        ],
        "formulas": [
            {
                "cell": "B5",
                "formula": f"=COUNTA('{main['name']}'!{_first_column(table, at)})",
                "look": {"align": "left"},
            }
        ],
        "widths": {"A": 14, "B": 24},
    }
    lists = {"name": _free(pick(rng, _LISTS), table.sheet), "cells": _list_cells(table), "tab_color": pick(rng, _FILLS)}
    if rng.random() < 0.5:
        return {"sheets": [main, about, lists]}
    return {"sheets": [about, main, lists], "main": 1}


def _charted(table: _Table, rng: random.Random) -> Fields:
    """A chart of the last measure right of the table, every second row tinted, the three largest values marked."""
    at = pick(rng, ["A1", "A2", "B3"])
    kind = pick(rng, ["column", "line", "bar"])
    fields = table.sheet_fields(
        at,
        header={"bold": True, "fill": pick(rng, _FILLS), "align": "center"},
        banded="F7F7F7",
        conditional=[{"range": table.column(table.measure, at), "kind": "top", "value": 3, "look": {"fill": "C6EFCE"}}],
    )
    shown = min(table.rows, 12)
    first = Area.parse(table.column(table.measure, at))
    labels = Area.parse(table.column(table.label, at))
    chart = {
        "sheet": table.sheet,
        "kind": kind,
        "title": f"{table.measure} of the first {shown}",
        "series": [
            {
                "values": str(Area(first.top, first.left, first.top + shown - 1, first.left)),
                "categories": str(Area(labels.top, labels.left, labels.top + shown - 1, labels.left)),
                "name": address(first.top - 1, first.left),
            }
        ],
        "at": table.right(at),
    }
    return {"sheets": [fields], "charts": [chart]}


def _live(table: _Table, rng: random.Random) -> Fields:
    """Columns that follow from others are formulas, the header is frozen, a block of figures stands at the right."""
    at = pick(rng, ["A1", "A3"])
    titles = [table.data["title"]] if at == "A3" else []
    block = Area.parse(table.right(at))
    cells, formulas = [], []
    area = table.column(table.measure, at)
    kinds = [("Smallest", "MIN"), ("Largest", "MAX"), ("Entries", "COUNT")]
    code = next((c["format"] for c in table.data["columns"] if c["name"] == table.measure), "")
    for offset, (label, function) in enumerate(kinds):
        row = block.top + offset
        cells.append({"cell": address(row, block.left), "value": label, "look": {"italic": True}})
        look = {"format": code} if function != "COUNT" and code else {}
        formulas.append({"cell": address(row, block.left + 1), "formula": f"={function}({area})", "look": look})
    return {
        "sheets": [
            table.sheet_fields(
                at,
                titles=titles,
                live=True,
                header={"bold": True, "border": "thin"},
                freeze=_below(at),
                autofilter=rng.random() < 0.4,
                cells=cells,
                formulas=formulas,
            )
        ]
    }


def _annotated(table: _Table, rng: random.Random) -> Fields:
    """Notes on cells, a list that restricts a column, a hidden sheet with a rate that has a name."""
    at = pick(rng, ["A1", "B2", "A4"])
    anchor = Area.parse(at)
    titles = [table.data["title"], pick(rng, ["internal", "version 2", "to be reviewed"])] if anchor.top > 2 else []
    notes = [
        {
            "cell": address(anchor.top, anchor.left + len(table.names) - 1),
            "text": pick(rng, ["Ask before you change this.", "Entered by hand."]),
        },
        {
            "cell": address(anchor.top + 1 + int(rng.random() * table.rows), anchor.left),
            "text": pick(rng, ["Check this one.", "Confirmed by phone."]),
        },
    ]
    validation = []
    chosen = next((c for c in table.data["columns"] if c["choices"] and len(c["choices"]) <= 12), None)
    if chosen is not None:
        validation.append(
            {"range": table.column(chosen["name"], at), "kind": "list", "values": list(chosen["choices"])}
        )
    hidden: Fields = {
        "name": _free("Rates", table.sheet),
        "hidden": True,
        "cells": [
            {"cell": "A1", "value": "Rate"},
            {"cell": "B1", "value": pick(rng, [0.19, 0.07, 0.2]), "look": {"format": "0%"}},
        ],
    }
    fields = table.sheet_fields(
        at, titles=titles, header={"bold": True, "fill": pick(rng, _FILLS)}, notes=notes, validation=validation
    )
    return {"sheets": [fields, hidden], "names": {"Base_rate": f"{_quoted(hidden['name'])}!$B$1"}}


def _letterhead(table: _Table, rng: random.Random) -> Fields:
    """A printed look: logo, title merged over the table, landscape, lines around every cell."""
    at = pick(rng, ["A5", "B5", "B6"])
    anchor = Area.parse(at)
    last = column_letters(anchor.left + len(table.names) - 1)
    colors = [pick(rng, ["1F4E79", "375623", "833C0B", "44546A"]), pick(rng, ["F4B183", "A9D08E", "9DC3E6", "FFD966"])]
    row = anchor.top - 2
    first = column_letters(anchor.left)
    fields = table.sheet_fields(
        at,
        cells=[
            {
                "cell": f"{first}{row}",
                "value": table.data["title"],
                "look": {"bold": True, "size": 14, "align": "center"},
            }
        ],
        merged=[f"{first}{row}:{last}{row}"],
        header={"bold": True, "border": "medium", "fill": pick(rng, _FILLS), "wrap": True},
        body={"border": "thin"},
        pictures=[{"cell": f"{first}1", "width": 120, "height": 36, "colors": colors}],
        landscape=True,
    )
    return {"sheets": [fields]}


_WITH_NUMBERS = ("charted", "live")
"""Layouts that show a column of numbers."""

_LAYOUTS: dict[str, Callable[[_Table, random.Random], Fields]] = {
    "plain": _plain,
    "titled": _titled,
    "several-sheets": _several,
    "charted": _charted,
    "live": _live,
    "annotated": _annotated,
    "letterhead": _letterhead,
}


def _below(at: str) -> str:
    """The first cell that scrolls when everything down to the header is frozen."""
    return f"A{Area.parse(at).top + 1}"


def _free(name: str, taken: str) -> str:
    return name if name.casefold() != taken.casefold() else f"{name} 2"


def _first_column(table: _Table, at: str) -> str:
    return table.column(table.names[0], at)


def _list_cells(table: _Table) -> list[Fields]:
    """The values that the first category can have, below each other."""
    name = table.data["category_columns"][0] if table.data["category_columns"] else table.names[0]
    index = table.names.index(name)
    values = sorted({str(row[index]) for row in table.data["rows"]})
    cells: list[Fields] = [{"cell": "A1", "value": name, "look": {"bold": True}}]
    return cells + [{"cell": f"A{row}", "value": value} for row, value in enumerate(values, 2)]


def _quoted(sheet: str) -> str:
    return "'" + sheet.replace("'", "''") + "'"
