"""Flow `rollout`: play a teacher on accepted tasks, on real desktops."""

from __future__ import annotations

import asyncio

from prefect import flow, task

from flows.heartbeat import alive
from flows.progress import progress
from flows.reporting import fail_on_faults, table
from rounds.play import Part
from rounds.rollout import rollout as play_parts
from rounds.workshop import Workshop


@task(name="rollout-batch", retries=2, retry_delay_seconds=10)
def rollout_batch(task_ids: list[str], harness: str, teacher: str, repeat: int) -> dict[str, str]:
    """Play one batch of tasks, with bounded concurrency inside. Returns the faults left over."""
    with Workshop() as workshop, progress() as shown:
        parts = [Part(workshop.warehouse.task(i), harness, teacher, n) for i in task_ids for n in range(repeat)]
        tally, _ = asyncio.run(play_parts(workshop, parts, shown))
    return tally.faults


@flow(name="rollout", flow_run_name="rollout-{teacher}-{harness}", retries=1, retry_delay_seconds=30)
def rollout(
    harness: str = "hybrid", teacher: str = "oracle", skill: str | None = None, limit: int = 500, repeat: int = 1
) -> None:
    """Play `teacher` under `harness` on accepted tasks; what is played already is skipped."""
    with Workshop() as workshop, alive(workshop.warehouse):
        ids = [r["id"] for r in workshop.warehouse.list_tasks(skill=skill, accepted=True, limit=limit)]
        faults: dict[str, str] = {}
        for start in range(0, len(ids), 200):
            faults |= rollout_batch(ids[start : start + 200], harness, teacher, repeat)
        rows = workshop.warehouse.rows_of("success_by_skill_harness")
    table("rollout", rows, "success by skill and harness")
    fail_on_faults(faults)
