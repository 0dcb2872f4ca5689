"""What can be done with a workbook, whatever its format: the face that .xlsx and .ods share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import date, datetime, time
from pathlib import Path

from .filters import Filter
from .formulas import Reference, rewritten
from .package import SheetPatchError
from .references import Area, address, column_number
from .values import Value, sort_key, to_number


class Book(ABC):
    """A workbook that is edited in place. References are `C27`, `A1:D9` (first sheet) or `Data!C27`, `'My data'!C27`."""

    def __init__(self, path: Path | None, name: str):
        self.path = path
        self.name = name

    @property
    @abstractmethod
    def sheets(self) -> list[str]:
        """The names of the sheets in order."""

    def cell(self, ref: str) -> Value:
        """The value of a cell; of a formula the one that the file remembers (None when it remembers none)."""
        area = self._one(ref)
        return self._value(area.sheet or "", area.top, area.left)

    def formula(self, ref: str) -> str | None:
        """The formula of a cell with its `=`, in English and A1 notation; None when it holds none."""
        area = self._one(ref)
        return self._formula(area.sheet or "", area.top, area.left)

    def rows(self, ref: str | None = None) -> list[list[Value]]:
        """The values of a range, row by row; of a sheet's name or of nothing, the whole used area from A1 on."""
        if ref is None or ref in self.sheets:
            sheet = ref or self.sheets[0]
            used = self._used(sheet)
            area = Area(1, 1, used.bottom, used.right, sheet) if used else None
        else:
            area = self._clipped(self._area(ref))
        if area is None:
            return []
        columns = range(area.left, area.right + 1)
        return [
            [self._value(area.sheet or "", row, column) for column in columns]
            for row in range(area.top, area.bottom + 1)
        ]

    def used(self, sheet: str | None = None) -> str | None:
        """The range that holds values and formulas, e.g. `B2:F30`; None for an empty sheet."""
        area = self._used(self._sheet(sheet))
        return None if area is None else str(area)

    def set(self, ref: str, value: Value | date | datetime | time | Sequence[Sequence[Value]]) -> None:
        """Set a cell: number, text, truth, date, or a text that begins with `=` as a formula. None empties it.

        A list of rows is written from the cell on, right and down. The format stays; a date gives a format for dates
        to a cell that has none.
        """
        if isinstance(value, list | tuple):
            area = self._area(ref)
            for down, line in enumerate(value):
                for right, item in enumerate(line):
                    self.set(_ref(area.sheet, area.top + down, area.left + right), item)
            return
        area = self._one(ref)
        sheet, row, column = area.sheet or "", area.top, area.left
        if isinstance(value, str) and value.startswith("=") and len(value) > 1:
            self._put(sheet, row, column, None, value)
        elif isinstance(value, date | time):
            self._put_moment(sheet, row, column, value)
        else:
            self._put(sheet, row, column, value, None)  # type: ignore[arg-type]

    def clear(self, ref: str) -> None:
        """Empty the cells of a range; their formats stay."""
        area = self._clipped(self._area(ref))
        if area is not None:
            for row, column in area.cells():
                self._put(area.sheet or "", row, column, None, None)

    def sort(self, ref: str, by: str | Sequence[str], descending: bool | Sequence[bool] = False) -> None:
        """Sort the rows of a range (without its header) by columns given as letters, whole cells moving together.

        Raises SheetPatchError when a formula in the range would mean something else afterwards.
        """
        area = self._area(ref)
        keys = [by] if isinstance(by, str) else list(by)
        falling = [descending] * len(keys) if isinstance(descending, bool) else list(descending)
        if len(falling) != len(keys):
            raise SheetPatchError(f"sort by {keys}: {len(falling)} directions for {len(keys)} columns")
        order = list(range(area.top, area.bottom + 1))
        for letters, down in reversed(list(zip(keys, falling, strict=True))):
            column = column_number(letters)
            filled = [row for row in order if self._value(area.sheet or "", row, column) not in (None, "")]
            empty = [row for row in order if row not in set(filled)]
            filled.sort(key=lambda row: sort_key(self._value(area.sheet or "", row, column)), reverse=down)
            order = filled + empty
        self._reorder(area, order)

    @abstractmethod
    def number_format(self, ref: str, code: str | None = None) -> str:
        """Set the number format of a range (`0.00%`, `#,##0.00 [$€-407]`), or read that of a cell."""

    @abstractmethod
    def style(
        self,
        ref: str,
        *,
        bold: bool | None = None,
        italic: bool | None = None,
        underline: bool | None = None,
        color: str | None = None,
        size: float | None = None,
        font: str | None = None,
        fill: str | None = None,
        align: str | None = None,
        wrap: bool | None = None,
        border: dict[str, str] | None = None,
    ) -> None:
        """Change how the cells of a range look; what is not named stays: `style("A1:C1", bold=True, fill="DDEBF7")`.

        `color` and `fill` are `RRGGBB`, `align` left, center or right, `border` side to line: `{"bottom": "thin"}`; lines are
        thin, medium, thick, double, none.
        """

    @abstractmethod
    def rename(self, old: str, new: str) -> None:
        """Rename a sheet, and follow it in every formula, name and chart."""

    @abstractmethod
    def add_sheet(self, name: str, position: int | None = None) -> None:
        """Add an empty sheet; at the end, or before the sheet that now has that position (counted from 0)."""

    @abstractmethod
    def move_sheet(self, name: str, position: int) -> None:
        """Move a sheet, so that it then has that position (counted from 0)."""

    @abstractmethod
    def remove_sheet(self, name: str) -> None:
        """Remove a sheet. Raises SheetPatchError for the last one, and when a formula elsewhere refers to it."""

    @abstractmethod
    def hide_sheet(self, name: str, hidden: bool = True) -> None:
        """Hide or show a sheet."""

    @abstractmethod
    def autofilter(self, ref: str | None, sheet: str | None = None, **show: Filter) -> None:
        """Put filter buttons on a range (header included) and filter it; None takes the filter away.

        Each keyword is a column's letters: a list of values to show, or a comparison such as `(">", 100)`, as in
        `autofilter("Data!A1:D20", C=["open"])`.
        """

    @abstractmethod
    def render(self) -> bytes:
        """The file's bytes."""

    def save(self, path: str | Path | None = None) -> None:
        """Write the file, in one step: a crash leaves the old one whole."""
        target = path or self.path
        if target is None:
            raise SheetPatchError("this workbook came from bytes; say where to save it")
        self._save(Path(target).expanduser())

    @abstractmethod
    def _save(self, path: Path) -> None: ...

    @abstractmethod
    def _value(self, sheet: str, row: int, column: int) -> Value: ...

    @abstractmethod
    def _formula(self, sheet: str, row: int, column: int) -> str | None: ...

    @abstractmethod
    def _used(self, sheet: str) -> Area | None: ...

    @abstractmethod
    def _put(self, sheet: str, row: int, column: int, value: Value, formula: str | None) -> None: ...

    @abstractmethod
    def _move(
        self,
        sheet: str,
        moves: dict[tuple[int, int], tuple[int, int]],
        formulas: dict[tuple[int, int], str],
    ) -> None: ...

    @abstractmethod
    def _merged(self, sheet: str) -> list[Area]: ...

    def _put_moment(self, sheet: str, row: int, column: int, value: date | datetime | time) -> None:
        self._put(sheet, row, column, to_number(value), None)
        ref = _ref(sheet, row, column)
        if self.number_format(ref) == "General":
            code = "hh:mm" if isinstance(value, time) else "yyyy-mm-dd"
            self.number_format(ref, f"{code} hh:mm" if isinstance(value, datetime) else code)

    def _reorder(self, area: Area, order: list[int]) -> None:
        sheet = area.sheet or ""
        for merged in self._merged(sheet):
            if merged.bottom >= area.top and merged.top <= area.bottom:
                raise SheetPatchError(f"{self.name}: {area} cannot be sorted: {merged} is merged")
        moves: dict[tuple[int, int], tuple[int, int]] = {}
        formulas: dict[tuple[int, int], str] = {}
        for target, source in enumerate(order, area.top):
            if source == target:
                continue
            for column in range(area.left, area.right + 1):
                moves[source, column] = (target, column)
                formula = self._formula(sheet, source, column)
                if formula is not None:
                    formulas[source, column] = self._follow(area, formula, source, target)
        self._move(sheet, moves, formulas)

    def _follow(self, area: Area, formula: str, source: int, target: int) -> str:
        """A formula of row `source`, after that row became `target`. Only references to its own row can follow."""

        def follow(reference: Reference) -> Reference | None:
            corners = [reference.first, reference.last or reference.first]
            fixed = [reference.absolute[1], reference.absolute[3] if reference.last else reference.absolute[1]]
            elsewhere = reference.sheet is not None and reference.sheet.casefold() != (area.sheet or "").casefold()
            if not elsewhere and all(row == source for _, row in corners) and not any(fixed):
                return reference.shifted(target - source, 0)
            outside = elsewhere or all(row is not None and not area.top <= row <= area.bottom for _, row in corners)
            if outside and all(mark or row is None for (_, row), mark in zip(corners, fixed, strict=True)):
                return reference
            raise SheetPatchError(
                f"{self.name}: {area} cannot be sorted: {formula} in row {source} looks at {reference}, not at its own row"
            )

        return rewritten(formula, follow)

    def _sheet(self, name: str | None) -> str:
        """A sheet's name as the file writes it. Raises SheetPatchError listing the sheets."""
        if name is None:
            return self.sheets[0]
        for known in self.sheets:
            if known.casefold() == name.casefold():
                return known
        raise SheetPatchError(f"{self.name}: no sheet {name!r}; there are {', '.join(map(repr, self.sheets))}")

    def _area(self, ref: str) -> Area:
        try:
            area = Area.parse(ref)
        except ValueError as error:
            raise SheetPatchError(str(error)) from None
        return Area(area.top, area.left, area.bottom, area.right, self._sheet(area.sheet))

    def _one(self, ref: str) -> Area:
        area = self._area(ref)
        if not area.single:
            raise SheetPatchError(f"{ref!r} is a range; name one cell such as {address(area.top, area.left)}")
        return area

    def _clipped(self, area: Area) -> Area | None:
        """An area without what lies beyond the used cells, for whole columns and rows."""
        used = self._used(area.sheet or "")
        if used is None:
            return None
        bottom = min(area.bottom, max(used.bottom, area.top))
        right = min(area.right, max(used.right, area.left))
        whole = area.bottom - area.top > 100_000 or area.right - area.left > 1_000
        return Area(area.top, area.left, bottom, right, area.sheet) if whole else area


def _ref(sheet: str | None, row: int, column: int) -> str:
    return str(Area(row, column, row, column, sheet))
