"""The windows of a display, as the window manager lists them (EWMH)."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from forge.desktop.display import Display, disconnect
from forge.desktop.properties import MOST_NUMBERS, numbers, text
from forge.records.errors import DesktopError


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


@dataclass(frozen=True)
class Pane:
    """An area that the X server shows: a managed window with its decoration, or a menu, a tooltip, a list that popped up.

    `client` is the managed window's id, None for what is not managed.
    """

    x: int
    y: int
    width: int
    height: int
    client: int | None = None

    def holds(self, x: int, y: int) -> bool:
        """Whether a pixel lies in it."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


class Windows:
    """Lists a display's windows. Safe in threads."""

    def __init__(self, display: Display):
        self._display = display
        self._lock = threading.Lock()
        self._connection: Any = display.connect()

    def shown(self) -> list[Window]:
        """All managed windows, the topmost last. A window that vanishes meanwhile is left out."""
        from Xlib import X, error

        with self._asking():
            return self._list(X, error)

    def panes(self) -> list[Pane]:
        """Everything that covers a part of the screen, the topmost last; popups are not managed and still cover."""
        from Xlib import X, error

        with self._asking():
            return self._panes(X, error)

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        from Xlib import error

        with self._lock:
            if self._connection is None:
                raise DesktopError("the slot is closed")
            try:
                yield
            except (error.ConnectionClosedError, OSError) as lost:
                raise self._display.lost(lost) from lost

    def _panes(self, X: Any, error: Any) -> list[Pane]:
        server = self._connection
        root = server.screen().root
        frames: dict[int, int] = {}
        for number in numbers(server, root, "_NET_CLIENT_LIST_STACKING"):
            window = server.create_resource_object("window", number)
            try:
                while (parent := window.query_tree().parent) and parent.id != root.id:
                    window = parent
            except (error.BadWindow, error.BadDrawable):
                continue
            frames[window.id] = number
        result = []
        for window in root.query_tree().children[-MOST_NUMBERS:]:
            try:
                looks, size = window.get_attributes(), window.get_geometry()
            except (error.BadWindow, error.BadDrawable):
                continue
            if looks.map_state == X.IsViewable and looks.win_class != X.InputOnly:
                result.append(Pane(size.x, size.y, size.width, size.height, frames.get(window.id)))
        return result

    def _list(self, X: Any, error: Any) -> list[Window]:
        server = self._connection
        root = server.screen().root
        active = numbers(server, root, "_NET_ACTIVE_WINDOW")
        result = []
        for number in numbers(server, root, "_NET_CLIENT_LIST_STACKING"):
            window = server.create_resource_object("window", number)
            try:
                title = text(server, window, "_NET_WM_NAME")
                if window.get_attributes().map_state != X.IsViewable:
                    continue  # iconified
                size = window.get_geometry()
                place = root.translate_coords(window, 0, 0)
            except (error.BadWindow, error.BadDrawable):
                continue
            result.append(Window(number, title, place.x, place.y, size.width, size.height, number in active))
        return result

    def close(self) -> None:
        """Disconnect. May be called twice."""
        with self._lock:
            if self._connection is not None:
                disconnect(self._connection)
                self._connection = None
