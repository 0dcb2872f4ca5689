"""When two values are the same: numbers within a tolerance, texts letter by letter, dates by the day they mean."""

from __future__ import annotations

import math
from datetime import date, datetime, time
from typing import Any

from forge.harness.layers.office.python.sheetpatch.values import to_number

RELATIVE = 1e-9
"""What floating-point sums lose in another order; never counted as a difference."""


def same_value(expected: Any, actual: Any, tolerance: float = 0.0) -> bool:
    """Whether a cell's value is the expected one.

    Args:
        expected: JSON; a text in ISO form (`2026-03-16`, `08:30`) also equals the number of days that means it.
        actual: what the cell holds; errors as {"error": "#N/A"}.
        tolerance: allowed absolute difference of numbers.
    """
    if isinstance(expected, dict) or isinstance(actual, dict):
        return isinstance(expected, dict) and isinstance(actual, dict) and expected == actual
    if expected is None or expected == "":
        return actual is None or actual == ""
    if isinstance(expected, bool) or isinstance(actual, bool):
        return isinstance(expected, bool) and isinstance(actual, bool) and expected is actual
    if isinstance(expected, str):
        if isinstance(actual, int | float):
            number = days(expected)
            return number is not None and close(number, actual, max(tolerance, 1 / 86400 / 2))
        return isinstance(actual, str) and plain(expected) == plain(actual)
    return isinstance(actual, int | float) and close(expected, actual, tolerance)


def close(expected: float, actual: float, tolerance: float = 0.0) -> bool:
    """Whether two numbers are equal within an absolute tolerance and what floating point loses."""
    if not (math.isfinite(expected) and math.isfinite(actual)):
        return expected == actual
    return abs(expected - actual) <= tolerance + RELATIVE * max(abs(expected), abs(actual), 1e-6)


def days(text: str) -> float | None:
    """The number of days that an ISO date, moment or time of day means; None for other texts."""
    if len(text) < 5 or not text[0].isdigit():
        return None
    for kind in (date, datetime, time):
        try:
            return to_number(kind.fromisoformat(text))
        except ValueError:
            continue
    return None


def plain(text: str) -> str:
    """A text without what cannot be seen: no-break spaces, line ends of another system, spaces around it."""
    return text.replace("\u00a0", " ").replace("\u202f", " ").replace("\r\n", "\n").strip()


def same_font(one: str, other: str) -> bool:
    """Whether two font names mean the same letters: LibreOffice writes `Arial` where it shows Liberation Sans."""
    return _font(one) == _font(other)


def _font(name: str) -> str:
    return _ALIASES.get(name.casefold(), name.casefold())


_ALIASES = {"arial": "liberation sans", "times new roman": "liberation serif", "courier new": "liberation mono"}
