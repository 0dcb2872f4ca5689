"""A pool of slots: warm spares hide the time that a new desktop needs.

A spare is a complete slot (display, window manager, box, home) in which LibreOffice already waits without a window. It is
handed over once and never comes back: every episode has a desktop of its own. A spare fits a request that asks for the
same screen, zone, locale and layers; the clock is set and the files are laid at the moment of handing over. The pool
learns what is asked for: spares are made for the last request.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from forge.desktop.box import NO_LAYERS, Layers
from forge.desktop.slot import File, Slot
from forge.records.errors import DesktopError
from forge.records.guest import Guest

_PATIENCE = 4.0  # seconds that a new spare waits for the application of the slot that was handed over
_Kind = tuple[int, int, str, str, Layers]


class SlotPool:
    """Hands out slots, at most `size` at once. Use it as a context manager. Safe in threads.

    Args:
        size: slots that may be open at once; `acquire` waits for one to be closed.
        spares: warm slots kept beside those.
        guest: what the first spares are made for; none are made before the first request if None.
        layers: as `guest`.
        root: FORGE_HOME; the settings' if None.
        preload: applications that wait in a spare, started but without a window.
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
    ):
        self._spares_wanted = spares
        self._root = root
        self._preload = preload
        self._free = threading.Semaphore(size)
        self._changed = threading.Condition()
        self._spares: list[Slot] = []
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

    def acquire(self, guest: Guest | None = None, files: Iterable[File] = (), layers: Layers = NO_LAYERS) -> Slot:
        """A slot of one's own with these files in its home; close it when done.

        Waits while `size` slots are open. Takes a spare that fits, else makes a new slot.

        Raises:
            DesktopError: no slot could be made, or the pool is closed.
        """
        guest = guest or Guest()
        self._free.acquire()
        try:
            slot = self._take(guest, layers)
            if slot is None:
                slot = Slot.open(guest, home_files=files, layers=layers, root=self._root)
            else:
                try:
                    slot.lay(files)
                    slot.set_clock(guest.clock)
                except BaseException:
                    slot.close()
                    raise
        except BaseException:
            self._free.release()
            with self._changed:
                self._changed.notify_all()
            raise
        slot.on_close(self._free.release)
        with self._changed:
            self._last = slot
            self._changed.notify_all()
        return slot

    def wait_warm(self, timeout: float = 60) -> bool:
        """Wait until all spares are ready; False when the time is up or they cannot be made."""
        with self._changed:
            return self._changed.wait_for(
                lambda: len(self._spares) >= self._spares_wanted or self._failed is not None, timeout
            ) and (self._failed is None)

    def close(self) -> None:
        """Close the spares; slots that were handed out stay open. May be called twice."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._maker.join()
        for slot in self._spares:
            slot.close()
        self._spares.clear()

    def _take(self, guest: Guest, layers: Layers) -> Slot | None:
        with self._changed:
            if self._closed:
                raise DesktopError("the pool of slots is closed")
            self._guest, self._layers, self._failed = guest, layers, None
            kind = _kind(guest, layers)
            taken = None
            for slot in list(self._spares):
                fits = _kind(slot.guest, slot.layers) == kind
                if fits and taken is None:
                    taken = slot
                if fits and taken is not slot:
                    continue
                self._spares.remove(slot)
                if slot is not taken:
                    slot.close()
            # the maker is woken only after `_last` is known, so that it lets this slot go first
        if taken is not None:
            try:
                taken.alive()
            except DesktopError:
                taken.close()
                return None
        return taken

    def _make(self) -> None:
        """Keep the spares up. Runs in a thread of its own until the pool is closed."""
        while True:
            with self._changed:
                self._changed.wait_for(self._is_wanting)
                if self._closed:
                    return
                guest, layers, last = self._guest, self._layers, self._last
                assert guest is not None
            if last is not None:  # the slot just handed over has the processor until its application is up
                last.launched.wait(_PATIENCE)
            try:
                slot = Slot.open(guest, layers=layers, root=self._root)
                try:
                    for app in self._preload:
                        slot.preload(app)
                except BaseException:
                    slot.close()
                    raise
            except DesktopError as error:
                with self._changed:  # a request will meet the same fault and report it; the next one tries again
                    self._failed = error
                    self._changed.notify_all()
                continue
            with self._changed:
                self._spares.append(slot)
                self._changed.notify_all()

    def _is_wanting(self) -> bool:
        wanting = self._guest is not None and self._failed is None and len(self._spares) < self._spares_wanted
        return self._closed or wanting


def _kind(guest: Guest, layers: Layers) -> _Kind:
    return guest.width, guest.height, guest.timezone, guest.locale, layers
