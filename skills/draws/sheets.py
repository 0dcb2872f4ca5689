"""Draws of spreadsheet data: tables, and workbooks built around a table; made by `preparers.calc`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from forge.records import JSON
from skills.dice import Dice
from skills.draws.base import DrawArgs, DrawKind, draw_kind, from_module
from skills.language.shapes import Shape, shape

_TABLE = {
    "topic": "text", "title": "text", "rows": [["any"]],
    "columns": [{
        "name": "text", "type": "text", "format": "text", "unit": "text", "formula": "text", "choices": ["text"],
        "role": "text", "...": "any",
    }],
    "numeric_columns": ["text"], "category_columns": ["text"], "text_columns": ["text"], "date_columns": ["text"],
    "...": "any",
}  # fmt: skip
_LAYOUT = {
    "layout": "text", "suffix": "text", "sheets": [{"name": "text", "...": "any"}], "charts": ["any"],
    "names": {"...": "any"}, "main": "number",
}  # fmt: skip


class TableArgs(DrawArgs):
    of: str = Field(description="topic: `preparers.calc.tables.topics()`")
    rows: int = Field(20, ge=1, le=2000, description="data rows")


@draw_kind
class Table(DrawKind[TableArgs]):
    """A table with typed columns and plausible rows; numeric_columns and its like list columns by name."""

    name = "table"
    args = TableArgs

    def draw(self, args: TableArgs, dice: Dice) -> JSON:
        from preparers.calc.tables import draw_table

        return from_module(lambda: draw_table(args.of, args.rows, dice))

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        if args["of"].kind not in ("text", "any"):
            raise ValueError(f"a topic is a text, not a {args['of']}")
        return shape(_TABLE)


class LayoutArgs(DrawArgs):
    of: dict[str, Any] = Field(description="a drawn table")
    layouts: tuple[str, ...] | None = Field(None, description="the layouts to draw from: `preparers.calc.layouts`")
    suffixes: tuple[str, ...] = Field((".xlsx",), min_length=1, description="formats to draw from")
    sheet: str | None = Field(None, description="the name of the table's sheet; the table's own by default")


@draw_kind
class Layout(DrawKind[LayoutArgs]):
    """A workbook around a table: layout and suffix, and sheets, charts, names, main for `calc.workbook`."""

    name = "layout"
    args = LayoutArgs

    def draw(self, args: LayoutArgs, dice: Dice) -> JSON:
        from preparers.calc.layouts import draw_layout

        return from_module(
            lambda: draw_layout(args.of, dice, only=args.layouts, suffixes=args.suffixes, sheet=args.sheet)
        )

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        return shape(_LAYOUT)
