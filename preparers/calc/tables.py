"""Realistic tables, drawn from topics that lie as YAML in `data/`: typed columns, plausible values, units, dates, names.

    draw_table("expenses", 24, random.Random(7))

gives JSON that `calc.workbook` takes as a table. Choices are made with `rng.random()` alone, so that a seed gives the same
table on every Python. Drawn values of a column are correlated where real ones are (a train ticket costs what train
tickets cost; a total is its quantity times its price).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from forge.records import JSON, InputError, PreparerError
from preparers.calc.formats import compose

_DATA = Path(__file__).parent / "data"
_ATTEMPTS = 40
"""Draws of one value before a column that wants distinct ones takes the nearest free value instead."""

Row = dict[str, Any]


def topics() -> list[str]:
    """The topics that tables can be drawn from, sorted."""
    return sorted(path.stem for path in _DATA.glob("*.yaml") if path.stem != "people")


def topic_columns(topic: str) -> dict[str, str]:
    """Column name to its type and role, with a `?` where a draw may lack it. Raises InputError for an unknown topic."""
    found = {}
    for column in _topic(topic)["columns"]:
        words = [column.get("type", "text"), column.get("role", "")]
        found[column["name"]] = " ".join(filter(None, words)) + ("?" if column.get("optional", 1.0) < 1 else "")
    return found


def draw_table(topic: str, rows: int, rng: random.Random) -> dict[str, JSON]:
    """Draw one table.

    Args:
        topic: one of `topics()`.
        rows: number of data rows, 1 to 2,000.
        rng: a seeded generator; only its `random()` is used.

    Returns:
        JSON with the keys of `preparers.calc.params.Table`: topic, title, sheet and file (names that fit), columns, rows,
        and the columns' names by kind: numeric_columns (measures, rates), category_columns, text_columns, date_columns.

    Raises:
        InputError: there is no such topic.
        PreparerError: `rows` is out of bounds.
    """
    spec = _topic(topic)
    if not 1 <= rows <= 2000:
        raise PreparerError(f"a table of {rows} rows: 1 to 2000 can be drawn")
    symbol = pick(rng, spec["currencies"])
    columns = [column for column in spec["columns"] if rng.random() < column.get("optional", 1.0)]
    hidden = _hidden(spec["columns"], columns)
    drawer = _Drawer(spec, rows, rng)
    drawn = [drawer.row(hidden) for _ in range(rows)]
    for column in hidden:
        if column["draw"].get("date", {}).get("shuffled"):
            _shuffle(drawn, column["name"], rng)
    told = [_column(column, symbol) for column in columns]
    table: dict[str, JSON] = {
        "topic": topic,
        "title": pick(rng, spec["titles"]),
        "sheet": pick(rng, spec["sheets"]),
        "file": pick(rng, spec["files"]),
        "columns": told,
        "rows": [[_json(row[column["name"]]) for column in columns] for row in drawn],
    }
    for key, roles in (
        ("numeric_columns", ("measure",)),
        ("category_columns", ("category", "flag")),
        ("text_columns", ("label", "person", "code")),
        ("date_columns", ("date",)),
    ):
        table[key] = [column["name"] for column in told if column["role"] in roles and column["type"] != "time"]
    return table


def pick(rng: random.Random, values: Sequence[Any] | Mapping[Any, float]) -> Any:
    """One of the values, or of a mapping's keys by weight; with `rng.random()` alone."""
    if isinstance(values, Mapping):
        left = rng.random() * sum(values.values())
        for value, weight in values.items():
            left -= weight
            if left < 0:
                return value
        return value
    return values[int(rng.random() * len(values))]


