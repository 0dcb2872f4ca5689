"""Leases: one owner at a time, taken over when stale, fenced when late, done once; also by many threads at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import update

from forge.records import WarehouseError
from warehouse import Warehouse
from warehouse.schema import ClaimRow

from .samples import make_task


def expire(warehouse: Warehouse) -> None:
    """Let every lease run out at once, as the clock would."""
    with warehouse.begin() as session:
        session.execute(update(ClaimRow).where(ClaimRow.state == "held").values(expires_at=1.0))


def test_a_claim_has_one_owner(warehouse):
    claims = warehouse.claims
    lease = claims.acquire("probe", "t1", "me")
    assert (lease.token, lease.attempt, lease.owner) == (1, 1, "me")
    assert claims.acquire("probe", "t1", "you") is None
    assert claims.acquire("probe", "t1", "me") is None
    assert claims.acquire("play", "t1", "you") is not None
    assert (claims.is_held("probe", "t1"), claims.is_done("probe", "t1")) == (True, False)


def test_a_released_claim_is_free_again_and_remembers_its_attempts(warehouse):
    lease = warehouse.claims.acquire("probe", "t1", "me")
    assert lease.release("interrupted")
    assert not lease.release()
    assert warehouse.claims.state("probe", "t1") == "free"
    again = warehouse.claims.acquire("probe", "t1", "you")
    assert (again.token, again.attempt) == (2, 2)


def test_a_done_claim_is_never_given_out_again(warehouse):
    lease = warehouse.claims.acquire("probe", "t1", "me")
    with warehouse.begin() as session:
        lease.complete(session)
    expire(warehouse)
    assert warehouse.claims.acquire("probe", "t1", "you") is None
    assert warehouse.claims.is_done("probe", "t1")
    assert warehouse.claims.done("probe") == {"t1"}
    assert not lease.release("too late")
    assert warehouse.claims.is_done("probe", "t1")


def test_a_stale_lease_is_taken_over_and_the_late_owner_is_fenced_off(warehouse):
    late = warehouse.claims.acquire("materialize", "1:a:0", "late")
    expire(warehouse)
    assert warehouse.claims.state("materialize", "1:a:0") == "stale"
    lease = warehouse.claims.acquire("materialize", "1:a:0", "new")
    assert (lease.token, lease.attempt) == (2, 2)

    def write(session) -> None:
        warehouse.add_task(session, make_task(0), 1, 0)

    def commit(holder) -> None:
        with warehouse.begin() as session:
            write(session)
            holder.complete(session)

    with pytest.raises(WarehouseError, match="not late's any more"):
        commit(late)
    assert warehouse.list_tasks() == []
    with pytest.raises(WarehouseError, match="any more"):
        late.renew()
    assert not late.release()
    assert not late.fail("no")
    commit(lease)
    assert len(warehouse.list_tasks()) == 1


def test_an_owner_that_is_late_but_not_replaced_may_finish(warehouse):
    lease = warehouse.claims.acquire("probe", "t1", "me")
    expire(warehouse)
    with warehouse.begin() as session:
        lease.complete(session)
    assert warehouse.claims.is_done("probe", "t1")


def test_completing_twice_is_an_error(warehouse):
    lease = warehouse.claims.acquire("probe", "t1", "me")
    with warehouse.begin() as session:
        lease.complete(session)
    with pytest.raises(WarehouseError), warehouse.begin() as session:
        lease.complete(session)


def test_renewing_holds_it_longer(warehouse):
    lease = warehouse.claims.acquire("probe", "t1", "me", 60)
    expire(warehouse)
    lease.renew()
    assert warehouse.claims.is_held("probe", "t1")
    before = lease.expires_at
    lease.renew(600)
    assert 500 < lease.expires_at - before < 700


def test_a_rolled_back_result_leaves_the_claim_held(warehouse):
    lease = warehouse.claims.acquire("probe", "t1", "me")

    def crash() -> None:
        with warehouse.begin() as session:
            lease.complete(session)
            raise RuntimeError("crash")

    with pytest.raises(RuntimeError, match="crash"):
        crash()
    assert warehouse.claims.is_held("probe", "t1")


def test_failed_work_stays_failed_until_it_is_reopened(warehouse):
    claims = warehouse.claims
    assert claims.acquire("materialize", "bad", "me").fail("the domain has no values")
    assert claims.acquire("materialize", "bad", "me") is None
    assert claims.failed("materialize") == [
        {"kind": "materialize", "key": "bad", "attempt": 1, "reason": "the domain has no values"}
    ]
    assert claims.failed("probe") == []
    assert claims.reopen("materialize", ["other"]) == 0
    assert claims.reopen("materialize") == 1
    assert claims.acquire("materialize", "bad", "me").attempt == 1


def test_attempts_are_limited_where_asked_for(warehouse):
    claims = warehouse.claims
    for attempt in (1, 2):
        lease = claims.acquire("play", "p", "me", limit_attempts=2)
        assert lease.attempt == attempt
        lease.release("display taken")
    assert claims.acquire("play", "p", "me", limit_attempts=2) is None
    assert claims.failed()[0]["reason"] == "given up after 2 attempts; last: display taken"


def test_an_owner_that_vanishes_every_time_uses_up_the_attempts(warehouse):
    for _ in range(2):
        assert warehouse.claims.acquire("play", "p", "host:1", limit_attempts=2)
        expire(warehouse)
    assert warehouse.claims.acquire("play", "p", "host:2", limit_attempts=2) is None
    assert warehouse.claims.failed()[0]["reason"] == "given up after 2 attempts; last: host:1 vanished"


def test_many_at_once_in_the_order_asked_for(warehouse):
    claims = warehouse.claims
    claims.acquire("probe", "k3", "other")
    keys = [f"k{n}" for n in (9, 3, 1, 7, 1)]
    leases = claims.acquire_many("probe", keys, "me", limit=2)
    assert [lease.key for lease in leases] == ["k9", "k1"]
    rest = claims.acquire_many("probe", keys, "me")
    assert sorted(lease.key for lease in leases + rest) == ["k1", "k7", "k9"]
    assert claims.acquire_many("probe", [], "me") == []
    many = claims.acquire_many("bulk", [str(n) for n in range(1200)], "me")
    assert [lease.key for lease in many] == [str(n) for n in range(1200)]


def test_renewing_many_renews_the_rest_when_one_is_lost(warehouse):
    leases = warehouse.claims.acquire_many("probe", ["a", "b", "c"], "me", 60)
    leases[1].release()
    expire(warehouse)
    with pytest.raises(WarehouseError, match="probe b"):
        warehouse.claims.renew(leases)
    assert [warehouse.claims.state("probe", key) for key in "abc"] == ["held", "free", "held"]


def test_counts_by_kind_and_state(warehouse):
    claims = warehouse.claims
    claims.acquire("probe", "stale", "me")
    expire(warehouse)
    claims.acquire("probe", "held", "me")
    claims.acquire("probe", "free", "me").release()
    claims.acquire("play", "failed", "me").fail("x")
    assert claims.counts() == {"play": {"failed": 1}, "probe": {"free": 1, "held": 1, "stale": 1}}


def test_many_threads_get_each_claim_once_and_write_each_result_once(warehouse):
    tasks = [make_task(n) for n in range(12)]
    got: list[str] = []
    lock = threading.Lock()

    def worker(name: str) -> None:
        for ordinal, task in enumerate(tasks):
            lease = warehouse.claims.acquire("materialize", str(ordinal), name)
            if lease is None:
                continue
            with warehouse.begin() as session:
                warehouse.add_task(session, task, 1, ordinal)
                lease.complete(session)
            with lock:
                got.append(lease.key)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(worker, [f"w{n}" for n in range(6)]))
    assert sorted(got, key=int) == [str(n) for n in range(12)]
    assert len(warehouse.tasks_of_round(1, tasks[0].workflow)) == 12


def test_many_threads_asking_for_the_same_many(warehouse):
    keys = [f"{n:03}" for n in range(60)]

    def worker(name: str) -> list[str]:
        found: list[str] = []
        while leases := warehouse.claims.acquire_many("probe", keys, name, limit=7):
            found += [lease.key for lease in leases]
        return found

    with ThreadPoolExecutor(4) as pool:
        found = [key for part in pool.map(worker, "abcd") for key in part]
    assert sorted(found) == keys
