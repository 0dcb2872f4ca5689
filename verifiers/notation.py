"""How people write numbers, dates and texts, and the one value that each notation means."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from datetime import date

UNITS: tuple[tuple[str, ...], ...] = (
    ("€", "eur", "euro", "euros"),
    ("$", "usd", "us$", "dollar", "dollars"),
    ("£", "gbp", "pound", "pounds"),
    ("¥", "jpy", "yen"),
    ("chf", "franc", "francs"),
    ("%", "percent", "per cent"),
    ("kg", "kilogram", "kilograms"),
    ("g", "gram", "grams"),
    ("t", "tonne", "tonnes"),
    ("km", "kilometre", "kilometres", "kilometer", "kilometers"),
    ("m", "metre", "metres", "meter", "meters"),
    ("cm", "centimetre", "centimetres", "centimeter", "centimeters"),
    ("mm", "millimetre", "millimetres", "millimeter", "millimeters"),
    ("l", "litre", "litres", "liter", "liters"),
    ("ml", "millilitre", "millilitres", "milliliter", "milliliters"),
    ("h", "hour", "hours", "hrs"),
    ("min", "minute", "minutes", "mins"),
    ("s", "second", "seconds", "sec"),
    ("day", "days"),
    ("kb", "kilobyte", "kilobytes"),
    ("mb", "megabyte", "megabytes"),
    ("gb", "gigabyte", "gigabytes"),
    ("byte", "bytes", "b"),
    ("kwh",),
    ("°c", "celsius"),
)
"""Names of the same unit, lower case. A number with a unit of another row is another value."""

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_CURRENCIES = 5
"""So many rows of UNITS may stand before the number."""

_NUMBER = re.compile(
    r"(?<![\w.,])(?P<open>\()?(?P<sign>[-+−–])?\s?"
    r"(?P<digits>\d{1,3}(?:[ ']\d{3})+(?:[.,]\d+)?(?!\d)|\d[\d.,]*\d|\.\d+|\d)"
    r"(?:[eE](?P<exponent>[-+]?\d{1,3}))?(?P<close>\))?"
)


@dataclass(frozen=True)
class Number:
    """A number in a text: its value, the decimals it was written with, and the known unit beside it ("" for none)."""

    value: float
    decimals: int
    unit: str


def numbers_in(text: str, unit: str = "") -> list[Number]:
    """Every number in a text, in order.

    Understands thousands separators (comma, space, apostrophe; a point where a decimal comma follows), a decimal comma,
    minus signs of any kind, accounting brackets, exponents, and units before (currencies) and after. A lone comma before
    exactly three digits separates thousands, a lone point is decimal. Digits that belong to a word (B7, Q3) are none.

    Args:
        text: anything.
        unit: a unit that may occur; it is cut out first where it holds digits itself ("m2").
    """
    text = unicodedata.normalize("NFKC", text)
    unit = unicodedata.normalize("NFKC", unit)
    if any(ch.isdigit() for ch in unit):
        text = re.sub(re.escape(unit), " ", text, flags=re.IGNORECASE)
    text = re.sub(r"(?i)(?<![a-z])(eur|usd|gbp|jpy|chf)(?=\d)", r"\1 ", text)
    found = []
    for match in _NUMBER.finditer(text):
        value, decimals = _plain(match["digits"])
        if match["exponent"]:
            value *= float(f"1e{match['exponent']}")
        if not math.isfinite(value):  # digits with an e between them: a check sum, no number
            continue
        # A unit is near; a long text need not be looked through for each of its numbers.
        before = text[max(0, match.start() - 20) : match.start()].rstrip()
        after = text[match.end() : match.end() + 20].lstrip()
        known, before = _unit_before(before)
        negative = match["sign"] in ("-", "−", "–") or (known and before.endswith(("-", "−", "–")))
        if negative or (match["open"] and match["close"]):
            value = -value
        found.append(Number(value, decimals, known or _unit_after(after)))
    return found


def unit_name(unit: str) -> str:
    """The first of a unit's known names; the unit itself in lower case when it is unknown."""
    low = unicodedata.normalize("NFKC", unit).strip().lower()
    return next((names[0] for names in UNITS if low in names), low)


