"""The slots that a server has lent, each under a lease: who does not call for that long has vanished, and loses the slot.

Everything that touches a slot runs in a thread; a call under way holds the lease.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from forge.desktop.blame import blaming
from forge.desktop.box import NO_LAYERS, Layers
from forge.desktop.clock import clock_bytes
from forge.desktop.files import parts_of
from forge.desktop.lease import SILENCE
from forge.desktop.place import locale_folder
from forge.records.errors import DesktopError
from forge.records.guest import Guest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from forge.desktop.pool import SlotPool
    from forge.desktop.slot import File, Slot

T = TypeVar("T")
LEASE = 90.0
"""Seconds without a call after which a slot is taken back."""
_REMEMBERED = 4096  # ends of slots that are still known, for a clear error

log = logging.getLogger("forge.desktop.server")


class GoneError(DesktopError):
    """The slot is not held any more."""


class FullError(DesktopError):
    """All slots are lent."""


@dataclass
class Held:
    """A slot that was lent."""

    id: str
    slot: Slot
    lease: float
    expires: float = 0.0
    busy: int = 0
    closing: bool = False
    changing: asyncio.Lock = field(default_factory=asyncio.Lock)  # its desktop is being closed, or another made
    archives: Path | None = None
    on_end: list[Callable[[], None]] = field(default_factory=list)

    def touch(self) -> None:
        """The lease begins anew. A call under way has to show by itself that the slot lives, see `SILENCE`."""
        self.expires = time.monotonic() + self.lease
        if not self.busy:
            self.slot.renew()


class Desk:
    """Lends slots of a pool. Methods are for one event loop; `close` ends it all.

    Args:
        pool: where slots come from; the caller closes it after `close`.
        size: slots that may be lent at once, as the pool's.
        lease: see `LEASE`; a client may ask for another.
    """

    def __init__(self, pool: SlotPool, size: int, lease: float = LEASE):
        self.pool = pool
        self.size = size
        self.lease = lease
        self._held: dict[str, Held] = {}
        self._ended: OrderedDict[str, str] = OrderedDict()
        self._making = 0
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(4 * size + 8, thread_name_prefix="forge-desk")
        self._closers = ThreadPoolExecutor(size, thread_name_prefix="forge-desk-end")  # closing waits for no call
        self._closed = False

    @property
    def free(self) -> int:
        """Slots that nobody has."""
        return self.size - len(self._held) - self._making

    @property
    def ids(self) -> tuple[str, ...]:
        """The slots that are lent."""
        return tuple(self._held)

    async def lend(
        self, guest: Guest, files: Sequence[File], layers: Layers = NO_LAYERS, lease: float | None = None
    ) -> Held:
        """A new slot. Raises FullError when all are lent, DesktopError when none could be made."""
        if self._closed:
            raise DesktopError("the server is closing")
        if self.free <= 0:
            raise FullError(f"all {self.size} slots are lent")
        self._making += 1
        try:
            slot = await self._acquire(guest, files, layers, lease or self.lease)
        finally:
            self._making -= 1
        held = Held(f"s-{secrets.token_hex(8)}", slot, lease or self.lease)
        held.touch()
        self._held[held.id] = held
        if self._closed:
            await self.release(held.id)
            raise DesktopError("the server is closing")
        log.info("lent %s", held.id)
        return held

    async def expect(
        self,
        guest: Guest,
        files: Iterable[File],
        layers: Layers,
        start: Sequence[tuple[str, str | None]],
    ) -> None:
        """Announce a coming `lend`."""
        await self._thread(lambda: self.pool.expect(guest, files, layers, start))

    async def do(self, name: str, function: Callable[[Slot], T]) -> T:
        """Call something on a slot; the call renews the lease.

        Raises:
            GoneError: see `held`.
            ExhaustedError: the slot broke because of what the guest did, see `Slot.blame`.
            Exception: what the function raises.
        """
        held = self.held(name)
        held.busy += 1
        try:
            return await self._thread(lambda: blaming(held.slot, lambda: function(held.slot)))
        finally:
            held.busy -= 1
            held.touch()

    def held(self, name: str) -> Held:
        """The slot called `name`, its lease renewed. Raises GoneError."""
        held = self._held.get(name)
        if held is None or held.closing:
            raise GoneError(self._ended.get(name, f"this server has no slot {name}"))
        held.touch()
        return held

    async def reset(self, name: str, guest: Guest, files: Sequence[File], layers: Layers) -> Held:
        """Another new slot under the same name; the old one is closed first.

        Raises:
            InputError: the guest's clock cannot be so, or a file's path is none in the home; the old slot stays.
            GoneError: it is released meanwhile.
            DesktopError: as `lend`; the guest's time zone or locale is unknown, and the old slot stays.
        """
        held = self.held(name)
        clock_bytes(guest)
        for path, *_ in files:
            parts_of(path)
        held.busy += 1
        try:
            await self._thread(lambda: locale_folder(guest.locale))
            await self._replace(held, guest, files, layers)
        finally:
            held.busy -= 1
            held.touch()
        return held

    async def release(self, name: str, why: str = "it was released") -> None:
        """Close a slot; nothing happens when that is done already."""
        held = self._held.get(name)
        if held is not None and not held.closing:
            await self._end(held, why)

    async def watch(self) -> None:
        """Take back slots whose lease ran out; runs until cancelled."""
        while True:
            await asyncio.sleep(min(1.0, self.lease / 4))
            now = time.monotonic()
            for held in list(self._held.values()):
                if held.busy == 0 and not held.closing and held.expires < now:
                    log.warning("the lease of %s ran out", held.id)
                    await self._end(held, f"nobody called for {held.lease:g} s and its lease ran out")

    async def close(self) -> None:
        """Close every slot."""
        self._closed = True
        await asyncio.gather(*(self.release(name, "the server was closed") for name in self.ids))
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._closers.shutdown(wait=False)

    async def _acquire(self, guest: Guest, files: Sequence[File], layers: Layers, lease: float) -> Slot:
        """A slot that closes itself when it freezes in the middle of a call, so that the call ends."""
        acquired = self._threads.submit(self.pool.acquire, guest, files, layers, max(lease, SILENCE))
        try:
            return await asyncio.shield(asyncio.wrap_future(acquired))
        except asyncio.CancelledError:
            acquired.add_done_callback(_close_for_nobody)
            raise

    async def _replace(self, held: Held, guest: Guest, files: Sequence[File], layers: Layers) -> None:
        try:
            async with held.changing:
                if not held.closing:
                    await self._close(held.slot)
                    held.slot = await self._acquire(guest, files, layers, held.lease)
            if held.closing:  # whoever ends it waits for us, and closes the new one
                raise GoneError(f"slot {held.id} was released while it was reset")
        except GoneError:
            raise
        except Exception:
            if not held.closing:
                await self._end(held, "it could not be reset")
            raise

    async def _end(self, held: Held, why: str) -> None:
        """Close a slot for good. One that does not close well is logged: whoever ends it goes on with the others."""
        held.closing = True
        try:
            async with held.changing:
                try:
                    for call in held.on_end:
                        call()
                finally:
                    await self._close(held.slot)
        except Exception:
            log.exception("%s was not closed well", held.id)
        finally:
            self._held.pop(held.id, None)
            self._ended[held.id] = f"slot {held.id} is gone: {why}"
            while len(self._ended) > _REMEMBERED:
                self._ended.popitem(last=False)
            log.info("closed %s: %s", held.id, why)

    async def _thread(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function)

    async def _close(self, slot: Slot) -> None:
        await asyncio.get_running_loop().run_in_executor(self._closers, slot.close)


def _close_for_nobody(acquired: Future[Slot]) -> None:
    if not acquired.cancelled() and acquired.exception() is None:
        acquired.result().close()
