"""What a request may ask for: numbers within bounds, arguments that a method takes. All else is bad input, before it acts."""

from __future__ import annotations

import functools
import inspect
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from forge.desktop.input import Input
from forge.records.errors import InputError

LONGEST_WAIT = 120.0
"""Seconds that a request may let the screen, or a key, be waited for."""
LONGEST_LEASE = 7 * 86400.0
MOST_OUTPUT = 16 << 20
"""Bytes of a command's output; written as JSON it stays below what the server keeps of answers."""
_INPUT = {"button": (1, 9), "count": (0, 100), "dx": (-10_000, 10_000), "dy": (-10_000, 10_000)}
_ASK = ("self", "what", "do", "timeout")


def within(name: str, value: float, low: float, high: float) -> None:
    """Raises InputError when a number is below `low`, above `high`, or none."""
    if not low <= value <= high:
        raise InputError(f"{name} = {value:g}, which is not between {low:g} and {high:g}")


def waits(**seconds: float) -> None:
    """Raises InputError when one of these times is below 0 or above LONGEST_WAIT."""
    for name, value in seconds.items():
        within(name, value, 0, LONGEST_WAIT)


def input_arguments(what: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a method of `Input`, of the types that it takes. Raises InputError when they are others."""
    try:
        taken = vars(_arguments_of(what)(**arguments))
    except (ValidationError, TypeError) as error:
        said = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": str(error)}
        raise InputError(f"{': '.join(map(str, (what, *said['loc'], said['msg'])))}") from None
    for name, value in taken.items():
        if name in _INPUT:
            within(name, value, *_INPUT[name])
        elif name == "seconds":
            waits(seconds=value)
    return taken


def ask_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a question to the supervisor. Raises InputError for names that the question itself has."""
    for name in _ASK:
        if name in arguments:
            raise InputError(f"a question has no further argument {name!r}")
    return arguments


@functools.cache
def _arguments_of(what: str) -> type[BaseModel]:
    method = getattr(Input, what)
    types = get_type_hints(method)
    fields: dict[str, Any] = {
        name: (types[name], ... if each.default is inspect.Parameter.empty else each.default)
        for name, each in inspect.signature(method).parameters.items()
        if name != "self"
    }
    return create_model(what, __config__=ConfigDict(extra="forbid", hide_input_in_errors=True), **fields)
