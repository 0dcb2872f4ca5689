"""Run many items under claims: each item is worked by exactly one owner, and committed together with its claim.

An item is worked in a thread, or as a coroutine, and returns its *writes*; writes and the claim's completion are one
transaction, so that a `kill -9` leaves an item either done or untouched, and whoever comes next on the same machine takes
the dead process's claims over at once. An infrastructure fault gives the claim back and is tried again; it never becomes
a result.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from forge.llm import EndpointDownError
from forge.records import BudgetError, ForgeError, InputError
from warehouse import Lease, Warehouse
from warehouse.owners import owner_name

log = logging.getLogger(__name__)

T = TypeVar("T")
Writes = Callable[[Any], None]
"""Writes one item's results with the given database session."""
Work = Callable[[T], Writes] | Callable[[T], Awaitable[Writes]]
"""Computes one item: a plain function is called in a thread, a coroutine function in the loop."""

LEASE_SECONDS = 120.0
RETRIES = 3


class Progress(Protocol):
    """Where a job tells how far it is. `forge` draws a bar, a flow logs, tests stay silent."""

    def start(self, stage: str, total: int) -> None:
        """A stage of `total` items begins (or grows to it)."""

    def advance(self, stage: str, note: str = "") -> None:
        """One more item of the stage is through."""


class Silent:
    """A progress that says nothing."""

    def start(self, stage: str, total: int) -> None:
        """Ignore."""

    def advance(self, stage: str, note: str = "") -> None:
        """Ignore."""


@dataclass(frozen=True)
class Item(Generic[T]):
    """A unit of work: its natural key within the kind, and what to work on."""

    key: str
    value: T


@dataclass
class Tally:
    """What became of a batch. `faults` maps an item's key to the last error; such items are tried again next time.

    `budget` says which budget ended the batch, where one did: items in work were finished, no further one was begun.
    """

    done: int = 0
    skipped: int = 0
    faults: dict[str, str] = field(default_factory=dict)
    budget: str = ""


async def run_items(
    warehouse: Warehouse,
    kind: str,
    items: Sequence[Item[T]],
    work: Work[T],
    *,
    limit: int,
    progress: Progress | None = None,
    stage: str | None = None,
) -> Tally:
    """Work all items of one kind that are not done yet, at most `limit` at a time.

    Args:
        warehouse: keeps claims and results.
        kind: the kind of claim: "materialize", "probe", "play" ...
        items: keys are unique within the kind; an item whose claim is done is skipped.
        work: computes, stores blobs, and returns the rows to write.
        limit: items in work at once.
        progress: told about every item.
        stage: its name for people; default: the kind.

    Raises:
        asyncio.CancelledError: on Ctrl-C, after the claims in work were given back.
    """
    progress = progress or Silent()
    stage = stage or kind
    progress.start(stage, len(items))
    gate = asyncio.Semaphore(limit)
    tally = Tally()

    async def one(item: Item[T]) -> None:
        async with gate:
            if tally.budget:
                return
            note = await _work_one(warehouse, kind, item, work, tally)
        progress.advance(stage, note)

    working = [asyncio.ensure_future(one(item)) for item in items]
    try:
        await asyncio.gather(*working)
    except BaseException:  # none goes on behind the back of whoever handles this
        for task in working:
            if not task.cancelling():  # a second time would break off what it is giving back
                task.cancel()
        await asyncio.gather(*working, return_exceptions=True)
        raise
    return tally


async def _work_one(warehouse: Warehouse, kind: str, item: Item[T], work: Work[T], tally: Tally) -> str:
    """Claim, work and commit one item; the note says what came of it."""
    owner = owner_name()
    for attempt in range(RETRIES):
        lease = await _claim(warehouse, kind, item.key, owner)
        if lease is None:
            tally.skipped += 1
            return "was done"
        beat = asyncio.create_task(_heartbeat(lease))
        try:
            writes = await _call(work, item.value)
            await asyncio.to_thread(_commit, warehouse, lease, writes)
            tally.done += 1
            tally.faults.pop(item.key, None)
            return "done"
        except asyncio.CancelledError:
            lease.release("interrupted")
            raise
        except BudgetError as error:
            lease.release(str(error))
            tally.budget = tally.budget or str(error)
            return "over budget"
        except (ForgeError, OSError) as error:  # an OSError is the machine's: a full disk, no more processes
            lease.release(str(error))
            tally.faults[item.key] = str(error)
            log.warning("%s %s, attempt %d: %s", kind, item.key, attempt + 1, error)
            if isinstance(error, InputError | EndpointDownError):
                break  # what a person wrote wrong stays wrong; a client has tried for as long as it may
        except Exception:
            lease.release("crashed")
            raise
        finally:
            beat.cancel()
    return "fault"


async def _claim(warehouse: Warehouse, kind: str, key: str, owner: str) -> Lease | None:
    """The lease on an item, once nobody else holds it; None when its work is done."""
    while True:
        asking = asyncio.ensure_future(asyncio.to_thread(warehouse.claims.acquire, kind, key, owner, LEASE_SECONDS))
        try:
            lease = await asyncio.shield(asking)
        except asyncio.CancelledError:  # the thread goes on and may get it: nobody would ever give it back
            got = await outcome(asking)
            if got is not None:
                got.release("interrupted")
            raise
        if lease is not None:
            return lease
        if await asyncio.to_thread(warehouse.claims.is_done, kind, key):
            return None
        await asyncio.sleep(0.5)  # another owner works on it: look again until it is done or its lease runs out


async def outcome(future: asyncio.Future[T]) -> T | None:
    """What a thread's call comes to, waited for through every further interruption; None when it fails."""
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            continue  # the thread cannot be stopped, and what it gets has to be given back
    return None if future.cancelled() or future.exception() else future.result()


async def _heartbeat(lease: Lease) -> None:
    """Renew a lease for as long as its item is in work. A renewal that fails is tried again; the commit tells the rest."""
    while True:
        await asyncio.sleep(LEASE_SECONDS / 4)
        try:
            await asyncio.to_thread(lease.renew)
        except ForgeError as error:
            log.warning("%s %s: the claim was not renewed: %s", lease.kind, lease.key, error)


async def _call(work: Work[T], value: T) -> Writes:
    if inspect.iscoroutinefunction(work):
        found: Writes = await work(value)
        return found
    return await asyncio.to_thread(work, value)  # type: ignore[arg-type]


def _commit(warehouse: Warehouse, lease: Lease, writes: Writes) -> None:
    with warehouse.begin() as session:
        writes(session)
        lease.complete(session)
