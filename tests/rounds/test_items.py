"""Items under claims: done once, committed whole, given back on faults."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forge.records import DesktopError, Skill, WarehouseError
from rounds.items import Item, Silent, run_items
from warehouse import Warehouse


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Warehouse]:
    with Warehouse.open(f"sqlite:///{tmp_path / 'warehouse.db'}", f"file://{tmp_path / 'blobs'}") as opened:
        yield opened


def skill(name: str) -> Skill:
    return Skill(id=f"files.test.{name}", apps=("files",), title=name)


def items(*names: str) -> list[Item[str]]:
    return [Item(name, name) for name in names]


def writer(warehouse: Warehouse, seen: list[str]) -> Any:
    def work(name: str) -> Any:
        seen.append(name)
        return lambda session: warehouse.register_skill(session, skill(name))

    return work


async def test_every_item_is_worked_and_committed_once(warehouse: Warehouse) -> None:
    seen: list[str] = []
    work = writer(warehouse, seen)
    first = await run_items(warehouse, "test", items("make-a", "make-b"), work, limit=2)
    second = await run_items(warehouse, "test", items("make-a", "make-b", "make-c"), work, limit=2)
    assert (first.done, first.skipped) == (2, 0)
    assert (second.done, second.skipped) == (1, 2)
    assert sorted(seen) == ["make-a", "make-b", "make-c"]
    assert [s.title for s in warehouse.skills()] == ["make-a", "make-b", "make-c"]


async def test_at_most_limit_items_run_at_once(warehouse: Warehouse) -> None:
    running, most, lock = 0, 0, threading.Lock()
    together = threading.Barrier(2, timeout=10)

    def work(name: str) -> Any:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait()
        with lock:
            running -= 1
        return lambda session: None

    await run_items(warehouse, "test", items("a", "b", "c", "d"), work, limit=2)
    assert most == 2


async def test_a_fault_is_tried_again_and_never_becomes_a_result(warehouse: Warehouse) -> None:
    tries: list[str] = []

    def work(name: str) -> Any:
        tries.append(name)
        if len(tries) < 3:
            raise DesktopError("the X server died")
        return lambda session: warehouse.register_skill(session, skill("make-a"))

    tally = await run_items(warehouse, "test", items("x"), work, limit=1)
    assert (tally.done, tally.faults, len(tries)) == (1, {}, 3)
    assert warehouse.claims.is_done("test", "x")


async def test_a_lasting_fault_is_reported_and_left_for_the_next_run(warehouse: Warehouse) -> None:
    def broken(name: str) -> Any:
        raise DesktopError("no display")

    tally = await run_items(warehouse, "test", items("x"), broken, limit=1)
    assert tally.done == 0
    assert tally.faults == {"x": "no display"}
    assert not warehouse.claims.is_done("test", "x")
    again = await run_items(warehouse, "test", items("x"), lambda name: lambda session: None, limit=1)
    assert again.done == 1


async def test_nothing_is_written_when_the_lease_was_lost(warehouse: Warehouse) -> None:
    def slow(name: str) -> Any:
        # another process takes the claim over while this one still works
        with warehouse.claims.begin() as connection:
            connection.exec_driver_sql("UPDATE claims SET expires_at = 0")
        assert warehouse.claims.acquire("test", "x", "another", 60) is not None
        return lambda session: warehouse.register_skill(session, skill("make-a"))

    with pytest.raises(WarehouseError, match=r"not .* any more"):
        # the loser waits for the other owner; here that one never finishes, so one attempt is enough
        await asyncio.wait_for(_one_attempt(warehouse, slow), 20)
    assert warehouse.skills() == []


async def _one_attempt(warehouse: Warehouse, work: Any) -> None:
    from rounds import items as module

    lease = warehouse.claims.acquire("test", "x", "me", 60)
    assert lease is not None
    module._commit(warehouse, lease, work("x"))


async def test_a_crash_of_ours_gives_the_claim_back(warehouse: Warehouse) -> None:
    def bug(name: str) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await run_items(warehouse, "test", items("x"), bug, limit=1)
    assert warehouse.claims.acquire("test", "x", "me", 60) is not None


async def test_an_interrupt_gives_the_claims_back(warehouse: Warehouse) -> None:
    began, go_on = threading.Event(), threading.Event()

    def work(name: str) -> Any:
        began.set()
        go_on.wait(10)
        return lambda session: None

    task = asyncio.create_task(run_items(warehouse, "test", items("x", "y"), work, limit=1, progress=Silent()))
    await asyncio.to_thread(began.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    assert warehouse.claims.acquire("test", "x", "me", 60) is not None


async def test_an_interrupt_gives_back_a_claim_that_was_being_made(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go_on, made = threading.Event(), threading.Event(), threading.Event()
    acquire = warehouse.claims.acquire

    def slow(kind: str, key: str, *args: Any) -> Any:
        if key == "slow":
            asked.set()
            go_on.wait(10)
        try:
            return acquire(kind, key, *args)
        finally:
            if key == "slow":
                made.set()

    monkeypatch.setattr(warehouse.claims, "acquire", slow)
    stop = threading.Event()
    run = run_items(warehouse, "test", items("quick", "slow"), lambda name: stop.wait(10), limit=2)  # type: ignore[arg-type,return-value]
    task = asyncio.create_task(run)
    await asyncio.to_thread(asked.wait, 10)
    task.cancel()
    await asyncio.sleep(0.2)  # the quick one is through with its interruption, and the run with its first
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    stop.set()
    await asyncio.to_thread(made.wait, 10)
    assert [warehouse.claims.state("test", key) for key in ("quick", "slow")] == ["free", "free"]


async def test_two_runs_share_the_items(tmp_path: Path) -> None:
    url, blobs = f"sqlite:///{tmp_path / 'warehouse.db'}", f"file://{tmp_path / 'blobs'}"
    seen: list[str] = []
    names = [f"make-{n}" for n in range(8)]
    with Warehouse.open(url, blobs) as one, Warehouse.open(url, blobs) as two:
        tallies = await asyncio.gather(
            run_items(one, "test", items(*names), writer(one, seen), limit=2),
            run_items(two, "test", items(*names), writer(two, seen), limit=2),
        )
        assert sorted(seen) == names
        assert sum(t.done for t in tallies) == 8
        assert len(one.skills()) == 8
