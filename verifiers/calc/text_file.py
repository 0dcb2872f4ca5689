"""`calc.file`: the rows of a .csv file that was exported from a workbook."""

from __future__ import annotations

import csv
import io
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from forge.harness.layers.office.python.sheetpatch.values import to_number
from forge.records import JSON, PreparerError
from preparers.calc.book.text import delimiter_of, rows_of
from verifiers.base import Case, Finding, Mutant, check, mutants
from verifiers.calc.compare import close, days, plain
from verifiers.calc.opening import InFile, shown
from verifiers.notation import dates_in, numbers_in


class Exported(InFile):
    """Rows of a text file, header included. Numbers and dates may be written as a cell shows them (`1,234.50 €`)."""

    rows: tuple[tuple[JSON, ...], ...] = Field(min_length=1)
    delimiter: Literal[",", ";", "\t"] | None = Field(None, description="None: any of the three")
    tolerance: float = Field(0.005, ge=0, description="numbers: allowed absolute difference; shown ones are rounded")


@check("calc.file", Exported)
def exported(case: Case, args: Exported) -> Finding:
    """A .csv file holds exactly the expected rows, parted by the expected character."""
    with case.after.reading(args.file) as path:
        data = path.read_bytes()
        rows = rows_of(data, args.file, args.delimiter)
    while rows and not any(field.strip() for field in rows[-1]):
        rows.pop()
    if args.delimiter is not None and len(args.rows[0]) > 1:
        used = delimiter_of(data.decode("utf-8-sig"))
        if used != args.delimiter and all(len(row) == 1 for row in rows):
            return Finding(0.0, f"{args.file} is parted by {used!r}, expected {args.delimiter!r}")
    problems = []
    if len(rows) != len(args.rows):
        problems.append(f"{len(rows)} rows, expected {len(args.rows)}")
    for number, (wanted, row) in enumerate(zip(args.rows, rows, strict=False), 1):
        fields = row[: len(wanted)] + [""] * (len(wanted) - len(row))
        extra = [field for field in row[len(wanted) :] if field.strip()]
        if extra:
            problems.append(f"row {number} has {len(row)} fields, expected {len(wanted)}")
        for column, (value, text) in enumerate(zip(wanted, fields, strict=True), 1):
            if not same_field(value, text, args.tolerance, case.guest.locale):
                problems.append(f"row {number}, field {column} is {text!r}, expected {shown(value)}")
    told = "; ".join(problems[:3]) + (f" (and {len(problems) - 3} more)" if len(problems) > 3 else "")
    return Finding(float(not problems), told or f"{args.file} holds the {len(args.rows)} expected rows")


def same_field(value: JSON, text: str, tolerance: float, locale: str = "en_US.UTF-8") -> bool:
    """Whether a field of a text file means a value, as typed or as a cell shows it."""
    text = plain(text)
    if value is None or value == "":
        return text == ""
    if isinstance(value, bool):
        return text.upper() == str(value).upper()
    if isinstance(value, int | float):
        found = numbers_in(text)
        if len(found) != 1 or re.search(r"[A-Za-z]{4,}", text):
            return False
        shared = found[0].value / 100 if text.rstrip().endswith("%") else found[0].value
        allowed = max(tolerance, 0.5 * 10 ** -(found[0].decimals + 2)) if text.rstrip().endswith("%") else tolerance
        return close(value, shared, allowed)
    moment = days(value)
    if moment is None:
        return plain(value) == text
    if text == plain(value):
        return True
    found_dates = dates_in(text, locale)
    return len(found_dates) == 1 and to_number(found_dates[0]) == int(moment)


@mutants("calc.file")
def other_files(case: Case, args: Exported, rng: random.Random) -> Iterator[Mutant]:
    """A field off, a row missing, a row twice, another separator, no header."""
    with case.after.reading(args.file) as path:
        data = path.read_bytes()
    delimiter = delimiter_of(data.decode("utf-8-sig"))
    spots = [(r, c) for r, row in enumerate(args.rows) for c, value in enumerate(row) if value not in (None, "")]
    if not spots:
        raise PreparerError(f"{args.file}: no value is expected anywhere")
    r, c = spots[int(rng.random() * len(spots))]

    def change(rows: list[list[str]]) -> None:
        rows[r][c] = f"9{rows[r][c]}"

    yield Mutant("a field off", _rewritten(args.file, delimiter, delimiter, change))
    if len(args.rows) > 1:
        yield Mutant("last row missing", _rewritten(args.file, delimiter, delimiter, lambda rows: rows.pop()))
        yield Mutant(
            "header missing", _rewritten(args.file, delimiter, delimiter, lambda rows: rows.pop(0)), audit=True
        )
    else:
        yield Mutant(
            "row twice", _rewritten(args.file, delimiter, delimiter, lambda rows: rows.append(rows[-1])), audit=True
        )
    if args.delimiter is not None and len(args.rows[0]) > 1:
        other = ";" if delimiter != ";" else ","
        yield Mutant("other separator", _rewritten(args.file, delimiter, other, lambda rows: None))


def _rewritten(file: str, old: str, new: str, change: Callable[[list[list[str]]], object]) -> Callable[[Path], None]:
    def apply(home: Path) -> None:
        path = home / file[2:]
        rows = list(csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline=""), delimiter=old))
        change(rows)
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=new, lineterminator="\n").writerows(rows)
        path.write_text(text.getvalue(), "utf-8")

    return apply
