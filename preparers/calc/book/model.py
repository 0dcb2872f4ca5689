"""What a workbook means, whatever its format and whoever saved it: values, formulas, looks, and everything around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

Scalar = float | int | str | bool | None
"""A value: number (dates are days since 1899-12-30), text, truth, nothing. Errors are their text: `#DIV/0!`."""


@dataclass(frozen=True, slots=True)
class CellStyle:
    """How a cell looks. Colours are `RRGGBB`; empty means automatic, none, or the default."""

    number_format: str = "General"
    bold: bool = False
    italic: bool = False
    underline: str = ""
    strike: bool = False
    font: str = ""
    size: float = 0.0
    color: str = ""
    fill: str = ""
    horizontal: str = ""
    vertical: str = ""
    wrap: bool = False
    indent: int = 0
    rotation: int = 0
    left: str = ""
    right: str = ""
    top: str = ""
    bottom: str = ""
    locked: bool = True


PLAIN = CellStyle()
TRUTHS = ("=TRUE()", "=FALSE()")
"""How LibreOffice writes a cell that holds a plain truth; the readers take it for the value that it is."""


@dataclass(slots=True)
class Cell:
    """One cell. `array` is the area that an array formula fills; `rich` tells texts with mixed fonts apart."""

    value: Scalar = None
    formula: str | None = None
    style: CellStyle = PLAIN
    array: str = ""
    rich: str = ""

    @property
    def empty(self) -> bool:
        """Whether it holds neither value nor formula."""
        return self.value is None and self.formula is None


@dataclass(frozen=True)
class Series:
    """One series of a chart; references without `$`, e.g. `Data!C3:C26`; a literal name is in quotes."""

    name: str = ""
    categories: str = ""
    values: str = ""


@dataclass(frozen=True)
class Chart:
    """A chart. `kind`: column, bar, line, pie, doughnut, area, scatter, radar, bubble, stock. `at`: its first cell."""

    kind: str
    title: str = ""
    series: tuple[Series, ...] = ()
    axes: tuple[str, ...] = ()
    at: str = ""
    look: str = ""


@dataclass(frozen=True)
class Filter:
    """An autofilter: its area and, column by column, what it shows, in one spelling."""

    area: str
    columns: tuple[str, ...] = ()


@dataclass
class Sheet:
    """One sheet. Cells by (row, column), counted from 1; everything else by what it does."""

    name: str
    state: str = "visible"
    cells: dict[tuple[int, int], Cell] = field(default_factory=dict)
    row_styles: dict[int, CellStyle] = field(default_factory=dict)
    column_styles: list[tuple[int, int, CellStyle]] = field(default_factory=list)
    merged: frozenset[str] = frozenset()
    widths: dict[int, float] = field(default_factory=dict)
    heights: dict[int, float] = field(default_factory=dict)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    freeze: tuple[int, int] = (0, 0)
    filter: Filter | None = None
    conditional: tuple[str, ...] = ()
    validation: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    charts: tuple[Chart, ...] = ()
    pictures: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    protection: str = ""
    tab_color: str = ""
    page: str = ""

    def value(self, row: int, column: int) -> Scalar:
        """The value that the file remembers for a cell."""
        cell = self.cells.get((row, column))
        return None if cell is None else cell.value

    def formula(self, row: int, column: int) -> str | None:
        """The formula of a cell in A1 notation, with its `=`."""
        cell = self.cells.get((row, column))
        return None if cell is None else cell.formula

    def style(self, row: int, column: int) -> CellStyle:
        """How a cell looks, also one that the file does not mention."""
        cell = self.cells.get((row, column))
        if cell is not None:
            return cell.style
        if row in self.row_styles:
            return self.row_styles[row]
        for first, last, style in self.column_styles:
            if first <= column <= last:
                return style
        return PLAIN

    def filled(self) -> Iterator[tuple[int, int]]:
        """(row, column) of every cell that holds something, row by row."""
        return iter(sorted(place for place, cell in self.cells.items() if not cell.empty))

    def used(self) -> tuple[int, int, int, int] | None:
        """(top, left, bottom, right) of all cells that hold something."""
        places = list(self.filled())
        if not places:
            return None
        columns = [column for _, column in places]
        return places[0][0], min(columns), places[-1][0], max(columns)


@dataclass
class Book:
    """A workbook. `names`: defined names (`Sheet!name` for those of one sheet) to what they mean, in one spelling."""

    sheets: list[Sheet]
    names: dict[str, str] = field(default_factory=dict)
    producer: str = ""
    extras: dict[str, int] = field(default_factory=dict)

    @property
    def sheet_names(self) -> list[str]:
        """The sheets' names in order."""
        return [sheet.name for sheet in self.sheets]

    def sheet(self, name: str) -> Sheet | None:
        """The sheet of this name (upper and lower case are one)."""
        return next((sheet for sheet in self.sheets if sheet.name.casefold() == name.casefold()), None)
