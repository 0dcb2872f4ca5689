"""What an autofilter shows: a list of values, or one comparison."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from .values import Value, number_text

Filter = Sequence[Value] | tuple[str, float]
"""Values to show, or a comparison such as `(">", 100)`."""

COMPARISONS: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "=": ("equal", operator.eq),
    "<>": ("notEqual", operator.ne),
    ">": ("greaterThan", operator.gt),
    ">=": ("greaterThanOrEqual", operator.ge),
    "<": ("lessThan", operator.lt),
    "<=": ("lessThanOrEqual", operator.le),
}
"""Sign to (the name that .xlsx gives it, the test)."""


def comparison(show: Filter) -> tuple[str, float] | None:
    """The sign and the number of a comparison; None for a list of values."""
    if isinstance(show, tuple) and len(show) == 2 and show[0] in COMPARISONS:
        return str(show[0]), float(show[1] or 0)
    return None


def passes(value: Value, show: Filter) -> bool:
    """Whether a filter shows a row with this value."""
    compared = comparison(show)
    if compared is None:
        return shown(value).casefold() in {shown(wanted).casefold() for wanted in show}
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return plain and COMPARISONS[compared[0]][1](float(value or 0), compared[1])


def shown(value: Value) -> str:
    """A value as a filter's list writes it, without number format."""
    if isinstance(value, bool):
        return str(value).upper()
    return number_text(value) if isinstance(value, int | float) else value or ""
