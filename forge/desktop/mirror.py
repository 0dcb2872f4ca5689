"""A copy of a home that lies elsewhere, kept up by a thread: what looks at a slot's files need not know where they are.

The copy is a moment behind. A file is replaced whole, with the size and time it has there, so a reader never sees half of
one. Links, and what applications keep for themselves, are not copied.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Container
from contextlib import suppress
from pathlib import Path

from forge.desktop.place import remove
from forge.desktop.server.wire import Listed, Listing
from forge.records.errors import ForgeError

PERIOD = 0.25
"""Seconds between two looks at the home."""


class Mirror:
    """The copy; it follows from the first `follow` on until `close`.

    Args:
        listing: lists the home.
        read: gives a file's content by its guest path; raises FileNotFoundError.
    """

    def __init__(self, listing: Callable[[], Listing], read: Callable[[str], bytes]):
        self.folder = Path(tempfile.mkdtemp(prefix="forge-home-"))
        self._listing = listing
        self._read = read
        self._have: dict[str, Listed] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="forge-mirror", daemon=True)

    def follow(self) -> None:
        """Bring the copy up to date now. Raises DesktopError when the home cannot be read."""
        with self._lock:
            if not self._ended.is_set():
                self._update()
                if self._thread.ident is None:
                    self._thread.start()

    def close(self) -> None:
        """Delete the copy. May be called twice."""
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()
        with self._lock:
            remove(self.folder)

    def _run(self) -> None:
        while not self._ended.wait(PERIOD):
            with suppress(ForgeError, OSError), self._lock:  # whoever looks next meets the fault itself
                self._update()

    def _update(self) -> None:
        listing = self._listing()
        there = {each.path: each for each in listing.files}
        self._drop(there, set(listing.folders))
        for path in listing.folders:
            (self.folder / path).mkdir(parents=True, exist_ok=True)
        for path, listed in there.items():
            if self._have.get(path) != listed:
                with suppress(FileNotFoundError):
                    self._fetch(path, listed)

    def _drop(self, files: Container[str], folders: Container[str]) -> None:
        """Delete what is not there any more; first, for a file may have become a folder."""
        for path in [path for path in self._have if path not in files]:
            (self.folder / path).unlink(missing_ok=True)
            del self._have[path]
        for folder in sorted((p for p in self.folder.rglob("*") if p.is_dir()), reverse=True):
            if str(folder.relative_to(self.folder)) not in folders:
                with suppress(OSError):
                    folder.rmdir()

    def _fetch(self, path: str, listed: Listed) -> None:
        data = self._read(f"~/{path}")
        target = self.folder / path
        draft = target.with_name(f".forge-draft-{os.getpid()}")
        target.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(data)
        os.utime(draft, ns=(listed.mtime_ns, listed.mtime_ns))
        draft.replace(target)
        self._have[path] = listed
