"""Draws of single values: choice, int, number, date, time, bool."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from forge.records import JSON, canonical_json
from skills.dice import Dice
from skills.draws.base import DrawArgs, DrawKind, draw_kind
from skills.language.shapes import ANY, BOOL, NUMBER, TEXT, Shape, list_of

_OTHERS = 12


class ChoiceArgs(DrawArgs):
    of: tuple[Any, ...] = Field(min_length=1, description="the values")
    weights: tuple[Annotated[float, Field(ge=0)], ...] | None = Field(None, description="how likely each is")
    count: int | tuple[int, int] | Literal["all"] | None = Field(
        None, description="draw a list of so many different values, in random order; [from, to] or all"
    )


@draw_kind
class Choice(DrawKind[ChoiceArgs]):
    """One of the listed values; with `count` a list of different ones.

    The list may be a value that was made before: `{choice: "${table.numeric_columns}"}`, `{choice: "${made.customers}"}` of a
    `python` node. Near-misses take the other values, each with its own files and names kept.
    """

    name = "choice"
    args = ChoiceArgs
    examples = ("{choice: [expenses, stock]}", "{choice: [a, b, c, d], count: 2}", "{choice: [a, b], weights: [9, 1]}")

    def draw(self, args: ChoiceArgs, dice: Dice) -> JSON:
        if args.weights is not None and (len(args.weights) != len(args.of) or not sum(args.weights) > 0):
            raise ValueError(f"{len(args.of)} values need as many weights, not all 0")
        if args.count is None:
            return dice.choices(args.of, args.weights)[0] if args.weights else dice.choice(args.of)
        if args.weights is not None:
            raise ValueError("weights and count do not go together")
        low, high = (len(args.of),) * 2 if args.count == "all" else _pair(args.count)
        if not 0 <= low <= high <= len(args.of):
            raise ValueError(f"{low} to {high} of {len(args.of)} values cannot be drawn")
        return dice.sample(args.of, dice.randint(low, high))

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        domain = args["of"]
        if domain.kind not in ("list", "any"):
            raise ValueError(f"it chooses from a list, not from a {domain}")
        return list_of(domain.item or ANY) if "count" in args else domain.item or ANY

    def others(self, args: ChoiceArgs, value: JSON) -> list[JSON]:
        if args.count is not None:
            return []
        now = canonical_json(value)
        weights = args.weights or (1.0,) * len(args.of)
        pairs = zip(args.of, weights, strict=True)
        return [item for item, weight in pairs if weight > 0 and canonical_json(item) != now][:_OTHERS]


class IntArgs(DrawArgs):
    of: tuple[int, int] = Field(description="[from, to], both included")
    step: int = Field(1, ge=1, description="from the lower end in steps of so much")


@draw_kind
class Int(DrawKind[IntArgs]):
    """A whole number from a range, both ends included."""

    name = "int"
    args = IntArgs
    examples = ("{int: [8, 60]}", "{int: [10, 100], step: 10}")

    def draw(self, args: IntArgs, dice: Dice) -> JSON:
        low, high = args.of
        if low > high:
            raise ValueError(f"there is no number from {low} to {high}")
        return dice.randrange(low, high + 1, args.step)

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        return NUMBER

    def others(self, args: IntArgs, value: JSON) -> list[JSON]:
        numbers = range(args.of[0], args.of[1] + 1, args.step)
        return sorted((n for n in numbers if n != value), key=lambda n: (abs(n - value), n))[:_OTHERS]


class NumberArgs(DrawArgs):
    of: tuple[float, float] = Field(description="[from, to]")
    digits: int = Field(2, ge=0, le=9, description="decimals")


@draw_kind
class Number(DrawKind[NumberArgs]):
    """A number from a range, with a fixed number of decimals."""

    name = "number"
    args = NumberArgs
    examples = ("{number: [1, 20], digits: 1}",)

    def draw(self, args: NumberArgs, dice: Dice) -> JSON:
        scale = 10**args.digits
        low, high = (round(end * scale) for end in args.of)
        if low > high:
            raise ValueError(f"there is no number from {args.of[0]} to {args.of[1]}")
        return dice.randint(low, high) / scale

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        return NUMBER

    def others(self, args: NumberArgs, value: JSON) -> list[JSON]:
        steps = (value - 10**-args.digits, value + 10**-args.digits)
        return [n for n in (round(s, args.digits) for s in steps) if args.of[0] <= n <= args.of[1]]


def _day(value: str) -> str:
    return date.fromisoformat(value[:10]).isoformat()


Day = Annotated[str, AfterValidator(_day)]


class DateArgs(DrawArgs):
    of: tuple[Day, Day] = Field(description="[from, to], ISO dates, both included")
    weekdays: bool = Field(False, description="Monday to Friday only")


@draw_kind
class Date(DrawKind[DateArgs]):
    """A day from a range, as an ISO date."""

    name = "date"
    args = DateArgs
    examples = ("{date: [2026-01-05, 2026-02-27], weekdays: true}",)

    def draw(self, args: DateArgs, dice: Dice) -> JSON:
        days = self._days(args)
        if not days:
            raise ValueError(f"there is no day from {args.of[0]} to {args.of[1]}")
        return dice.choice(days).isoformat()

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        return TEXT

    def others(self, args: DateArgs, value: JSON) -> list[JSON]:
        now = date.fromisoformat(value)
        days = sorted((d for d in self._days(args) if d != now), key=lambda d: (abs((d - now).days), d))
        return [d.isoformat() for d in days[:_OTHERS]]

    @staticmethod
    def _days(args: DateArgs) -> list[date]:
        first, last = (date.fromisoformat(day) for day in args.of)
        days = [first + timedelta(days=n) for n in range(min((last - first).days + 1, 40_000))]
        return [d for d in days if d.weekday() < 5] if args.weekdays else days


def _minutes(value: str) -> str:
    hour, minute = value.split(":")
    if not (len(hour) == len(minute) == 2 and 0 <= int(hour) < 24 and 0 <= int(minute) < 60):
        raise ValueError("a time of day is written 09:30")
    return value


Clock = Annotated[str, AfterValidator(_minutes)]


class TimeArgs(DrawArgs):
    of: tuple[Clock, Clock] = Field(description='["08:00", "17:30"], both included')
    step: int = Field(1, ge=1, le=720, description="minutes between possible times")


@draw_kind
class Time(DrawKind[TimeArgs]):
    """A time of day, as HH:MM."""

    name = "time"
    args = TimeArgs
    examples = ('{time: ["08:00", "17:30"], step: 30}',)

    def draw(self, args: TimeArgs, dice: Dice) -> JSON:
        low, high = (int(t[:2]) * 60 + int(t[3:]) for t in args.of)
        if low > high:
            raise ValueError(f"there is no time from {args.of[0]} to {args.of[1]}")
        minute = dice.randrange(low, high + 1, args.step)
        return f"{minute // 60:02}:{minute % 60:02}"

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        return TEXT


class BoolArgs(DrawArgs):
    of: float = Field(ge=0, le=1, description="how likely true is")


@draw_kind
class Bool(DrawKind[BoolArgs]):
    """True or false."""

    name = "bool"
    args = BoolArgs
    examples = ("{bool: 0.3}",)

    def draw(self, args: BoolArgs, dice: Dice) -> JSON:
        return dice.random() < args.of

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        return BOOL

    def others(self, args: BoolArgs, value: JSON) -> list[JSON]:
        return [] if args.of in (0, 1) else [not value]


def _pair(count: int | tuple[int, int]) -> tuple[int, int]:
    return (count, count) if isinstance(count, int) else count
