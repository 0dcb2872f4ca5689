"""A recording of one action's effect: every frame that differed from the one before it, and when.

The screen is grabbed every 20 ms through a connection of its own, by shared memory, and compared with the frame before.
What a settling policy saw at the end of its wait is the last frame before that moment; whether it settled too early is
decided by comparing that frame with the last one of the recording.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy

from forge.desktop.display import Display
from forge.desktop.screen import Screen

PERIOD = 0.02
"""Seconds between two grabs."""
CONTRAST = 24
"""A pixel differs when one of its colours differs by more than this, of 255."""

Box = tuple[int, int, int, int]
"""x, y, width, height in pixels."""


@dataclass
class Recording:
    """The frames of an action's effect. Times in seconds since `began`, on the monotonic clock.

    Args:
        began: when the action began.
        frames: (time, picture) of the first frame and of every one that differed from its predecessor.
        tips: areas in which a tooltip showed at some time.
    """

    began: float
    frames: list[tuple[float, Any]] = field(default_factory=list)
    tips: set[Box] = field(default_factory=set)

    def changes(self) -> list[float]:
        """When the picture changed."""
        return [at for at, _ in self.frames[1:]]

    def seen(self, at: float) -> Any:
        """The picture that showed at a time."""
        return next((frame for when, frame in reversed(self.frames) if when <= at), self.frames[0][1])

    def missed(self, at: float, ignored: Sequence[Box] = ()) -> int:
        """How many pixels of what showed at a time differ from the last frame, outside of tooltips and ignored areas."""
        return differing(self.seen(at), self.frames[-1][1], (*self.tips, *ignored))


def differing(one: Any, other: Any, ignored: Sequence[Box] = ()) -> int:
    """How many pixels of two pictures differ, see `CONTRAST`."""
    if one is other:
        return 0
    rows = numpy.flatnonzero((one != other).any(axis=(1, 2)))
    if not len(rows):
        return 0
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    apart = numpy.abs(one[top:bottom, :, :3].astype(numpy.int16) - other[top:bottom, :, :3]).max(axis=2) > CONTRAST
    for x, y, width, height in ignored:
        apart[max(0, y - top) : max(0, y + height - top), max(0, x) : max(0, x + width)] = False
    return int(apart.sum())


class Recorder:
    """Records a display in a thread, one action at a time, through connections of its own."""

    def __init__(self, display: Display):
        self._screen = Screen(display)
        self._server: Any = display.connect()
        self._thread: threading.Thread | None = None
        self._end = threading.Event()
        self._recording: Recording | None = None

    def start(self) -> Recording:
        """Begin; the action is to follow at once."""
        self._end.clear()
        recording = Recording(time.monotonic())
        recording.frames.append((0.0, self._screen.pixels()))
        recording.began = time.monotonic()
        self._recording = recording
        self._thread = threading.Thread(target=self._watch, args=(recording,), daemon=True)
        self._thread.start()
        return recording

    def stop(self) -> None:
        """End the recording."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def close(self) -> None:
        """End it all."""
        self.stop()
        self._screen.close()
        self._server.close()

    def _watch(self, recording: Recording) -> None:
        last = recording.frames[-1][1]
        following, looked = time.monotonic(), 0.0
        while not self._end.is_set():
            pixels = self._screen.pixels()
            at = time.monotonic() - recording.began
            if not numpy.array_equal(_words(pixels), _words(last)):
                recording.frames.append((at, pixels))
                last = pixels
            if at - looked > 5 * PERIOD:
                looked = at
                recording.tips |= self._tips()
            following = max(following + PERIOD, time.monotonic())
            self._end.wait(following - time.monotonic())

    def _tips(self) -> set[Box]:
        """Where tooltips show now."""
        from Xlib import X, error

        kind, tooltip = map(self._server.intern_atom, ("_NET_WM_WINDOW_TYPE", "_NET_WM_WINDOW_TYPE_TOOLTIP"))
        found = set()
        for window in self._server.screen().root.query_tree().children:
            with contextlib.suppress(error.BadWindow, error.BadDrawable):
                if window.get_attributes().map_state != X.IsViewable:
                    continue
                kinds = window.get_full_property(kind, X.AnyPropertyType)
                if kinds is not None and tooltip in kinds.value:
                    size = window.get_geometry()
                    found.add((size.x, size.y, size.width, size.height))
        return found


def _words(pixels: Any) -> Any:
    """Two pixels a word, which compares faster."""
    return pixels.reshape(-1).view(numpy.uint64)
