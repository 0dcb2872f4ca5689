"""What a round was expected to take, and what it then took: the forecast is kept when it begins, and checked when it ends.

Hours are those that runs of the round took, on this host's clock, Prefect's own start left out. Of a run that was killed only
the pace of its rows is known: a round has taken the longer of both. Gigabytes are what database and blobs have grown by, so
that other work on the same warehouse meanwhile counts too.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import Any

from forge.records import JSON
from rounds.plan import forecast
from rounds.register import Plan
from rounds.workshop import Workshop
from warehouse import pace


@dataclass
class Watch:
    """Looks on while a round is worked on. Make one with `begin`, and `note` what was taken whenever it is worth it.

    A round that was finished before keeps what it took: to look at it again is no part of it.
    """

    workshop: Workshop
    plan: Plan
    before: float
    began: float
    over: bool

    @classmethod
    def begin(cls, workshop: Workshop, plan: Plan) -> Watch:
        """Keep the forecast, unless the round began before; its forecast stays."""
        with workshop.warehouse.read() as connection:
            rows = {row["round"]: row for row in pace.forecasts(connection)}
        if plan.round not in rows:
            found: dict[str, JSON] = {**forecast(workshop, plan), "before": _sizes(workshop)}
            with workshop.warehouse.begin() as session:
                pace.write_forecast(session, plan.round, found)
        took = (rows.get(plan.round) or {}).get("took") or {}
        over = any(r["number"] == plan.round and r["state"] == "done" for r in workshop.warehouse.rounds())
        return cls(workshop, plan, took.get("worked_hours", 0.0), monotonic(), over and bool(took))

    def note(self) -> None:
        """Keep what the round has taken so far beside its forecast."""
        if self.over:
            return
        found = taken(self.workshop, self.plan.round, self.before + (monotonic() - self.began) / 3600)
        with self.workshop.warehouse.begin() as session:
            pace.write_taken(session, self.plan.round, found)


def taken(workshop: Workshop, round: int, worked: float) -> dict[str, JSON]:
    """What a round has taken so far, in the terms of its forecast.

    Args:
        workshop: the open resources.
        round: a round that has a forecast.
        worked: hours that runs of it took.
    """
    warehouse = workshop.warehouse
    with warehouse.read() as connection:
        [before] = [row["forecast"].get("before") for row in pace.forecasts(connection) if row["round"] == round]
        stages = {name: each.active / 3600 for name, each in pace.paces(connection, round).items()}
        episodes = pace.episodes(connection, round)
    tokens, usd = warehouse.ledger.spent(f"round-{round}")
    rows = warehouse.list_tasks(round=round)
    hours = max(worked, sum(stages.values()))
    found: dict[str, JSON] = {
        "tasks": sum(row["accepted"] for row in rows), "candidates": len(rows), "episodes": episodes,
        "hours": hours, "hours_by_stage": {"start": hours - sum(stages.values()), **stages}, "worked_hours": worked,
        "tokens": tokens, "usd": usd,
    }  # fmt: skip
    if before is not None:
        now = _sizes(workshop)
        found["gigabytes"] = sum(now[name] - before[name] for name in ("database", "blobs")) / 1e9
        found["bank_values"] = now["values"] - before["values"]
    return found


def checked(workshop: Workshop, round: int | None = None) -> list[dict[str, Any]]:
    """Rows of round, quantity, expected, took and ratio (None where nothing was expected), of all rounds or of one."""
    with workshop.warehouse.read() as connection:
        return pace.checked(connection, round)


def _sizes(workshop: Workshop) -> dict[str, int]:
    warehouse = workshop.warehouse
    with warehouse.read() as connection:
        database = pace.bytes_of(connection)["database"]
        values = pace.values(connection)
    return {"database": database, "blobs": warehouse.blobs.total(), "values": values}
