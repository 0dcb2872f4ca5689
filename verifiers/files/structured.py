"""Files with a structure: `files.json` and `files.csv`, compared by value and not by spelling."""

from __future__ import annotations

import copy
import csv
import io
import json
import math
import random
from collections.abc import Iterator
from typing import Any

from pydantic import Field, model_validator

from forge.records import JSON, PreparerError, VerifierError
from forge.records.artifact import GuestPath
from preparers.files.reading import read_csv, read_json
from verifiers.base import Args, Case, Finding, Mutant, check, mutants
from verifiers.files import spoiling

Rows = list[list[str]]


class Json(Args):
    """A JSON document must have this value, whole or at one place."""

    path: GuestPath
    value: JSON = None
    at: str = Field(
        "", pattern=r"^(/.*)?$", description="JSON pointer (RFC 6901) to the place; empty: the whole document"
    )
    absent: bool = Field(False, description="nothing may be at that place")
    tolerance: float = Field(1e-9, ge=0, description="allowed absolute difference of numbers")

    @model_validator(mode="after")
    def _absent_has_a_place(self) -> Json:
        if self.absent and (not self.at or self.value is not None):
            raise ValueError("absent goes with a place (at) and without a value")
        return self


class Csv(Args):
    """A CSV file must have this header and these rows, or those of a gold file. Numbers are compared as numbers."""

    path: GuestPath
    header: tuple[str, ...] | None = None
    rows: tuple[tuple[str | int | float | None, ...], ...] | None = Field(None, description="without the header")
    gold: GuestPath | None = Field(None, description="a gold artifact with the right content")
    ordered: bool = Field(True, description="whether the order of rows matters")
    delimiter: str | None = Field(None, pattern=r"^[,;\t]$", description="the delimiter asked for; default: any")
    tolerance: float = Field(1e-9, ge=0, description="allowed absolute difference of numbers")

    @model_validator(mode="after")
    def _something_is_expected(self) -> Csv:
        if (self.header is None and self.rows is None) == (self.gold is None):
            raise ValueError("give header or rows or both, or gold alone")
        return self


_NOTHING: Any = object()


@check("files.json", Json)
def json_value(case: Case, args: Json) -> Finding:
    """A JSON document has the expected value, whole or at a JSON pointer."""
    data = case.after.read(args.path)
    if data is None:
        return Finding(0.0, f"{args.path} is no file or does not exist")
    with case.after.reading(args.path):
        document = read_json(args.path, data)
    found = _at(document, args.at)
    where = f"{args.path}{args.at and ' at ' + args.at}"
    if found is _NOTHING:
        return Finding(float(args.absent), f"{where}: nothing is there")
    if args.absent:
        return Finding(0.0, f"{where}: {_brief(found)} is there")
    difference = _difference(args.value, found, args.tolerance, args.at)
    return Finding(float(difference is None), f"{where}: {difference or 'as expected, ' + _brief(found)}")


@mutants("files.json")
def other_json(case: Case, args: Json, rng: random.Random) -> Iterator[Mutant]:
    """Another value, a key lost or too many, another type, no JSON at all."""
    data = case.after.read(args.path) or b""
    document = read_json(args.path, data)
    if args.absent:
        yield Mutant("still-there", _put(args, document, "still here"))
        yield Mutant("null", _put(args, document, None), audit=True)
        return
    for name, value, audit in _other_values(args.value, rng, args.tolerance):
        yield Mutant(name, _put(args, document, value), audit=audit)
    if args.at:
        yield Mutant("lost", _put(args, document, _NOTHING))
    yield Mutant("cut-off", spoiling.write(args.path, data.rstrip()[:-1] + b","), only=False)


@check("files.csv", Csv)
def csv_rows(case: Case, args: Csv) -> Finding:
    """A CSV file has the expected header and rows."""
    data = case.after.read(args.path)
    if data is None:
        return Finding(0.0, f"{args.path} is no file or does not exist")
    with case.after.reading(args.path):
        found, delimiter = read_csv(args.path, data)
    found = [row for row in found if row]
    if args.delimiter and delimiter != args.delimiter and max(map(len, found), default=0) > 1:
        return Finding(0.0, f"{args.path} is delimited by {delimiter!r}, not by {args.delimiter!r}")
    header, rows = _expected(case, args)
    if header is not None and (not found or [c.strip() for c in found[0]] != [c.strip() for c in header]):
        return Finding(0.0, f"{args.path}: the header is {found[0] if found else None}, expected {header}")
    if rows is None:
        return Finding(1.0, f"{args.path} has the expected header")
    return _compare_rows(args, rows, found[1:])


