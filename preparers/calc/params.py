"""Parameters of `calc.workbook`: complete, so that nothing is left to chance when the file is written."""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from forge.harness.layers.office.python.sheetpatch.references import Area
from forge.records import JSON
from forge.records.artifact import GuestPath
from preparers.base import Params
from preparers.calc.formats import compose

ColumnType = Literal["text", "integer", "number", "currency", "percent", "date", "datetime", "time", "boolean"]
ChartKind = Literal["column", "bar", "line", "pie", "area", "scatter", "doughnut"]
Horizontal = Literal["left", "center", "right"]

_CELL = re.compile(r"[A-Z]{1,3}[1-9][0-9]{0,6}")
_RANGE = re.compile(r"[A-Z]{1,3}[1-9][0-9]{0,6}(:[A-Z]{1,3}[1-9][0-9]{0,6})?")
_STYLED = 100_000
"""Cells that one `styles` may cover."""

_COLOR = re.compile(r"[0-9A-F]{6}")
_LETTERS = re.compile(r"[A-Z]{1,3}")
_NAME = re.compile(r"[^\W\d][\w.]{0,254}")
_LIKE_CELL = re.compile(r"[A-Za-z]{1,3}[0-9]+|[Rr]([0-9]*[Cc][0-9]*)?|[Cc]([0-9]+)?")
_BAD_IN_NAMES = set("[]:*?/\\")


def _cell(value: str) -> str:
    if not _CELL.fullmatch(value):
        raise ValueError(f"{value!r} is no cell; write it like B7")
    Area.parse(value)
    return value


def _range(value: str) -> str:
    if not _RANGE.fullmatch(value):
        raise ValueError(f"{value!r} is no range; write it like B3:D20")
    Area.parse(value)
    return value


def _color(value: str) -> str:
    if value and not _COLOR.fullmatch(value):
        raise ValueError(f"{value!r} is no colour; write RRGGBB in capitals, like FFF2CC")
    return value


def _letters(value: str) -> str:
    if not _LETTERS.fullmatch(value):
        raise ValueError(f"{value!r} is no column; write its letters, like C")
    Area.parse(f"{value}1")
    return value


def _sheet_range(value: str) -> str:
    """A range that may name a sheet."""
    if value:
        Area.parse(value)
        if not _RANGE.fullmatch(value.rpartition("!")[2].replace("$", "").upper()):
            raise ValueError(f"{value!r} is no range of cells; write it like B3:B20 or Data!B3:B20")
    return value


def _series_name(value: str) -> str:
    """A cell, or a text that is none."""
    try:
        single = Area.parse(value).single
    except ValueError:
        return _caption(value)
    if not single:
        raise ValueError(f"{value!r} is a range; a series is named by one cell such as C2, or by a text")
    return value


def _caption(value: str) -> str:
    if value.startswith("=") or re.match(r"[^!]+!\$?[A-Za-z]+\$?[0-9]", value):
        raise ValueError(f"{value!r} would be taken for a reference; write a text")
    return value


def _defined_name(value: str) -> str:
    if not _NAME.fullmatch(value) or _LIKE_CELL.fullmatch(value):
        raise ValueError(f"{value!r} is no name that can be defined: letters, digits, _ and ., and not like a cell")
    return value


def _sheet_name(value: str) -> str:
    if not 1 <= len(value) <= 31 or set(value) & _BAD_IN_NAMES or value[0] == "'" or value[-1] == "'":
        raise ValueError(f"{value!r} is no name for a sheet: 1 to 31 characters, none of []:*?/\\")
    return value


def _formula(value: str) -> str:
    if not value.startswith("=") or len(value) < 2:
        raise ValueError(f"{value!r} is no formula; it begins with =")
    return value


