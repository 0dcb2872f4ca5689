"""Many worlds in one document: the cells that some formulas depend on, again and again with other values.

LibreOffice computes all of them in one go (opening a document costs it far more than a thousand cells do). Each world is
a block of columns of one sheet; every reference is moved into its block. Formulas that see names and places (INDIRECT,
COLUMN, ...) get a document a world instead, with the real sheets.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Any

from forge.desktop.office import OfficeClient
from forge.harness.layers.office.python.sheetpatch.formulas import Reference
from forge.harness.layers.office.python.sheetpatch.future import futured
from forge.harness.layers.office.python.sheetpatch.markup import escape
from forge.harness.layers.office.python.sheetpatch.references import LAST_COLUMN, address
from forge.harness.layers.office.python.sheetpatch.values import encode_text, number_text
from preparers.calc.book import Book, Cell
from verifiers.calc.closure import Closure, Key, resolve_names

Changes = Mapping[Key, Any]
"""Other values for some constant cells."""

World = dict[Key, Any]
"""Values that were asked for, by their key."""

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def compute(
    office: OfficeClient,
    book: Book,
    needed: Closure,
    asked: Mapping[Key, str],
    beside: Mapping[Key, str],
    worlds: list[Changes],
) -> list[tuple[World, World]]:
    """Compute formulas in many worlds.

    Args:
        office: computes.
        book: the workbook that all worlds come from.
        needed: what the formulas depend on.
        asked: formulas in their own cells.
        beside: formulas to compute as if they stood in those cells, without being there.
        worlds: what is different in each.

    Returns:
        For each world (values of `asked`, values of `beside`).
    """
    if needed.real:
        return [_real(office, book, needed, asked, beside, changes) for changes in worlds]
    return _blocks(office, book, needed, asked, beside, worlds)


def _blocks(
    office: OfficeClient,
    book: Book,
    needed: Closure,
    asked: Mapping[Key, str],
    beside: Mapping[Key, str],
    worlds: list[Changes],
) -> list[tuple[World, World]]:
    names = sorted({key[0] for key in [*needed.cells, *asked, *beside]} | set(needed.widths))
    offsets: dict[str, int] = {}
    width = 0
    for name in names:
        reach = [key[2] for key in [*needed.cells, *asked, *beside] if key[0] == name]
        offsets[name] = width
        width += max([needed.widths.get(name, 1), *reach]) + 1
    spare, width = width, width + max((key[2] for key in beside), default=0) + 1
    cells: dict[tuple[int, int], str] = {}
    places: list[tuple[dict[Key, str], dict[Key, str]]] = []
    limits = {name: (offsets[name], _next(offsets, names, name, spare)) for name in names}
    for index, changes in enumerate(worlds):
        left = index * width
        here: tuple[dict[Key, str], dict[Key, str]] = ({}, {})
        for key in needed.cells:
            if key in asked:
                continue
            cell = _cell(book, key)
            column = left + offsets[key[0]] + key[2]
            if cell.formula is not None:
                formula = _moved(book, key[0], cell.formula, left, limits)
                cells[key[1], column] = _formula(formula, key[1], column, bool(cell.array))
            else:
                cells[key[1], column] = _constant(changes.get(key, cell.value))
        for key, formula in asked.items():
            column = left + offsets[key[0]] + key[2]
            array = bool((own := _cell(book, key)).array and own.formula)
            cells[key[1], column] = _formula(_moved(book, key[0], formula, left, limits), key[1], column, array)
            here[0][key] = address(key[1], column)
        for key, formula in beside.items():
            column = left + spare + key[2]
            cells[key[1], column] = _formula(_moved(book, key[0], formula, left, limits), key[1], column, False)
            here[1][key] = address(key[1], column)
        places.append(here)
    values = office.values(_document({"W": cells}), ".xlsx")["W"]
    return [tuple({key: values.get(ref) for key, ref in side.items()} for side in here) for here in places]  # type: ignore[misc]


def _real(
    office: OfficeClient,
    book: Book,
    needed: Closure,
    asked: Mapping[Key, str],
    beside: Mapping[Key, str],
    changes: Changes,
) -> tuple[World, World]:
    results: list[World] = []
    for formulas in (asked, beside):
        sheets: dict[str, dict[tuple[int, int], str]] = {}
        for sheet in book.sheets:
            cells = sheets.setdefault(sheet.name, {})
            name = sheet.name.casefold()
            for (row, column), cell in sheet.cells.items():
                key = (name, row, column)
                if cell.empty:
                    continue
                if key in formulas or cell.formula is not None:
                    formula = formulas.get(key, cell.formula or "")
                    cells[row, column] = _formula(_named(book, name, formula), row, column, bool(cell.array))
                else:
                    cells[row, column] = _constant(changes.get(key, cell.value))
            for key, formula in formulas.items():
                if key[0] == name and key[1:] not in cells:
                    cells[key[1:]] = _formula(_named(book, name, formula), key[1], key[2], False)
        values = office.values(_document(sheets), ".xlsx") if formulas else {}
        by_name = {name.casefold(): found for name, found in values.items()}
        results.append({key: by_name[key[0]].get(address(key[1], key[2])) for key in formulas})
    return results[0], results[1]


def _cell(book: Book, key: Key) -> Cell:
    sheet = book.sheet(key[0])
    return (sheet.cells.get(key[1:]) if sheet is not None else None) or Cell()


def _next(offsets: dict[str, int], names: list[str], name: str, end: int) -> int:
    index = names.index(name)
    return offsets[names[index + 1]] if index + 1 < len(names) else end


def _moved(book: Book, sheet: str, formula: str, left: int, limits: dict[str, tuple[int, int]]) -> str:
    """A formula with its references moved into a block; whole rows are cut to it."""
    pieces = []
    for token in resolve_names(book, sheet, formula):
        if token.kind != "ref":
            pieces.append(token.text)
            continue
        reference = Reference.parse(token.text)
        name = sheet if reference.sheet is None else reference.sheet.casefold()
        if name not in limits:
            pieces.append("#REF!")
            continue
        begin, end = limits[name]
        area = reference.area
        right = (
            min(area.right, end - begin - 1) if area.right == LAST_COLUMN or area.right >= end - begin else area.right
        )
        first = (left + begin + area.left, reference.first[1] and area.top)
        last = (left + begin + max(right, area.left), (reference.last or reference.first)[1] and area.bottom)
        pieces.append(str(Reference(None, first, None if first == last and first[1] else last, (False,) * 4)))
    return "".join(pieces)


def _named(book: Book, sheet: str, formula: str) -> str:
    return "".join(token.text for token in resolve_names(book, sheet, formula))


def _formula(text: str, row: int, column: int, array: bool) -> str:
    mark = f' t="array" ref="{address(row, column)}"' if array else ""
    return f"<f{mark}>{escape(encode_text(futured(text.removeprefix('='))))}</f>"


def _constant(value: Any) -> str:
    if isinstance(value, bool):
        return f"b<v>{int(value)}</v>"
    if isinstance(value, int | float):
        return f"<v>{number_text(value)}</v>"
    if value is None:
        return ""
    return f's<is><t xml:space="preserve">{escape(encode_text(str(value)))}</t></is>'


def _document(sheets: dict[str, dict[tuple[int, int], str]]) -> bytes:
    """A minimal .xlsx of cells that are written already; a leading letter tells texts and truths."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:

        def put(name: str, text: str) -> None:
            archive.writestr(zipfile.ZipInfo(name), '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>' + text)

        parts = [f"/xl/worksheets/sheet{i}.xml" for i in range(1, len(sheets) + 1)]
        overrides = "".join(f'<Override PartName="{part}" ContentType="{_TYPE}.worksheet+xml"/>' for part in parts)
        put(
            "[Content_Types].xml",
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType='
            f'"application/xml"/><Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
            f"{overrides}</Types>",
        )
        put(
            "_rels/.rels",
            f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" Type="{_OFFICE}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        names = "".join(
            f'<sheet name="{escape(name, quotes=True)}" sheetId="{i}" r:id="rId{i}"/>'
            for i, name in enumerate(sheets, 1)
        )
        put("xl/workbook.xml", f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{names}</sheets></workbook>')
        links = "".join(
            f'<Relationship Id="rId{i}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{i}.xml"/>'
            for i in range(1, len(sheets) + 1)
        )
        put("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>')
        for part, cells in zip(parts, sheets.values(), strict=True):
            put(part[1:], f'<worksheet xmlns="{_MAIN}"><sheetData>{_rows(cells)}</sheetData></worksheet>')
    return buffer.getvalue()


def _rows(cells: dict[tuple[int, int], str]) -> str:
    pieces: list[str] = []
    row = 0
    for (line, column), text in sorted(cells.items()):
        if line != row:
            pieces.append(f'{"</row>" if row else ""}<row r="{line}">')
            row = line
        kind = {"b": ' t="b"', "s": ' t="inlineStr"'}.get(text[:1], "")
        pieces.append(f'<c r="{address(line, column)}"{kind}>{text[1:] if kind else text}</c>')
    return "".join(pieces) + ("</row>" if row else "")
