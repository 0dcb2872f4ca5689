"""What a move is: a small skill of the hand, said by meaning ("select B2") and played as canonical actions.

A move looks at the desktop through `Hands`, yields `Act`s, and checks that what it expects has become true; where it has
not, it tries another route once and then raises MoveError. An act becomes one turn of the oracle, so that each is seen,
settled and recorded like a model's own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from forge.records import JSON, Action, Element, HarnessError, InputError, Registry


class MoveError(HarnessError):
    """A move could not be carried out: what it looked for is not there, or nothing came of it.

    Args:
        message: what was looked for, or did not become true.
        mend: what there was instead.
        picture: file with the screen as it was then.
    """

    def __init__(self, message: str, *, mend: str | None = None, picture: str | None = None):
        super().__init__(message, mend=mend)
        self.picture = picture

    def __str__(self) -> str:
        return super().__str__() + (f"\n  screenshot: {self.picture}" if self.picture else "")


class MoveArgs(BaseModel):
    """Base of a move's arguments. A value that is no mapping is the argument named by `main`: `{select: B2}`."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    main: ClassVar[str] = ""

    @model_validator(mode="before")
    @classmethod
    def _bare_value(cls, value: Any) -> Any:
        if isinstance(value, dict | MoveArgs):
            return value
        if value is None:
            return {}
        if not cls.main:
            raise ValueError(f"a mapping of {', '.join(cls.model_fields)} is needed")
        return {cls.main: value}


@dataclass(frozen=True)
class Act:
    """What is done in one turn.

    Args:
        actions: canonical actions, in order.
        elements: for each action what the pointer meets, where known.
        until: true once the last action has had its effect; waited for, not asserted.
    """

    actions: tuple[Action, ...]
    elements: tuple[Element | None, ...]
    until: Callable[[], bool] | None = None

    def __add__(self, other: Act) -> Act:
        """Both in one turn, without looking in between."""
        return Act(self.actions + other.actions, self.elements + other.elements, other.until)


Acts = Generator[Act, None, Any]
"""A move at work; moves use one another by `yield from`."""

MoveFunction = Callable[[Any, Any], Acts]


@dataclass(frozen=True)
class Move:
    """A registered move: its name, its arguments, and the first line of what it does."""

    name: str
    run: MoveFunction
    args: type[MoveArgs]
    summary: str

    def validate(self, value: JSON) -> Any:
        """Check a step's value. Raises InputError naming the move and the argument."""
        try:
            return self.args.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "arguments"
            raise InputError(
                f"move {self.name}: {where}: {first['msg']} (got {str(first.get('input'))[:80]!r})", mend=self._mend()
            ) from None

    def play(self, hands: Any, value: JSON) -> Acts:
        """Check the arguments and carry the move out. A MoveError that leaves it has a picture of the screen.

        Raises:
            InputError: the arguments are not the move's.
            MoveError: see there.
        """
        args = self.validate(value)
        try:
            return (yield from self.run(hands, args))
        except MoveError as error:
            error.picture = error.picture or hands.picture(self.name)
            raise

    def _mend(self) -> str:
        names = [
            f"{name}{'' if field.is_required() else ' (optional)'}" for name, field in self.args.model_fields.items()
        ]
        main = f"; a bare value is its {self.args.main}" if self.args.main else ""
        return f"its arguments are {', '.join(names) or 'none'}{main}"


MOVES: Registry[Move] = Registry("move", "forge.moves")
"""All moves by name."""


def move(name: str, args: type[MoveArgs]) -> Callable[[MoveFunction], MoveFunction]:
    """Register a move. The first line of its docstring is shown in listings."""

    def register(function: MoveFunction) -> MoveFunction:
        summary = (function.__doc__ or "").strip().split("\n")[0]
        MOVES.add(name, Move(name, function, args, summary))
        return function

    return register
