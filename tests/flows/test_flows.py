"""Flows against Prefect's real embedded server: registration completes; dead runs are ended, living ones are not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import StateType
from prefect.states import Running
from prefect.testing.utilities import prefect_test_harness

from flows.expand import forge
from flows.heartbeat import KIND
from flows.sweep import end_dead_runs
from forge.records import Settings
from rounds.workshop import Workshop

pytestmark = [
    pytest.mark.xdist_group("prefect"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    with prefect_test_harness(server_startup_timeout=180):
        yield


def test_skill_expand_registers_the_chosen_skills() -> None:
    registered = forge(round=7, skills=["files.*"], tasks=3, harvest=False)
    with Workshop() as workshop:
        found = [s.id.split(".")[0] for s in workshop.warehouse.skills()]
        assert found == ["files"] * registered
        assert registered >= 3
        assert [r["number"] for r in workshop.warehouse.rounds()] == [7]


def test_a_run_whose_lease_ran_out_is_ended_and_a_living_one_is_not(tmp_path: Path) -> None:
    async def two_running() -> tuple[str, str]:
        async with get_client() as client:
            dead = await client.create_flow_run(forge, state=Running())
            alive = await client.create_flow_run(forge, state=Running())
            return str(dead.id), str(alive.id)

    async def state_of(run: str) -> StateType:
        async with get_client() as client:
            found = await client.read_flow_run(run)
            assert found.state is not None
            return found.state.type

    dead, alive = asyncio.run(two_running())
    with Workshop(Settings(home=tmp_path)) as workshop:
        assert workshop.warehouse.claims.acquire(KIND, alive, "somebody", 60) is not None
        ended = asyncio.run(end_dead_runs(workshop.warehouse, timedelta(0)))
    assert len(ended) == 1
    assert asyncio.run(state_of(dead)) is StateType.CRASHED
    assert asyncio.run(state_of(alive)) is StateType.RUNNING
