"""Banks are filled before a round draws: through every fault, within every budget, and through a kill, to the same end."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import skills
from forge.records import Settings
from rounds.round import prepare
from rounds.topup import top_up_banks
from rounds.workshop import Workshop

from ..endpoint import serve

WORKFLOWS = [skills.load("calc.formula.total-below-column"), skills.load("thunderbird.contact.add-sender")]
DRAWS = {workflow.version: 12 for workflow in WORKFLOWS}
WANTED = 24
FAULTS = (
    ("429", 3), ("500", 4), ("cut", 5), ("garbage", 7), ("empty", 11), ("truncated", 13), ("hang", 17),
)  # fmt: skip
FIRST = ("Ana", "Bo", "Cem", "Dag", "Eva", "Fay", "Gil", "Hal", "Ida", "Jon", "Kai", "Lea", "Max", "Nia", "Ole", "Pia")


def answer(body: dict[str, Any]) -> str:
    """Values that follow from the request alone: as many as it asks for, some of them bad."""
    text = body["messages"][1]["content"]
    count = int(re.search(r"Write (\d+) different", text)[1])  # type: ignore[index]
    seed = hashlib.sha256(text.encode()).hexdigest()
    values = [
        {
            "file": f"file {seed[:6]} {n}", "sheet": f"Sheet {seed[:4]} {n}", "reason": f"number {n} is due",
            "owner": f"{FIRST[n % 16]} {FIRST[int(seed[n % 60], 16)]}son",
        }
        for n in range(count)
    ]  # fmt: skip
    if count > 1:
        values[0]["file"] = "../../etc/passwd"
    return json.dumps({"values": values})


def settings(folder: Path, url: str, **more: Any) -> Settings:
    folder.mkdir(exist_ok=True)
    endpoint = {
        "base_url": url, "model": "tiny", "backoff_seconds": 0.01, "request_seconds": 1.0, "max_attempts": 8,
        "prices": {"prompt": 1.0, "completion": 4.0}, "max_output_tokens": 3000,
    }  # fmt: skip
    path = folder / "endpoints.yaml"
    path.write_text(json.dumps({"endpoints": {"tiny": endpoint}}))
    return Settings(home=folder, llm_endpoints=str(path), **more)


async def fill(workshop: Workshop) -> Any:
    workshop.run = "round-1"
    return await top_up_banks(workshop, 1, WORKFLOWS, DRAWS, wanted=WANTED)


def end_of(workshop: Workshop) -> list[str]:
    """What is there in the end; a cut-off answer is a fault of the server here."""
    return [line for line in workshop.warehouse.dump() if '"status":"truncated"' not in line]


def sizes(workshop: Workshop) -> Counter[str]:
    found: Counter[str] = Counter()
    for line in workshop.warehouse.dump():
        if line.startswith("bank_values "):
            found[json.loads(line.split(" ", 1)[1])["about"]] += 1
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> list[str]:
    folder = tmp_path_factory.mktemp("plain")
    with serve(answer) as server, Workshop(settings(folder, server.url)) as workshop:
        tally = asyncio.run(fill(workshop))
        assert (tally.faults, tally.budget) == ({}, "")
        return end_of(workshop)


async def test_every_fault_leaves_the_end_of_a_run_without_faults(tmp_path, undisturbed):
    with serve(answer, FAULTS) as server, Workshop(settings(tmp_path / "w", server.url)) as workshop:
        for _ in range(5):  # what is left after the attempts of one run is taken up by the next
            tally = await fill(workshop)
            if not tally.faults:
                break
        assert end_of(workshop) == undisturbed
        assert all(WANTED <= count < WANTED + 5 for count in sizes(workshop).values())
        assert all(server.faults[kind] > 0 for kind, _ in FAULTS)
        calls = workshop.warehouse.ledger.calls()
        by_status = Counter(call.status for call in calls)
        assert by_status["rate_limited"] == server.faults["429"]
        assert by_status["truncated"] == server.faults["truncated"]
        assert sum(by_status.values()) - by_status["cached"] == len(server.requests)
        kept = [line for line in workshop.warehouse.dump() if line.startswith("model_answers ")]
        assert len(kept) == by_status["ok"]  # no failure is kept, and no good answer was paid for twice


async def test_a_budget_ends_it_cleanly_and_the_next_run_goes_on_to_the_same_end(tmp_path, undisturbed):
    with serve(answer, FAULTS[:3]) as server:
        with Workshop(settings(tmp_path / "w", server.url, llm_tokens=9000)) as workshop:
            tally = await fill(workshop)
            assert "the budget of round-1 (9000 tokens) is used up" in tally.budget
            spent = workshop.warehouse.ledger.spent("round-1")
            assert 4000 < spent[0] <= 9000
            done = sizes(workshop)
            assert sum(done.values()) > 0
            assert not [call for call in workshop.warehouse.ledger.calls() if call.status == "open"]
            again = await fill(workshop)
            assert again.budget
            assert workshop.warehouse.ledger.spent("round-1")[0] <= 9000
        with Workshop(settings(tmp_path / "w", server.url, llm_tokens=200_000)) as workshop:
            assert not (await fill(workshop)).budget
            assert end_of(workshop) == undisturbed
            paid = Counter(call.request for call in workshop.warehouse.ledger.calls() if call.status == "ok")
            assert set(paid.values()) == {1}


async def test_a_stage_and_money_have_budgets_too(tmp_path):
    with serve(answer) as server:
        with Workshop(settings(tmp_path / "a", server.url, llm_stage_tokens="topup=5000")) as workshop:
            assert "stage topup (5000 tokens)" in (await fill(workshop)).budget
            assert workshop.warehouse.ledger.spent("round-1", stage="topup")[0] <= 5000
        with Workshop(settings(tmp_path / "b", server.url, llm_usd=0.02)) as workshop:
            assert "$0.02" in (await fill(workshop)).budget
            assert 0 < workshop.warehouse.ledger.spent("round-1")[1] <= 0.02


CODE = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tests.rounds.test_topup import fill, settings
from rounds.workshop import Workshop
with Workshop(settings(Path(sys.argv[2]), sys.argv[3])) as workshop:
    asyncio.run(fill(workshop))
"""


