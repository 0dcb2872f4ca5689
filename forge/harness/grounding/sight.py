"""A sight: one screen, and all that is known of it at that moment.

The accessibility tree is read before and after the picture is taken; what moved meanwhile is marked, and a screen that
changes all the time is not taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic import Field

from forge.records import Element, Record

if TYPE_CHECKING:
    from forge.desktop.slot import Slot

TRIES = 3
"""How often a screen is looked at again that changed meanwhile."""
FLAT = 10
"""Levels of 256 by which the colours of an area may differ for it to count as one colour."""

REACH = 20
"""Pixels to both sides of a box's edge that are looked at for writing."""
LETTER_GAP = 4
"""Pixels that two letters of a word are apart at most."""


class Surface(Record):
    """An area that the X server shows; `title` is its window's, None for what is not managed: menus, lists, tooltips."""

    x: int
    y: int
    width: int
    height: int
    title: str | None = None


class Detail(Record):
    """What an application tells of one element beside the tree."""

    description: str = ""
    keys: str = ""
    label: str = ""


class Sight(Record):
    """One screen. Indices refer to `elements`."""

    app: str
    window: str = Field("", description="title of the active window")
    width: int
    height: int
    elements: tuple[Element, ...]
    surfaces: tuple[Surface, ...] = Field(description="the topmost last")
    moved: tuple[int, ...] = Field((), description="elements that were elsewhere, or not there, after the picture")
    flat: tuple[int, ...] = Field((), description="elements whose area has one colour")
    cut: tuple[int, ...] = Field((), description="list entries whose reported box begins in the middle of their text")
    menu: tuple[str, ...] = Field((), description="path of the menu that was opened last, where one is open")
    details: dict[int, Detail] = Field(default_factory=dict)


def take(slot: Slot, app: str, cells: bool = False) -> tuple[Sight, Any] | None:
    """The screen now, with its pixels as an array (height, width, 4); None when it does not come to rest.

    Args:
        slot: the desktop.
        app: the application of interest; nothing else is read.
        cells: with the cells of the spreadsheet in view.
    """
    for _ in range(TRIES):
        before, pixels, after = _read(slot, app, cells), slot.screen.pixels(), _read(slot, app, cells)
        if (pixels == slot.screen.pixels()).all():
            return _sight(slot, app, before, after, pixels), pixels
        slot.settle(first=0.1, quiet=0.2, timeout=2)
    return None


def _read(slot: Slot, app: str, cells: bool) -> list[Element]:
    found = slot.tree(app)
    return found + slot.cells(app).visible() if cells else found


def _sight(slot: Slot, app: str, before: Sequence[Element], after: Sequence[Element], pixels: Any) -> Sight:
    windows = {window.id: window for window in slot.windows()}
    surfaces = tuple(
        Surface(
            x=pane.x, y=pane.y, width=pane.width, height=pane.height,
            title=windows[pane.client].title if pane.client in windows else None,
        )
        for pane in slot.panes()
        if pane.width > 2 and pane.height > 2
    )  # fmt: skip
    still = {(e.path, e.role, e.name, e.box) for e in after}
    return Sight(
        app=app,
        window=next((window.title for window in windows.values() if window.active), ""),
        width=pixels.shape[1],
        height=pixels.shape[0],
        elements=tuple(before),
        surfaces=surfaces,
        moved=tuple(i for i, e in enumerate(before) if (e.path, e.role, e.name, e.box) not in still),
        flat=tuple(i for i, e in enumerate(before) if is_flat(pixels, e.box)),
        cut=tuple(i for i, e in enumerate(before) if e.role == "table cell" and is_cut(pixels, e.box)),
    )


def is_flat(pixels: Any, box: tuple[int, int, int, int]) -> bool:
    """Whether an area of a picture has one colour, or none of it is on the picture."""
    x, y, width, height = box
    part = pixels[max(0, y + 1) : max(0, y + height - 1), max(0, x + 1) : max(0, x + width - 1), :3]
    if not part.size:
        return True
    return bool((part.max(axis=(0, 1)).astype(int) - part.min(axis=(0, 1)) <= FLAT).all())


def is_cut(pixels: Any, box: tuple[int, int, int, int]) -> bool:
    """Whether a box's left edge goes through something written: letters stand closer together than a list's columns.

    GTK reports entries of LibreOffice's lists as far to the right as the arrow for unfolding is wide.
    """
    x, y, width, height = box
    if x < 30 or width < 12 or height < 8:
        return False
    part = pixels[y + 2 : y + height - 2, x - REACH : x + REACH, :3].astype(int)
    if part.shape[1] < 2 * REACH or not part.size:
        return False
    inked = (abs(part - part[0, 0]).max(axis=2) > 60).any(axis=0).nonzero()[0]
    left, right = inked[inked < REACH], inked[inked >= REACH]
    return bool(len(left) and len(right) and right[0] - left[-1] <= LETTER_GAP)
