"""Which menus are open, for toolkits that do not say so.

GTK 2 leaves the entries of a menu that was open once in the accessibility tree, with their old places and states. What is
on the screen is told by the X server: an open menu is a popup.
"""

from __future__ import annotations

from collections.abc import Sequence

from forge.desktop.accessibility import Found
from forge.desktop.windows import Pane

_ROLES = ("menu", "menu item", "check menu item", "radio menu item", "separator", "tearoff menu item")


def without_closed(found: Sequence[Found], panes: Sequence[Pane]) -> list[Found]:
    """Everything but the entries of menus that are not on the screen.

    Args:
        found: of one application, parents before children.
        panes: what covers the screen, see `forge.desktop.windows`.
    """
    roles = {each.element.path: each.element.role for each in found}
    popups = [pane for pane in panes if pane.client is None]

    def closed(each: Found) -> bool:
        element = each.element
        if element.role not in _ROLES or roles.get(element.path[:-1]) != "menu":
            return False
        x, y = element.box[0] + element.box[2] // 2, element.box[1] + element.box[3] // 2
        return not any(popup.holds(x, y) for popup in popups)

    gone = {each.element.path for each in found if closed(each)}
    return [
        each for each in found if not any(each.element.path[:n] in gone for n in range(1, len(each.element.path) + 1))
    ]
