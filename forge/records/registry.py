"""A registry of named plug-ins: our own register by decorator, others through Python entry points."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from forge.records.errors import InputError

T = TypeVar("T")


class Registry(Generic[T]):
    """Names to things of one kind (preparers, checks, teachers, moves).

    Args:
        kind: the noun for messages, singular: "check".
        group: the entry-point group that other distributions may add to, e.g. "forge.checks". Loaded at the first
            look-up of a name that is not there.
    """

    def __init__(self, kind: str, group: str | None = None):
        self.kind = kind
        self.group = group
        self._items: dict[str, T] = {}
        self._loaded = group is None

    def add(self, name: str, item: T) -> T:
        """Register `item` under `name`. Raises ValueError when the name is taken by another thing."""
        if name in self._items and self._items[name] is not item:
            raise ValueError(f"{self.kind} {name!r} is registered twice")
        self._items[name] = item
        return item

    def get(self, name: str) -> T:
        """The thing called `name`. Raises InputError that lists the nearest known names."""
        if name not in self._items:
            self._load()
        try:
            return self._items[name]
        except KeyError:
            near = difflib.get_close_matches(name, self._items, n=3, cutoff=0.4)
            known = near or sorted(self._items)
            raise InputError(
                f"unknown {self.kind} {name!r}",
                mend=f"{'did you mean' if near else 'known are'} {', '.join(known) or 'none'}?"
                if near
                else f"known are {', '.join(known) or 'none'}",
            ) from None

    def names(self) -> list[str]:
        """All known names, sorted."""
        self._load()
        return sorted(self._items)

    def __contains__(self, name: str) -> bool:
        if name not in self._items:
            self._load()
        return name in self._items

    def __iter__(self) -> Iterator[tuple[str, T]]:
        self._load()
        return iter(sorted(self._items.items()))

    def _load(self) -> None:
        if self._loaded or self.group is None:
            return
        self._loaded = True
        for point in entry_points(group=self.group):
            if point.name not in self._items:
                self._items[point.name] = point.load()
