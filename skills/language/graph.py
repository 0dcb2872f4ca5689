"""The order in which a workflow's values can be made."""

from __future__ import annotations

from collections.abc import Collection, Mapping


def in_order(reads: Mapping[str, Collection[str]]) -> list[str]:
    """The names such that each stands behind all that it reads; otherwise as they are written.

    Args:
        reads: name to the names that it reads; names that are not keys are ignored.

    Raises:
        CycleError: some names read each other in a circle.
    """
    done: dict[str, None] = {}
    left = dict(reads)
    while left:
        ready = next((name for name, needs in left.items() if not any(need in left for need in needs)), None)
        if ready is None:
            raise CycleError(_circle(left))
        done[ready] = None
        del left[ready]
    return list(done)


class CycleError(Exception):
    """Names that read each other in a circle: `circle` begins and ends with the same one."""

    def __init__(self, circle: list[str]):
        super().__init__(" -> ".join(circle))
        self.circle = circle


def _circle(left: Mapping[str, Collection[str]]) -> list[str]:
    """One circle among names that all wait for each other or for a circle."""
    path = [next(iter(left))]
    while True:
        needed = next(need for need in left[path[-1]] if need in left)
        if needed in path:
            return [*path[path.index(needed) :], needed]
        path.append(needed)
