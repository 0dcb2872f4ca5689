"""The clipboard of one display, held by the host: it owns the selection CLIPBOARD and hands text to whoever asks."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import Any

from forge.desktop.xlib import select
from forge.records.errors import DesktopError

_PATIENCE = 3.0


class Clipboard:
    """Copies and pastes UTF-8 text. Safe in threads.

    Args:
        connection: to the display, of its own; closed by `close`.
    """

    def __init__(self, connection: Any):
        self._connection = connection
        self._lock = threading.Lock()
        self._text = ""
        self._owns = False
        self._window: Any = self._connection.screen().root.create_window(0, 0, 1, 1, 0, 0)
        names = ("CLIPBOARD", "UTF8_STRING", "TARGETS", "STRING", "TEXT", "FORGE_PASTE")
        self._atoms = {name: self._connection.intern_atom(name) for name in names}
        self._pasted: str | None = None
        self._arrived = threading.Event()
        self._wake, self._woken = os.pipe()
        self._thread = threading.Thread(target=self._run, name="forge-clipboard", daemon=True)
        self._connection.sync()
        self._thread.start()

    def copy(self, text: str) -> None:
        """Put text on the clipboard."""
        from Xlib import X

        with self._lock:
            self._text = text
            self._window.set_selection_owner(self._atoms["CLIPBOARD"], X.CurrentTime)
            self._connection.sync()
            self._owns = True
        os.write(self._woken, b".")

    def paste(self) -> str:
        """The text on the clipboard, also another program's. Raises DesktopError when its owner does not answer."""
        from Xlib import X

        with self._lock:
            if self._owns:
                return self._text
            if self._connection.get_selection_owner(self._atoms["CLIPBOARD"]) == X.NONE:
                return ""
            self._arrived.clear()
            target, place = self._atoms["UTF8_STRING"], self._atoms["FORGE_PASTE"]
            self._window.convert_selection(self._atoms["CLIPBOARD"], target, place, X.CurrentTime)
            self._connection.flush()
        os.write(self._woken, b".")
        if not self._arrived.wait(_PATIENCE):
            raise DesktopError("the clipboard's owner does not answer")
        return self._pasted or ""

    def close(self) -> None:
        """Let go of it. The display may have ended before."""
        from Xlib import error

        os.write(self._woken, b"x")
        self._thread.join()
        with self._lock, contextlib.suppress(error.ConnectionClosedError, OSError):
            self._connection.close()
        os.close(self._wake)
        os.close(self._woken)

    def _run(self) -> None:
        from Xlib import error

        with contextlib.suppress(error.ConnectionClosedError, OSError, ValueError):  # the display has ended
            while True:
                readable, _, _ = select([self._connection.fileno(), self._wake], [], [], 1.0)
                if self._wake in readable and b"x" in os.read(self._wake, 64):
                    return
                with self._lock:
                    while self._connection.pending_events():
                        self._handle(self._connection.next_event())

    def _handle(self, event: Any) -> None:
        from Xlib import X
        from Xlib.protocol import event as events

        if event.type == X.SelectionClear:
            self._owns = False
        elif event.type == X.SelectionNotify:
            found = None
            if event.property != X.NONE:
                found = self._window.get_full_property(self._atoms["FORGE_PASTE"], X.AnyPropertyType)
            value = found.value if found is not None else b""
            self._pasted = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
            self._arrived.set()
        elif event.type == X.SelectionRequest:
            place = event.property or event.target
            if event.target == self._atoms["TARGETS"]:
                offered = [self._atoms[name] for name in ("TARGETS", "UTF8_STRING", "STRING", "TEXT")]
                event.requestor.change_property(place, self._connection.intern_atom("ATOM"), 32, offered)
            elif event.target in (self._atoms["UTF8_STRING"], self._atoms["STRING"], self._atoms["TEXT"]):
                event.requestor.change_property(place, self._atoms["UTF8_STRING"], 8, self._text.encode())
            else:
                place = X.NONE
            answer = events.SelectionNotify(
                time=event.time,
                requestor=event.requestor,
                selection=event.selection,
                target=event.target,
                property=place,
            )
            event.requestor.send_event(answer)
            self._connection.flush()
