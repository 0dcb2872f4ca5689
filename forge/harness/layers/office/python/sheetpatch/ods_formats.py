"""Number formats of OpenDocument (data styles), to and from the codes that spreadsheets show: `#,##0.00 [$€-407]`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .markup import Node, escape
from .package import SheetPatchError

Piece = tuple[str, dict[str, str], str]
"""One child of a data style: (local name, attributes by local name, text)."""

_LOCALES = {"de-DE": "407", "en-US": "409", "en-GB": "809", "fr-FR": "40C", "es-ES": "40A", "it-IT": "410"}
_CODE = re.compile(
    r"""(?P<quoted>"[^"]*")|\\(?P<escaped>.)|\[\$(?P<symbol>[^\]-]*)(?:-(?P<locale>[0-9A-Fa-f]+))?\]|(?P<color>\[[A-Za-z]+\])
    |(?P<elapsed>\[h+\])|(?P<digits>[#0?][#0?,.]*)|(?P<percent>%)|(?P<ampm>AM/PM)|(?P<date>y+|m+|d+|h+|s+)|(?P<text>@)
    |(?P<pad>_.|\*.)|(?P<literal>.)""",
    re.VERBOSE | re.IGNORECASE,
)
_CURRENCY = "€$£¥₹"


def format_code(kind: str, pieces: Iterable[Piece]) -> str:
    """The code of a data style; `kind` is the local name of its element, such as `currency-style`."""
    if kind == "boolean-style":
        return "BOOLEAN"
    if kind == "text-style":
        return "@"
    written = []
    for name, attributes, text in pieces:
        written.append(_piece_code(kind, name, attributes, text))
    return "".join(written) or "General"


def data_style(name: str, code: str) -> Node:
    """A data style element for a code. Raises SheetPatchError for a code with several sections, fractions, exponents."""
    if ";" in re.sub(r'"[^"]*"', "", code):
        raise SheetPatchError(f"number format {code!r}: formats with several sections are not written to .ods here")
    found = [(match.lastgroup or "", match) for match in _CODE.finditer(code)]
    kinds = {kind for kind, _ in found}
    if code == "BOOLEAN":
        return Node("number:boolean-style", {"style:name": name}, [Node("number:boolean")])
    if code == "@":
        return Node("number:text-style", {"style:name": name}, [Node("number:text-content")])
    dated = kinds & {"date", "elapsed", "ampm"}
    clock = dated and not any(match[0][0].lower() in "yd" for kind, match in found if kind == "date")
    local = "date-style"
    if not dated:
        symbol = kinds & {"symbol", "locale"} or any(c in _CURRENCY for c in code)
        local = "percentage-style" if "percent" in kinds else "currency-style" if symbol else "number-style"
    elif clock and not re.fullmatch(r"m+", code, re.IGNORECASE):
        local = "time-style"
    children: list[Node | str] = []
    for index, (kind, match) in enumerate(found):
        if kind == "date":
            children.append(_moment(match[0].lower(), [m[0].lower() for _, m in found[:index]], local))
        elif kind in ("symbol", "locale") or (kind == "literal" and match[0] in _CURRENCY):
            children.append(Node("number:currency-symbol", {}, [escape(match["symbol"] or match[0].strip("[]$"))]))
        elif kind == "digits":
            children.append(_digits(match[0], code))
        elif kind in ("percent", "literal", "quoted", "escaped"):
            text = match["escaped"] or match[0].strip('"')
            children.append(Node("number:text", {}, [escape(text)]))
        elif kind == "elapsed":
            children.append(Node("number:hours", {"number:style": "long"}))
        elif kind == "ampm":
            children.append(Node("number:am-pm"))
        else:
            raise SheetPatchError(f"number format {code!r} is not written to .ods here")
    extra = {"number:truncate-on-overflow": "false"} if "elapsed" in kinds else {}
    return Node(f"number:{local}", {"style:name": name, **extra}, children)


def _piece_code(kind: str, name: str, attributes: dict[str, str], text: str) -> str:
    long = attributes.get("style") == "long"
    if name == "number":
        decimals = int(attributes.get("decimal-places") or 0)
        least = int(attributes.get("min-decimal-places") or decimals)
        whole = (
            "#,##0" if attributes.get("grouping") == "true" else "0" * int(attributes.get("min-integer-digits") or 1)
        )
        if "decimal-places" not in attributes and kind == "number-style":
            return "General"
        return whole + ("." + "0" * least + "#" * (decimals - least) if decimals else "")
    if name == "scientific-number":
        return "0." + "0" * int(attributes.get("decimal-places") or 0) + "E+00"
    if name == "fraction":
        return "# ?/?"
    if name == "currency-symbol":
        tag = "-".join(filter(None, (attributes.get("language"), attributes.get("country"))))
        return f"[${text}-{_LOCALES.get(tag, '0')}]" if tag else f"[${text}]"
    if name == "month":
        letters = 3 if attributes.get("textual") == "true" else 1
        return "m" * (letters + long)
    simple = {"year": ("yy", "yyyy"), "day": ("d", "dd"), "day-of-week": ("ddd", "dddd"), "hours": ("h", "hh"),
              "minutes": ("m", "mm"), "seconds": ("s", "ss"), "am-pm": ("AM/PM", "AM/PM"), "quarter": ("Q", "QQ"),
              "text-content": ("@", "@")}  # fmt: skip
    if name in simple:
        return simple[name][long]
    if name == "text":
        plain = all(letter in " -/.,:%()+" or letter in _CURRENCY for letter in text)
        return text if plain else f'"{text}"'
    return ""


def _digits(text: str, code: str) -> Node:
    whole, _, decimals = text.partition(".")
    if "?" in text or set(decimals) - {"0", "#"}:
        raise SheetPatchError(f"number format {code!r} is not written to .ods here")
    attributes = {
        "number:decimal-places": str(len(decimals)),
        "number:min-decimal-places": str(decimals.count("0")),
        "number:min-integer-digits": str(max(1, whole.count("0"))),
    }
    if "," in whole:
        attributes["number:grouping"] = "true"
    return Node("number:number", attributes)


def _moment(letters: str, before: list[str], kind: str) -> Node:
    letter = letters[0]
    if letter == "m" and (kind == "time-style" or any(text[:1] == "h" or text[:2] == "[h" for text in before)):
        name, long, extra = "minutes", len(letters) > 1, {}
    elif letter == "m":
        name, long = "month", len(letters) in (2, 4)
        extra = {"number:textual": "true"} if len(letters) > 2 else {}
    elif letter == "d" and len(letters) > 2:
        name, long, extra = "day-of-week", len(letters) > 3, {}
    else:
        name = {"y": "year", "d": "day", "h": "hours", "s": "seconds"}[letter]
        long, extra = len(letters) > (2 if letter == "y" else 1), {}
    return Node(f"number:{name}", {**({"number:style": "long"} if long else {}), **extra})
