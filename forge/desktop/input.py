"""Keyboard and pointer, by the XTEST extension: what arrives is indistinguishable from a person's input.

Characters that the keyboard has no key for are typed by putting them on a spare key. Key names are xdotool's.
"""

from __future__ import annotations

import difflib
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from forge.desktop.display import Display, disconnect
from forge.records.errors import DesktopError, InputError

_ALIASES = {
    "ctrl": "Control_L",
    "control": "Control_L",
    "alt": "Alt_L",
    "option": "Alt_L",
    "shift": "Shift_L",
    "super": "Super_L",
    "meta": "Super_L",
    "win": "Super_L",
    "cmd": "Super_L",
    "enter": "Return",
    "esc": "Escape",
    "del": "Delete",
    "ins": "Insert",
    "backspace": "BackSpace",
    "pageup": "Page_Up",
    "pgup": "Page_Up",
    "page_up": "Page_Up",
    "pagedown": "Page_Down",
    "pgdn": "Page_Down",
    "page_down": "Page_Down",
    "capslock": "Caps_Lock",
    "printscreen": "Print",
    "menu": "Menu",
}
_LEFT, _MIDDLE, _RIGHT = 1, 2, 3
_WHEEL_UP, _WHEEL_DOWN, _WHEEL_LEFT, _WHEEL_RIGHT = 4, 5, 6, 7
_REMAP_PAUSE = 0.15  # seconds given to applications to handle what was typed before keys change their meaning
_CLICK_PAUSE = 0.015
_DOUBLE_CLICK, _SAME_PLACE = 0.42, 6  # within so many seconds and pixels GTK, Qt and Chromium see one double click
_DRAG_STEPS, _DRAG_PAUSE = 16, 0.012  # a drag that jumps is not seen as one by Thunderbird


