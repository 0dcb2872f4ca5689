"""Number formats: what a code such as `#,##0.00 [$€-407]` makes of a number, and the code for a wish."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

CURRENCIES = "€$£¥₹₽₺₩"
_SYMBOL = re.compile(r"\[\$([^\]\-]*)(?:-[0-9A-Fa-f]+)?\]")
_WORD_CURRENCIES = ("EUR", "USD", "GBP", "CHF", "JPY", "SEK", "NOK", "DKK", "PLN", "CZK")
_QUOTED = re.compile(r'"([^"]*)"')
_ESCAPED = re.compile(r"\\(.)")
_LETTERS = frozenset('0#?.,%@*_EeDdMmYyHhSsGgAaPpBb[];"\\')
"""Characters that mean something in a code and therefore need an escape to stand for themselves."""


@dataclass(frozen=True)
class NumberFormat:
    """The meaning of a number format.

    `kind`: general, number, currency, percent, date, time, datetime, scientific, fraction, text, boolean.
    """

    kind: str
    decimals: int = 0
    thousands: bool = False
    symbol: str = ""


@lru_cache(maxsize=4096)
def classify(code: str) -> NumberFormat:
    """What a number format code means, judged by its first section."""
    code = code.strip()
    if code.casefold() in ("general", "standard", ""):
        return NumberFormat("general")
    if code.casefold() == "boolean" or code.replace('"', "").upper().startswith("TRUE;"):
        return NumberFormat("boolean")
    section = _first_section(code)
    symbol = _symbol_of(section)
    bare = re.sub(r"\[(?!h+\]|m+\]|s+\])[^\]]*\]", "", re.sub(r'"[^"]*"|\\.|_.|\*.', "", section), flags=re.IGNORECASE)
    if "@" in bare and not set(bare) & set("0#?"):
        return NumberFormat("text")
    if not set(bare) & set("0#?") or re.search(r"[yd]|h|s{1,2}(?![a-z])", bare, re.IGNORECASE):
        day = bool(re.search(r"[yd]", bare, re.IGNORECASE)) or bool(re.fullmatch(r"\W*m{3,5}\W*", bare, re.IGNORECASE))
        clock = bool(re.search(r"[hs]", bare, re.IGNORECASE))
        if day or clock:
            return NumberFormat("datetime" if day and clock else "date" if day else "time")
    digits = "".join(re.findall(r"[0#?.,]+", bare))
    decimals = len(re.sub(r"[^0#?]", "", digits.partition(".")[2])) if "." in digits else 0
    thousands = bool(re.search(r"[#0],[#0]", digits))
    if "%" in bare:
        return NumberFormat("percent", decimals, thousands)
    if re.search(r"[0#]E[+-]?0", bare, re.IGNORECASE):
        return NumberFormat("scientific", len(re.sub(r"[^0#]", "", bare.upper().partition("E")[0].partition(".")[2])))
    if "/" in bare:
        return NumberFormat("fraction")
    if symbol:
        return NumberFormat("currency", decimals, thousands, symbol)
    return NumberFormat("number", decimals, thousands)


@lru_cache(maxsize=4096)
def normal(code: str) -> str:
    """A code in one spelling: needless quotes and escapes dropped, `General` for the default."""
    if code.casefold() in ("general", "standard", ""):
        return "General"
    code = _ESCAPED.sub(lambda found: found[0] if found[1] in _LETTERS else found[1], code)
    code = _QUOTED.sub(lambda found: found[0] if set(found[1]) & _LETTERS or not found[1] else found[1], code)
    return code.removesuffix(";@").removesuffix(";General")


def compose(kind: str, decimals: int = 2, symbol: str = "€", thousands: bool = True) -> str:
    """A usual code for a kind: number, integer, currency, percent, date, time, datetime, text, general, scientific."""
    tail = "." + "0" * decimals if decimals else ""
    whole = "#,##0" if thousands else "0"
    if kind == "currency":
        if symbol == "€":
            return f"{whole}{tail} [$€-407]"
        return f"[${symbol}-{'809' if symbol == '£' else '409'}]{whole}{tail}"
    return {
        "general": "General",
        "number": whole + tail,
        "integer": "0",
        "percent": f"0{tail}%",
        "date": "yyyy-mm-dd",
        "time": "hh:mm",
        "datetime": "yyyy-mm-dd hh:mm",
        "text": "@",
        "scientific": f"0{tail}E+00",
    }[kind]


def _first_section(code: str) -> str:
    held = False
    for index, letter in enumerate(code):
        if letter == '"':
            held = not held
        elif letter == ";" and not held and (index == 0 or code[index - 1] != "\\"):
            return code[:index]
    return code


def _symbol_of(section: str) -> str:
    found = _SYMBOL.search(section)
    if found and found[1]:
        return found[1]
    literal = re.sub(r"\[[^\]]*\]", "", section)
    for symbol in CURRENCIES:
        if symbol in literal:
            return symbol
    return next((word for word in _WORD_CURRENCIES if word in literal.upper()), "")
