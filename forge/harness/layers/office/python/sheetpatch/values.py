"""Values of cells: numbers, texts, truths, dates; how files write them, and the order in which a sort puts them."""

from __future__ import annotations

import re
import unicodedata
from datetime import date, datetime, time, timedelta

Value = float | int | str | bool | None
"""What a cell holds. Dates are numbers of days, as in the file; `to_date` and `to_number` convert."""

_EPOCH = datetime(1899, 12, 30)
_CONTROL = re.compile(r"_x([0-9A-Fa-f]{4})_")
_NEEDS_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0d\x0e-\x1f]|_(?=x[0-9A-Fa-f]{4}_)")
_PUNCTUATION = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"


def to_number(moment: date | datetime | time) -> float | int:
    """Days since 1899-12-30: how spreadsheets count dates; a time of day is a fraction."""
    if isinstance(moment, time):
        return (moment.hour * 3600 + moment.minute * 60 + moment.second) / 86400
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    days = (moment - _EPOCH) / timedelta(days=1)
    return int(days) if days.is_integer() else days


def to_date(number: float) -> datetime:
    """The moment that a number of days means, to the second. `.date()` gives the day."""
    return _EPOCH + timedelta(seconds=round(number * 86400))


def number_text(value: float) -> str:
    """A number as files write it, shortest form that reads back the same."""
    return str(value) if isinstance(value, int) else repr(value).removesuffix(".0")


def number(text: str) -> float | int:
    """A number as files write it; whole ones come back as int."""
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def decode_text(text: str) -> str:
    """Text from an .xlsx part, where `_x000D_` stands for a control character."""
    return _CONTROL.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def encode_text(text: str) -> str:
    """Text for an .xlsx part: control characters, and what looks like their code, are written as `_x000D_`."""
    return _NEEDS_CONTROL.sub(lambda found: f"_x{ord(found[0]):04X}_", text)


def sort_key(value: Value) -> tuple[int, float, tuple[tuple[int, str], ...]]:
    """Where a value goes in an ascending sort: numbers, then texts (case and accents do not count), then truths.

    Texts compare as the Unicode collation does at its first level: punctuation, then digits, then letters.
    """
    if isinstance(value, bool):
        return 2, float(value), ()
    if isinstance(value, int | float):
        return 0, float(value), ()
    return 1, 0.0, tuple(_letter(letter) for letter in _folded(str(value or "")))


def _folded(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("ø", "o").replace("Ø", "o"))
    return "".join(letter for letter in apart if not unicodedata.combining(letter)).casefold()


def _letter(letter: str) -> tuple[int, str]:
    if letter.isspace():
        return 0, " "
    if letter in _PUNCTUATION:
        return 1, chr(_PUNCTUATION.index(letter))
    if letter.isdigit():
        return 3, letter
    return (4, letter) if letter.isalpha() else (2, letter)
