"""The canonical dump: all rows but volatile columns, sorted, so that two runs of the same work can be compared.

One line a row: the table, then the row as JSON in ASCII with sorted keys. Surrogate keys are replaced by natural ones. Left
out are the columns in `schema.VOLATILE` and, inside records, times, latencies and pixels: what the clock and the screen say
differs between two runs that did the same. A claim that nobody holds is left out too (it is as good as none), and a failed
one keeps its reason.

Of model calls only those are shown that gave an answer: what was asked in vain, begun and never ended, or found among the
stored answers depends on faults and kills, and is in the ledger. What this does not hide: a model that answers the same
question twice, differently, and a call whose answer came but was lost with its process; it is asked, and paid, again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from warehouse.schema import VOLATILE, Base, TrajectoryRow

VOLATILE_IN_RECORDS: dict[str, frozenset[str]] = {
    "authorings": frozenset({"seconds"}),
    "probes": frozenset({"seconds"}),
    "trajectories": frozenset({"started_at", "seconds", "timings", "final_state"}),
    "turns": frozenset({"call_id", "tokens"}),
    "actions": frozenset({"latency_ms", "settle_ms", "screenshot"}),
}
"""Keys that are left out of records, at any depth, by table."""


def lines(connection: Connection) -> Iterator[str]:
    """The lines of the dump, sorted within each table; tables by name."""
    keys = dict(connection.execute(select(TrajectoryRow.id, TrajectoryRow.key)).all())
    for name, table in sorted(Base.metadata.tables.items()):
        rows = (dict(row._mapping) for row in connection.execute(select(table)))
        kept = (_row(name, row, keys) for row in rows if not _is_nothing(name, row))
        yield from sorted(_line(name, row) for row in kept)


def _line(table: str, row: dict[str, Any]) -> str:
    # Not `canonical_json`: it refuses half a surrogate pair, which a command's output or a model's reply may hold.
    return f"{table} {json.dumps(row, sort_keys=True, separators=(',', ':'))}"


def _row(table: str, row: dict[str, Any], keys: dict[int, str]) -> dict[str, Any]:
    volatile = VOLATILE.get(table, frozenset())
    kept = {name: value for name, value in row.items() if name not in volatile}
    if table == "claims" and row["state"] == "failed":
        kept["reason"] = row["reason"]
    if isinstance(kept.get("trajectory"), int):
        kept["trajectory"] = keys[kept["trajectory"]]
    inside = VOLATILE_IN_RECORDS.get(table)
    if inside and isinstance(kept.get("record"), dict):
        kept["record"] = _without(kept["record"], inside)
    return kept


def _is_nothing(table: str, row: dict[str, Any]) -> bool:
    if table == "model_calls":
        return row["status"] not in ("ok", "refused", "truncated", "invalid")
    return table == "claims" and row["state"] == "free"


def _without(value: Any, names: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(item, names) for key, item in value.items() if key not in names}
    if isinstance(value, list):
        return [_without(item, names) for item in value]
    return value
