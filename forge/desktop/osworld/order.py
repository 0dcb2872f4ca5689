"""What a request's JSON object says, with its fields checked: what is wrong is the caller's to mend, and is told."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from forge.records.errors import InputError

_LONGEST = 86_400.0  # seconds


@dataclass(frozen=True)
class Order:
    """Fields by name. All of its methods raise InputError for a field of another kind.

    Args:
        fields: as they were sent.
    """

    fields: dict[str, Any]

    def text(self, name: str) -> str | None:
        """A text; None when it was not sent."""
        value = self.fields.get(name)
        return None if value is None else _text(name, value)

    def flag(self, name: str) -> bool:
        """Whether it was sent and is neither false, 0 nor empty."""
        return bool(self.fields.get(name))

    def seconds(self, name: str, default: float) -> float:
        """A length of time, as a number or its text."""
        value = self.fields.get(name)
        try:
            seconds = default if value is None else float(value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{name!r} is no number of seconds") from None
        if not 0 <= seconds <= _LONGEST:
            raise InputError(f"{name!r} is not between 0 and {_LONGEST:g} seconds")
        return seconds

    def command(self) -> str | list[str]:
        """The field `command`: a line, or its parts."""
        value = self.fields.get("command", "" if self.flag("shell") else [])
        if isinstance(value, list):
            return [_text("command", part) for part in value]
        return _text("command", value)

    def inner(self, name: str) -> Order:
        """An object; an empty one when it was not sent."""
        value = self.fields.get(name) or {}
        if not isinstance(value, dict):
            raise InputError(f"{name!r} is no object")
        return Order(value)


def read_order(body: bytes) -> Order:
    """Read a request's body. Raises InputError when it is no JSON object."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the body is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise InputError("the body is no JSON object")
    return Order(found)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InputError(f"{name!r} is no text")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise InputError(f"{name!r} holds a zero or half a character")
    return value
