"""Whether two formulas mean the same: they give the same values, now and after their inputs are changed.

Spelling is no argument: `=SUM(C3:C26)`, `=C3+C4+...` and `=SUM(C3:C10,C11:C26)` are one formula, and a number typed in, or a
range one row short, is another. Inputs are changed in several worlds, each made to tell a kind of near-miss apart:

- *scaled*: all numbers moved alike (equal ones stay equal, order stays): keys are still found, hard-coded values are not;
- *jittered*: numbers moved a little, for functions that mind their range;
- *random*: numbers and texts drawn anew, from what the column holds and from what the formulas mention;
- *uniform*: every text of a column the same, so that every row counts;
- *spiked*: extreme values in the cells that only one of the two formulas looks at;
- *emptied*: nothing in those cells.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from forge.desktop.office import OfficeClient
from forge.harness.layers.office.python.sheetpatch.formulas import canonical, tokens
from preparers.calc.book import Book
from verifiers.calc.closure import Closure, Key, closure
from verifiers.calc.compare import same_value
from verifiers.calc.worlds import Changes, World, compute

RANDOM_WORLDS = 5
CELL_LIMIT = 60_000
"""Cells that all worlds may have together; large formulas get fewer random worlds."""
SPIKE_LIMIT = 400
"""Cells that only one formula looks at; with more of them any change tells the two apart."""


@dataclass(frozen=True)
class Comparison:
    """What came of comparing the formula in a cell with what it should mean."""

    same: bool
    why: str
    value: Any = None


def compare_formulas(
    office: OfficeClient | None,
    book: Book,
    actual: dict[Key, str],
    expected: dict[Key, str],
    tolerance: float,
    seed: str,
) -> dict[Key, Comparison]:
    """Compare formulas cell by cell.

    Args:
        office: computes; may be None where spelling decides.
        book: the workbook that they stand in.
        actual: the formulas that are there.
        expected: what each should mean, as if it stood in the same cell.
        tolerance: allowed absolute difference of numbers.
        seed: of the changed inputs.

    Raises:
        ValueError: an expected formula cannot be read.
        DesktopError: the office failed.
    """
    found: dict[Key, Comparison] = {}
    for key, formula in actual.items():
        wanted = canonical(expected[key], key[0])
        try:
            same = canonical(formula, key[0]) == wanted
        except ValueError:
            found[key] = Comparison(False, f"{formula} cannot be read")
            continue
        if not _balanced(formula):
            found[key] = Comparison(False, f"{formula} lacks a bracket")
            continue
        if same:
            found[key] = Comparison(True, f"{formula} is the formula expected")
    rest = {key: formula for key, formula in actual.items() if key not in found}
    if not rest:
        return found
    keys = list(rest)
    needed = closure(book, [(key[0], rest[key]) for key in keys] + [(key[0], expected[key]) for key in keys])
    for index, key in enumerate(keys):
        if not needed.refers[index] and needed.refers[len(keys) + index]:
            found[key] = Comparison(
                False, f"{rest[key]} looks at no cell, so it is a typed value; {expected[key]} does"
            )
    keys = [key for key in keys if key not in found]
    if not keys:
        return found
    if office is None:
        raise ValueError("formulas that are spelled differently need an office to compare them")
    worlds = changed_worlds(book, needed, set(actual), random.Random(seed))
    results = compute(office, book, needed, rest, {key: expected[key] for key in rest}, worlds)
    for key in keys:
        found[key] = _judge(key, rest[key], expected[key], results, tolerance)
    return found


def changed_worlds(book: Book, needed: Closure, fixed: set[Key], rng: random.Random) -> list[Changes]:
    """The unchanged world, and those with other inputs."""
    inputs: dict[Key, Any] = {}
    for key in sorted(needed.cells - fixed):
        sheet = book.sheet(key[0])
        cell = sheet.cells.get(key[1:]) if sheet is not None else None
        if cell is not None and cell.formula is None and cell.value is not None:
            inputs[key] = cell.value
    columns: dict[tuple[str, int], list[Key]] = defaultdict(list)
    for key in inputs:
        columns[key[0], key[2]].append(key)
    half = len(needed.direct) // 2
    odd: set[Key] = set()
    for one, other in zip(needed.direct[:half], needed.direct[half:], strict=True):
        odd |= one ^ other
    worlds: list[Changes] = [{}, _scaled(inputs), _jittered(inputs, rng)]
    drawn = max(1, min(RANDOM_WORLDS, CELL_LIMIT // (len(needed.cells) + 1) - 6))
    worlds += [_random(inputs, columns, needed, rng) for _ in range(drawn)]
    worlds.append(_uniform(inputs, columns, needed))
    odd &= set(inputs)
    if odd and len(odd) <= SPIKE_LIMIT:
        worlds += [_spiked(inputs, odd, 1), _spiked(inputs, odd, -1), dict.fromkeys(odd)]
    return worlds


def _judge(key: Key, formula: str, expected: str, results: list[tuple[World, World]], tolerance: float) -> Comparison:
    now, wanted = results[0][0][key], results[0][1][key]
    if not same_value(wanted, now, tolerance):
        return Comparison(False, f"{formula} gives {_told(now)}, {expected} gives {_told(wanted)}", now)
    for one, other in results[1:]:
        if not same_value(other[key], one[key], tolerance):
            with_others = f"with other inputs {formula} gives {_told(one[key])}, {expected} gives {_told(other[key])}"
            return Comparison(False, f"{formula} gives {_told(now)} as it should, but {with_others}", now)
    if all(isinstance(other[key], dict) for _, other in results):
        return Comparison(False, f"{formula} gives {_told(now)} whatever the inputs, and so does {expected}", now)
    return Comparison(True, f"{formula} gives {_told(now)} and changes with its inputs as {expected} does", now)


def _balanced(formula: str) -> bool:
    depth = 0
    for token in tokens(formula):
        depth += {"open": 1, "close": -1}.get(token.kind, 0)
        if depth < 0:
            return False
    return depth == 0


def _scaled(inputs: dict[Key, Any]) -> Changes:
    return {key: _fit(value, value * 1.25 + 3) for key, value in inputs.items() if _number(value)}


def _jittered(inputs: dict[Key, Any], rng: random.Random) -> Changes:
    changed = {}
    for key, value in inputs.items():
        if _number(value):
            step = 1 + int(rng.random() * 3) if isinstance(value, int) else abs(value) * 0.03 * (0.3 + rng.random())
            changed[key] = _fit(value, value + step)
    return changed


def _random(
    inputs: dict[Key, Any], columns: dict[tuple[str, int], list[Key]], needed: Closure, rng: random.Random
) -> Changes:
    changed: dict[Key, Any] = {}
    mentioned = sorted(number + step for number in needed.numbers for step in (-1, 0, 1))
    pool = sorted({value for value in inputs.values() if isinstance(value, str)} & needed.texts)
    for keys in columns.values():
        numbers = [inputs[key] for key in keys if _number(inputs[key])]
        texts = [inputs[key] for key in keys if isinstance(inputs[key], str)]
        low, high = min(numbers, default=0), max(numbers, default=0)
        room = (high - low) or abs(high) or 1
        for key in keys:
            value = inputs[key]
            if isinstance(value, bool):
                changed[key] = rng.random() < 0.5
            elif _number(value):
                drawn = low - 0.2 * room * (low < 0) + room * 1.4 * rng.random()
                if mentioned and rng.random() < 0.3:
                    drawn = mentioned[int(rng.random() * len(mentioned))]
                changed[key] = _fit(value, drawn)
            elif len(texts) > 1:
                choices = texts + pool
                changed[key] = choices[int(rng.random() * len(choices))]
    return changed


def _uniform(inputs: dict[Key, Any], columns: dict[tuple[str, int], list[Key]], needed: Closure) -> Changes:
    changed: dict[Key, Any] = {}
    lone = {inputs[keys[0]] for keys in columns.values() if len(keys) == 1 and isinstance(inputs[keys[0]], str)}
    for keys in columns.values():
        texts = [inputs[key] for key in keys if isinstance(inputs[key], str)]
        if len(texts) < 2:
            continue
        wanted = [text for text in texts if text in needed.texts] or [text for text in texts if text in lone] or texts
        for key in keys:
            if isinstance(inputs[key], str):
                changed[key] = wanted[0]
            elif _number(inputs[key]):
                changed[key] = inputs[key]
    return changed


def _spiked(inputs: dict[Key, Any], odd: set[Key], sign: int) -> Changes:
    numbers = [abs(value) for value in inputs.values() if _number(value)]
    base = 10 * max(numbers, default=1) + 10
    changed: dict[Key, Any] = {}
    for index, key in enumerate(sorted(odd), 1):
        value = inputs[key]
        if _number(value):
            changed[key] = _fit(value, sign * base * index)
        elif isinstance(value, str):
            changed[key] = value + (" x" if sign > 0 else " y")
    return changed


def _fit(like: float, value: float) -> float | int:
    """A value of the same kind: whole where the old one was, else with as many decimals (at most 6)."""
    if isinstance(like, int):
        return round(value)
    text = f"{like:.6f}".rstrip("0")
    return round(value, max(1, len(text.partition(".")[2])))


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return str(value.get("error"))
    return "nothing" if value is None else f"{value:.10g}" if isinstance(value, float) else str(value)