def _plain(digits: str) -> tuple[float, int]:
    """The value of digits with separators, and how many decimals they show."""
    digits = re.sub(r"[ ']", "", digits)
    point, comma = digits.rfind("."), digits.rfind(",")
    if point >= 0 and comma >= 0:
        mark = "." if point > comma else ","
    elif comma >= 0:
        groups = digits.split(",")
        thousands = groups[0] != "0" and len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
        mark = "" if thousands else ","
    else:
        mark = "."
    if mark and digits.count(mark) == 1:
        whole, _, part = digits.rpartition(mark)
        return float(f"{re.sub('[.,]', '', whole) or '0'}.{part}"), len(part)
    return float(re.sub("[.,]", "", digits)), 0


def _unit_before(text: str) -> tuple[str, str]:
    match = _BEFORE.search(text)
    return (unit_name(match[1]), text[: match.start()].rstrip()) if match else ("", text)


def _unit_after(text: str) -> str:
    match = _AFTER.match(text)
    return unit_name(match[0]) if match else ""


def _names(units: tuple[tuple[str, ...], ...]) -> str:
    """A pattern of all names of some units, longest first."""
    names = sorted((name for row in units for name in row), key=len, reverse=True)
    return "|".join(re.escape(name) for name in names)


_BEFORE = re.compile(rf"(?:(?<![^\W\d_])|(?=\W))({_names(UNITS[:_CURRENCIES])})\Z", re.IGNORECASE)
_AFTER = re.compile(rf"(?:{_names(UNITS)})(?:(?<=[^\W\d_])(?![^\W\d_])|(?<![^\W\d_]))", re.IGNORECASE)


def normal_text(text: str, case: bool = False) -> str:
    """A text without the differences that never matter: Unicode form, white space, quotes and a full stop around it."""
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"[‘’‚‛]", "'", re.sub(r"[“”„‟«»]", '"', text))
    text = re.sub(r"[‐‑–—−]", "-", " ".join(text.split()))
    text = re.sub(r"^(the )?answer( is)?\s*:?\s+", "", text, flags=re.IGNORECASE)
    previous = None
    while text != previous:
        previous, text = text, text.strip().strip("\"'`*").rstrip(".;,!")
    return text if case else text.casefold()


def dates_in(text: str, locale: str = "en_US.UTF-8") -> list[date]:
    """Every date in a text: ISO, `16 March 2026`, `March 16, 2026`, `16.03.2026`, `3/16/2026`.

    All-number dates with slashes are read month first in en_US and C locales, else day first, unless only the other
    order is a date. Points are always day first.
    """
    return [found for _, _, found in date_spans(text, locale)]


def date_spans(text: str, locale: str = "en_US.UTF-8") -> list[tuple[int, int, date]]:
    """The same with their places: (start, end, date), in order; places in the text as `normalize("NFKC")` gives it."""
    text = unicodedata.normalize("NFKC", text)
    found: dict[int, tuple[int, int, date]] = {}
    for pattern, order in _DATES:
        for match in pattern.finditer(text):
            parts = dict(zip(order, match.groups(), strict=True))
            if "a" in parts:
                first_is_month = (locale.startswith(("en_US", "C")) and int(parts["a"]) <= 12) or int(parts["b"]) > 12
                parts["m"], parts["d"] = (parts["a"], parts["b"]) if first_is_month else (parts["b"], parts["a"])
            month = parts["m"].lower()[:3]
            number = int(month) if month.isdigit() else [name[:3] for name in MONTHS].index(month) + 1
            try:
                moment = date(int(parts["y"]), number, int(parts["d"]))
            except ValueError:
                continue
            if not any(start < match.end() and match.start() < end for start, end, _ in found.values()):
                found[match.start()] = (match.start(), match.end(), moment)
    return [found[start] for start in sorted(found)]


_MONTH = "(" + "|".join(name if name == "may" else f"{name[:3]}(?:{name[3:]})?" for name in MONTHS) + ")"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_DATES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), order)
    for pattern, order in (
        (r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)", "ymd"),
        (rf"(?<!\d){_DAY}\.?\s+(?:of\s+)?{_MONTH}\.?,?\s+(\d{{4}})(?!\d)", "dmy"),
        (rf"(?<![a-z]){_MONTH}\.?\s+{_DAY},?\s+(\d{{4}})(?!\d)", "mdy"),
        (r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4})(?!\d)", "aby"),
        (r"(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)", "dmy"),
    )
)
"""Patterns of dates with the meaning of their groups: year, month, day; a and b are month and day in either order."""
