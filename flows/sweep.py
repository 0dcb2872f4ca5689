"""Flow `sweep`: end flow runs that are `Running` for Prefect but dead in fact, so that the next schedule is not starved.

A run of ours keeps a lease in the warehouse (`flows.heartbeat`). A `Running` run whose lease ran out, or that never
took one within its first minutes, has no process any more: its worker was killed. It is set to `Crashed`.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.objects import StateType
from prefect.states import Crashed

from flows.heartbeat import KIND
from flows.reporting import table
from rounds.workshop import Workshop
from warehouse import Warehouse

GRACE = timedelta(minutes=5)
"""A run that has just started may not have taken its lease yet."""

OURS = ("forge", "prepare", "rollout", "round")


async def end_dead_runs(warehouse: Warehouse, grace: timedelta = GRACE) -> list[dict[str, Any]]:
    """Set dead `Running` flow runs to `Crashed`. Returns one row a run that was ended."""
    ended = []
    async with get_client() as client:
        flows = {f.id: f.name for f in await client.read_flows()}
        running = FlowRunFilter.model_validate({"state": {"type": {"any_": [StateType.RUNNING]}}})
        for run in await client.read_flow_runs(flow_run_filter=running):
            name = flows.get(run.flow_id, "")
            if name not in OURS or run.start_time is None:
                continue
            age = datetime.now(UTC) - run.start_time
            if warehouse.claims.is_held(KIND, str(run.id)) or age < grace:
                continue
            await client.set_flow_run_state(
                run.id, Crashed(message="its process is gone: the lease in the warehouse ran out"), force=True
            )
            ended.append({"run": run.name, "flow": name, "started": str(run.start_time), "age": str(age)})
    return ended


@flow(name="sweep", flow_run_name="sweep-dead-runs")
def sweep() -> int:
    """End dead flow runs of this project; returns how many."""
    with Workshop() as workshop:
        ended = asyncio.run(end_dead_runs(workshop.warehouse))
    if ended:
        table("sweep", ended, f"{len(ended)} dead flow runs ended")
    return len(ended)


if __name__ == "__main__":
    print(f"{sweep()} dead flow runs ended")
