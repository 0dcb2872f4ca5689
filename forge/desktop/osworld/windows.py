"""Windows by title or class, as wmctrl finds them: raised, closed, measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forge.desktop.display import disconnect
from forge.desktop.properties import numbers, text
from forge.desktop.slot import Slot

_SOURCE_PAGER = 2  # a request by a person, which no window manager turns down


def activate(slot: Slot, name: str, *, strict: bool = False, by_class: bool = False) -> bool:
    """Raise the first window that fits and give it the focus; False when none fits. See `_matching`."""
    return _tell(slot, "_NET_ACTIVE_WINDOW", name, strict, by_class)


def close(slot: Slot, name: str, *, strict: bool = False, by_class: bool = False) -> bool:
    """Ask the first window that fits to close, as its cross does; False when none fits. See `_matching`."""
    return _tell(slot, "_NET_CLOSE_WINDOW", name, strict, by_class)


def size_of(slot: Slot, class_name: str) -> tuple[int, int] | None:
    """Width and height of the first window of a class, whatever the case of its letters."""
    connection = slot.connect()
    try:
        for window in _all(connection):
            if class_name.lower() in [each.lower() for each in _classes(connection, window)]:
                geometry = window.get_geometry()
                return int(geometry.width), int(geometry.height)
        return None
    finally:
        disconnect(connection)


def _tell(slot: Slot, what: str, name: str, strict: bool, by_class: bool) -> bool:
    from Xlib import X
    from Xlib.protocol import event

    connection = slot.connect()
    try:
        window = next(_matching(connection, name, strict, by_class), None)
        if window is None:
            return False
        atom = connection.intern_atom(what)
        data = [0, _SOURCE_PAGER, 0, 0, 0] if what == "_NET_CLOSE_WINDOW" else [_SOURCE_PAGER, 0, 0, 0, 0]
        message = event.ClientMessage(window=window, client_type=atom, data=(32, data))
        mask = X.SubstructureRedirectMask | X.SubstructureNotifyMask
        connection.screen().root.send_event(message, event_mask=mask)
        connection.sync()
        return True
    finally:
        disconnect(connection)


def _matching(connection: Any, name: str, strict: bool, by_class: bool) -> Iterator[Any]:
    """Windows whose title (or, by class, `instance.class`) contains `name`; strict: is `name`, with case."""
    for window in _all(connection):
        told = ".".join(_classes(connection, window)) if by_class else text(connection, window, "_NET_WM_NAME")
        if told == name if strict else name.lower() in told.lower():
            yield window


def _all(connection: Any) -> Iterator[Any]:
    from Xlib import error

    for number in numbers(connection, connection.screen().root, "_NET_CLIENT_LIST"):
        window = connection.create_resource_object("window", number)
        try:
            window.get_attributes()
        except (error.BadWindow, error.BadDrawable):
            continue
        yield window


def _classes(connection: Any, window: Any) -> list[str]:
    """Instance and class, as `xprop WM_CLASS` shows them."""
    return text(connection, window, "WM_CLASS").split("\0")[:2]
