"""What a round will take: hours, gigabytes, tokens and dollars, from what was measured here, and what it then took.

Every rate comes from the warehouse's own rows where there are enough of them, else from `ASSUMED`; a forecast says which.
It is kept when a round begins, and compared with the round's own rows when it ends. What it does not know: another machine,
another concurrency, and workflows that are far heavier or lighter than those that were measured.
"""

from __future__ import annotations

from collections.abc import Sequence

from forge.records import JSON
from rounds.register import Plan
from rounds.workshop import Workshop
from skills import Workflow
from skills.topup import BATCH, WANTED, needs
from warehouse import pace
from warehouse.costs import costs

ASSUMED: dict[str, float] = {
    "draw_seconds": 1.5,
    "probe_seconds": 6.0,
    "episode_seconds": 15.0,
    "acceptance": 0.95,
    "artifact_bytes": 50e3,
    "episode_bytes": 1.2e6,
    "database_bytes": 60e3,
    "tokens_per_value": 90.0,
    "recurring_tokens_per_task": 0.0,
}
"""Rates where nothing was measured yet: of two shared cores, two slots, the library's first twelve skills."""

ENOUGH = 20
"""Items from which on a measured rate counts."""


def forecast(workshop: Workshop, workflows: Sequence[Workflow], tasks: int) -> dict[str, JSON]:
    """What a new round of `tasks` accepted tasks of each workflow will take.

    Returns:
        `hours` (and its parts `draw`, `probe`, `episode`), `gigabytes`, `tokens`, `usd`, the counts that they come from, the
        `rates`, and `assumed`: the rates that nothing was measured for.
    """
    rates, assumed = measured(workshop)
    accepted = tasks * len(workflows)
    candidates = accepted / rates["acceptance"]
    episodes = sum(tasks - 1 + max(1, _window_parts(workshop, w)) for w in workflows) if tasks else 0
    hours = {
        "draw": candidates * rates["draw_seconds"] / 3600,
        "probe": candidates * rates["probe_seconds"] / 3600,
        "episode": episodes * rates["episode_seconds"] / 3600,
    }
    size = candidates * (rates["artifact_bytes"] + rates["database_bytes"]) + episodes * rates["episode_bytes"]
    values = _values_missing(workshop, workflows, tasks)
    tokens = values * rates["tokens_per_value"] + accepted * rates["recurring_tokens_per_task"]
    return {
        "tasks": accepted, "candidates": round(candidates), "episodes": episodes, "bank_values": values,
        "hours": sum(hours.values()), "hours_by_stage": hours, "gigabytes": size / 1e9, "tokens": round(tokens),
        "usd": tokens * _price_per_token(workshop), "rates": rates, "assumed": assumed,
    }  # fmt: skip


def measured(workshop: Workshop) -> tuple[dict[str, float], list[str]]:
    """The rates, and the names of those that are assumed."""
    found: dict[str, float | None] = dict.fromkeys(ASSUMED)
    with workshop.warehouse.read() as connection:
        for name, each in pace.paces(connection).items():
            found[f"{name}_seconds"] = each.seconds if each.items >= ENOUGH else None
        sizes = pace.bytes_of(connection)
        spent = costs(connection)
    stats = workshop.warehouse.stats()
    decided = stats["tasks"]["accepted"] + stats["tasks"]["rejected"]
    candidates, episodes = stats["tasks"]["candidates"], stats["trajectories"]["total"]
    if decided >= ENOUGH:
        found["acceptance"] = max(0.05, stats["tasks"]["accepted"] / decided)
    if candidates >= ENOUGH:
        found["artifact_bytes"] = sizes["artifacts"] / candidates
        found["database_bytes"] = sizes["database"] / candidates
    blobs = workshop.warehouse.blobs.total()
    if episodes >= ENOUGH:
        found["episode_bytes"] = max(0, blobs - sizes["artifacts"]) / episodes
    if spent["topup"]["values"] >= ENOUGH:
        found["tokens_per_value"] = spent["topup"]["tokens"] / spent["topup"]["values"]
    if spent["accepted_tasks"] >= ENOUGH and spent["per_task"]["tokens"]:
        found["recurring_tokens_per_task"] = spent["per_task"]["tokens"] / spent["accepted_tasks"]
    return {name: ASSUMED[name] if rate is None else rate for name, rate in found.items()}, [
        name for name, rate in found.items() if rate is None
    ]


def taken(workshop: Workshop, round: int) -> dict[str, JSON]:
    """What a round has taken so far, in the terms of its forecast."""
    warehouse = workshop.warehouse
    with warehouse.read() as connection:
        active = {name: each.active for name, each in pace.paces(connection, round).items()}
        sizes = pace.bytes_of(connection, round)
    tokens, usd = warehouse.ledger.spent(f"round-{round}")
    rows = warehouse.list_tasks(round=round)
    return {
        "tasks": sum(row["accepted"] for row in rows), "candidates": len(rows),
        "hours": sum(active.values()) / 3600, "hours_by_stage": {n: s / 3600 for n, s in active.items()},
        "gigabytes_of_artifacts": sizes["artifacts"] / 1e9, "tokens": tokens, "usd": usd,
    }  # fmt: skip


def expect(workshop: Workshop, plan: Plan) -> None:
    """Keep the forecast of a round that begins; one that was kept before stays."""
    with workshop.warehouse.read() as connection:
        known = {row["round"] for row in pace.forecasts(connection)}
    if plan.round not in known:
        found = forecast(workshop, plan.workflows, plan.tasks)
        with workshop.warehouse.begin() as session:
            pace.write_forecast(session, plan.round, found)


def note_taken(workshop: Workshop, plan: Plan) -> None:
    """Keep what a round has taken beside its forecast."""
    found = taken(workshop, plan.round)
    with workshop.warehouse.begin() as session:
        pace.write_taken(session, plan.round, found)


def _window_parts(workshop: Workshop, workflow: Workflow) -> int:
    """Episodes that a workflow's window solutions still need once; a hybrid one is also played without each channel."""
    parts = 0
    for channel in ("gui", "hybrid"):
        if channel in workflow.channels and not workshop.warehouse.has_window_evidence(workflow.version, channel):
            parts += 3 if channel == "hybrid" else 1
    return parts


def _values_missing(workshop: Workshop, workflows: Sequence[Workflow], tasks: int) -> int:
    """Values that banks would be topped up with; none without an endpoint for the role `writer`."""
    if workshop.models.directory.endpoint("writer") is None:
        return 0
    banks = workshop.warehouse.banks
    wants = needs((w, range(min(tasks, 4 * BATCH))) for w in workflows)
    return sum(max(0, WANTED - banks.size(need.bank.pool, need.about)) for need in wants)


def _price_per_token(workshop: Workshop) -> float:
    """US dollars a token of the writer: what the ledger says, else its price at three prompt tokens to one new one."""
    endpoint = workshop.models.directory.endpoint("writer")
    price = None if endpoint is None else endpoint.price
    return 0.0 if price is None else (3 * price.prompt + price.completion) / 4e6
