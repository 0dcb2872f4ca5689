"""What the calls of pyautogui and pyperclip inside a slot come down to: real input on its screen, its clipboard, a picture."""

from __future__ import annotations

import base64
import contextlib
import json
import threading
from collections.abc import Iterable
from typing import Any

from forge.desktop.osworld.clipboard import Clipboard
from forge.desktop.osworld.keys import KEYS, xdotool_key
from forge.desktop.slot import Slot
from forge.records.errors import InputError

_WHEEL = 200  # clicks of one call


class Hands:
    """Acts on one slot for the programs in it. They can do no more here than type and point on their own screen.

    Args:
        slot: the slot; not closed here.
    """

    def __init__(self, slot: Slot):
        self._slot = slot
        self._lock = threading.Lock()
        self._clipboard: Clipboard | None = None
        self._closed = False

    def answer(self, request: bytes) -> bytes:
        """Carry out a JSON object {"do": ...}; the answer is {"ok": ...} or {"error": ...}."""
        try:
            order = json.loads(request)
            answer = {"ok": self._do(order.pop("do"), **order)}
        except Exception as error:  # the guest's nonsense, or its display's end: it is told, and nobody else
            answer = {"error": str(error) or type(error).__name__}
        return json.dumps(answer).encode()

    def close(self) -> None:
        """Let go of the clipboard, once no call waits for the display any more. May be called twice."""
        with self._lock:
            self._closed = True
            if self._clipboard is not None:
                self._clipboard.close()
                self._clipboard = None

    def _do(self, what: str, **given: Any) -> Any:
        device = self._slot.input
        match what:
            case "position":
                return device.position()
            case "size":
                return self._slot.guest.width, self._slot.guest.height
            case "move":
                device.move(int(given["x"]), int(given["y"]))
            case "click":
                device.click(int(given["x"]), int(given["y"]), int(given["button"]), min(int(given["count"]), 10))
            case "press":
                device.press(int(given["button"]))
            case "release":
                device.release(int(given["button"]))
            case "drag":
                x0, y0, x1, y1 = (int(given[name]) for name in ("x0", "y0", "x1", "y1"))
                device.drag(x0, y0, x1, y1, int(given["button"]))
            case "scroll":
                dx, dy = (max(-_WHEEL, min(_WHEEL, int(given[name]))) for name in ("dx", "dy"))
                device.scroll(int(given["x"]), int(given["y"]), dx, dy)
            case "type":
                device.type(str(given["text"]))
            case "key":
                if keys := _known(given["keys"]):
                    device.key("+".join(keys))
            case "down":
                for key in _known([given["key"]]):
                    device.down(key)
            case "up":
                for key in _known([given["key"]]):
                    device.up(key)
            case "keys":
                return sorted(KEYS)
            case "is_key":
                return len(given["key"]) == 1 or given["key"].lower() in KEYS
            case "screenshot":
                return base64.b64encode(self._slot.screenshot().png).decode()
            case "copy":
                self._clip().copy(str(given["text"]))
            case "paste":
                return self._clip().paste()
            case _:
                raise ValueError(f"nothing is called {what!r}")
        return None

    def _clip(self) -> Clipboard:
        with self._lock:
            if self._closed:
                raise ValueError("the slot is closed")
            if self._clipboard is None:
                self._clipboard = Clipboard(self._slot.connect())
            return self._clipboard


def _known(names: Iterable[object]) -> list[str]:
    """xdotool's names of keys; one that pyautogui does not know is passed over, as pyautogui does."""
    found = []
    for name in names:
        with contextlib.suppress(InputError):
            found.append(xdotool_key(str(name)))
    return found
