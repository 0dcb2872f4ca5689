"""Who vanished loses the slot; who calls, or only lives, keeps it."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from forge.desktop.remote import RemotePool
from forge.desktop.server import wire
from forge.desktop.server.connection import Connection, GoneError
from forge.records import DesktopError, Guest, InputError
from forge.records.errors import ExhaustedError
from tests.forge.desktop.conftest import becomes
from tests.forge.desktop.server.conftest import TOKEN, FakePool


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
    with RemotePool([served(lease=0.8)], TOKEN) as pool, pool.acquire() as slot:
        time.sleep(2.5)
        assert slot.windows()[0].title == "Fake"
    assert fake_pool.slots[0].closed


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
    from forge.desktop.server.app import create_app
    from forge.desktop.server.leases import Desk
    from forge.desktop.server.running import Background

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


def test_no_server_at_all_is_a_fault_of_the_infrastructure() -> None:
    with pytest.raises(DesktopError, match="no slot server can be reached"):
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