@pytest.mark.slow
def test_killed_at_any_moment_it_comes_to_the_same_end_and_pays_for_no_kept_answer_twice(tmp_path, undisturbed):
    def slowly(body: dict[str, Any]) -> str:
        time.sleep(0.15)
        return answer(body)

    root = str(Path(__file__).parents[2])
    with serve(slowly) as server:
        for number in range(6):
            command = [sys.executable, "-c", CODE, root, str(tmp_path / "w"), server.url]
            process = subprocess.Popen(command, cwd=root, stdin=subprocess.DEVNULL, env={**os.environ})
            before = len(server.requests)
            deadline = time.monotonic() + 60
            while len(server.requests) < before + 2 + number and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.wait()
        with Workshop(settings(tmp_path / "w", server.url)) as workshop:
            assert not asyncio.run(fill(workshop)).faults
            assert end_of(workshop) == undisturbed
            calls = workshop.warehouse.ledger.calls()
            assert set(Counter(call.request for call in calls if call.status == "ok").values()) == {1}
            lost = [call for call in calls if call.status == "open"]
            assert len(server.requests) <= len([c for c in calls if c.status != "cached"])
            assert all(call.reserved_tokens > 0 for call in lost)


async def test_nothing_is_drawn_while_the_banks_cannot_be_filled(tmp_path):
    with serve(answer) as server:
        config = settings(tmp_path / "w", server.url, llm_tokens=10)
        with Workshop(config) as workshop:
            tally = await prepare(workshop, 1, WORKFLOWS, DRAWS)
            assert tally.budget
            assert workshop.warehouse.list_tasks() == []


async def test_without_an_endpoint_there_is_nothing_to_do(tmp_path):
    with Workshop(Settings(home=tmp_path)) as workshop:
        assert (await fill(workshop)).done == 0
