"""What an order leaves open: the arguments of a method of `Input`, and of a question. All else is bad input, before it acts."""

from __future__ import annotations

import functools
import inspect
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from forge.desktop.input import Input
from forge.desktop.server.wire import LONGEST_HOLD, refusal
from forge.records.errors import InputError

_STEPS = Annotated[int, Field(ge=-10_000, le=10_000)]
_INPUT: dict[str, Any] = {
    "button": Annotated[int, Field(ge=1, le=9)],
    "count": Annotated[int, Field(ge=0, le=100)],
    "dx": _STEPS,
    "dy": _STEPS,
    "seconds": Annotated[float, Field(ge=0, le=LONGEST_HOLD)],
}
"""Arguments that have bounds, whatever the method."""
_ASK = ("self", "what", "do", "timeout")


def input_arguments(what: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a method of `Input`, of the types that it takes. Raises InputError when they are others."""
    try:
        return vars(_arguments_of(what)(**arguments))
    except ValidationError as error:
        raise InputError(f"{what}: {refusal(error.errors()[0])}") from None


def ask_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a question to the supervisor. Raises InputError for names that the question itself has."""
    for name in _ASK:
        if name in arguments:
            raise InputError(f"a question has no further argument {name!r}")
    return arguments


@functools.cache
def _arguments_of(what: str) -> type[BaseModel]:
    method = getattr(Input, what)
    types = get_type_hints(method) | _INPUT
    fields: dict[str, Any] = {
        name: (types[name], ... if each.default is inspect.Parameter.empty else each.default)
        for name, each in inspect.signature(method).parameters.items()
        if name != "self"
    }
    return create_model(what, __config__=ConfigDict(extra="forbid", hide_input_in_errors=True), **fields)
