"""The windows of a display, as the window manager lists them (EWMH)."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from typing import Any

from forge.desktop.display import Display


@dataclass(frozen=True)
class Window:
    """A managed window: its client area in pixels of the screen. Menus and tooltips are not managed and not listed."""

    id: int
    title: str
    x: int
    y: int
    width: int
    height: int
    active: bool


class Windows:
    """Lists a display's windows. Safe in threads."""

    def __init__(self, display: Display):
        self._display = display
        self._lock = threading.Lock()
        self._connection: Any = display.connect()

    def shown(self) -> list[Window]:
        """All managed windows, the topmost last. A window that vanishes meanwhile is left out."""
        from Xlib import X, error

        with self._lock:
            try:
                return self._list(X, error)
            except error.ConnectionClosedError:
                self._display.alive()
                raise

    def _list(self, X: Any, error: Any) -> list[Window]:
        server = self._connection
        root = server.screen().root
        stacking = root.get_full_property(server.intern_atom("_NET_CLIENT_LIST_STACKING"), X.AnyPropertyType)
        active = root.get_full_property(server.intern_atom("_NET_ACTIVE_WINDOW"), X.AnyPropertyType)
        result = []
        for number in stacking.value if stacking else ():
            window = server.create_resource_object("window", number)
            try:
                title = window.get_full_property(server.intern_atom("_NET_WM_NAME"), X.AnyPropertyType)
                if window.get_attributes().map_state != X.IsViewable:
                    continue  # iconified
                size = window.get_geometry()
                place = root.translate_coords(window, 0, 0)
            except (error.BadWindow, error.BadDrawable):
                continue
            name = title.value.decode("utf-8", "replace") if title else ""
            result.append(
                Window(
                    int(number),
                    name,
                    place.x,
                    place.y,
                    size.width,
                    size.height,
                    bool(active and number in active.value),
                )
            )
        return result

    def close(self) -> None:
        """Disconnect. May be called twice."""
        with self._lock:
            if self._connection is not None:
                with contextlib.suppress(Exception):  # the server may have died before
                    self._connection.close()
                self._connection = None
