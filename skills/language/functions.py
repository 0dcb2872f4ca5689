"""The functions of `${...}` expressions: pure, total on their domain, and the same on every machine and Python.

Each is an ordinary Python function; its annotations are checked before it is called, its docstring is its entry in
docs/workflow-language.md. Dates are ISO 8601 texts, columns are letters or numbers from 1, cells and ranges are A1 texts.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from forge.records import Registry
from skills.language.shapes import ANY, Shape

F = TypeVar("F", bound=Callable[..., Any])

Gives = Shape | Callable[..., Shape]
"""The shape of a result, or a function from the arguments' shapes to it."""

MAX_TEXT = 1_000_000
"""Longest text (characters) that an expression may make."""
MAX_ITEMS = 100_000
"""Longest list that an expression may make."""

_KINDS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "list": (list, tuple),
    "dict": (dict,),
}
_WORDS = {"str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false", "list": "a list"}
_SHAPES = {
    "text": {"str", "Any"},
    "number": {"int", "float", "Any"},
    "bool": {"bool", "Any"},
    "list": {"list", "Any"},
    "record": {"dict", "Any"},
}


@dataclass(frozen=True)
class Function:
    """A registered function with its signature, the shape of what it gives, and a call of it as an example."""

    name: str
    group: str
    call: Callable[..., Any]
    gives: Gives
    signature: inspect.Signature
    example: str = ""

    @property
    def usage(self) -> str:
        """How it is called: `round(value, digits=0)`."""
        parts = []
        for parameter in self.signature.parameters.values():
            star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
            default = "" if parameter.default is parameter.empty else f"={_literal(parameter.default)}"
            parts.append(f"{star}{parameter.name}{default}")
        return f"{self.name}({', '.join(parts)})"

    @property
    def summary(self) -> str:
        """The docstring, on one line."""
        return " ".join((self.call.__doc__ or "").split())

    def bind(self, args: list[Any], keywords: dict[str, Any]) -> inspect.BoundArguments:
        """Match arguments to parameters. Raises ValueError with the usage."""
        try:
            return self.signature.bind(*args, **keywords)
        except TypeError as error:
            raise ValueError(f"{self.name}: {error}; it is written {self.usage}") from None

    def shape(self, args: list[Shape], keywords: dict[str, Shape]) -> Shape:
        """The shape of the result for arguments of these shapes. Raises ValueError when they do not match."""
        bound = self.bind(args, keywords)
        for name, found in bound.arguments.items():
            wanted = self._wanted(name)
            if isinstance(found, Shape) and found.kind != "any" and not _SHAPES.get(found.kind, set()) & set(wanted):
                raise ValueError(f"{self.name}: {name} must be {_either(wanted)}, not a {found}")
        return self.gives if isinstance(self.gives, Shape) else self.gives(*bound.arguments.values())

    def __call__(self, args: list[Any], keywords: dict[str, Any]) -> Any:
        """Call it. Raises ValueError naming the function and the argument."""
        bound = self.bind(args, keywords)
        for name, value in bound.arguments.items():
            self._check(name, value)
        try:
            return self.call(*bound.args, **bound.kwargs)
        except (ValueError, TypeError, KeyError, IndexError, ZeroDivisionError, OverflowError, AttributeError) as error:
            raise ValueError(f"{self.name}: {error}") from None

    def _wanted(self, name: str) -> list[str]:
        """The kinds that a parameter takes, from its annotation: `list[Any] | str` is list, str."""
        return re.sub(r"\[[^\]]*\]", "", str(self.signature.parameters[name].annotation)).split(" | ")

    def _check(self, name: str, value: Any) -> None:
        options = self._wanted(name)
        if "Any" in options or (value is None and "None" in options):
            return
        for option in options:
            if isinstance(value, _KINDS.get(option, ())) and (option == "bool" or not isinstance(value, bool)):
                return
        raise ValueError(f"{self.name}: {name} must be {_either(options)}, not {_show(value)}")


FUNCTIONS: Registry[Function] = Registry("function")
"""All functions of the language by name."""


def function(group: str, gives: Gives = ANY, name: str | None = None, example: str = "") -> Callable[[F], F]:
    """Register a pure function under its Python name, or under `name` where Python has taken the word.

    `example` is a call of it, as it stands in `${...}`; listings show what it gives.
    """

    def register(call: F) -> F:
        called = name or call.__name__
        FUNCTIONS.add(called, Function(called, group, call, gives, inspect.signature(call), example))
        return call

    return register


def plain_text(value: Any) -> str:
    """A text or number as it stands in a sentence. Raises ValueError for what has no obvious spelling."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        what = (
            "a list" if isinstance(value, list | tuple) else "a record" if isinstance(value, dict) else _literal(value)
        )
        raise ValueError(f"{what} has no obvious spelling in a text; pick a field, or use join(), listing() or json()")
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else repr(value)


def _either(options: list[str]) -> str:
    return " or ".join(_WORDS.get(option, "a record") for option in options if option != "None")


def _literal(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
