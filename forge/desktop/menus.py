"""Which menus are open, for toolkits that do not say so.

GTK 2 leaves the entries of a menu that was open once in the accessibility tree, with their old places and states. What is
on the screen is told by the X server: an open menu is a popup.
"""

from __future__ import annotations

from collections.abc import Sequence

from forge.desktop.accessibility import Found
from forge.desktop.windows import Pane

_ROLES = ("menu", "menu item", "check menu item", "radio menu item", "separator", "tearoff menu item")
_FRAME = 6
"""Pixels that a popup may be wider than its entries, on either side."""

Path = tuple[int, ...]


def without_closed(found: Sequence[Found], panes: Sequence[Pane]) -> list[Found]:
    """Everything but the entries of menus that are not on the screen.

    A menu is open where a popup is as wide as its entries, and holds them.

    Args:
        found: of one application, parents before children.
        panes: what covers the screen, see `forge.desktop.windows`.
    """
    roles = {each.element.path: each.element.role for each in found}
    popups = [pane for pane in panes if pane.client is None]
    entries: dict[Path, list[Found]] = {}
    for each in found:
        above = each.element.path[:-1]
        if each.element.role in _ROLES and roles.get(above) == "menu":
            entries.setdefault(above, []).append(each)
    closed = {each.element.path for menu in entries.values() for each in _hidden(menu, popups)}
    return [
        each for each in found if not any(each.element.path[:n] in closed for n in range(1, len(each.element.path) + 1))
    ]


def _hidden(entries: Sequence[Found], popups: Sequence[Pane]) -> list[Found]:
    """The entries of one menu that do not show."""
    left = min(each.element.box[0] for each in entries)
    right = max(each.element.box[0] + each.element.box[2] for each in entries)
    popup = next(
        (
            p
            for p in popups
            if 0 <= left - p.x <= _FRAME and 0 <= p.x + p.width - right <= _FRAME and _holds_some(p, entries)
        ),
        None,
    )
    return [each for each in entries if popup is None or not _holds(popup, each)]


def _holds(popup: Pane, entry: Found) -> bool:
    x, y, width, height = entry.element.box
    return popup.holds(x + width // 2, y + height // 2)


def _holds_some(popup: Pane, entries: Sequence[Found]) -> bool:
    return any(_holds(popup, each) for each in entries)
