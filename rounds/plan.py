"""What a round will take: hours, gigabytes, tokens and dollars, from what was measured here.

Every rate comes from the warehouse's own rows where there are enough of them, else from `ASSUMED`; a forecast says which.
`rounds.plan_check` keeps it when a round begins, with what the round then took. What it does not know: another machine,
another concurrency, and workflows that are far heavier or lighter than those that were measured.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from forge.records import JSON
from rounds.register import Plan
from rounds.workshop import Workshop
from skills import Workflow
from skills.topup import BATCH, WANTED, needs
from warehouse import pace
from warehouse.acceptance import STATE_ACCEPTED, STATE_REJECTED, states_of
from warehouse.costs import costs

ASSUMED: dict[str, float] = {
    "start_seconds": 20.0,
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

ENOUGH = 5
"""Items from which on a measured rate counts."""


def forecast(workshop: Workshop, plan: Plan) -> dict[str, JSON]:
    """What a new round of this plan will take.

    Returns:
        `hours` (and its parts `start`, `draw`, `probe`, `episode`), `gigabytes`, `tokens`, `usd`, the counts that they come
        from, the `rates`, and `assumed`: the rates that too little was measured for.
    """
    rates, assumed = measured(workshop)
    wanted = [(w, plan.of(w)) for w in plan.workflows if plan.of(w)]
    accepted = sum(tasks for _, tasks in wanted)
    candidates = accepted / rates["acceptance"]
    episodes = sum(tasks - 1 + max(1, _window_parts(workshop, w)) for w, tasks in wanted)
    seconds = {
        "start": rates["start_seconds"] if wanted else 0.0,
        "draw": candidates * rates["draw_seconds"],
        "probe": candidates * rates["probe_seconds"],
        "episode": episodes * rates["episode_seconds"],
    }
    size = candidates * (rates["artifact_bytes"] + rates["database_bytes"]) + episodes * rates["episode_bytes"]
    values = _values_missing(workshop, wanted)
    tokens = values * rates["tokens_per_value"] + accepted * rates["recurring_tokens_per_task"]
    return {
        "tasks": accepted, "candidates": round(candidates), "episodes": episodes, "bank_values": values,
        "hours": sum(seconds.values()) / 3600, "hours_by_stage": {name: s / 3600 for name, s in seconds.items()},
        "gigabytes": size / 1e9, "tokens": round(tokens), "usd": tokens * _price_per_token(workshop, rates),
        "rates": rates, "assumed": assumed,
    }  # fmt: skip


def measured(workshop: Workshop) -> tuple[dict[str, float], list[str]]:
    """The rates, and the names of those that are assumed. `usd_per_token` is there only where calls cost something."""
    found: dict[str, float | None] = dict.fromkeys(ASSUMED)
    with workshop.warehouse.read() as connection:
        rounds = pace.forecasts(connection)
        for name, each in pace.paces(connection).items():
            found[f"{name}_seconds"] = each.seconds if each.items >= ENOUGH else None
        sizes = pace.bytes_of(connection)
        spent = costs(connection)
        states = Counter(states_of(connection).values())
        episodes = pace.episodes(connection)
    if starts := [s for s in map(pace.start_hours, rounds) if s is not None]:
        found["start_seconds"] = 3600 * statistics.median(starts)
    decided, candidates = states[STATE_ACCEPTED] + states[STATE_REJECTED], states.total()
    if decided >= ENOUGH:
        found["acceptance"] = max(0.05, states[STATE_ACCEPTED] / decided)
    first: dict[str, Any] = min(
        (r["forecast"]["before"] for r in rounds if "before" in r["forecast"]), key=lambda b: b["database"], default={}
    )
    if candidates >= ENOUGH:
        found["artifact_bytes"] = sizes["artifacts"] / candidates
        found["database_bytes"] = max(0, sizes["database"] - first.get("database", 0)) / candidates
    blobs = workshop.warehouse.blobs.total() - first.get("blobs", 0)  # without what lay there before the first round
    if episodes >= ENOUGH:
        found["episode_bytes"] = max(0, blobs - sizes["artifacts"]) / episodes
    if spent["topup"]["values"] >= ENOUGH:
        found["tokens_per_value"] = spent["topup"]["tokens"] / spent["topup"]["values"]
    if spent["accepted_tasks"] >= ENOUGH and spent["per_task"]["tokens"]:
        found["recurring_tokens_per_task"] = spent["per_task"]["tokens"] / spent["accepted_tasks"]
    rates = {name: ASSUMED[name] if rate is None else rate for name, rate in found.items()}
    paid = {unit: spent["per_task"][unit] + spent["per_workflow"][unit] for unit in ("tokens", "usd")}
    if paid["usd"]:
        rates["usd_per_token"] = paid["usd"] / paid["tokens"]
    return rates, [name for name, rate in found.items() if rate is None]


def _window_parts(workshop: Workshop, workflow: Workflow) -> int:
    """Episodes that a workflow's window solutions still need once; a hybrid one is also played without each channel."""
    parts = 0
    for channel in ("gui", "hybrid"):
        if channel in workflow.channels and not workshop.warehouse.has_window_evidence(workflow.version, channel):
            parts += 3 if channel == "hybrid" else 1
    return parts


def _values_missing(workshop: Workshop, wanted: Sequence[tuple[Workflow, int]]) -> int:
    """Values that banks would be topped up with; none without an endpoint for the role `writer`."""
    if workshop.models.directory.endpoint("writer") is None:
        return 0
    banks = workshop.warehouse.banks
    wants = needs((w, range(min(tasks, 4 * BATCH))) for w, tasks in wanted)
    return sum(max(0, WANTED - banks.size(need.bank.pool, need.about)) for need in wants)


def _price_per_token(workshop: Workshop, rates: Mapping[str, float]) -> float:
    """US dollars a token of the writer: what the ledger says, else its price at three prompt tokens to one new one."""
    endpoint = workshop.models.directory.endpoint("writer")
    price = None if endpoint is None else endpoint.price
    assumed = 0.0 if price is None else (3 * price.prompt + price.completion) / 4e6
    return rates.get("usd_per_token", assumed)