@mutants("files.csv")
def other_csv(case: Case, args: Csv, rng: random.Random) -> Iterator[Mutant]:
    """A cell, a row or the header wrong; rows in another order."""
    rows, delimiter = read_csv(args.path, case.after.read(args.path) or b"")
    header, body = rows[0], rows[1:]
    wanted_header, wanted_rows = _expected(case, args)

    def made(new: Rows, mark: str = delimiter) -> spoiling.Change:
        text = io.StringIO()
        csv.writer(text, delimiter=mark, lineterminator="\n").writerows(new)
        return spoiling.write(args.path, text.getvalue())

    if wanted_header is not None:
        yield Mutant("other-header", made([[header[0] + " 2", *header[1:]], *body]))
        yield Mutant("no-header", made(body or [["x"]]), only=False, audit=True)
    if wanted_rows is not None:
        if body:
            at = int(rng.random() * len(body))
            column = int(rng.random() * len(body[at]))
            changed = [*body[at][:column], _other_cell(body[at][column], args.tolerance), *body[at][column + 1 :]]
            yield Mutant("other-cell", made([header, *body[:at], changed, *body[at + 1 :]]))
            yield Mutant("row-missing", made([header, *body[:at], *body[at + 1 :]]))
            yield Mutant("row-twice", made([header, *body, body[at]]), audit=True)
            if args.ordered and any(row != body[0] for row in body):
                two = next(i for i, row in enumerate(body) if row != body[0])
                swapped = list(body)
                swapped[0], swapped[two] = swapped[two], swapped[0]
                yield Mutant("rows-swapped", made([header, *swapped]))
        else:
            yield Mutant("row-more", made([header, ["x"] * len(header)]))
        yield Mutant("row-of-x", made([header, *body, ["x"] * len(header)]), audit=True)
    if args.delimiter and len(header) > 1 and not args.path.endswith(".tsv"):
        yield Mutant("other-delimiter", made(rows, ";" if delimiter == "," else ","))


def _at(document: Any, pointer: str) -> Any:
    """What a JSON pointer leads to (RFC 6901), or _NOTHING."""
    for part in _parts(pointer):
        if isinstance(document, dict) and part in document:
            document = document[part]
        elif isinstance(document, list) and part.isdigit() and int(part) < len(document):
            document = document[int(part)]
        else:
            return _NOTHING
    return document


