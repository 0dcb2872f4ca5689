"""What a dialect is: how tools, actions and coordinates look on the wire to a model, and how they are read back."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

from forge.records import (
    JSON,
    Action,
    Button,
    Drag,
    Harness,
    HarnessError,
    HoldKey,
    Key,
    Pointer,
    Registry,
    Scroll,
    Type,
    Wait,
    Zoom,
)

COMPUTER_ACTIONS: tuple[str, ...] = tuple(
    kind
    for record in (Pointer, Drag, Button, Scroll, Type, Key, HoldKey, Wait, Zoom)
    for kind in get_args(record.model_fields["kind"].annotation)
)
"""Every kind of canonical action that belongs to the `computer` tool."""


class CallError(HarnessError):
    """A tool call that cannot be read. Its message is shown to the model as the call's result."""


@dataclass(frozen=True)
class Call:
    """One tool call on the wire; `arguments` is the JSON text exactly as the model wrote it."""

    id: str
    name: str
    arguments: str

    def to_json(self) -> dict[str, JSON]:
        """As it is kept in `Turn.tool_calls`."""
        return {"id": self.id, "name": self.name, "arguments": self.arguments}

    def parsed(self) -> dict[str, Any]:
        """The arguments as an object. Raises CallError when they are no JSON object."""
        try:
            values = json.loads(self.arguments) if self.arguments.strip() else {}
        except json.JSONDecodeError as error:
            raise CallError(f"{self.name}: the arguments are not JSON: {error}") from None
        if not isinstance(values, dict):
            raise CallError(f"{self.name}: the arguments must be a JSON object, got {type(values).__name__}")
        return values


class Dialect(ABC):
    """One wire form. For every action `a` that it can carry, `decode(encode(a))` is `a` up to the dialect's grid of
    coordinates, and encoding that again gives the same call.
    """

    name: ClassVar[str]

    @abstractmethod
    def tools(self, harness: Harness) -> list[dict[str, Any]]:
        """The tools of the harness as OpenAI function definitions."""

    def area(self, left: float, top: float, right: float, bottom: float) -> str:
        """A region of the screen as text, in the coordinates of this dialect; the edges are fractions of the screen."""
        return ",".join(str(min(999, max(0, int(edge * 1000)))) for edge in (left, top, right, bottom))

    @abstractmethod
    def encode(self, action: Action, call_id: str = "call") -> Call:
        """The call that means `action`. Raises HarnessError when the dialect cannot carry it."""

    @abstractmethod
    def decode(self, call: Call, harness: Harness) -> Action:
        """The action that `call` means. Raises CallError, saying what is wrong and what is expected."""


DIALECTS: Registry[Dialect] = Registry("dialect", "forge.dialects")
"""All dialects by name."""


def dialect(cls: type[Dialect]) -> type[Dialect]:
    """Class decorator: make one instance and register it under its name."""
    DIALECTS.add(cls.name, cls())
    return cls
