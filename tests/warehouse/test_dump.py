"""The canonical dump: the same for the same work, however it was interrupted, and different when the work is."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forge.records import Verdict
from warehouse import Warehouse

from .samples import good_evidence, make_call, make_task, make_trajectory, probe, register

WORKER = Path(__file__).parent / "worker.py"
ITEMS = 12


def fill(warehouse: Warehouse, *, seconds: float = 8.5, order: int = 1, call: str = "call-1") -> None:
    tasks = [make_task(n) for n in range(3)][::order]
    ordinals = list(range(3))[::order]
    with warehouse.begin() as session:
        register(warehouse, session)
        for ordinal, task in zip(ordinals, tasks, strict=True):
            warehouse.add_task(session, task, 1, ordinal)
            evidence = [p.model_copy(update={"seconds": seconds}) for p in good_evidence(task)]
            warehouse.add_probes(session, evidence[::order])
            warehouse.add_trajectory(session, slower(task, seconds))
    warehouse.ledger.record(make_call(call, seconds=seconds, started_at=str(seconds)))
    lease = warehouse.claims.acquire("probe", "t", f"owner {seconds}")
    if seconds > 9:
        lease.release("crashed")
        lease = warehouse.claims.acquire("probe", "t", "another")
    with warehouse.begin() as session:
        lease.complete(session)


def slower(task, seconds: float):
    trajectory = make_trajectory(task)
    pixels = {"screenshot": f"{int(seconds * 10):064}"}
    actions = tuple(
        a.model_copy(
            update={
                "latency_ms": seconds, "settle_ms": seconds,
                "before": a.before.model_copy(update=pixels), "after": a.after.model_copy(update=pixels),
            }
        )
        for a in trajectory.actions
    )  # fmt: skip
    return trajectory.model_copy(
        update={"actions": actions, "seconds": seconds, "started_at": str(seconds), "timings": {"act": seconds}}
    )


def test_times_pixels_owners_and_order_do_not_count(new_url, tmp_path):
    with Warehouse.open(new_url("a"), str(tmp_path / "blobs")) as first:
        fill(first)
        one = first.dump()
    with Warehouse.open(new_url("b"), str(tmp_path / "blobs")) as second:
        fill(second, seconds=20.0, order=-1, call="call-2")
        two = second.dump()
    assert one == two
    assert all(line == line.strip() and "\n" not in line for line in one)
    assert one == sorted(one, key=lambda line: line.split(" ", 1)[0])


def test_both_engines_dump_the_same(postgres, tmp_path):
    dumps = []
    for url in (f"sqlite:///{tmp_path}/w.db", postgres.new_database()):
        with Warehouse.open(url, str(tmp_path / "blobs")) as warehouse:
            fill(warehouse)
            dumps.append(warehouse.dump())
    assert dumps[0] == dumps[1]


@pytest.mark.parametrize(
    "change",
    [
        lambda w, s: w.add_task(s, make_task(9), 1, 9),
        lambda w, s: w.add_task(s, make_task(0), 1, 9),
        lambda w, s: w.add_probes(s, [probe(make_task(0), "noop", "second", True, 0.0)]),
        lambda w, s: w.add_trajectory(s, make_trajectory(make_task(0), attempt=1)),
        lambda w, s: w.add_verdict(s, w.trajectory_ids()[0], Verdict(grading="graded", score=0.5), "later"),
        lambda w, s: w.finish_round(s, 1),
    ],
)
def test_different_work_gives_a_different_dump(warehouse, change):
    fill(warehouse)
    before = warehouse.dump()
    with warehouse.begin() as session:
        change(warehouse, session)
    assert warehouse.dump() != before


def test_a_claim_that_nobody_holds_is_as_good_as_none_and_a_failed_one_keeps_its_reason(warehouse):
    before = warehouse.dump()
    warehouse.claims.acquire("probe", "t", "me").release("interrupted")
    assert warehouse.dump() == before
    warehouse.claims.acquire("probe", "t", "me").fail("no values")
    [line] = [line for line in warehouse.dump() if line.startswith("claims")]
    assert line == 'claims {"key":"t","kind":"probe","reason":"no values","state":"failed"}'


def run_worker(url: str, blobs: Path, kill_after: float | None) -> None:
    """Run the worker; with `kill_after` it is killed so many seconds after it began to work, and may just have ended."""
    worker = subprocess.Popen(
        [sys.executable, str(WORKER), url, str(blobs), str(ITEMS)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=WORKER.parents[2],
    )  # fmt: skip
    assert worker.stdout is not None
    worker.stdout.readline()
    if kill_after is not None:
        time.sleep(kill_after)
        worker.kill()
    code = worker.wait()
    worker.stdout.close()
    assert code in ((0,) if kill_after is None else (0, -9))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("undisturbed")
    run_worker(f"sqlite:///{folder}/w.db", folder / "blobs", None)
    with Warehouse.open(f"sqlite:///{folder}/w.db", str(folder / "blobs")) as warehouse:
        return warehouse.dump()


@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=pytest.mark.slow)])
def test_kill_9_at_any_moment_and_a_rerun_give_the_undisturbed_dump(new_url, tmp_path, undisturbed, kills):
    url, blobs = new_url("killed"), tmp_path / "blobs-killed"
    moments = random.Random(7)
    for _ in range(kills):
        run_worker(url, blobs, moments.uniform(0.0, 0.12))
    run_worker(url, blobs, None)
    with Warehouse.open(url, str(blobs)) as warehouse:
        assert warehouse.dump() == undisturbed
        assert warehouse.stats()["tasks"]["accepted"] == ITEMS
        for row in warehouse.list_tasks():
            for artifact in warehouse.task(row["id"]).artifacts:
                assert warehouse.blobs.get(artifact.sha256) is not None


def test_several_processes_at_once_do_each_item_once(new_url, tmp_path, undisturbed):
    url, blobs = new_url("shared"), tmp_path / "blobs-shared"
    workers = [
        subprocess.Popen(
            [sys.executable, str(WORKER), url, str(blobs), str(ITEMS)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=WORKER.parents[2],
        )
        for _ in range(3)
    ]  # fmt: skip
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    with Warehouse.open(url, str(blobs)) as warehouse:
        assert warehouse.dump() == undisturbed