CellRef = Annotated[str, AfterValidator(_cell)]
RangeRef = Annotated[str, AfterValidator(_range)]
Color = Annotated[str, AfterValidator(_color)]
SheetName = Annotated[str, AfterValidator(_sheet_name)]
Formula = Annotated[str, AfterValidator(_formula)]
Letters = Annotated[str, AfterValidator(_letters)]
SheetRange = Annotated[str, AfterValidator(_sheet_range)]
SeriesName = Annotated[str, AfterValidator(_series_name)]
Caption = Annotated[str, AfterValidator(_caption)]
DefinedName = Annotated[str, AfterValidator(_defined_name)]
Row = Annotated[int, Field(ge=1, le=1_048_576)]


class Column(Params):
    """A column. `formula` has the other columns' names in braces: `={Quantity}*{Unit price}`."""

    name: str = Field(min_length=1)
    type: ColumnType = "text"
    format: str = Field("", description="number format code; the type's usual one unless given")
    unit: str = Field("", description="for the reader of the table alone, e.g. km")
    width: float | None = Field(None, gt=0, le=255, description="characters; fits unless given")
    formula: str = Field("", description="how it follows from others; written where `live`")
    choices: tuple[str, ...] = Field((), description="the values that a category can have")
    role: Literal["", "label", "category", "date", "person", "measure", "rate", "code", "flag"] = ""

    @property
    def code(self) -> str:
        """The number format code that its cells get."""
        if self.format:
            return self.format
        if self.type in ("text", "boolean", "integer"):
            return {"integer": "0"}.get(self.type, "General")
        return compose(self.type)


class Table(Params):
    """Dates are `2026-03-16`, times `08:30`, nothing is null."""

    topic: str = ""
    title: str = Field("", description="what layouts write above it")
    sheet: str = Field("", description="a name that fits")
    file: str = Field("", description="a name that fits")
    columns: tuple[Column, ...] = Field(min_length=1, max_length=50)
    rows: tuple[tuple[JSON, ...], ...] = Field(max_length=20_000, description="a value for each column")
    numeric_columns: tuple[str, ...] = Field((), description="these four: names by role")
    category_columns: tuple[str, ...] = ()
    text_columns: tuple[str, ...] = ()
    date_columns: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _rows_fit(self) -> Table:
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise ValueError(f"column names must be unique, got {names}")
        for index, row in enumerate(self.rows):
            if len(row) != len(names):
                raise ValueError(f"row {index} has {len(row)} values for {len(names)} columns")
            for column, value in zip(self.columns, row, strict=True):
                if not _fits(column.type, value):
                    raise ValueError(f"row {index}, column {column.name}: {value!r} is no {column.type}")
        return self


class Look(Params):
    """How cells look; the rest stays as it is."""

    bold: bool | None = None
    italic: bool | None = None
    underline: bool | None = None
    color: Color = ""
    fill: Color = ""
    align: Horizontal | None = None
    wrap: bool | None = None
    size: float | None = Field(None, ge=4, le=72)
    font: str = ""
    border: Literal["", "thin", "medium", "thick", "double"] = ""
    format: str = Field("", description="number format code")


class Styled(Params):
    """A range's look."""

    range: RangeRef
    look: Look


class ValueCell(Params):
    """A value outside the table."""

    cell: CellRef
    value: JSON
    look: Look = Look()


class FormulaCell(Params):
    """English function names, commas, A1 notation."""

    cell: CellRef
    formula: Formula
    look: Look = Look()


class Total(Params):
    """A row below the table, a formula a column."""

    columns: tuple[str, ...] = Field(min_length=1)
    function: Literal["SUM", "AVERAGE", "MIN", "MAX", "COUNT"] = "SUM"
    label: str = "Total"
    gap: int = Field(0, ge=0, le=5, description="empty rows between table and total")
    look: Look = Look(bold=True)


class Note(Params):
    """A comment."""

    cell: CellRef
    text: str = Field(min_length=1)


