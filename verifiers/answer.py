"""Checks of what the agent answered: `answer.equals` (number, text, date, list) and `answer.infeasible`.

An answer may be a bare value or, for numbers and dates, a sentence that holds exactly one. It is compared by value, in
the notations people use (thousands separators, currency signs, units, month names), never by searching for the expected
value in a longer text: an answer that offers several values is wrong.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Literal

from pydantic import Field, model_validator

from forge.records import JSON
from verifiers.base import Args, Case, Finding, Mutant, check, mutants
from verifiers.notation import MONTHS, UNITS, WEEKDAYS, dates_in, normal_text, numbers_in, unit_name


class Equals(Args):
    """What the answer must be."""

    expected: JSON = Field(description="number, text, date (ISO 8601) or list of numbers or texts")
    kind: Literal["number", "text", "date", "list"]
    tolerance: float = Field(0.0, ge=0, description="numbers: allowed absolute difference")
    decimals: int | None = Field(None, ge=0, le=12, description="numbers: asked for rounded to so many decimals")
    unrounded: float | None = Field(None, description="numbers: the value before rounding, for a near-miss")
    unit: str = Field("", description="numbers: unit that may stand with it; any other known unit is wrong")
    case: bool = Field(False, description="texts: upper and lower case matter")
    ordered: bool = Field(False, description="lists: the order matters")
    neighbours: tuple[JSON, ...] = Field(
        (), description="values that could be taken for the right one, for near-misses"
    )

    @model_validator(mode="after")
    def _expected_fits(self) -> Equals:
        value = self.expected
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        fits = {
            "number": number,
            "text": isinstance(value, str) and value.strip() != "",
            "date": isinstance(value, str) and _iso(value) is not None,
            "list": isinstance(value, list | tuple) and len(value) > 0,
        }[self.kind]
        if not fits:
            raise ValueError(f"expected {value!r} is no {self.kind}")
        return self


class Infeasible(Args):
    """`answer.infeasible` has no arguments."""


@check("answer.equals", Equals)
def equals(case: Case, args: Equals) -> Finding:
    """The answer is the expected number, text, date or list, in any usual notation."""
    if case.answer is None or not case.answer.strip():
        return Finding(0.0, f"no answer was given; expected {args.expected!r}")
    right, why = {"number": _number_is, "text": _text_is, "date": _date_is, "list": _list_is}[args.kind](case, args)
    return Finding(float(right), f"answered {_short(case.answer)}; expected {args.expected!r}{why and ': ' + why}")


@check("answer.infeasible", Infeasible)
def infeasible(case: Case, args: Infeasible) -> Finding:
    """The agent ended with the done status `infeasible`."""
    return Finding(float(case.status == "infeasible"), f"done status {case.status!r}, expected 'infeasible'")


@mutants("answer.infeasible")
def other_statuses(case: Case, args: Infeasible, rng: random.Random) -> Iterator[Mutant]:
    """The other two ways to end."""
    yield Mutant("status-success", status="success")
    yield Mutant("status-failure", status="failure", audit=True)


@mutants("answer.equals")
def other_answers(case: Case, args: Equals, rng: random.Random) -> Iterator[Mutant]:
    """Answers that are nearly right."""
    yield Mutant("no-answer", answer="")
    for index, value in enumerate(args.neighbours):
        yield Mutant(f"neighbour-{index}", answer=_written(value), note="a value that could be taken for the right one")
    makers = {"number": _near_numbers, "text": _near_texts, "date": _near_dates, "list": _near_lists}
    seen: set[str] = set()
    for mutant in makers[args.kind](args, rng):
        if mutant.answer is not None and mutant.answer not in seen:
            seen.add(mutant.answer)
            yield mutant


# numbers


def _number_is(case: Case, args: Equals) -> tuple[bool, str]:
    found = numbers_in(case.answer or "", args.unit)
    if len(found) != 1:
        return False, f"the answer holds {len(found)} numbers, one was asked for"
    value, decimals, unit = found[0].value, found[0].decimals, found[0].unit
    expected = float(args.expected)
    if unit and args.unit and unit != unit_name(args.unit):
        return False, f"the unit is {unit}, not {args.unit}"
    if args.decimals is not None and decimals > args.decimals and value != round(value, args.decimals):
        return False, f"written with {decimals} decimals, {args.decimals} were asked for"
    # Half a unit of the last decimal: a tie (2.675) may be rounded either way.
    rounding = 0.0 if args.decimals is None else 0.5 * 10.0**-args.decimals
    allowed = args.tolerance + rounding + 1e-9 * max(1.0, abs(expected))
    right = abs(value - expected) <= allowed
    return right, "" if right else f"read as {value:.12g}"


def _near_numbers(args: Equals, rng: random.Random) -> Iterator[Mutant]:
    expected = float(args.expected)
    decimals = args.decimals if args.decimals is not None else 0 if expected.is_integer() else 2
    step = max(10.0**-decimals, 2 * args.tolerance)
    tie = args.decimals is not None and abs(abs(expected - round(expected, decimals)) / step - 0.5) < 1e-6
    step *= 2 if tie else 1
    unit = f" {args.unit}" if args.unit else ""
    more, less = _digits(expected + step, decimals), _digits(expected - step, decimals)
    yield Mutant("off-by-one", answer=more + unit)
    yield Mutant("right-or-wrong", answer=f"{_digits(expected, decimals)} or {more}", note="two values offered")
    if args.decimals is not None:
        raw = args.unrounded
        if raw is None or raw == round(raw, decimals):
            raw = round(expected, decimals) + 4 * 10.0 ** -(decimals + 1)
        yield Mutant("unrounded", answer=_digits(raw, max(decimals + 3, 4)).rstrip("0") + unit)
    if expected != 0:
        yield Mutant("other-sign", answer=_digits(-expected, decimals) + unit)
        if abs(expected) * 9 > args.tolerance:
            yield Mutant("ten-times", answer=_digits(expected * 10, decimals) + unit, audit=True)
    yield Mutant("off-by-one-below", answer=less + unit, audit=True)
    if args.unit and any(unit_name(args.unit) in names for names in UNITS):
        other = rng.choice([names[0] for names in UNITS if unit_name(args.unit) not in names])
        yield Mutant("other-unit", answer=f"{_digits(expected, decimals)} {other}", audit=True)


def _digits(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}"


# texts


def _text_is(case: Case, args: Equals) -> tuple[bool, str]:
    return normal_text(case.answer or "", args.case) == normal_text(str(args.expected), args.case), ""


def _near_texts(args: Equals, rng: random.Random) -> Iterator[Mutant]:
    text = str(args.expected)
    others = [str(n) for n in args.neighbours if normal_text(str(n)) != normal_text(text)]
    yield Mutant("with-another", answer=f"{text} and {others[0] if others else 'another one'}")
    yield Mutant("something-else", answer=others[-1] if len(others) > 1 else f"not {text}")
    words = text.split()
    if len(words) > 1:
        yield Mutant("first-word", answer=words[0])
    if len(text.strip()) > 2:
        place = 1 + rng.randrange(len(text.strip()) - 2)
        stripped = text.strip()
        changed = "x" if stripped[place].lower() != "x" else "y"
        yield Mutant("one-letter", answer=stripped[:place] + changed + stripped[place + 1 :], audit=True)
    else:
        yield Mutant("one-letter", answer=text + "x", audit=True)


# dates


def _date_is(case: Case, args: Equals) -> tuple[bool, str]:
    answer = case.answer or ""
    found = dates_in(answer, case.guest.locale)
    if len(set(found)) != 1:
        return False, f"the answer holds {len(set(found))} dates, one was asked for"
    named = [w for w in WEEKDAYS if re.search(rf"(?<![a-z]){w}(?![a-z])", answer.lower())]
    if named and named != [WEEKDAYS[found[0].weekday()]]:
        return False, f"{found[0]} is a {WEEKDAYS[found[0].weekday()].title()}"
    return found[0] == _iso(str(args.expected)), f"read as {found[0]}"


def _near_dates(args: Equals, rng: random.Random) -> Iterator[Mutant]:
    right = _iso(str(args.expected))
    assert right is not None
    yield Mutant("day-after", answer=(right + timedelta(days=1)).isoformat())
    yield Mutant("two-dates", answer=f"{right} or {right + timedelta(days=7)}")
    yield Mutant("week-before", answer=(right - timedelta(days=7)).isoformat())
    yield Mutant("other-year", answer=f"{right.day} {MONTHS[right.month - 1].title()} {right.year + 1}", audit=True)


def _iso(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


# lists


def _list_is(case: Case, args: Equals) -> tuple[bool, str]:
    expected = [_item(x, args) for x in args.expected]
    nearest: list[object] = []
    for split in _splits(case.answer or ""):
        found = [_item(x, args, like=expected) for x in split]
        one, two = (found, expected) if args.ordered else (sorted(found, key=repr), sorted(expected, key=repr))
        if one == two:
            return True, ""
        nearest = nearest or found
    missing = [x for x in expected if x not in nearest]
    extra = [x for x in nearest if x not in expected]
    if not missing and not extra:
        return False, "the order or the number of repetitions differs"
    return False, f"missing {missing}, too much {extra}"


def _splits(answer: str) -> Iterator[list[str]]:
    """The ways to read an answer as a list: JSON, one item a line, between semicolons, between commas."""
    text = answer.strip()
    if text.startswith("["):
        try:
            values = json.loads(text)
        except ValueError:
            text = text.strip("[]")
        else:
            yield [_written(v) for v in values]
            return
    lines = [re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", line) for line in text.splitlines()]
    lines = [line for line in lines if line.strip()]
    yield lines
    for mark in (r";", r",\s+", r","):
        items = [item for item in re.split(mark, " ".join(lines)) if item.strip()]
        yield [re.sub(r"^\s*and\s+", "", item) for item in items]
        yield [x for item in items for x in re.split(r"(?:^|\s+)(?:and|&)\s+", item) if x.strip()]


def _item(value: JSON, args: Equals, like: list[object] | None = None) -> object:
    """An item for comparison: a number where numbers are expected, else its normal text."""
    numeric = isinstance(value, int | float) if like is None else any(isinstance(x, float) for x in like)
    if not numeric:
        return normal_text(str(value), args.case)
    if isinstance(value, int | float):
        return round(float(value), 9)
    found = numbers_in(str(value), args.unit)
    if len(found) != 1:
        return normal_text(str(value), args.case)
    number = found[0].value
    close = [x for x in like or [] if isinstance(x, float) and math.isclose(x, number, abs_tol=args.tolerance + 1e-9)]
    return close[0] if close else round(number, 9)


def _near_lists(args: Equals, rng: random.Random) -> Iterator[Mutant]:
    items = [_written(x) for x in args.expected]
    wrong = [_written(n) for n in args.neighbours if n not in args.expected]
    numbers = [x for x in args.expected if isinstance(x, int | float)]
    extra = wrong[0] if wrong else _written(max(numbers) + 1) if numbers else "another one"
    mark = "\n"
    yield Mutant("extra-item", answer=mark.join([*items, extra]))
    if len(items) > 1:
        gone = rng.randrange(len(items))
        yield Mutant("item-missing", answer=mark.join(items[:gone] + items[gone + 1 :]))
        yield Mutant("item-replaced", answer=mark.join([*items[:gone], extra, *items[gone + 1 :]]))
    if args.ordered and len(set(items)) > 1:
        turned = items[::-1] if items[::-1] != items else [items[1], items[0], *items[2:]]
        yield Mutant("other-order", answer=mark.join(turned))
    yield Mutant("item-twice", answer=mark.join([*items, items[-1]]), audit=True)


def _written(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= 200 else text[:200] + "...")
