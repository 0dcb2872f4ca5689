"""Draws of spreadsheet data: tables, and workbooks built around a table; made by `preparers.calc`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

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
    of: str = Field(description="its topic")
    rows: int = Field(20, ge=1, le=2000, description="data rows")


@draw_kind
class Table(DrawKind[TableArgs]):
    """A table with typed columns and plausible rows; numeric_columns and its like list columns by name.

    Gives topic, title, columns (with the keys of `Column` in `calc.workbook`), rows (lists of values in the order of the
    columns), `sheet` and `file` (names that fit), and names of columns by their role: numeric_columns (measures),
    category_columns (categories, flags), text_columns (labels, people, codes), date_columns. Not every measure can be added
    up: for a total take `[c.name for c in table.columns if c.role == 'measure' and c.type in ['currency', 'integer']]`.
    A table goes into a sheet of `calc.workbook` as `table`, or into the draw `layout`.
    """

    name = "table"
    args = TableArgs
    examples = ("{table: expenses, rows: 2}",)

    def draw(self, args: TableArgs, dice: Dice) -> JSON:
        from preparers.calc.tables import draw_table

        return from_module(lambda: draw_table(args.of, args.rows, dice))

    def values(self) -> str:
        from preparers.calc.tables import topic_columns, topics

        rows = [
            f"- `{topic}`: {', '.join(f'{name} ({words})' for name, words in topic_columns(topic).items())}"
            for topic in topics()
        ]
        return "Topics and their columns (type, role; ? where a draw may lack it):\n" + "\n".join(rows)

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        if args["of"].kind not in ("text", "any"):
            raise ValueError(f"a topic is a text, not a {args['of']}")
        return shape(_TABLE)


class LayoutArgs(DrawArgs):
    of: dict[str, Any] = Field(description="a drawn table, or one with the keys of `Table` in `calc.workbook`")
    layouts: tuple[str, ...] | None = Field(None, description="those to draw from; all unless given")
    suffixes: tuple[Literal[".xlsx", ".ods"], ...] = Field((".xlsx",), min_length=1, description="formats to draw from")
    sheet: str | None = Field(None, description="the name of the table's sheet; the table's own by default")


@draw_kind
class Layout(DrawKind[LayoutArgs]):
    """A workbook around a table: layout and suffix, and sheets, charts, names, main for `calc.workbook`.

    Used as `{prepare: calc.workbook, path: "~/Documents/${name}${layout.suffix}", with: "${only(layout, ['sheets', 'charts',
    'names', 'main'])}"}`. Free for a task in every layout: the cells below the table, the column right of it, and the names
    Summary, Total and Report for sheets. A `python` node between draw and workbook may change the sheets: with
    `{sheets: "${layout.sheets}"}` as its `with`, and `merge(only(layout, ['charts', 'names', 'main']), made)` for the workbook.
    """

    name = "layout"
    args = LayoutArgs
    examples = (
        "{layout: {columns: [{name: Item}, {name: Price, type: currency}], rows: [[Ink, 4.5]]}, layouts: [titled]}",
    )

    def draw(self, args: LayoutArgs, dice: Dice) -> JSON:
        from preparers.calc.layouts import draw_layout

        return from_module(
            lambda: draw_layout(args.of, dice, only=args.layouts, suffixes=args.suffixes, sheet=args.sheet)
        )

    def values(self) -> str:
        from preparers.calc.layouts import layout_words

        return "Layouts:\n" + "\n".join(f"- `{name}`: {words}" for name, words in layout_words().items())

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        return shape(_LAYOUT)
