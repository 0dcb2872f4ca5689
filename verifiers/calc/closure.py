"""What a formula depends on: the cells it looks at, those that they look at, and so on."""

from __future__ import annotations

from dataclasses import dataclass, field

from forge.harness.layers.office.python.sheetpatch.formulas import Reference, Token, tokens
from forge.harness.layers.office.python.sheetpatch.references import LAST_COLUMN, Area, unquote
from preparers.calc.book import Book, Sheet

Key = tuple[str, int, int]
"""(sheet name, lower case; row; column)"""

_FAR_REACHING = {
    "INDIRECT",
    "COLUMN",
    "COLUMNS",
    "CELL",
    "ADDRESS",
    "SHEET",
    "SHEETS",
    "AREAS",
    "FORMULA",
    "FORMULATEXT",
}
"""Functions that see names and places: they need a document with the real sheets."""

_WIDE = {"OFFSET"}
"""Functions that reach cells beyond their references: all cells of the sheets they name count."""

WIDEST = 256
"""Columns up to which a sheet's block reaches; formulas that look further get documents of their own."""


@dataclass
class Closure:
    """Cells that formulas depend on.

    `cells`: all that hold something. `direct`: for each formula given, the filled cells that it names itself. `literals`:
    numbers and texts that stand in the formulas. `real`: a document with the real sheet names and places is needed.
    """

    cells: set[Key] = field(default_factory=set)
    direct: list[set[Key]] = field(default_factory=list)
    numbers: set[float] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    widths: dict[str, int] = field(default_factory=dict)
    real: bool = False
    refers: list[bool] = field(default_factory=list)


def closure(book: Book, formulas: list[tuple[str, str]]) -> Closure:
    """Follow formulas through a workbook.

    Args:
        book: the workbook.
        formulas: (name of the sheet it stands on, formula).

    Raises:
        ValueError: a formula cannot be read.
    """
    found = Closure()
    sheets = {sheet.name.casefold(): sheet for sheet in book.sheets}
    names = {name.casefold(): meaning for name, meaning in book.names.items()}
    pending: list[tuple[str, str]] = []
    for sheet, formula in formulas:
        reached: set[Key] = set()
        refers = _follow(found, sheets, names, sheet.casefold(), formula, reached)
        found.direct.append(reached)
        found.refers.append(refers)
        pending += [(key[0], cell) for key in reached if (cell := _formula(sheets, key)) is not None]
        found.cells |= reached
    seen: set[tuple[str, str]] = set()
    while pending:
        sheet, formula = pending.pop()
        if (sheet, formula) in seen:
            continue
        seen.add((sheet, formula))
        reached = set()
        _follow(found, sheets, names, sheet, formula, reached)
        pending += [(key[0], cell) for key in reached - found.cells if (cell := _formula(sheets, key)) is not None]
        found.cells |= reached
    return found


def resolve_names(book: Book, sheet: str, formula: str) -> list[Token]:
    """The formula's tokens with defined names replaced by what they mean, in brackets."""
    names = {name.casefold(): meaning for name, meaning in book.names.items()}
    result: list[Token] = []
    for token in tokens(formula):
        meaning = _meaning(names, sheet.casefold(), token) if token.kind == "name" else None
        if meaning is None:
            result.append(token)
        else:
            result += [Token("open", "("), *tokens(meaning), Token("close", ")")]
    return result


def _follow(
    found: Closure,
    sheets: dict[str, Sheet],
    names: dict[str, str],
    sheet: str,
    formula: str,
    reached: set[Key],
    depth: int = 0,
) -> bool:
    """Collect what one formula names. Returns whether it names anything at all."""
    refers = False
    wide = False
    for token in tokens(formula):
        if token.kind == "ref":
            refers = True
            _reach(found, sheets, sheet, Reference.parse(token.text), reached)
        elif token.kind == "name":
            meaning = _meaning(names, sheet, token)
            if meaning is not None and depth < 8:
                refers = True
                _follow(found, sheets, names, sheet, meaning, reached, depth + 1)
        elif token.kind == "opaque":
            refers = found.real = True
        elif token.kind == "function":
            name = token.text.upper().removeprefix("_XLFN.")
            found.real |= name in _FAR_REACHING
            wide |= name in _WIDE
            refers |= name in _FAR_REACHING
        elif token.kind == "number":
            found.numbers.add(float(token.text))
        elif token.kind == "string":
            found.texts.add(token.text[1:-1].replace('""', '"'))
    if wide or found.real:
        for name in {sheet, *(key[0] for key in reached)} if not found.real else set(sheets):
            reached |= {(name, row, column) for row, column in sheets[name].filled()} if name in sheets else set()
    return refers


def _reach(found: Closure, sheets: dict[str, Sheet], own: str, reference: Reference, reached: set[Key]) -> None:
    name = unquote(reference.sheet).casefold() if reference.sheet is not None else own
    if ":" in name and name not in sheets:
        found.real = True  # through several sheets
        return
    sheet = sheets.get(name)
    if sheet is None:
        return
    area = reference.area
    if area.right < LAST_COLUMN:
        found.widths[name] = max(found.widths.get(name, 1), area.right)
        found.real |= area.right > WIDEST
    reached |= {(name, row, column) for row, column in _filled_in(sheet, area)}


def _filled_in(sheet: Sheet, area: Area) -> set[tuple[int, int]]:
    size = (area.bottom - area.top + 1) * (area.right - area.left + 1)
    if size <= len(sheet.cells):
        return {place for place in area.cells() if place in sheet.cells and not sheet.cells[place].empty}
    return {place for place, cell in sheet.cells.items() if place in area and not cell.empty}


def _formula(sheets: dict[str, Sheet], key: Key) -> str | None:
    return sheets[key[0]].formula(key[1], key[2])


def _meaning(names: dict[str, str], sheet: str, token: Token) -> str | None:
    local, mark, name = token.text.casefold().rpartition("!")
    own = unquote(local) if mark else sheet
    for key in (f"{own}!{name}", f"'{own}'!{name}", name):
        if key in names:
            return names[key]
    return None
