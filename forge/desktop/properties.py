"""Properties of X windows, of which any program of the slot may have written whatever it likes: of another type, or of any size."""

from __future__ import annotations

from typing import Any

MOST_NUMBERS = 1024
"""How many numbers of a property are read: more windows than fit into a slot."""

MOST_BYTES = 4096
"""How much of a text is read."""


def numbers(connection: Any, window: Any, name: str) -> list[int]:
    """The numbers of a property, of 32 bits each; none where it is missing or something else."""
    found = _read(connection, window, name, MOST_NUMBERS)
    return [] if found is None or found.format != 32 else [int(value) for value in found.value]


def text(connection: Any, window: Any, name: str) -> str:
    """The text of a property, bytes that are no UTF-8 replaced; empty where it is missing or something else."""
    found = _read(connection, window, name, MOST_BYTES // 4)
    if found is None or found.format != 8:
        return ""
    value = found.value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _read(connection: Any, window: Any, name: str, quads: int) -> Any:
    from Xlib import X

    return window.get_property(connection.intern_atom(name), X.AnyPropertyType, 0, quads)
