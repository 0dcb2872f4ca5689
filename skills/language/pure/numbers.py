"""Functions on numbers. Sums are exactly rounded, so that they are the same on every Python."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from skills.language.functions import function
from skills.language.shapes import ANY, NUMBER, TEXT, Shape, join

_GROUP = "Numbers"


def _numbers(items: Any) -> list[Any]:
    for item in items:
        if isinstance(item, bool) or not isinstance(item, int | float):
            raise ValueError(f"the list holds {item!r}, which is no number")
    return list(items)


@function(_GROUP, NUMBER, name="sum", example="sum([0.1, 0.2])")
def total(items: list[Any]) -> float:
    """The sum of a list of numbers; of whole numbers a whole number, of others exactly rounded."""
    numbers = _numbers(items)
    return sum(numbers) if all(isinstance(n, int) for n in numbers) else math.fsum(numbers)


@function(_GROUP, NUMBER, example="mean([1, 2, 6])")
def mean(items: list[Any]) -> float:
    """The arithmetic mean of a list of numbers."""
    numbers = _numbers(items)
    if not numbers:
        raise ValueError("the list is empty")
    return math.fsum(numbers) / len(numbers)


@function(_GROUP, NUMBER, example="median([1, 2, 6])")
def median(items: list[Any]) -> float:
    """The middle of the sorted numbers; of two middles their mean."""
    numbers = sorted(_numbers(items))
    if not numbers:
        raise ValueError("the list is empty")
    low, high = numbers[(len(numbers) - 1) // 2], numbers[len(numbers) // 2]
    return low if low == high else math.fsum([low, high]) / 2


def _one_of(values: tuple[Shape, ...]) -> Shape:
    return values[0].item or ANY if values and values[0].kind == "list" else join(values)


@function(_GROUP, _one_of, name="min", example="min([3, 1, 2])")
def least(*values: Any) -> Any:
    """The least of a list, or of the arguments; numbers or texts."""
    return min(_comparable(values))


@function(_GROUP, _one_of, name="max", example="max(3, 7)")
def greatest(*values: Any) -> Any:
    """The greatest of a list, or of the arguments; numbers or texts."""
    return max(_comparable(values))


def _comparable(values: tuple[Any, ...]) -> list[Any]:
    items = list(values[0]) if len(values) == 1 and isinstance(values[0], list | tuple) else list(values)
    if not items:
        raise ValueError("there is nothing to compare")
    return items


@function(_GROUP, NUMBER, name="abs", example="abs(-2.5)")
def absolute_value(value: float) -> float:
    """Without its sign."""
    return abs(value)


@function(_GROUP, NUMBER, name="round", example="round(2.345, 2)")
def rounded(value: float, digits: int = 0) -> float:
    """Rounded as a spreadsheet rounds: halves away from zero. With 0 digits the result is a whole number."""
    if not -15 <= digits <= 15:
        raise ValueError("digits must be between -15 and 15")
    result = Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)
    return int(result) if digits <= 0 else float(result)


@function(_GROUP, NUMBER, name="int", example="int('12')")
def whole(value: float | str) -> int:
    """The whole number in front of the decimal point; of a text the number it spells."""
    return int(value)


@function(_GROUP, NUMBER, example="floor(2.7)")
def floor(value: float) -> int:
    """The next whole number below."""
    return math.floor(value)


@function(_GROUP, NUMBER, example="ceil(2.1)")
def ceil(value: float) -> int:
    """The next whole number above."""
    return math.ceil(value)


@function(_GROUP, TEXT, example="number(1234.5, 2)")
def number(value: float, digits: int = 0, thousands: str = ",") -> str:
    """`1,234.50`: with that many decimals (rounded as a spreadsheet rounds) and a thousands separator."""
    if not 0 <= digits <= 15:
        raise ValueError("digits must be between 0 and 15")
    text = f"{Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP):,f}"
    return text.replace(",", thousands)


@function(_GROUP, TEXT, example="money(1234.5, '€')")
def money(value: float, unit: str = "") -> str:
    """`€1,234.50`, `EUR 1,234.50`: two decimals; a sign stands before the number, letters with a space."""
    text = number(abs(value), 2)
    minus = "-" if value < 0 and text.strip("0.,") else ""
    return f"{minus}{unit}{' ' if unit[-1:].isalpha() else ''}{text}"


@function(_GROUP, TEXT, example="ordinal(22)")
def ordinal(value: int) -> str:
    """`1st`, `2nd`, `13th`."""
    ending = "th" if value % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{value}{ending}"


_SMALL = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


@function(_GROUP, TEXT, example="spelled(3)")
def spelled(value: int) -> str:
    """`three`: in words up to twelve, in digits above."""
    return _SMALL[value] if 0 <= value < len(_SMALL) else str(value)
