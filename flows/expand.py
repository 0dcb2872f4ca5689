"""Flow `forge`, deployment `forge/skill-expand`: validate the skills and register them, with their workflows, for a round."""

from __future__ import annotations

from typing import Any

from prefect import flow, task

from flows.heartbeat import alive
from flows.naming import by_round
from flows.reporting import table
from rounds.register import choose, register
from rounds.workshop import Workshop


@task(name="validate-and-register", retries=2, retry_delay_seconds=5)
def validate_and_register(round: int | None, skills: list[str], tasks: int) -> list[dict[str, Any]]:
    """Load and register the chosen workflows; one row each."""
    with Workshop() as workshop:
        plan = register(workshop.warehouse, choose(skills), tasks=tasks, round=round)
    return [
        {
            "round": plan.round, "skill": w.skill.id, "version": w.version[:12], "apps": " ".join(w.skill.apps),
            "channels": " ".join(w.channels),
        }
        for w in plan.workflows
    ]  # fmt: skip


@flow(name="forge", flow_run_name=by_round("skill-expand"), retries=1, retry_delay_seconds=10)
def forge(round: int | None = None, skills: list[str] | None = None, tasks: int = 2) -> int:
    """Validate and register the skills and workflows of a round.

    Args:
        round: its number; none: the unfinished round of the same plan, else the next.
        skills: skill ids or shell patterns; none: all.
        tasks: how many accepted tasks a skill is to reach in the round.

    Returns:
        How many workflows are registered.
    """
    with Workshop() as workshop, alive(workshop.warehouse):
        rows = validate_and_register(round, skills or [], tasks)
    table("skill-expand", rows, f"{len(rows)} workflows registered")
    return len(rows)
