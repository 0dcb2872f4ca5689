"""Fixtures: a slot server in this process with its client; a server of fake slots; a link that loses connections."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from forge.desktop.box import NO_LAYERS
from forge.desktop.pool import SlotPool
from forge.desktop.remote import RemotePool
from forge.desktop.server.app import create_app
from forge.desktop.server.leases import Desk
from forge.desktop.server.running import Background
from forge.harness.fake import FakeDesktop
from forge.records import Guest

TOKEN = "a-token-for-tests"


class FakeSlot(FakeDesktop):
    """A slot made of nothing that can be closed."""

    layers = NO_LAYERS
    closed = False

    def renew(self) -> bool:
        return not self.closed

    def close(self) -> None:
        self.closed = True


class FakePool:
    """Hands out fake slots and remembers them."""

    def __init__(self) -> None:
        self.slots: list[FakeSlot] = []
        self.expected: list[Any] = []

    def acquire(self, guest: Guest, files: Any = (), layers: Any = NO_LAYERS, lease: float = 0) -> FakeSlot:
        slot = FakeSlot(guest=guest)
        self.slots.append(slot)
        return slot

    def expect(self, *what: Any) -> None:
        self.expected.append(what)


@pytest.fixture
def fake_pool() -> FakePool:
    return FakePool()


@pytest.fixture
def served(fake_pool: FakePool) -> Iterator[Callable[..., str]]:
    """Start a server of fake slots: (size, lease) -> its address."""
    with ExitStack() as stack:

        def serve(size: int = 2, lease: float = 60.0) -> str:
            desk = Desk(fake_pool, size, lease)  # type: ignore[arg-type]
            return stack.enter_context(Background(create_app(desk, TOKEN))).url

        yield serve


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Background]:
    """A server of two real slots, shared by the tests of a module."""
    root = tmp_path_factory.mktemp("server")
    with SlotPool(2, spares=0, root=root) as pool, Background(create_app(Desk(pool, 2), TOKEN)) as background:
        yield background


@pytest.fixture(scope="module")
def remote(server: Background) -> Iterator[RemotePool]:
    with RemotePool([server.url], TOKEN) as pool:
        yield pool


@pytest.fixture(scope="module", autouse=True)
def no_threads_left() -> Iterator[None]:
    """No heartbeat, mirror or server outlives its test."""
    yield
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name in ("forge-heartbeat", "forge-mirror", "forge-server")]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file that a guest must not reach."""
    file = tmp_path / "outside.txt"
    file.write_text("not the guest's")
    return file


@pytest.fixture(scope="module")
def osworld(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a slot that speaks OSWorld's protocol."""
    from forge.desktop.osworld.facade import create_facade
    from forge.desktop.osworld.machine import Machine

    machine = Machine(Guest(width=1280, height=800), root=tmp_path_factory.mktemp("osworld"))
    with Background(create_facade(machine)) as background:
        yield background.url
