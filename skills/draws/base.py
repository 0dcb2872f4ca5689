"""What a kind of draw is: arguments in, one JSON value out, with a seeded generator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from forge.records import JSON, InputError, Registry
from skills.dice import Dice
from skills.language.shapes import ANY, Shape


class DrawArgs(BaseModel):
    """Base of a draw's arguments. The field `of` is what stands beside the kind: in `{int: [1, 9]}` the list."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


A = TypeVar("A", bound=DrawArgs)


class DrawKind(ABC, Generic[A]):
    """One kind of draw: `choice`, `int`, `table` ... A change of what it draws for the same arguments raises `version`."""

    name: ClassVar[str]
    version: ClassVar[int] = 1
    args: ClassVar[type[DrawArgs]]
    examples: ClassVar[tuple[str, ...]] = ()
    """Draws as they stand in a workflow, `{int: [1, 9]}`; the catalogue shows what they give."""

    @abstractmethod
    def draw(self, args: A, dice: Dice) -> JSON:
        """One value. Raises ValueError when the domain is empty."""

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        """The shape of the value, from the shapes of the arguments. Raises ValueError for what can never work."""
        return ANY

    def check(self, args: A) -> None:
        """Look at literal arguments before anything is drawn. Raises ValueError when the domain is empty."""
        self.draw(args, Dice("check"))

    def values(self) -> str:
        """What can stand in its arguments where their types do not say it, as Markdown; empty where they do."""
        return ""

    def others(self, args: A, value: JSON) -> list[JSON]:
        """Other values of the domain, nearest first; empty when there is no telling."""
        return []


DRAWS: Registry[DrawKind[Any]] = Registry("kind of draw", "forge.draws")
"""All kinds of draws by the key that names them in `params`."""


def draw_kind(cls: type[DrawKind[Any]]) -> type[DrawKind[Any]]:
    """Class decorator: make one instance and register it under its name."""
    DRAWS.add(cls.name, cls())
    return cls


def from_module(draw: Callable[[], JSON]) -> JSON:
    """What a data module of a preparer gives. What it says of our arguments goes on as a ValueError, for the workflow's
    line to be put before it; a fault in its own files keeps its own line.
    """
    try:
        return draw()
    except InputError as error:
        if error.file is not None:
            raise
        raise ValueError(f"{error.message}{'; ' + error.mend if error.mend else ''}") from None