def _parts(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _put(args: Json, document: Any, value: Any) -> spoiling.Change:
    """The document with another value at the place in question."""
    document = copy.deepcopy(document)
    parts = _parts(args.at)
    if not parts:
        document = value
    else:
        parent = _at(document, args.at.rpartition("/")[0])
        if isinstance(parent, dict):
            if value is _NOTHING:
                parent.pop(parts[-1], None)
            else:
                parent[parts[-1]] = value
        elif isinstance(parent, list):
            index = int(parts[-1])
            parent[index : index + 1] = [] if value is _NOTHING else [value]
    return spoiling.write(args.path, json.dumps(document, ensure_ascii=False, indent=2) + "\n")


def _other_values(value: Any, rng: random.Random, tolerance: float) -> Iterator[tuple[str, Any, bool]]:
    """(name, a value that is nearly this one, whether for the audit)."""
    if isinstance(value, bool):
        yield "other-value", not value, False
        yield "as-text", str(value).lower(), True
    elif isinstance(value, int | float):
        yield "other-value", value + max(1, 2 * tolerance), False
        yield "as-text", str(value), True
    elif isinstance(value, str):
        yield "other-value", value + " 2", False
        yield "in-a-list", [value], True
    elif value is None:
        yield "other-value", 0, False
        yield "as-text", "null", True
    elif isinstance(value, dict):
        for name, changed in _deep(value, rng, tolerance):
            yield name, changed, False
        if value:
            key = list(value)[int(rng.random() * len(value))]
            yield "key-missing", {k: v for k, v in value.items() if k != key}, False
        yield "key-more", {**value, "extra": True}, True
    else:
        for name, changed in _deep(value, rng, tolerance):
            yield name, changed, False
        yield "item-missing" if value else "item-more", value[:-1] if value else [None], False
        yield "item-twice", [*value, *value[-1:], *([] if value else [0])], True


def _deep(value: Any, rng: random.Random, tolerance: float) -> Iterator[tuple[str, Any]]:
    """One leaf somewhere below changed."""
    changed = copy.deepcopy(value)
    here, place = changed, None
    owner: Any = None
    while isinstance(here, dict | list) and here:
        owner = here
        place = list(here)[int(rng.random() * len(here))] if isinstance(here, dict) else int(rng.random() * len(here))
        here = here[place]
    if owner is not None and not isinstance(here, dict | list):
        owner[place] = next(_other_values(here, rng, tolerance))[1]
        yield "other-leaf", changed


def _difference(wanted: Any, found: Any, tolerance: float, where: str) -> str | None:
    """The first place where two JSON values differ; numbers by value, everything else with its type."""
    place = where or "/"
    if _is_number(wanted) and _is_number(found):
        close = math.isclose(wanted, found, rel_tol=1e-12, abs_tol=tolerance)
        return None if close else f"{place} is {found}, expected {wanted}"
    if type(wanted) is not type(found):
        return f"{place} is {_brief(found)}, expected {_brief(wanted)}"
    if isinstance(wanted, dict):
        for key in [*wanted, *found]:
            if key not in found or key not in wanted:
                return f"{place} " + (f"has no {key!r}" if key not in found else f"has {key!r} besides")
            difference = _difference(wanted[key], found[key], tolerance, f"{where}/{key}")
            if difference:
                return difference
        return None
    if isinstance(wanted, list):
        if len(wanted) != len(found):
            return f"{place} has {len(found)} items, expected {len(wanted)}"
        pairs = enumerate(zip(wanted, found, strict=True))
        return next((d for i, (a, b) in pairs if (d := _difference(a, b, tolerance, f"{where}/{i}"))), None)
    return None if wanted == found else f"{place} is {_brief(found)}, expected {_brief(wanted)}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:200] + "..."


def _expected(case: Case, args: Csv) -> tuple[list[str] | None, Rows | None]:
    if args.gold is None:
        rows = None if args.rows is None else [["" if c is None else str(c) for c in row] for row in args.rows]
        return None if args.header is None else list(args.header), rows
    data = None if case.gold is None else case.gold.read(args.gold)
    if data is None:
        raise VerifierError(f"files.csv compares with the gold artifact {args.gold}, which does not exist")
    try:
        rows, _ = read_csv(args.gold, data)
    except PreparerError as error:
        raise VerifierError(f"files.csv: the gold artifact {error.message}") from error
    rows = [row for row in rows if row]
    return rows[0], rows[1:]


def _compare_rows(args: Csv, wanted: Rows, found: Rows) -> Finding:
    if len(wanted) != len(found):
        return Finding(0.0, f"{args.path} has {len(found)} rows below the header, expected {len(wanted)}")
    if not args.ordered:
        wanted, found = sorted(wanted, key=_row_key), sorted(found, key=_row_key)
    for number, (one, two) in enumerate(zip(wanted, found, strict=True), 1):
        if len(one) != len(two) or not all(_same_cell(a, b, args.tolerance) for a, b in zip(one, two, strict=True)):
            which = f"row {number}" if args.ordered else "a row"
            return Finding(0.0, f"{args.path}: {which} is {two}, expected {one}")
    return Finding(1.0, f"{args.path} has the {len(wanted)} expected rows")


def _row_key(row: list[str]) -> list[tuple[int, float, str]]:
    numbers = [_number(cell) for cell in row]
    return [(0, round(n, 6), "") if n is not None else (1, 0.0, c.strip()) for n, c in zip(numbers, row, strict=True)]


def _same_cell(one: str, two: str, tolerance: float) -> bool:
    a, b = _number(one), _number(two)
    if a is not None and b is not None:
        return math.isclose(a, b, rel_tol=1e-12, abs_tol=tolerance)
    return one.strip() == two.strip()


def _other_cell(cell: str, tolerance: float) -> str:
    number = _number(cell)
    return cell + " 2" if number is None else repr(number + max(1.0, 2 * tolerance))


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    # Codes such as 007 are no numbers: their zeros matter.
    digits = cell.strip().lstrip("+-")
    return (
        value if math.isfinite(value) and not (len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()) else None
    )