class _Drawer:
    """Draws the rows of one table, one after the other."""

    def __init__(self, spec: Mapping[str, Any], rows: int, rng: random.Random):
        self._spec = spec
        self._rng = rng
        self._rows = rows
        self._memory: dict[str, Any] = {}
        self._catalogue: list[dict[str, Any]] = []
        if "catalogue" in spec:
            fields = spec["catalogue"]["fields"]
            self._catalogue = [dict(zip(fields, row, strict=True)) for row in spec["catalogue"]["rows"]]

    def row(self, columns: list[dict[str, Any]]) -> Row:
        row: Row = {}
        product: dict[str, Any] = {}
        for column in columns:
            name, draw = column["name"], column["draw"]
            if "catalogue" in draw and not product:
                product = self._product(bool(draw.get("repeat")))
            value = self._value(name, draw, row, product)
            if draw.get("distinct"):
                value = self._distinct(name, draw, row, product, value)
            row[name] = value
        return row

    def _value(self, name: str, draw: Mapping[str, Any], row: Row, product: Mapping[str, Any]) -> Any:
        rng = self._rng
        if "catalogue" in draw:
            value = product[draw["catalogue"]]
            if "vary" in draw:
                value *= 1 + draw["vary"] * (2 * rng.random() - 1)
            return round(value, draw["decimals"]) if "decimals" in draw else value
        if "by" in draw:
            return self._by(draw, row)
        for kind in _KINDS:
            if kind in draw:
                return _KINDS[kind](self, name, draw, row)
        raise PreparerError(f"column {name!r}: nothing says how it is drawn: {dict(draw)}")

    def _by(self, draw: Mapping[str, Any], row: Row) -> Any:
        chosen = row[draw["by"]]
        if "choices" in draw:
            return pick(self._rng, draw["choices"][chosen])
        if "fixed" in draw:
            # One value a group in the whole table: an hourly rate, the price of a plan.
            key = f"fixed {draw['by']} {chosen}"
            if key not in self._memory:
                self._memory[key] = pick(self._rng, draw["fixed"][chosen])
            return self._memory[key]
        low, high = draw["ranges"][chosen]
        return _spread(self._rng, low, high, draw.get("decimals", 0), skew=True)

    def _distinct(self, name: str, draw: Mapping[str, Any], row: Row, product: Mapping[str, Any], value: Any) -> Any:
        taken: set[Any] = self._memory.setdefault(f"taken {name}", set())
        for _ in range(_ATTEMPTS):
            if value not in taken:
                break
            value = self._value(name, draw, row, product)
        step = draw["integer"][2] if "integer" in draw and len(draw["integer"]) > 2 else 10 ** -draw.get("decimals", 0)
        while value in taken:
            value = round(value + step, draw.get("decimals", 0)) if step < 1 else value + step
        taken.add(value)
        return value

    def _product(self, repeat: bool) -> dict[str, Any]:
        """A row of the catalogue: any one, or none twice until all were taken."""
        if repeat:
            return dict(pick(self._rng, self._catalogue))
        left = self._memory.setdefault("left", [])
        if not left:
            left.extend(self._catalogue)
        return dict(left.pop(int(self._rng.random() * len(left))))

    def _choice(self, name: str, draw: Mapping[str, Any], row: Row) -> Any:
        return pick(self._rng, draw["choice"])

    def _date(self, name: str, draw: Mapping[str, Any], row: Row) -> date:
        spec = draw["date"]
        if name not in self._memory:
            first, last = spec["start"]
            self._memory[name] = first + timedelta(days=int(self._rng.random() * ((last - first).days + 1)))
        else:
            low, high = spec["step"]
            self._memory[name] += timedelta(days=low + int(self._rng.random() * (high - low + 1)))
        while spec.get("weekdays") and self._memory[name].weekday() > 4:
            self._memory[name] += timedelta(days=1)
        found: date = self._memory[name]
        return found

    def _code(self, name: str, draw: Mapping[str, Any], row: Row) -> str:
        spec = draw["code"]
        low, high = spec["start"] if name not in self._memory else spec["step"]
        self._memory[name] = self._memory.get(name, 0) + low + int(self._rng.random() * (high - low + 1))
        return f"{spec['prefix']}{self._memory[name]:0{spec['width']}d}"

    def _person(self, name: str, draw: Mapping[str, Any], row: Row) -> str:
        people = _people()
        taken = self._memory.setdefault("people", set())
        pool = self._memory.setdefault(f"pool {name}", [])
        limit = draw["person"].get("pool")
        if limit and len(pool) >= min(limit, max(2, self._rows // 2)):
            return str(pick(self._rng, pool))
        while True:
            person = f"{pick(self._rng, people['first'])} {pick(self._rng, people['last'])}"
            if person not in taken or len(taken) >= len(people["first"]) * len(people["last"]):
                break
        taken.add(person)
        pool.append(person)
        return person

    def _integer(self, name: str, draw: Mapping[str, Any], row: Row) -> int:
        low, high, *step = draw["integer"]
        return int(low + int(self._rng.random() * ((high - low) // (step or [1])[0] + 1)) * (step or [1])[0])

    def _number(self, name: str, draw: Mapping[str, Any], row: Row) -> float:
        low, high = draw["number"]
        if "step" in draw:
            return float(low + draw["step"] * int(self._rng.random() * ((high - low) / draw["step"] + 1)))
        return _spread(self._rng, low, high, draw["decimals"], skew=bool(draw.get("skew")))

    def _time(self, name: str, draw: Mapping[str, Any], row: Row) -> str:
        low, high, step = draw["time"]
        minutes = low * 60 + step * int(self._rng.random() * ((high - low) * 60 // step + 1))
        return f"{minutes // 60:02d}:{minutes % 60:02d}"

    def _share(self, name: str, draw: Mapping[str, Any], row: Row) -> int:
        low, high = draw["share"]["range"]
        whole: int = row[draw["share"]["of"]]
        share: float = low + (high - low) * self._rng.random()
        return round(whole * share)

    def _scaled(self, name: str, draw: Mapping[str, Any], row: Row) -> float:
        spec = draw["scaled"]
        noise = 1 + spec.get("noise", 0.0) * (2 * self._rng.random() - 1)
        return _half_up(row[spec["of"]] * spec["by"] * noise, draw["decimals"])

    def _product_of(self, name: str, draw: Mapping[str, Any], row: Row) -> float:
        value = 1.0
        for factor in draw["product"]:
            value *= row[factor]
        if "less" in draw:
            value *= 1 - row[draw["less"]]
        return _half_up(value, draw["decimals"])

    def _sum_of(self, name: str, draw: Mapping[str, Any], row: Row) -> float:
        total: float = sum(row[part] for part in draw["sum"])
        return round(total, draw["decimals"]) if "decimals" in draw else total

    def _ratio(self, name: str, draw: Mapping[str, Any], row: Row) -> float:
        part, whole = (row[key] for key in draw["ratio"])
        return float(round(part / whole, draw["decimals"]))


_KINDS: dict[str, Callable[[_Drawer, str, Mapping[str, Any], Row], Any]] = {
    "choice": _Drawer._choice,
    "date": _Drawer._date,
    "code": _Drawer._code,
    "person": _Drawer._person,
    "integer": _Drawer._integer,
    "number": _Drawer._number,
    "time": _Drawer._time,
    "share": _Drawer._share,
    "scaled": _Drawer._scaled,
    "product": _Drawer._product_of,
    "sum": _Drawer._sum_of,
    "ratio": _Drawer._ratio,
}


def _spread(rng: random.Random, low: float, high: float, decimals: int, *, skew: bool) -> float:
    """A number between two bounds; skewed ones are mostly small, as prices and invoices are."""
    part = rng.random()
    return float(round(low + (high - low) * (part * part if skew else part), decimals))


def _half_up(value: float, decimals: int) -> float:
    """Round as spreadsheets do: halves away from zero, judged by the decimals a person sees."""
    scaled = round(abs(value) * 10**decimals, 6)
    return float(
        round((int(scaled) + (scaled - int(scaled) >= 0.5)) / 10**decimals * (1 if value >= 0 else -1), decimals)
    )


def _hidden(all_columns: list[dict[str, Any]], shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The columns to draw: those that show, and those that these depend on."""
    needed = {column["name"] for column in shown}
    for column in reversed(all_columns):
        if column["name"] in needed:
            needed.update(_dependencies(column))
    return [column for column in all_columns if column["name"] in needed]


def _shuffle(rows: list[Row], name: str, rng: random.Random) -> None:
    values = [row[name] for row in rows]
    for index in range(len(values) - 1, 0, -1):
        other = int(rng.random() * (index + 1))
        values[index], values[other] = values[other], values[index]
    for row, value in zip(rows, values, strict=True):
        row[name] = value


def _column(column: Mapping[str, Any], symbol: str) -> dict[str, JSON]:
    kind = column.get("type", "text")
    code = column.get("format", "")
    if kind == "currency" and not code:
        code = compose("currency", symbol=symbol)
    elif kind == "currency":
        code = f"{code} [${symbol}]"
    choices = column.get("choices") or column["draw"].get("choice") or ()
    texts = [value for value in choices if isinstance(value, str)]
    return {
        "name": column["name"],
        "type": kind,
        "format": code,
        "unit": symbol if kind == "currency" else column.get("unit", ""),
        "formula": column.get("formula", ""),
        "choices": texts,
        "role": column.get("role", ""),
    }


def _json(value: Any) -> JSON:
    if isinstance(value, date):
        return value.isoformat()
    return int(value) if isinstance(value, float) and value.is_integer() else value


@cache
def _people() -> dict[str, list[str]]:
    found: dict[str, list[str]] = yaml.safe_load((_DATA / "people.yaml").read_text(encoding="utf-8"))
    return found


@cache
def _topic(name: str) -> dict[str, Any]:
    path = _DATA / f"{name}.yaml"
    if name not in topics():
        raise InputError(f"no table topic {name!r}", mend=f"there are {', '.join(topics())}")
    spec: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    for key in ("titles", "sheets", "files", "currencies", "columns"):
        if not spec.get(key):
            raise InputError(f"topic {name} has no {key}", file=path)
    names = {column["name"] for column in spec["columns"]}
    for column in spec["columns"]:
        for other in _dependencies(column):
            if other not in names:
                raise InputError(f"column {column['name']!r} depends on {other!r}, which there is not", file=path)
    return spec


def _dependencies(column: Mapping[str, Any]) -> list[str]:
    draw = column["draw"]
    found = [*draw.get("product", ()), *draw.get("sum", ()), *draw.get("ratio", ())]
    found += [draw[key] for key in ("by", "less") if key in draw]
    return found + [draw[key]["of"] for key in ("share", "scaled") if key in draw]
