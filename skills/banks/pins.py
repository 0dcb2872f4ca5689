"""Pins: how many written values of each bank a draw saw, so that the same draw can be made again from a bank that has grown."""

from __future__ import annotations

from collections.abc import Mapping

from forge.records import JSON
from skills.kitchen import Pool

KEY = "@banks"
"""Where a task's resolved object keeps its pins; no name of a workflow can be this."""


class Pins:
    """The sizes that one draw goes by. A new draw sees each pool as it is when first looked at; a repeated one as it was.

    Args:
        known: the sizes of a task that is drawn again; None: a new draw.
    """

    def __init__(self, known: Mapping[str, int] | None = None):
        self._sizes = dict(known or {})
        self._known = known is not None

    @classmethod
    def of(cls, resolved: Mapping[str, JSON]) -> Pins:
        """The pins of a task, to draw it again."""
        return cls(resolved.get(KEY, {}))

    def values(self, pool: Pool | None, bank: str, about: str) -> list[JSON]:
        """The written values that the draw may see.

        Raises:
            ValueError: the task was drawn from values that are not there.
        """
        name = f"{bank}/{about}"
        if name not in self._sizes:
            self._sizes[name] = 0 if self._known or pool is None else pool.size(bank, about)
        size = self._sizes[name]
        found = [] if pool is None or size == 0 else pool.values(bank, about, size)
        if len(found) < size:
            raise ValueError(
                f"{size} written values about {about!r} of the bank {bank} are needed, there are {len(found)}"
            )
        return found

    @property
    def sizes(self) -> dict[str, int]:
        """Pool to size, of the pools that had values."""
        return {name: size for name, size in sorted(self._sizes.items()) if size}
