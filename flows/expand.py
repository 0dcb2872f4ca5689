"""Flow `forge`, deployment `forge/skill-expand`: harvest, validate and register the skills of a round; with an endpoint, author."""

from __future__ import annotations

import asyncio

from prefect import flow, task
from prefect.logging import get_run_logger

from flows.heartbeat import alive
from flows.naming import by_round
from flows.progress import progress
from flows.reporting import table
from forge.records import Settings
from rounds.expand import Expanded, Order, skill_expand
from rounds.models import choosing
from rounds.workshop import Workshop
from skills.authoring.brief import Limits


@task(name="skill-expand", retries=2, retry_delay_seconds=5)
def expand(order: Order, endpoint: str) -> Expanded:
    """Carry out an expansion; what is authored already stays so."""
    with Workshop(choosing(Settings(), "author", endpoint)) as workshop, progress() as shown:
        workshop.run = f"skill-expand-{order.round or 'next'}"
        return asyncio.run(skill_expand(workshop, order, shown))


@flow(name="forge", flow_run_name=by_round("skill-expand"), retries=1, retry_delay_seconds=10)
def forge(
    round: int | None = None,
    skills: list[str] | None = None,
    applications: list[str] | None = None,
    count: int = 0,
    budget_tokens: int | None = None,
    budget_usd: float | None = None,
    endpoint: str = "",
    tasks: int = 2,
    dry_run: bool = False,
    harvest: bool = True,
) -> int:
    """Validate and register the skills and workflows of a round; with an endpoint, author new ones first.

    Args:
        round: its number; none: the unfinished round of the same plan, else the next.
        skills: skill ids or shell patterns to register; none: all.
        applications: what to author for; none: all that have preparers.
        count: workflows to author at most; needs an endpoint for the role `author`.
        budget_tokens: tokens that all calls of this run may use; none: no limit.
        budget_usd: the same in US dollars.
        endpoint: which endpoint is the author (`NAME`, or `author=NAME,judge=NAME`); empty: as the settings say.
        tasks: how many accepted tasks a skill is to reach in the round.
        dry_run: say what would be done, and change nothing.
        harvest: read candidates from the applications' registries, if that was never done.

    Returns:
        How many workflows are registered.
    """
    order = Order(
        round, tuple(skills or ()), tuple(applications or ()), count, tasks, budget_tokens, budget_usd, Limits(),
        dry_run=dry_run, harvest=harvest,
    )  # fmt: skip
    with Workshop() as workshop, alive(workshop.warehouse):
        found = expand(order, endpoint)
    said = f"{len(found.registered)} workflows registered, {found.harvested} candidates harvested"
    if found.note:
        get_run_logger().info(found.note)
    table("skill-expand", found.registered, f"{said}. {found.note}".strip())
    if found.authored:
        columns = ("skill", "outcome", "steps", "calls", "prompt_tokens", "completion_tokens", "cost_usd", "reason")
        table("authored", [{c: row[c] for c in columns} for row in found.authored], "authoring runs of this round")
    return len(found.registered)
