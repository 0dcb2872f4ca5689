"""Formulas as text: split into tokens, so that references can be read, shifted and renamed without touching the rest.

The grammar is that of Excel's file format (English names, commas, A1). What it does NOT do: evaluate, or check that a
formula makes sense. Structured references (`Table1[Amount]`) and links to other files are kept as one opaque token.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .references import LAST_COLUMN, LAST_ROW, Area, column_letters, column_number, quote, unquote

_WORD = r"[A-Za-z_\\\u00a1-\uffff][A-Za-z0-9_.\\\u00a1-\uffff?]*"
_SHEET = r"(?:'(?:[^']|'')+'|[A-Za-z0-9_\u00a1-\uffff][A-Za-z0-9_.\u00a1-\uffff]*(?::[A-Za-z0-9_.\u00a1-\uffff]+)?)!"
_CELL = r"\$?[A-Za-z]{1,3}\$?[0-9]{1,7}"
_SPAN = r"\$?[A-Za-z]{1,3}:\$?[A-Za-z]{1,3}|\$?[0-9]{1,7}:\$?[0-9]{1,7}"
_END = r"(?![A-Za-z0-9_.(\u00a1-\uffff\[!])"
_TOKEN = re.compile(
    rf"""
      (?P<string>"(?:[^"]|"")*")
    | (?P<error>\#(?:N/A|[A-Z0-9/]+[!?]))
    | (?P<opaque>{_SHEET[:-1]}?\[[^\]]*\][^\s,;()+\-*/^&=<>]*|{_WORD}\[(?:[^\[\]]|\[[^\]]*\])*\])
    | (?P<ref>(?:{_SHEET})?(?:{_CELL}(?:\s*:\s*{_CELL})?|{_SPAN}){_END})
    | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[Ee][+-]?[0-9]+)?)
    | (?P<function>{_WORD}(?=\())
    | (?P<name>(?:{_SHEET})?{_WORD})
    | (?P<operator><=|>=|<>|[-+*/^&=<>%:@\#])
    | (?P<separator>[,;|])
    | (?P<open>[(\{{])
    | (?P<close>[)\}}])
    | (?P<space>\s+)
    """,
    re.VERBOSE,
)
_POINT = re.compile(r"(\$?)([A-Za-z]{1,3})?(\$?)([0-9]{1,7})?")


@dataclass(frozen=True)
class Token:
    """One piece of a formula. `kind` is the name of a group of the grammar: ref, name, function, string, ..."""

    kind: str
    text: str


@dataclass(frozen=True)
class Reference:
    """A reference inside a formula: one cell or two corners; a None row or column means the whole column or row.

    `absolute` has a flag for each of (first column, first row, last column, last row).
    """

    sheet: str | None
    first: tuple[int | None, int | None]
    last: tuple[int | None, int | None] | None
    absolute: tuple[bool, bool, bool, bool]

    @classmethod
    def parse(cls, text: str) -> Reference:
        """Read the text of a `ref` token."""
        sheet, mark, rest = text.rpartition("!")
        left, colon, right = rest.replace(" ", "").partition(":")
        first, first_flags = _point(left)
        last, last_flags = _point(right) if colon else (None, (False, False))
        return cls(unquote(sheet) if mark else None, first, last, (*first_flags, *last_flags))

    def __str__(self) -> str:
        head = "" if self.sheet is None else _quote_span(self.sheet) + "!"
        text = _point_text(self.first, self.absolute[:2])
        return head + (text if self.last is None else f"{text}:{_point_text(self.last, self.absolute[2:])}")

    @property
    def area(self) -> Area:
        """The rectangle it means."""
        last = self.last or self.first
        rows = sorted((self.first[1] or 1, last[1] or LAST_ROW))
        columns = sorted((self.first[0] or 1, last[0] or LAST_COLUMN))
        return Area(rows[0], columns[0], rows[1], columns[1], self.sheet)

    def shifted(self, rows: int, columns: int) -> Reference | None:
        """The reference after its formula moved; absolute parts stay. None when it leaves the sheet."""
        corners: list[tuple[int | None, int | None] | None] = []
        for corner, flags in ((self.first, self.absolute[:2]), (self.last, self.absolute[2:])):
            if corner is None:
                corners.append(None)
                continue
            column = corner[0] if corner[0] is None or flags[0] else corner[0] + columns
            row = corner[1] if corner[1] is None or flags[1] else corner[1] + rows
            if (row is not None and not 1 <= row <= LAST_ROW) or (
                column is not None and not 1 <= column <= LAST_COLUMN
            ):
                return None
            corners.append((column, row))
        return Reference(self.sheet, corners[0] or self.first, corners[1], self.absolute)


def tokens(formula: str) -> list[Token]:
    """Split a formula (with or without its leading `=`). Raises ValueError at a character that fits nowhere."""
    text = formula.removeprefix("=")
    found, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(
                f"{formula!r} is no formula that can be read: stopped at {text[position : position + 10]!r}"
            )
        kind = match.lastgroup or ""
        if kind == "ref" and not _on_a_sheet(match.group()):
            kind = "name"
        found.append(Token(kind, match.group()))
        position = match.end()
    return found


def references(formula: str) -> list[Reference]:
    """All references of a formula, in order."""
    return [Reference.parse(token.text) for token in tokens(formula) if token.kind == "ref"]


def rewritten(formula: str, change: Callable[[Reference], Reference | None]) -> str:
    """The formula with every reference changed; None becomes `#REF!`. A leading `=` is kept."""
    parts = []
    for token in tokens(formula):
        if token.kind == "ref":
            reference = change(Reference.parse(token.text))
            parts.append("#REF!" if reference is None else str(reference))
        else:
            parts.append(token.text)
    return ("=" if formula.startswith("=") else "") + "".join(parts)


def shifted(formula: str, rows: int, columns: int) -> str:
    """The formula as it reads after being filled down by `rows` and right by `columns`."""
    if not rows and not columns:
        return formula
    return rewritten(formula, lambda reference: reference.shifted(rows, columns))


def renamed(formula: str, old: str, new: str) -> str:
    """The formula after a sheet got a new name. Text in quotes is no reference and stays."""
    parts = []
    for token in tokens(formula):
        sheet, mark, rest = token.text.rpartition("!")
        if token.kind in ("ref", "name") and mark and old.casefold() in _span(unquote(sheet)).casefold().split("\0"):
            names = [new if name.casefold() == old.casefold() else name for name in _span(unquote(sheet)).split("\0")]
            parts.append(f"{_quote_span(':'.join(names))}!{rest}")
        else:
            parts.append(token.text)
    return ("=" if formula.startswith("=") else "") + "".join(parts)


def plain(formula: str) -> str:
    """A formula or reference without `=`, `$`, spaces and needless quotes or digits; sheets keep upper and lower case."""
    parts = []
    for token in tokens(formula):
        if token.kind == "ref":
            parts.append(str(_ordered(Reference.parse(token.text))))
        elif token.kind == "number":
            parts.append(repr(float(token.text)).removesuffix(".0"))
        elif token.kind != "space":
            parts.append(token.text)
    return "".join(parts)


def canonical(formula: str, sheet: str = "", *, absolute: bool = False) -> str:
    """One spelling for formulas that differ only in writing: case, spaces, quotes, prefixes, the order of corners.

    Args:
        formula: with or without `=`.
        sheet: the sheet it stands on; a reference to it loses its prefix.
        absolute: keep the `$` marks; without them they are dropped, for they do not matter to the value.
    """
    parts, found = [], tokens(formula)
    for index, token in enumerate(found):
        if token.kind == "ref":
            parts.append(_canonical_reference(token.text, sheet, absolute))
        elif token.kind in ("function", "name", "error"):
            parts.append(token.text.upper().removeprefix("_XLFN.").removeprefix("_XLWS."))
        elif token.kind == "number":
            parts.append(repr(float(token.text)).removesuffix(".0"))
        elif token.kind == "space":
            # Between two operands a space is the intersection operator; elsewhere it is only air.
            around = found[max(0, index - 1) : index + 2]
            if len(around) == 3 and _operand(around[0], end=True) and _operand(around[2], end=False):
                parts.append(" ")
        elif token.text == ";":
            parts.append(";" if "{" in parts else ",")
        else:
            parts.append(token.text)
    return "=" + "".join(parts)


def _canonical_reference(text: str, sheet: str, absolute: bool) -> str:
    reference = Reference.parse(text)
    own = reference.sheet is not None and reference.sheet.casefold() == sheet.casefold()
    name = None if own else reference.sheet and reference.sheet.upper()
    if not absolute:
        reference = _ordered(reference)
    return str(Reference(name, reference.first, reference.last, reference.absolute))


def _ordered(reference: Reference) -> Reference:
    """The same area with its first corner first, a single cell as one, and without `$`."""
    first, last = reference.first, reference.last
    if last is not None:
        area = reference.area
        first = (None if first[0] is None else area.left, None if first[1] is None else area.top)
        last = (None if last[0] is None else area.right, None if last[1] is None else area.bottom)
        last = None if first == last and None not in first else last
    return Reference(reference.sheet, first, last, (False, False, False, False))


def _operand(token: Token, *, end: bool) -> bool:
    return token.kind in ("ref", "name") or token.kind == ("close" if end else "function")


def _point(text: str) -> tuple[tuple[int | None, int | None], tuple[bool, bool]]:
    found = _POINT.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no cell")
    mark, letters, second, digits = found.groups()
    if not letters:
        return (None, int(digits)), (False, bool(mark or second))
    return (column_number(letters), int(digits) if digits else None), (bool(mark), bool(second))


def _point_text(point: tuple[int | None, int | None], flags: tuple[bool, ...]) -> str:
    column = "" if point[0] is None else ("$" if flags[0] else "") + column_letters(point[0])
    row = "" if point[1] is None else ("$" if flags[1] else "") + str(point[1])
    return column + row


def _span(sheet: str) -> str:
    """`First:Last` (a reference through several sheets) with a zero byte for the colon."""
    return sheet.replace(":", "\0")


def _quote_span(sheet: str) -> str:
    quoted = [quote(part) for part in sheet.split(":")]
    return ":".join(quoted) if not any(part.startswith("'") for part in quoted) else quote(sheet)


def _on_a_sheet(text: str) -> bool:
    area = Reference.parse(text).area
    return area.bottom <= LAST_ROW and area.right <= LAST_COLUMN and area.top >= 1