class Conditional(Params):
    """A conditional format."""

    range: RangeRef
    kind: Literal["cell", "top", "data_bar", "color_scale", "text"] = "cell"
    criteria: Literal["", ">", ">=", "<", "<=", "==", "!=", "between", "containing"] = Field(
        "", description="of kind cell or text"
    )
    value: JSON = Field(None, description="what is compared with; of kind top how many")
    maximum: JSON = Field(None, description="the upper end of between")
    look: Look = Look()

    @model_validator(mode="after")
    def _complete(self) -> Conditional:
        if self.kind == "text" and not (isinstance(self.value, str) and self.value):
            raise ValueError("kind text needs a text as value")
        if self.kind == "top" and not (self.value is None or (type(self.value) is int and 1 <= self.value <= 1000)):
            raise ValueError("kind top takes a whole number from 1 to 1000 as value")
        needed = {"value": self.value, **({"maximum": self.maximum} if self.criteria == "between" else {})}
        for name, value in needed.items():
            if self.kind == "cell" and (value is None or isinstance(value, dict | list)):
                raise ValueError(f"kind cell needs a {name}, a number or a text")
        return self


class Validation(Params):
    """What a range accepts: `values`, or numbers between bounds."""

    range: RangeRef
    kind: Literal["list", "integer", "decimal"] = "list"
    values: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None

    @model_validator(mode="after")
    def _complete(self) -> Validation:
        if self.kind == "list" and not self.values:
            raise ValueError("a list needs values")
        if len(",".join(self.values)) > 255:
            raise ValueError("the values of a list have at most 255 characters together")
        if self.kind != "list" and (self.minimum is None or self.maximum is None):
            raise ValueError(f"{self.kind} needs minimum and maximum")
        return self


class Picture(Params):
    """A plain logo: a band of colours."""

    cell: CellRef
    width: int = Field(96, ge=8, le=400)
    height: int = Field(32, ge=8, le=400)
    colors: tuple[Color, ...] = Field(("1F4E79", "F4B183"), min_length=1)


