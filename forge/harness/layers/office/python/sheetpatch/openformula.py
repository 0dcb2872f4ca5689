"""Formulas and addresses as OpenDocument writes them (OpenFormula), to and from A1 notation.

`of:=SUM([.C3:.C26];[$'My data'.$B$1])` is `=SUM(C3:C26,'My data'!$B$1)`.
"""

from __future__ import annotations

import re

from .formulas import Reference, tokens
from .references import quote, unquote

_PIECE = re.compile(r"""("(?:[^"]|"")*")|\[((?:'(?:[^']|'')*'|[^\]'])*)\]|([^"\[]+)""")
_PREFIX = re.compile(r"^(?:of|oooc|msoxl):=?|^=")
_ADDRESS = re.compile(r"(\$?)('(?:[^']|'')+'|[^\s.:'$\[\];()\"]+)\.(?=\$?(?:[A-Za-z]{1,3}|\$?[0-9]))")
_NAMES = {"COM.MICROSOFT.": "", "ORG.LIBREOFFICE.": "", "COM.SUN.STAR.SHEET.ADDIN.ANALYSIS.GET": "", "LEGACY.": ""}
_TO_ODF = {"STDEV.S", "STDEV.P", "VAR.S", "VAR.P", "MODE.SNGL", "RANK.EQ", "RANK.AVG", "PERCENTILE.INC", "CONCAT",
           "QUARTILE.INC", "TEXTJOIN", "IFS", "SWITCH", "MAXIFS", "MINIFS"}  # fmt: skip


def from_odf(formula: str) -> str:
    """An OpenFormula expression as an A1 formula with its `=`."""
    text = _PREFIX.sub("", formula)
    pieces = []
    for string, reference, other in _PIECE.findall(text):
        if string:
            pieces.append(string)
        elif reference:
            pieces.append(_reference_from_odf(reference))
        else:
            pieces.append(_separators(other))
    result = "=" + "".join(pieces)
    for prefix, replacement in _NAMES.items():
        result = result.replace(prefix, replacement)
    return result


def to_odf(formula: str) -> str:
    """An A1 formula as an OpenFormula expression."""
    pieces, braces = [], 0
    for token in tokens(formula):
        if token.kind == "ref":
            pieces.append(_reference_to_odf(Reference.parse(token.text)))
        elif token.kind == "separator":
            pieces.append("|" if braces and token.text == ";" else ";")
        elif token.kind == "function":
            name = token.text.upper().removeprefix("_XLFN.")
            pieces.append(f"COM.MICROSOFT.{name}" if name in _TO_ODF else name)
        else:
            braces += {"{": 1, "}": -1}.get(token.text, 0)
            pieces.append(token.text)
    return "of:=" + "".join(pieces)


def area_from_odf(address: str) -> str:
    """`$Data.$A$2:.$E$26`, `Data.A2:Data.E26` as `Data!$A$2:$E$26`."""
    return _reference_from_odf(address)


def renamed_in_odf(text: str, old: str, new: str) -> str:
    """Addresses or formulas of OpenDocument with a sheet's new name in place of the old one."""

    def change(found: re.Match[str]) -> str:
        mark, name = found.groups()
        return f"{mark}{_quote(new)}." if unquote(name).casefold() == old.casefold() else found[0]

    parts = re.split(r'("(?:[^"]|"")*")', text)
    return "".join(part if part.startswith('"') else _ADDRESS.sub(change, part) for part in parts)


def _separators(text: str) -> str:
    """`;` between arguments becomes a comma; inside braces rows are parted by `|` and columns by `;`."""
    pieces = []
    depth = 0
    for error, letter in re.findall(r"(#N/A|#[A-Z0-9/]+[!?])|(.)", text, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        pieces.append(error or {";": ",", "|": ";" if depth else "|", "~": ",", "!": " "}.get(letter, letter))
    return "".join(pieces)


def _reference_from_odf(text: str) -> str:
    if "#REF!" in text:
        return "#REF!"
    corners = re.findall(r"(?:\$?('(?:[^']|'')+'|[^.:'$]*))?\.(\$?[A-Za-z]{0,3}\$?[0-9]*)", text)
    if not corners:
        return text
    sheets = [unquote(sheet) for sheet, _ in corners]
    names = [sheet for sheet in sheets if sheet]
    points = ":".join(point for _, point in corners)
    if not names:
        return points
    if len(names) == 2 and names[0] != names[1]:
        return f"{quote(':'.join(names))}!{points}"
    return f"{quote(names[0])}!{points}"


def _reference_to_odf(reference: Reference) -> str:
    head = "" if reference.sheet is None else f"${_quote(reference.sheet)}"
    left, colon, right = str(Reference(None, reference.first, reference.last, reference.absolute)).partition(":")
    return f"[{head}.{left}{':.' + right if colon else ''}]"


def _quote(sheet: str) -> str:
    quoted = quote(sheet)
    return quoted if quoted.startswith("'") or "." not in sheet else "'" + sheet + "'"
