"""The pace of the work, measured from the rows that are there: seconds, bytes and shares for `rounds.plan`.

Seconds are wall-clock seconds an item, as far apart as rows of the same kind were committed, so they hold for the machine and the
concurrency that they were measured with. Breaks (a round that ended, a machine that slept) are gaps far longer than the
usual ones, and are left out.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, text, update
from sqlalchemy.engine import Connection

from warehouse.engine import insert_new
from warehouse.schema import ForecastRow

BREAK = 20.0
"""A gap of more than so many median gaps (and more than a minute) is a break."""


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


def _pace(times: Sequence[float]) -> Pace:
    times = sorted(times)
    gaps = [after - before for before, after in itertools.pairwise(times)]
    if not gaps:
        return Pace(len(times), 0.0)
    longest = max(60.0, BREAK * statistics.median(gaps))
    kept = [gap for gap in gaps if gap <= longest]
    return Pace(len(kept), sum(kept))  # the first item after a break has no gap, and does not count
