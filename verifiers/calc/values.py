"""What cells show: constants as the file has them, formulas as real LibreOffice computes them now.

A formula that a library wrote has no remembered value, and a remembered one may be stale; neither is believed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from forge.harness.layers.office.python.sheetpatch.references import Area, address
from preparers.calc.book import Sheet
from verifiers.base import Case
from verifiers.calc.closure import Key, closure
from verifiers.calc.opening import Place, Workbook, office_of
from verifiers.calc.worlds import compute


def values_of(case: Case, workbook: Workbook, sheet: Sheet, places: Iterable[Place]) -> dict[Place, Any]:
    """The values of some cells of a sheet by (row, column); errors as {"error": "#DIV/0!"}, nothing as None.

    Raises VerifierError when there are formulas and the case has no office.
    """
    found: dict[Place, Any] = {}
    formulas: dict[Key, str] = {}
    name = sheet.name.casefold()
    arrays = [Area.parse(cell.array) for cell in sheet.cells.values() if cell.array]
    for place in places:
        cell = sheet.cells.get(place)
        if cell is not None and cell.formula is not None:
            formulas[name, place[0], place[1]] = cell.formula
        elif any(place in area for area in arrays):
            return _by_document(case, workbook, sheet, places)
        else:
            found[place] = None if cell is None else cell.value
    if not formulas:
        return found
    try:
        needed = closure(workbook.book, [(key[0], formula) for key, formula in formulas.items()])
    except ValueError:
        return _by_document(case, workbook, sheet, places)
    if needed.real:
        return _by_document(case, workbook, sheet, places)
    computed = compute(office_of(case), workbook.book, needed, formulas, {}, [{}])[0][0]
    return found | {(row, column): value for (_, row, column), value in computed.items()}


def _by_document(case: Case, workbook: Workbook, sheet: Sheet, places: Iterable[Place]) -> dict[Place, Any]:
    """The same from the whole document, where its formulas cannot be taken out of it."""
    with workbook.tree.reading(workbook.file):
        computed = office_of(case).values(workbook.data, workbook.suffix)
    found = next((cells for name, cells in computed.items() if name.casefold() == sheet.name.casefold()), {})
    return {place: found.get(address(*place)) for place in places}
