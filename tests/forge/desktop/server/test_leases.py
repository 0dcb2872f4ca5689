"""Who vanished loses the slot; who calls, or only lives, keeps it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from forge.desktop.box import NO_LAYERS
from forge.desktop.remote import RemotePool
from forge.desktop.server import wire
from forge.desktop.server.app import create_app
from forge.desktop.server.connection import Connection, GoneError
from forge.desktop.server.leases import Desk
from forge.desktop.server.leases import GoneError as Gone
from forge.desktop.server.running import Background
from forge.records import DesktopError, Guest, InputError
from forge.records.errors import ExhaustedError
from tests.forge.desktop.conftest import becomes
from tests.forge.desktop.server.conftest import TOKEN, FakePool, FakeSlot


class SlowPool(FakePool):
    """Has slots only when it is told so; more than `size` at once it never hands out."""

    def __init__(self, size: int = 1) -> None:
        super().__init__()
        self.size = size
        self.ready = threading.Event()
        self.ready.set()

    def acquire(self, *what: Any, **more: Any) -> FakeSlot:
        assert self.ready.wait(10)
        assert sum(not slot.closed for slot in self.slots) < self.size, "one too many"
        return super().acquire(*what, **more)


def borrow(connection: Connection, lease: float | None = None) -> wire.SlotFacts:
    facts: wire.SlotFacts = connection.call(
        "POST", "/v1/slots", wire.SlotFacts, body=wire.SlotOrder(guest=Guest(), lease=lease)
    )
    return facts


def test_a_slot_whose_client_vanished_is_closed_and_lent_anew(served: Callable[..., str], fake_pool: FakePool) -> None:
    connection = Connection(served(size=1, lease=0.4), TOKEN)
    first = borrow(connection)
    assert becomes(lambda: fake_pool.slots[0].closed, 5)
    with pytest.raises(GoneError, match="lease ran out"):
        connection.call("GET", f"/v1/slots/{first.id}/windows")
    assert borrow(connection).id != first.id
    connection.close()


def test_any_call_renews(served: Callable[..., str], fake_pool: FakePool) -> None:
    connection = Connection(served(lease=0.6), TOKEN)
    slot = borrow(connection)
    end = time.monotonic() + 2.0
    while time.monotonic() < end:
        connection.call("GET", f"/v1/slots/{slot.id}/windows", tuple[wire.WindowBody, ...])
        time.sleep(0.1)
    assert not fake_pool.slots[0].closed
    connection.close()


def test_a_pool_keeps_the_slots_of_a_teacher_that_thinks_long(served: Callable[..., str], fake_pool: FakePool) -> None:
    with RemotePool([served(lease=3)], TOKEN) as pool, pool.acquire() as slot:
        time.sleep(4)
        assert slot.windows()[0].title == "Fake"
    assert fake_pool.slots[0].closed


@pytest.mark.parametrize("is_held", [True, False])
def test_a_lease_that_is_shorter_than_those_before_it_is_kept_too(served: Callable[..., str], is_held: bool) -> None:
    with RemotePool([served()], TOKEN) as pool:
        first = pool.acquire(lease=3600)
        if not is_held:
            first.close()
        time.sleep(0.2)  # the heartbeat has seen the long lease, or none
        with pool.acquire(lease=3) as slot:
            time.sleep(4)
            slot.alive()
        first.close()


def test_a_call_under_way_holds_the_lease(served: Callable[..., str], fake_pool: FakePool) -> None:
    connection = Connection(served(lease=0.3), TOKEN)
    slot = borrow(connection)
    fake_pool.slots[0].settle = lambda *_, **__: time.sleep(1.5) or 1.5  # type: ignore[method-assign, func-returns-value]
    waited = connection.call("POST", f"/v1/slots/{slot.id}/settle", wire.Waited, body=wire.SettleOrder())
    assert waited.seconds == 1.5
    assert not fake_pool.slots[0].closed
    connection.close()


def test_an_acquire_waits_for_a_slot(served: Callable[..., str]) -> None:
    with RemotePool([served(size=1)], TOKEN) as pool:
        assert pool.size == 1
        first = pool.acquire()
        connection = Connection(pool._connections[0].url, TOKEN)
        with pytest.raises(DesktopError, match="all 1 slots are lent"):
            borrow(connection)
        first.close()
        pool.acquire().close()
        connection.close()


async def test_who_releases_during_a_reset_gets_rid_of_both() -> None:
    pool = SlowPool()
    desk = Desk(pool, 1)  # type: ignore[arg-type]
    held = await desk.lend(Guest(), ())
    pool.ready.clear()
    resetting = asyncio.ensure_future(desk.reset(held.id, Guest(), (), NO_LAYERS))
    assert await asyncio.to_thread(becomes, lambda: pool.slots[0].closed)
    releasing = asyncio.ensure_future(desk.release(held.id))
    await asyncio.sleep(0.05)
    pool.ready.set()
    with pytest.raises(Gone, match="released while it was reset"):
        await resetting
    await releasing
    assert [slot.closed for slot in pool.slots] == [True, True]
    assert desk.ids == ()
    await desk.lend(Guest(), ())
    await desk.close()


async def test_two_resets_come_one_after_the_other() -> None:
    pool = SlowPool()
    desk = Desk(pool, 1)  # type: ignore[arg-type]
    held = await desk.lend(Guest(), ())
    await asyncio.gather(*(desk.reset(held.id, Guest(), (), NO_LAYERS) for _ in range(2)))
    assert [slot.closed for slot in pool.slots] == [True, True, False]
    await desk.close()
    assert pool.slots[-1].closed


async def test_a_reset_that_fails_ends_the_slot_whatever_it_met() -> None:
    pool = SlowPool()
    desk = Desk(pool, 1)  # type: ignore[arg-type]
    held = await desk.lend(Guest(), ())
    pool.size = 0
    with pytest.raises(AssertionError, match="one too many"):
        await desk.reset(held.id, Guest(), (), NO_LAYERS)
    assert desk.ids == ()
    await desk.close()


@pytest.mark.parametrize(
    ("guest", "path", "kind", "said"),
    [
        (Guest(clock="9999-12-31T23:59:59"), "~/a.txt", InputError, "too far from now"),
        (Guest(), "~/../x", InputError, "no path below the guest's home"),
        (Guest(timezone="No/Where"), "~/a.txt", DesktopError, "No/Where"),
        (Guest(locale="xx_YY.UTF-8"), "~/a.txt", DesktopError, "xx_YY"),
    ],
)
async def test_a_reset_to_what_cannot_be_leaves_the_slot_as_it_is(
    guest: Guest, path: str, kind: type[Exception], said: str
) -> None:
    pool = SlowPool()
    desk = Desk(pool, 1)  # type: ignore[arg-type]
    held = await desk.lend(Guest(), ())
    files = [("~/first", b"x", 0o644, False), (path, b"x", 0o644, False)]
    with pytest.raises(kind, match=said):
        await desk.reset(held.id, guest, files, NO_LAYERS)
    assert desk.held(held.id).slot is pool.slots[0]  # type: ignore[comparison-overlap]
    assert [slot.closed for slot in pool.slots] == [False]
    await desk.close()


async def test_a_slot_that_nobody_waits_for_any_more_is_closed() -> None:
    pool = SlowPool()
    desk = Desk(pool, 1)  # type: ignore[arg-type]
    pool.ready.clear()
    lending = asyncio.ensure_future(desk.lend(Guest(), ()))
    await asyncio.sleep(0.05)
    lending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await lending
    pool.ready.set()
    assert await asyncio.to_thread(becomes, lambda: bool(pool.slots) and pool.slots[0].closed)
    await desk.close()


async def test_calls_without_end_do_not_keep_a_slot_from_being_closed() -> None:
    pool = SlowPool()
    desk = Desk(pool, 1)  # type: ignore[arg-type]
    held = await desk.lend(Guest(), ())
    calls = [
        asyncio.ensure_future(desk.do(held.id, lambda slot: becomes(lambda: slot.closed, 20)))  # type: ignore[attr-defined]
        for _ in range(20)
    ]
    await asyncio.sleep(0.05)
    await asyncio.wait_for(desk.release(held.id), 5)
    assert all(await asyncio.gather(*calls))
    await desk.close()


class BadlyClosing(FakeSlot):
    """Is closed, and says that something went wrong meanwhile."""

    def close(self) -> None:
        super().close()
        raise OSError("no such luck")


class BadlyClosingPool(FakePool):
    """Its slots do not close well."""

    def acquire(self, guest: Guest, *what: Any, **more: Any) -> FakeSlot:
        self.slots.append(BadlyClosing(guest=guest))
        return self.slots[-1]


async def test_leases_run_out_also_after_one_whose_slot_did_not_close_well(caplog: pytest.LogCaptureFixture) -> None:
    pool = BadlyClosingPool()
    desk = Desk(pool, 2, lease=0.2)  # type: ignore[arg-type]
    watching = asyncio.ensure_future(desk.watch())
    first, second = await desk.lend(Guest(), (), lease=0.1), await desk.lend(Guest(), (), lease=0.5)
    assert await asyncio.to_thread(becomes, lambda: desk.ids == (), 5)
    assert not watching.done()
    assert [slot.closed for slot in pool.slots] == [True, True]
    said = [record.getMessage() for record in caplog.records if record.exc_info]
    assert said == [f"{held.id} was not closed well" for held in (first, second)]
    watching.cancel()
    await desk.close()


async def test_a_desk_is_closed_though_its_slots_do_not_close_well() -> None:
    pool = BadlyClosingPool()
    desk = Desk(pool, 2)  # type: ignore[arg-type]
    for _ in range(2):
        await desk.lend(Guest(), ())
    await desk.close()
    assert [slot.closed for slot in pool.slots] == [True, True]
    assert desk.ids == ()
    with pytest.raises(RuntimeError, match="after shutdown"):
        desk._closers.submit(print)


def test_release_is_safe_to_repeat(served: Callable[..., str], fake_pool: FakePool) -> None:
    connection = Connection(served(), TOKEN)
    slot = borrow(connection)
    for _ in range(3):
        assert connection.call("DELETE", f"/v1/slots/{slot.id}").status_code == 204
    assert fake_pool.slots[0].closed
    with pytest.raises(GoneError, match="it was released"):
        connection.call("GET", f"/v1/slots/{slot.id}/windows")
    connection.close()


def test_a_server_that_ends_closes_its_slots(served: Callable[..., str], fake_pool: FakePool) -> None:
    with Background(create_app(Desk(fake_pool, 2), TOKEN)) as background:  # type: ignore[arg-type]
        connection = Connection(background.url, TOKEN, patience=0.5)
        slot = borrow(connection)
    assert fake_pool.slots[0].closed
    with pytest.raises(DesktopError, match="out of reach"):
        connection.call("GET", f"/v1/slots/{slot.id}/windows")
    connection.close()


def test_a_dead_server_is_left_out(served: Callable[..., str]) -> None:
    with RemotePool([served(size=1), "http://127.0.0.1:9"], TOKEN, patience=0.5) as pool:
        for _ in range(3):
            pool.acquire().close()


class BrokenPool(FakePool):
    """Cannot make slots."""

    asked = 0

    def acquire(self, *what: Any, **more: Any) -> FakeSlot:
        self.asked += 1
        raise DesktopError("the disk is full")


@pytest.fixture
def broken() -> Iterator[tuple[str, BrokenPool]]:
    pool = BrokenPool()
    with Background(create_app(Desk(pool, 8), TOKEN)) as background:  # type: ignore[arg-type]
        yield background.url, pool


def test_a_server_that_cannot_make_slots_is_left_out(
    served: Callable[..., str], broken: tuple[str, BrokenPool]
) -> None:
    url, bad = broken
    with RemotePool([url, served(size=2)], TOKEN) as pool:
        for _ in range(3):
            first, second = pool.acquire(), pool.acquire()
            assert url not in (first.url, second.url)
            releasing = threading.Timer(0.2, first.close)
            releasing.start()
            pool.acquire().close()  # the only other server is full for now, which is no fault
            releasing.join()
            second.close()
        assert bad.asked == 1


def test_a_server_that_failed_is_asked_where_no_other_answers(
    fake_pool: FakePool, broken: tuple[str, BrokenPool]
) -> None:
    url, bad = broken
    with Background(create_app(Desk(fake_pool, 8), TOKEN)) as other:  # type: ignore[arg-type]
        with RemotePool([url, other.url], TOKEN, patience=0.5) as pool:
            while not bad.asked:
                pool.acquire().close()
            other.close()
            with pytest.raises(DesktopError, match="the disk is full"):
                pool.acquire()


def test_when_no_server_can_make_a_slot_all_are_asked_and_quoted(broken: tuple[str, BrokenPool]) -> None:
    url, bad = broken
    other = url.replace("127.0.0.1", "localhost")
    with RemotePool([url, other, "http://127.0.0.1:9"], TOKEN, patience=0.2) as pool:
        for number in (1, 2):
            with pytest.raises(DesktopError, match="no slot server could make a slot") as met:
                pool.acquire()
            assert all(f"{each}: the disk is full" in met.value.message for each in (url, other))
            assert bad.asked == 2 * number
    with RemotePool([url], TOKEN) as pool, pytest.raises(DesktopError, match=r"^the disk is full$"):
        pool.acquire()


def test_no_server_at_all_is_a_fault_of_the_infrastructure() -> None:
    with pytest.raises(DesktopError, match=r"no slot server can be reached: .*http://127\.0\.0\.1:9"):
        RemotePool(["http://127.0.0.1:9"], TOKEN, patience=0.2)


def test_an_address_must_be_one() -> None:
    with pytest.raises(InputError, match="no address of a slot server"):
        RemotePool(["somewhere:80"], TOKEN)


def test_whose_fault_it_was_is_known_elsewhere_too(served: Callable[..., str], fake_pool: FakePool) -> None:
    def spent() -> None:
        raise ExhaustedError("the slot used up its memory")

    with RemotePool([served()], TOKEN) as pool, pool.acquire() as slot:
        fake_pool.slots[0].alive = spent  # type: ignore[method-assign]
        with pytest.raises(ExhaustedError, match="used up its memory"):
            slot.alive()


def test_a_command_of_the_host_is_none_of_the_agents_elsewhere_too(
    served: Callable[..., str], fake_pool: FakePool
) -> None:
    with RemotePool([served()], TOKEN) as pool, pool.acquire() as slot:
        slot.shell.run("true", by_host=True)
        slot.shell.run("true")
        assert [what for what, command, *_ in fake_pool.slots[0].log if command == "true"] == ["by_host", "run"]


def test_what_the_guest_brought_about_is_told_by_the_server_whatever_call_meets_it(
    served: Callable[..., str], fake_pool: FakePool
) -> None:
    with RemotePool([served()], TOKEN) as pool, pool.acquire() as slot:
        fake_pool.slots[0].broken = "lost the connection to the display"
        calls: tuple[Callable[[], object], ...] = (slot.screenshot, slot.windows, slot.settle)
        for exhausted, kind in ((False, DesktopError), (True, ExhaustedError)):
            fake_pool.slots[0].exhausted = exhausted
            for call in calls:
                with pytest.raises(DesktopError, match="lost the connection to the display") as met:
                    call()
                assert type(met.value) is kind