class Input:
    """Types and points on one display. Coordinates are pixels. Safe in threads; one action at a time.

    Args:
        display: the display.
        before: called before each action, e.g. to forget earlier damage.
    """

    def __init__(self, display: Display, before: Callable[[], None] | None = None):
        self._display = display
        self._before = before
        self._lock = threading.RLock()
        self._connection: Any = display.connect()
        self._keys: dict[int, tuple[int, bool]] = {}
        self._spare: OrderedDict[int, int | None] = OrderedDict()
        self._typed = False
        self._clicked = (float("-inf"), 0, 0)  # when and where the last click was
        self._read_keyboard()

    def move(self, x: int, y: int) -> None:
        """Move the pointer there."""
        with self._action():
            self._move(x, y)

    def click(self, x: int, y: int, button: int = _LEFT, count: int = 1, modifiers: Sequence[str] = ()) -> None:
        """Click there: button 1 left, 2 middle, 3 right; `count` 2 is a double click; modifiers are held meanwhile.

        Two calls are two clicks: one that would be taken for the second half of a double click waits until it is not.
        """
        with self._action():
            when, was_x, was_y = self._clicked
            if abs(x - was_x) < _SAME_PLACE and abs(y - was_y) < _SAME_PLACE:
                time.sleep(max(0.0, when + _DOUBLE_CLICK - time.monotonic()))
            self._move(x, y)
            with self._held([self._key(name) for name in modifiers]):
                for _ in range(count):
                    self._button(button, True)
                    self._pause()
                    self._button(button, False)
                    self._pause()
            self._clicked = (time.monotonic(), x, y)

    def press(self, button: int = _LEFT) -> None:
        """Press a mouse button where the pointer is."""
        with self._action():
            self._button(button, True)

    def release(self, button: int = _LEFT) -> None:
        """Release a mouse button."""
        with self._action():
            self._button(button, False)

    def drag(self, x0: int, y0: int, x1: int, y1: int, button: int = _LEFT) -> None:
        """Press at the first place, move to the second through points between, release."""
        with self._action():
            self._move(x0, y0)
            self._button(button, True)
            self._connection.sync()
            for step in range(1, _DRAG_STEPS + 1):
                time.sleep(_DRAG_PAUSE)
                part = step / _DRAG_STEPS
                self._move(round(x0 + (x1 - x0) * part), round(y0 + (y1 - y0) * part))
                self._connection.sync()
            time.sleep(_DRAG_PAUSE * 4)  # the target has to answer the last motion before it can accept the drop
            self._move(x1, y1)
            self._connection.sync()
            time.sleep(_DRAG_PAUSE * 4)
            self._button(button, False)

    def scroll(self, x: int, y: int, dx: int = 0, dy: int = 0) -> None:
        """Turn the wheel there; clicks, positive = right and down."""
        with self._action():
            self._move(x, y)
            for amount, forward, backward in ((dy, _WHEEL_DOWN, _WHEEL_UP), (dx, _WHEEL_RIGHT, _WHEEL_LEFT)):
                for _ in range(abs(amount)):
                    self._button(forward if amount > 0 else backward, True)
                    self._button(forward if amount > 0 else backward, False)

    def type(self, text: str) -> None:
        """Type text, any Unicode; a line feed is Return, a tab is Tab. Other control characters are left out."""
        symbols = [symbol for symbol in map(_keysym_of, text.replace("\r\n", "\n")) if symbol is not None]
        with self._action():
            for part in self._parts(symbols):
                for symbol in part:
                    self._tap(symbol)

    def key(self, keys: str) -> None:
        """Press a chord: "ctrl+s", "Return", "alt+F4", "ctrl+plus".

        Raises:
            InputError: a key has no such name; nothing was pressed.
        """
        with self._action():
            symbols = self._chord(keys)
            with self._held(symbols[:-1]):
                if len(symbols) > 1:
                    self._pause()
                self._tap(symbols[-1])
                if len(symbols) > 1:
                    self._pause()

    def down(self, key: str) -> None:
        """Press one key and leave it so. Raises as `key`."""
        with self._action():
            self._press(self._place(self._key(key))[0], True)

    def up(self, key: str) -> None:
        """Let go of one key. Raises as `key`."""
        with self._action():
            self._press(self._place(self._key(key))[0], False)

    def hold(self, keys: str, seconds: float) -> None:
        """Hold a chord for some seconds. Raises as `key`."""
        with self._action():
            with self._held(self._chord(keys)):
                self._connection.sync()
                time.sleep(seconds)

    def position(self) -> tuple[int, int]:
        """Where the pointer is."""
        with self._connected():
            place = self._connection.screen().root.query_pointer()
            return int(place.root_x), int(place.root_y)

    def close(self) -> None:
        """Disconnect. May be called twice."""
        with self._lock:
            if self._connection is not None:
                disconnect(self._connection)
                self._connection = None

    @contextmanager
    def _action(self) -> Iterator[None]:
        with self._connected():
            if self._before is not None:
                self._before()
            yield
            self._connection.sync()

    @contextmanager
    def _connected(self) -> Iterator[None]:
        from Xlib import error

        with self._lock:
            if self._connection is None:
                raise DesktopError("the input is closed")
            try:
                yield
            except (error.ConnectionClosedError, OSError) as lost:
                raise self._display.lost(lost) from lost

    def _fake(self, kind: int, detail: int = 0, x: int = 0, y: int = 0) -> None:
        from Xlib.ext import xtest

        xtest.fake_input(self._connection, kind, detail, x=x, y=y)

    def _move(self, x: int, y: int) -> None:
        from Xlib import X

        self._fake(
            X.MotionNotify, x=min(max(x, 0), self._display.width - 1), y=min(max(y, 0), self._display.height - 1)
        )

    def _button(self, button: int, down: bool) -> None:
        from Xlib import X

        self._fake(X.ButtonPress if down else X.ButtonRelease, button)

    def _pause(self) -> None:
        """No hand is faster. Without it LibreOffice loses clicks that keys follow at once (2 of 6), openbox alt+Tab (2 of 3)."""
        self._connection.sync()
        time.sleep(_CLICK_PAUSE)

    def _press(self, code: int, down: bool) -> None:
        from Xlib import X

        self._typed = True
        self._fake(X.KeyPress if down else X.KeyRelease, code)

    def _tap(self, symbol: int) -> None:
        code, shift = self._place(symbol)
        shift_code = self._keys[_SHIFT][0]
        if shift:
            self._press(shift_code, True)
        self._press(code, True)
        self._press(code, False)
        if shift:
            self._press(shift_code, False)

    @contextmanager
    def _held(self, symbols: list[int]) -> Iterator[None]:
        codes = [self._place(symbol)[0] for symbol in symbols]
        for code in codes:
            self._press(code, True)
        try:
            yield
        finally:
            for code in reversed(codes):
                self._press(code, False)

    def _chord(self, keys: str) -> list[int]:
        # a plus sign is itself written as the key: "ctrl++", "+"
        parts = keys.split("+") if keys.strip("+") else [""] * (len(keys) + 1)
        names = []
        empty = 0
        for part in parts:
            if part.strip():
                names.append(part.strip())
            else:
                empty += 1
                if empty % 2 == 0:
                    names.append("plus")
        if not names:
            raise InputError(f"{keys!r} names no key", mend="write names joined by +, such as ctrl+s or Return")
        return [self._key(name) for name in names]

    def _key(self, name: str) -> int:
        from Xlib import XK

        if len(name) == 1:
            symbol = _keysym_of(name)
            if symbol is not None:
                return symbol
        plain = _ALIASES.get(name.lower(), name)
        for variant in (plain, plain.capitalize(), plain.lower(), plain.upper()):
            found = XK.string_to_keysym(variant)
            if found:
                return int(found)
        known = [entry[3:] for entry in dir(XK) if entry.startswith("XK_")] + list(_ALIASES)
        near = difflib.get_close_matches(name, known, n=3)
        mend = f"did you mean {', '.join(near)}?" if near else "use xdotool's names, such as Return, Page_Down, F5"
        raise InputError(f"no key is called {name!r}", mend=mend)

    def _read_keyboard(self) -> None:
        info = self._connection.display.info
        table = self._connection.get_keyboard_mapping(info.min_keycode, info.max_keycode - info.min_keycode + 1)
        for code, symbols in enumerate(table, info.min_keycode):
            if not any(symbols):
                self._spare[code] = None
                continue
            for level in (0, 1):
                symbol = symbols[level] if level < len(symbols) else 0
                if symbol:
                    self._keys.setdefault(symbol, (code, level == 1))
        if not self._spare:
            raise DesktopError(f"the keyboard of display {self._display.name} has no spare key")

    def _parts(self, symbols: list[int]) -> Iterator[list[int]]:
        """Cut text where the spare keys run out; before a part is typed, all its characters have their keys.

        Keys change between parts only: an application looks a key up when it handles the press, and loses presses that
        it still has to handle when it is told of a change.
        """
        part: list[int] = []
        odd: dict[int, None] = {}
        for symbol in symbols:
            if symbol not in odd and (symbol not in self._keys or self._keys[symbol][0] in self._spare):
                if len(odd) == len(self._spare):
                    self._give_keys(odd)
                    yield part
                    part, odd = [], {}
                odd[symbol] = None
            part.append(symbol)
        self._give_keys(odd)
        yield part

    def _give_keys(self, symbols: Iterable[int]) -> None:
        """Put each symbol on a spare key, those used last kept longest."""
        for symbol in symbols:
            if symbol in self._keys:
                self._spare.move_to_end(self._keys[symbol][0])
        missing = [symbol for symbol in symbols if symbol not in self._keys]
        if missing and self._typed:
            # what was typed must be handled before a key changes; there is no way to ask an application whether it has
            self._connection.sync()
            time.sleep(_REMAP_PAUSE)
            self._typed = False
        for symbol in missing:
            code, previous = next(iter(self._spare.items()))
            if previous is not None:
                del self._keys[previous]
            self._connection.change_keyboard_mapping(code, [(symbol, symbol)])
            self._spare[code] = symbol
            self._spare.move_to_end(code)
            self._keys[symbol] = (code, False)
        if missing:
            self._connection.sync()

    def _place(self, symbol: int) -> tuple[int, bool]:
        """The key that gives a symbol, and whether with shift."""
        if symbol not in self._keys:
            self._give_keys([symbol])
        return self._keys[symbol]


_SHIFT = 0xFFE1  # Shift_L
_RETURN, _TAB = 0xFF0D, 0xFF09


def _keysym_of(character: str) -> int | None:
    """The X keysym of a character: Latin-1 has its own numbers, the rest of Unicode has 0x01000000 added."""
    if character == "\n":
        return _RETURN
    if character == "\t":
        return _TAB
    code = ord(character)
    if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000:
        return None
    return code if code < 0x100 else 0x01000000 + code


def pixel(fraction: float, size: int) -> int:
    """The pixel that a fraction of the width or height falls on."""
    return min(max(math.floor(fraction * size), 0), size - 1)
