"""A pool of slots: what is made beforehand hides the time that a new desktop needs.

Two kinds are made beforehand. A *prepared* slot was announced by `expect`: it has its files in its home and its
applications open, and is handed over at once. A *spare* is for whoever comes: a whole slot in which LibreOffice already
waits without a window; files are laid and applications opened after it was handed over. Either is handed over once and
never comes back: every episode has a desktop of its own, and its clock is set at that moment.

A spare fits a request for the same screen, zone, locale and layers; the pool makes spares for what was asked for last.
What waits is looked at from time to time and before it is handed over; what is dead, frozen, full, slow or old is thrown
away and made anew (`forge.desktop.recycling`). A slot may be lent for as long as its holder gives signs of life
(`forge.desktop.lease`).
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from forge.desktop.box import NO_LAYERS, Layers
from forge.desktop.limits import SLOT, Limits
from forge.desktop.recycling import Inspector, Recycling
from forge.desktop.slot import File, Slot
from forge.desktop.spawn import allow_slots
from forge.records.errors import DesktopError
from forge.records.guest import Guest

log = logging.getLogger(__name__)
_PATIENCE = 4.0  # seconds that a new spare waits for the application of the slot that was handed over
_Kind = tuple[int, int, str, str, Layers]


@dataclass(frozen=True)
class _Order:
    """What a prepared slot is made for; orders with the same key are for the same request."""

    guest: Guest
    files: tuple[File, ...]
    layers: Layers
    start: tuple[tuple[str, str | None], ...] = ()

    @property
    def key(self) -> str:
        total = hashlib.sha256(repr((self.guest.canonical(), self.layers)).encode())
        for path, data, mode, is_folder in self.files:
            total.update(repr((path, hashlib.sha256(data).hexdigest(), mode, is_folder)).encode())
        return total.hexdigest()


class SlotPool:
    """Hands out slots, at most `size` at once. Use it as a context manager. Safe in threads.

    Args:
        size: slots that may be open at once; `acquire` waits for one to be closed.
        spares: slots made beforehand, kept beside those.
        guest: what the first spares are made for; none are made before the first request if None.
        layers: as `guest`.
        root: FORGE_HOME; the settings' if None.
        preload: applications that wait in a spare, started but without a window.
        lease: seconds that a holder may be silent before its slot is closed, see `Slot.lend`; no limit if None.
        recycling: what is asked of a slot that waits.
        limits: what each slot may use of the host.

    Attributes:
        thrown_away: why slots that waited were closed instead of handed over.
    """

    def __init__(
        self,
        size: int = 1,
        *,
        spares: int = 1,
        guest: Guest | None = None,
        layers: Layers = NO_LAYERS,
        root: Path | None = None,
        preload: tuple[str, ...] = ("calc",),
        lease: float | None = None,
        recycling: Recycling | None = None,
        limits: Limits = SLOT,
    ):
        allow_slots(size + spares)
        self.thrown_away: list[str] = []
        self._lease = lease
        self._inspector = Inspector(recycling or Recycling())
        self._inspecting = threading.Lock()
        self._spares_wanted = spares
        self._root = root
        self._limits = limits
        self._preload = preload
        self._free = size
        self._changed = threading.Condition()
        self._spares: list[Slot] = []
        self._orders: list[_Order] = []
        self._working: str | None = None
        self._prepared: dict[str, tuple[_Order, Slot]] = {}
        self._guest = guest
        self._layers = layers
        self._failed: DesktopError | None = None
        self._last: Slot | None = None
        self._closed = False
        self._maker = threading.Thread(target=self._make, name="forge-slots", daemon=True)
        self._maker.start()

    def __enter__(self) -> SlotPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def expect(
        self,
        guest: Guest,
        files: Iterable[File] = (),
        layers: Layers = NO_LAYERS,
        start: Sequence[tuple[str, str | None]] = (),
    ) -> None:
        """Announce a coming `acquire` with the same guest, files and layers, so that its slot is prepared beforehand.

        Returns at once. As many slots as there are spares are kept prepared; the oldest makes way for a newer one.

        Args:
            guest: as for `acquire`.
            files: as for `acquire`.
            layers: as for `acquire`.
            start: (application, path) to open; whoever acquires the slot launches exactly these, in this order.
        """
        order = _Order(guest, tuple(files), layers, tuple(start))
        with self._changed:
            if self._closed or self._spares_wanted == 0 or order.key in (self._working, *self._prepared):
                return
            self._orders = [each for each in self._orders if each.key != order.key][1 - self._spares_wanted :]
            self._orders.append(order)
            self._changed.notify_all()

    def acquire(
        self,
        guest: Guest | None = None,
        files: Iterable[File] = (),
        layers: Layers = NO_LAYERS,
        lease: float | None = None,
    ) -> Slot:
        """A slot of one's own with these files in its home; close it when done.

        Waits while `size` slots are open. Takes the slot prepared for this request, else a spare that fits, else makes a
        new one.

        Args:
            guest: clock, zone, locale, screen size; the default guest if None.
            files: laid into the home.
            layers: read-only layers of commands and Python.
            lease: see the pool's; the pool's own if None.

        Raises:
            DesktopError: no slot could be made, or the pool is closed.
        """
        order = _Order(guest or Guest(), tuple(files), layers)
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._free > 0)
            if self._closed:
                raise DesktopError("the pool of slots is closed")
            self._free -= 1
        try:
            slot = self._take_prepared(order.key) or self._take_spare(order)
            if slot is None:
                slot = self._open(order)
            else:
                try:
                    slot.set_clock(order.guest.clock)
                except BaseException:
                    slot.close()
                    raise
        except BaseException:
            self._give_back()
            raise
        slot.on_close(self._give_back)
        if lease or self._lease:
            slot.lend(lease or self._lease or 0)
        with self._changed:
            self._last = slot
            self._changed.notify_all()
        return slot

    def wait_warm(self, timeout: float = 60) -> bool:
        """Wait until all spares are ready; False when the time is up or they cannot be made."""

        def settled() -> bool:
            made = len(self._spares) + len(self._prepared)
            idle = not self._orders and self._working is None
            return (made >= self._spares_wanted and idle) or self._failed is not None

        with self._changed:
            return self._changed.wait_for(settled, timeout) and self._failed is None

    def close(self) -> None:
        """Close what was made beforehand; slots that were handed out stay open. Whoever waits for one gets a DesktopError.

        May be called twice.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._maker.join()
        with self._changed:  # whoever is on his way through `acquire` finds none that is being closed
            left = [*self._spares, *(slot for _, slot in self._prepared.values())]
            self._spares.clear()
            self._prepared.clear()
        for slot in left:
            _close(slot)

    def _give_back(self) -> None:
        with self._changed:
            self._free += 1
            self._changed.notify_all()

    def _take_prepared(self, key: str) -> Slot | None:
        with self._changed:
            self._orders = [order for order in self._orders if order.key != key]  # not begun: quicker made here
            self._changed.wait_for(lambda: self._closed or self._working != key)
            if self._closed:
                raise DesktopError("the pool of slots is closed")
            _, slot = self._prepared.pop(key, (None, None))
        return self._fit(slot)

    def _take_spare(self, order: _Order) -> Slot | None:
        with self._changed:
            self._guest, self._layers, self._failed = order.guest, order.layers, None
            kind = _kind(order.guest, order.layers)
            taken = None
            for slot in list(self._spares):
                fits = _kind(slot.guest, slot.layers) == kind
                if fits and taken is not None:
                    continue
                self._spares.remove(slot)
                if fits:
                    taken = slot
                else:
                    _close(slot)
            # the maker is woken only after `_last` is known, so that it lets this slot go first
        spare = self._fit(taken)
        if spare is not None:
            try:
                spare.lay(order.files)
            except BaseException:
                spare.close()
                raise
        return spare

    def _fit(self, slot: Slot | None) -> Slot | None:
        """The slot if it can be handed over; else it is closed."""
        if slot is None:
            return None
        with self._inspecting:
            why = self._inspector.why_not(slot)
        if why is None:
            return slot
        self._throw_away(slot, why)
        return None

    def _recycle(self) -> None:
        """Look at what waits; what is not fit any more goes, and what it was prepared for is ordered again."""
        with self._changed:
            waiting = [(None, slot) for slot in self._spares] + list(self._prepared.values())
        for order, slot in waiting:
            with self._inspecting:
                why = self._inspector.why_not(slot)
            if why is None:
                continue
            with self._changed:  # whoever took it meanwhile looks at it for himself
                if slot in self._spares:
                    self._spares.remove(slot)
                elif order is not None and self._prepared.get(order.key) == (order, slot):
                    del self._prepared[order.key]
                    self._orders.append(order)
                else:
                    continue
            self._throw_away(slot, why)

    def _throw_away(self, slot: Slot, why: str) -> None:
        log.info("a slot made beforehand is thrown away: %s", why)
        self.thrown_away.append(why)
        _close(slot)

    def _make(self) -> None:
        """Keep up what is made beforehand. Runs in a thread of its own until the pool is closed."""
        looked = time.monotonic()
        while True:
            with self._changed:
                rest = looked + self._inspector.rules.every - time.monotonic()
                self._changed.wait_for(lambda: self._closed or self._next() is not None, max(0.0, rest))
                if self._closed:
                    return
                last = self._last
            if time.monotonic() - looked >= self._inspector.rules.every:
                self._recycle()
                looked = time.monotonic()
            if last is not None:  # the slot just handed over has the processor until its application is up
                last.launched.wait(_PATIENCE)
            with self._changed:
                order = self._next()
                if order is None or self._closed:
                    continue
                if self._orders:
                    self._orders.pop(0)
                    self._working = order.key
                    is_prepared = True
                else:
                    is_prepared = False
            slot = self._build(order, is_prepared)
            with self._changed:
                self._working = None
                if slot is not None and is_prepared:
                    while len(self._prepared) >= self._spares_wanted:
                        _close(self._prepared.pop(next(iter(self._prepared)))[1])
                    self._prepared[order.key] = order, slot
                elif slot is not None:
                    self._spares.append(slot)
                self._changed.notify_all()

    def _next(self) -> _Order | None:
        """What is to be made next: what was announced, else a spare."""
        if self._orders:
            return self._orders[0]
        wanting = len(self._spares) + len(self._prepared) < self._spares_wanted
        if wanting and self._guest is not None and self._failed is None:
            return _Order(self._guest, (), self._layers)
        return None

    def _open(self, order: _Order) -> Slot:
        return Slot.open(order.guest, home_files=order.files, layers=order.layers, root=self._root, limits=self._limits)

    def _build(self, order: _Order, is_prepared: bool) -> Slot | None:
        try:
            slot = self._open(order)
            try:
                if is_prepared:
                    slot.prepare(order.start)
                else:
                    for app in self._preload:
                        slot.preload(app)
            except BaseException:
                slot.close()
                raise
        except Exception as error:  # the request itself will meet the same fault, and report it
            if not is_prepared:
                self._failed = error if isinstance(error, DesktopError) else DesktopError(str(error))
            return None
        return slot


def _close(slot: Slot) -> None:
    """Close a slot that nobody has; whoever does it goes on with his work when that fails."""
    try:
        slot.close()
    except Exception:
        log.exception("a slot made beforehand was not closed well")


def _kind(guest: Guest, layers: Layers) -> _Kind:
    return guest.width, guest.height, guest.timezone, guest.locale, layers