class Sheet(Params):
    """A table somewhere, and what stands around it."""

    name: SheetName
    table: Table | None = None
    at: CellRef = Field("A1", description="the cell of the first column's header")
    live: bool = Field(False, description="columns that follow from others are formulas")
    titles: tuple[str, ...] = Field((), description="lines from row 1 on, in the table's first column")
    title_look: Look = Look(bold=True, size=14)
    header: Look = Look(bold=True)
    body: Look = Look()
    banded: Color = Field("", description="fill of every second row of the table")
    total: Total | None = None
    cells: tuple[ValueCell, ...] = ()
    formulas: tuple[FormulaCell, ...] = ()
    styles: tuple[Styled, ...] = ()
    widths: dict[Letters, Annotated[float, Field(gt=0, le=255)]] = Field(
        default_factory=dict, description="column letters to characters"
    )
    freeze: CellRef | None = Field(None, description="first cell that scrolls")
    autofilter: bool = Field(False, description="filter buttons on the table")
    hidden: bool = False
    hidden_rows: tuple[Row, ...] = ()
    hidden_columns: tuple[Letters, ...] = ()
    notes: tuple[Note, ...] = ()
    merged: tuple[RangeRef, ...] = Field((), description="the first cell's value is what shows")
    conditional: tuple[Conditional, ...] = ()
    validation: tuple[Validation, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tab_color: Color = ""
    landscape: bool = Field(False, description="printed so")

    @model_validator(mode="after")
    def _fits_together(self) -> Sheet:
        top = Area.parse(self.at).top
        if self.table is not None and len(self.titles) >= top:
            raise ValueError(f"{len(self.titles)} title lines do not fit above a table at {self.at}")
        if self.total is not None:
            known = [column.name for column in self.table.columns] if self.table else []
            for name in self.total.columns:
                if name not in known:
                    raise ValueError(f"total of {name!r}: the table has {', '.join(known) or 'no columns'}")
        if self.autofilter and self.table is None:
            raise ValueError("autofilter needs a table")
        _apart([Area.parse(text) for text in self.merged])
        for styled in self.styles:
            area = Area.parse(styled.range)
            if (area.bottom - area.top + 1) * (area.right - area.left + 1) > _STYLED:
                raise ValueError(f"styles of {styled.range}: more than {_STYLED} cells")
        return self


def _apart(merged: list[Area]) -> None:
    for place, one in enumerate(merged):
        if one.single:
            raise ValueError(f"merged {one}: a single cell cannot be merged; write a range like A1:C1")
        for other in merged[:place]:
            if (
                one.top <= other.bottom
                and other.top <= one.bottom
                and one.left <= other.right
                and other.left <= one.right
            ):
                raise ValueError(f"merged {other} and {one} overlap")


class Series(Params):
    """Ranges may name a sheet; else it is the chart's `source`, or where it stands."""

    values: SheetRange = Field(min_length=2, description="a range such as C2:C13")
    categories: SheetRange = Field("", description="the range of the labels")
    name: SeriesName = Field("", description="a cell such as C2, or a text")


class ChartPlan(Params):
    """A chart."""

    sheet: str = Field(description="where it stands")
    kind: ChartKind = "column"
    series: tuple[Series, ...] = Field(min_length=1)
    title: Caption = ""
    axes: tuple[Caption, Caption] | None = Field(None, description="category, value")
    at: CellRef = "H2"
    source: str = Field("", description="the sheet that ranges mean")
    width: int = Field(480, ge=100, le=2000, description="pixels")
    height: int = Field(288, ge=100, le=2000, description="pixels")

    def named_sheets(self) -> list[str]:
        """The sheets that ranges of its series name."""
        found = []
        for text in (
            text for series in self.series for text in (series.values, series.categories, series.name) if text
        ):
            try:
                found.append(Area.parse(text).sheet)
            except ValueError:  # a series' name that is a text
                continue
        return [name for name in found if name is not None]


class WorkbookParams(Params):
    """A workbook. The suffix of `path` says the format: .xlsx, .ods or .csv (one sheet, values only)."""

    path: GuestPath = Field(description="~/Documents/name.xlsx")
    sheets: tuple[Sheet, ...] = Field(min_length=1, max_length=20)
    charts: tuple[ChartPlan, ...] = ()
    names: dict[DefinedName, str] = Field(
        default_factory=dict, description="defined name to range or formula without ="
    )
    main: int = Field(0, ge=0, description="index of the sheet that facts call `main`")
    title: str = ""
    delimiter: Literal[",", ";", "\t"] = Field(",", description="of a .csv")

    @model_validator(mode="after")
    def _fits_together(self) -> WorkbookParams:
        suffix = self.suffix
        if suffix not in (".xlsx", ".ods", ".csv"):
            raise ValueError(f"{self.path!r}: a workbook is .xlsx, .ods or .csv")
        if suffix == ".csv" and (len(self.sheets) != 1 or self.charts or self.names):
            raise ValueError("a .csv holds one sheet, no charts and no names")
        names = [sheet.name.casefold() for sheet in self.sheets]
        if len(set(names)) != len(names):
            raise ValueError(f"sheet names must be unique, got {[sheet.name for sheet in self.sheets]}")
        if self.main >= len(self.sheets):
            raise ValueError(f"main is {self.main}, there are {len(self.sheets)} sheets")
        if all(sheet.hidden for sheet in self.sheets):
            raise ValueError("at least one sheet must be visible")
        for chart in self.charts:
            for name in filter(None, (chart.sheet, chart.source)):
                if name.casefold() not in names:
                    raise ValueError(f"chart {chart.title!r}: no sheet {name!r}")
            for name in chart.named_sheets():
                if name.casefold() not in names:
                    raise ValueError(f"chart {chart.title!r}: a range names the sheet {name!r}, which there is not")
        return self

    @property
    def suffix(self) -> str:
        """The suffix, lower case, with its dot."""
        return "." + self.path.rpartition(".")[2].lower()


def moment(text: str) -> date | datetime | time | None:
    """A date, a moment or a time of day from its ISO text; None for any other text."""
    for kind in (date, datetime, time):
        try:
            return kind.fromisoformat(text)
        except ValueError:
            continue
    return None


def _fits(kind: str, value: Any) -> bool:
    if value is None:
        return True
    if kind == "text":
        return isinstance(value, str)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind in ("date", "datetime", "time"):
        found = moment(value) if isinstance(value, str) else None
        return type(found) is {"date": date, "datetime": datetime, "time": time}[kind]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return kind != "integer" or float(value).is_integer()
