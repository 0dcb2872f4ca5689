"""The kitchen: what drawing a task needs besides the workflow and a seed."""

from __future__ import annotations

import os
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from forge.desktop.box import Completed, chown_home, run_boxed
from forge.desktop.office import OfficeClient
from forge.records import JSON, Guest

if TYPE_CHECKING:
    from skills.banks.bank import Bank

Boxed = Callable[[Sequence[str], bytes, float], Completed]
"""Runs a command where it can do no harm: (argv, standard input, seconds) -> how it ended."""


class NodeCache(Protocol):
    """Results of nodes by the hash of all that they depend on. Only successes are ever put."""

    def get(self, key: str) -> bytes | None:
        """The stored bytes, or None."""

    def put(self, key: str, data: bytes) -> None:
        """Store bytes; the same key is always put with the same bytes."""


class ValueModel(Protocol):
    """A language model that invents values while a task is drawn."""

    def values(self, bank: Bank, about: str, count: int, seed: int) -> list[JSON]:
        """`count` records with the bank's fields; the same arguments give the same again.

        Raises ModelError when it gives none.
        """


class Pool(Protocol):
    """Values that a model wrote beforehand, by bank and by what they are about. It only grows, at its end."""

    def size(self, bank: str, about: str) -> int:
        """How many there are."""

    def values(self, bank: str, about: str, size: int) -> list[JSON]:
        """The first `size` ones."""


class NoCache:
    """Remembers nothing."""

    def get(self, key: str) -> bytes | None:
        """None."""
        return None

    def put(self, key: str, data: bytes) -> None:
        """Nothing."""


class MemoryCache:
    """Keeps the latest results in memory.

    Args:
        limit: bytes kept at most.
    """

    def __init__(self, limit: int = 64 * 2**20):
        self._limit = limit
        self._items: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: str) -> bytes | None:
        """The stored bytes, or None."""
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
            return self._items.get(key)

    def put(self, key: str, data: bytes) -> None:
        """Store bytes, forgetting the least used ones above the limit."""
        with self._lock:
            self._size += len(data) - len(self._items.pop(key, b""))
            self._items[key] = data
            while self._size > self._limit and len(self._items) > 1:
                self._size -= len(self._items.popitem(last=False)[1])


class FolderCache:
    """Keeps results as files, two levels deep; safe for many processes at once, for files appear whole or not at all."""

    def __init__(self, folder: Path):
        self._folder = folder

    def get(self, key: str) -> bytes | None:
        """The stored bytes, or None."""
        try:
            return self._path(key).read_bytes()
        except FileNotFoundError:
            return None

    def put(self, key: str, data: bytes) -> None:
        """Store bytes."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key[2:]


def run_in_box(argv: Sequence[str], stdin: bytes, timeout: float, *, scratch: Path | None = None) -> Completed:
    """Run a command in a box of its own with an empty home, made below `scratch` (default: the system's folder).

    Raises DesktopError when no box can be made.
    """
    with tempfile.TemporaryDirectory(prefix="forge-compute-", dir=scratch) as folder:
        home = Path(folder)
        chown_home(home)
        return run_boxed(argv, home=home, stdin=stdin, timeout=timeout, output_limit=16 * 2**20, memory_mb=1024)


@dataclass(frozen=True)
class Kitchen:
    """What nodes may use.

    Args:
        office: real LibreOffice, for preparers that reckon; None where no formula is involved.
        guest: the guest where a workflow does not say otherwise.
        cache_folder: keep results of nodes in this folder; None: in memory.
        cache: the cache itself, made from `cache_folder` unless given.
        boxed: runs the Python of `python` nodes.
        llm: invents values for `llm` nodes that say `mode: live`; None: they are drawn from a bank.
        pool: values that a model wrote beforehand, which banks are topped up with; None: the committed ones alone.
        stamp: what results depend on besides their inputs (application versions); part of every cache key.
    """

    office: OfficeClient | None = None
    guest: Guest = field(default_factory=Guest)
    cache_folder: Path | None = None
    cache: NodeCache | None = None
    boxed: Boxed = run_in_box
    llm: ValueModel | None = None
    pool: Pool | None = None
    stamp: str = ""

    def __post_init__(self) -> None:
        if self.cache is None:
            made = MemoryCache() if self.cache_folder is None else FolderCache(self.cache_folder)
            object.__setattr__(self, "cache", made)

    def without_cache(self) -> Kitchen:
        """The same kitchen, remembering nothing: to see whether a draw is made of its inputs alone."""
        return replace(self, cache=NoCache(), cache_folder=None)
