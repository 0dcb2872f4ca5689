"""The pace of the work, measured from the rows that are there: seconds and bytes for `rounds.plan`; what it made of them.

Seconds are wall-clock seconds an item, as far apart as rows of the same kind were committed, so they hold for the machine and the
concurrency that they were measured with. Breaks (a round that ended, a machine that slept) are gaps far longer than the
usual ones, and are left out.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, text, update
from sqlalchemy.engine import Connection

from warehouse.engine import insert_new
from warehouse.schema import ForecastRow

BREAK = 20.0
"""A gap of more than so many median gaps (and more than a minute) is a break."""


QUANTITIES = (
    "tasks", "candidates", "episodes", "bank_values", "hours", "hours: start", "hours: draw", "hours: probe", "hours: episode",
    "gigabytes", "tokens", "usd",
)  # fmt: skip
"""What a forecast speaks of, in the order in which people read it."""


@dataclass(frozen=True)
class Pace:
    """How long one kind of item takes: `items` were measured, `active` seconds in all; None an item where too few were."""

    items: int
    active: float

    @property
    def seconds(self) -> float | None:
        """Wall-clock seconds an item."""
        return self.active / self.items if self.items >= 3 and self.active > 0 else None


def paces(connection: Connection, round: int | None = None) -> dict[str, Pace]:
    """The pace of `draw`, `probe` and `episode`, of all rounds or of one."""
    one = "" if round is None else "JOIN round_tasks r ON r.task = {} AND r.round = :round"
    values = {} if round is None else {"round": round}
    queries = {
        "draw": f"SELECT t.created_at FROM tasks t {one.format('t.id')}",
        "probe": f"SELECT MAX(p.created_at) FROM probes p {one.format('p.task')} WHERE p.stage = 'file' GROUP BY p.task",
        "episode": f"SELECT j.created_at FROM trajectories j {one.format('j.task')}",
    }
    return {name: _pace([float(t) for t in connection.scalars(text(query), values)]) for name, query in queries.items()}


def bytes_of(connection: Connection, round: int | None = None) -> dict[str, int]:
    """Bytes of the database, of all artifacts (each content once), and of a round's artifacts where one is named."""
    if connection.dialect.name == "postgresql":
        database = connection.scalar(text("SELECT pg_database_size(current_database())"))
    else:
        database = connection.scalar(text("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"))
    only = "" if round is None else "WHERE task IN (SELECT task FROM round_tasks WHERE round = :round)"
    query = text(f"SELECT SUM(size) FROM (SELECT DISTINCT sha256, size FROM artifacts {only}) a")
    artifacts = connection.scalar(query, {} if round is None else {"round": round})
    return {"database": int(database or 0), "artifacts": int(artifacts or 0)}


def write_forecast(session: Connection, round: int, forecast: dict[str, Any]) -> None:
    """Keep what a round is expected to take; the first forecast stays."""
    row = {"round": round, "forecast": forecast, "took": None, "created_at": time.time()}
    insert_new(session, ForecastRow, [row])


def write_taken(session: Connection, round: int, took: dict[str, Any]) -> None:
    """Keep what a round has taken so far."""
    session.execute(update(ForecastRow).where(ForecastRow.round == round).values(took=took))


def forecasts(connection: Connection) -> list[dict[str, Any]]:
    """Rows of round, forecast and took, by round."""
    table = ForecastRow.__table__
    query = select(table.c.round, table.c.forecast, table.c.took).order_by(table.c.round)
    return [dict(row._mapping) for row in connection.execute(query)]


def checked(connection: Connection, round: int | None = None) -> list[dict[str, Any]]:
    """What rounds were expected to take beside what they took: rows of round, quantity, expected, took, ratio.

    `ratio` is took / expected; None where nothing was expected. `took` is None while nothing was noted.
    """
    rows = []
    for each in forecasts(connection):
        if round is not None and each["round"] != round:
            continue
        expected, took = (_flat(each[side] or {}) for side in ("forecast", "took"))
        for name in QUANTITIES:
            if name not in expected:
                continue
            hoped, got = expected[name], took.get(name)
            ratio = got / hoped if got is not None and hoped else None
            rows.append({"round": each["round"], "quantity": name, "expected": hoped, "took": got, "ratio": ratio})
    return rows


def start_hours(row: Mapping[str, Any]) -> float | None:
    """Hours of a round that went into no stage: to start what it needs, and to look. None while nothing was noted."""
    hours = ((row["took"] or {}).get("hours_by_stage") or {}).get("start")
    return None if hours is None else float(hours)


def episodes(connection: Connection, round: int | None = None) -> int:
    """How many episodes were played, in all or on tasks of a round."""
    only = "" if round is None else "WHERE task IN (SELECT task FROM round_tasks WHERE round = :round)"
    query = text(f"SELECT COUNT(*) FROM trajectories {only}")
    return int(connection.scalar(query, {} if round is None else {"round": round}) or 0)


def values(connection: Connection) -> int:
    """How many values models wrote for banks."""
    return int(connection.scalar(text("SELECT COUNT(*) FROM bank_values")) or 0)


def _flat(found: Mapping[str, Any]) -> dict[str, float]:
    stages = {f"hours: {name}": hours for name, hours in (found.get("hours_by_stage") or {}).items()}
    return {**{name: found[name] for name in QUANTITIES if name in found}, **stages}


def _pace(times: Sequence[float]) -> Pace:
    times = sorted(times)
    gaps = [after - before for before, after in itertools.pairwise(times)]
    if not gaps:
        return Pace(len(times), 0.0)
    longest = max(60.0, BREAK * statistics.median(gaps))
    kept = [gap for gap in gaps if gap <= longest]
    return Pace(len(kept), sum(kept))  # the first item after a break has no gap, and does not count
