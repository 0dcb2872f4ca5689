"""Flows against Prefect's real embedded server: registration completes; dead runs are ended, living ones are not."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import StateType
from prefect.settings import get_current_settings
from prefect.states import Running
from prefect.testing.utilities import prefect_test_harness

from flows.expand import forge
from flows.heartbeat import KIND
from flows.sweep import end_dead_runs
from forge.records import Settings
from rounds.workshop import Workshop
from warehouse.authorings import list_authorings

from ..endpoint import serve

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


WORKER = """
import sys
from flows.expand import forge
print("ready", flush=True)
sys.stdin.readline()
forge(round=5, skills=["files.archive.*"], count=12, harvest=False)
"""


@pytest.mark.slow
def test_two_workers_at_once_author_no_skill_twice(tmp_path: Path) -> None:
    """Both run the flow; the first request of each is answered when the other has asked too, so that they work side by side."""
    seen: set[str] = set()
    both = threading.Event()

    def answer(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        seen.add(body["model"])
        if len(seen) == 2:
            both.set()
        both.wait(20)  # no longer: a worker may have to wait for the other's skill
        return [("give_up", {"outcome": "needs_check", "reason": "there is no such check"})]

    with serve(answer) as server, ExitStack() as stack:
        workers = []
        for model in ("one", "two"):
            log = stack.enter_context((tmp_path / f"{model}.log").open("wb"))
            environment = {
                **os.environ, "FORGE_LLM_BASE_URL": server.url, "FORGE_LLM_MODEL": model,
                "PREFECT_API_URL": str(get_current_settings().api.url),
            }  # fmt: skip
            workers.append(
                subprocess.Popen(
                    [sys.executable, "-c", WORKER],
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                )
            )
            stack.callback(workers[-1].wait)
            stack.callback(workers[-1].kill)
        for worker in workers:
            assert worker.stdout is not None
            assert worker.stdout.readline() == b"ready\n"
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write(b"go\n")
            worker.stdin.flush()
        for worker in workers:
            worker.communicate(timeout=120)
            log_text = "".join(path.read_text() for path in tmp_path.glob("*.log"))
            assert worker.returncode == 0, log_text[-3000:]
    assert seen == {"one", "two"}
    with Workshop() as workshop:
        with workshop.warehouse.read() as connection:
            rows = list_authorings(connection)
        subjects = [call.subject for call in workshop.warehouse.ledger.calls() if call.status == "ok"]
        assert workshop.warehouse.claims.counts()["author"] == {"done": 12}
        assert [r["number"] for r in workshop.warehouse.rounds()] == [5]
    assert len({row["skill"] for row in rows}) == len(rows) == 12
    assert {row["outcome"] for row in rows} == {"needs_check"}
    assert sorted(subjects) == sorted(row["subject"] for row in rows)
    assert len(server.requests) == 12


def test_without_an_endpoint_the_flow_registers_and_says_what_one_would_add(caplog: pytest.LogCaptureFixture) -> None:
    assert forge(skills=["files.archive.*"], dry_run=True, harvest=False) >= 1
    with Workshop() as workshop:
        assert workshop.warehouse.rounds() == []
    registered = forge(skills=["files.archive.*"], count=3, harvest=False)
    with Workshop() as workshop:
        assert [r["number"] for r in workshop.warehouse.rounds()] == [1]
        assert len(workshop.warehouse.skills()) == registered
    assert "no endpoint for the role author: with one, up to 3 of" in caplog.text
