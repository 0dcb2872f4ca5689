"""Flow `prepare`: materialize the tasks of a round behind the gates, and probe them."""

from __future__ import annotations

import asyncio

from prefect import flow, task

from flows.heartbeat import alive
from flows.naming import by_round
from flows.progress import progress
from flows.reporting import fail_on_faults, table
from rounds.register import Wish, choose, register
from rounds.round import prepare as prepare_tasks
from rounds.workshop import Workshop


@task(name="prepare-batch", retries=2, retry_delay_seconds=10)
def prepare_batch(round: int | None, skills: list[str], tasks: int) -> dict[str, str]:
    """One batch: all draws of the chosen skills, with bounded concurrency inside. Returns the faults left over."""
    with Workshop() as workshop, progress() as shown:
        plan = register(workshop.warehouse, Wish(choose(skills), tasks=tasks, round=round, named=skills))
        tally = asyncio.run(prepare_tasks(workshop, plan.round, plan.workflows, plan.draws, shown))
    return tally.faults | ({"budget": tally.budget} if tally.budget else {})


@flow(name="prepare", flow_run_name=by_round("prepare"), retries=1, retry_delay_seconds=30)
def prepare(round: int | None = None, skills: list[str] | None = None, tasks: int = 2) -> None:
    """Materialize and probe `tasks` draws a chosen skill, divided by what a student came to; done work is skipped."""
    with Workshop() as workshop, alive(workshop.warehouse):
        faults = prepare_batch(round, skills or [], tasks)
        rows = workshop.warehouse.rows_of("acceptance_reasons")
    table("prepare", rows, "why tasks are accepted or not")
    fail_on_faults(faults)
