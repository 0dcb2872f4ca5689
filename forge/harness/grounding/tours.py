"""Tours: what there is to see in each kind of application, as walks of an explorer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from forge.harness.grounding.explorer import Explorer
from forge.harness.grounding.visible import Thing, things
from forge.records import Element

Tour = Callable[[Explorer], None]
"""Walks through an open application."""

MOST_PAGES = 90


def menus(*names: str, dialogs: bool = True) -> Tour:
    """Menus of the menu bar, all or some, with their dialogs."""

    def tour(explorer: Explorer) -> None:
        explorer.look()
        explorer.menus(*names, dialogs=dialogs)

    return tour


def chords(*keys: str) -> Tour:
    """The dialogs that key chords open."""

    def tour(explorer: Explorer) -> None:
        for chord in keys:
            explorer.safely(partial(explorer.dialog_of, partial(_press, explorer, chord), chord))

    return tour


def options(path: tuple[str, ...]) -> Tour:
    """A dialog whose pages are the entries of a tree at its left: every page, by keys."""

    def tour(explorer: Explorer) -> None:
        explorer.safely(partial(explorer.dialog_of, partial(explorer.choose, path), path, pages))

    def pages(explorer: Explorer) -> None:
        explorer.look()
        row = next((e for e in _rows(explorer) if e.name), None)
        if row is None:
            return
        explorer.click(row.box)
        last = ""
        same = 0
        for _ in range(MOST_PAGES):
            explorer.rest(0.2, 0.15)
            sight = explorer.look()
            explorer.slot.input.key("Right")
            explorer.slot.input.key("Down")
            title = (
                "" if sight is None else sight.window + str([e.name for e in sight.elements if "selected" in e.states])
            )
            same = same + 1 if title == last else 0
            last = title
            if same >= 2:
                return

    return tour


def toolbars(*path: str) -> Tour:
    """Every tool bar that a submenu of check entries can show, one after the other."""

    def tour(explorer: Explorer) -> None:
        names = explorer.peek(path, "check menu item")
        for name in names:
            explorer.safely(partial(_toolbar, explorer, (*path, name)))

    return tour


def _toolbar(explorer: Explorer, path: tuple[str, ...]) -> None:
    if explorer.choose(path):
        explorer.rest(0.3)
        explorer.look()
        explorer.choose(path)
        explorer.rest(0.2)
    explorer.close_menus()


def dropdowns(explorer: Explorer) -> None:
    """What opens at the right edge of broad buttons, and the lists beside fields."""
    sight = explorer.look()
    if sight is None:
        return
    shown = [t for t in things(sight) if sight.surfaces[t.surface].title == sight.window]
    broad = [t for t in shown if t.word == "button" and t.named and 38 <= t.box[2] <= 60 and t.box[3] <= 50]
    for thing in broad + [t for t in shown if t.word == "button" and not t.named]:
        explorer.safely(partial(explorer.popup_of, partial(_click_right_edge, explorer, thing), thing.name))


def buttons(*names: str) -> Tour:
    """Buttons that show another panel: each is clicked once."""

    def tour(explorer: Explorer) -> None:
        for name in names:
            sight = explorer.look()
            found = [t for t in things(sight) if t.name == name and t.word in ("button", "tab")] if sight else []
            if found:
                explorer.click(found[-1].box)
                explorer.rest(0.4, 0.2)
                explorer.look()

    return tour


def cells(sheets: int, screens: int = 2) -> Tour:
    """The cells of a workbook's sheets."""

    def tour(explorer: Explorer) -> None:
        for _ in range(sheets):
            explorer.slot.input.key("ctrl+Home")
            for _ in range(screens):
                explorer.rest()
                explorer.look(cells=True)
                explorer.slot.input.key("Page_Down")
            explorer.slot.input.key("ctrl+Page_Down")

    return tour


def places(keys: str, where: Sequence[str], after: Tour | None = None, scrolls: int = 0) -> Tour:
    """Addresses or folders that are typed into the field that a chord leads to."""

    def tour(explorer: Explorer) -> None:
        for place in where:
            explorer.slot.input.key(keys)
            explorer.rest(0.15, 0.1)
            explorer.slot.input.type(f"{place}\n")
            explorer.rest(0.8, 0.3)
            explorer.look()
            for _ in range(scrolls):
                explorer.slot.input.scroll(explorer.slot.guest.width // 2, explorer.slot.guest.height // 2, 0, 8)
                explorer.rest(0.3, 0.2)
                explorer.look()
            if after is not None:
                after(explorer)

    return tour


def rows(role: str | tuple[str, ...], limit: int = 12, step: int = 1, menu: bool = False) -> Tour:
    """Entries of a list in the window, clicked one after the other; with what a right click offers."""

    def tour(explorer: Explorer) -> None:
        roles = (role,) if isinstance(role, str) else role
        sight = explorer.look()
        if sight is None:
            return
        shown = [t for t in things(sight) if t.element.role in roles and t.named]
        for number, thing in enumerate(shown[::step][:limit]):
            explorer.click(thing.box)
            explorer.rest(0.4, 0.25)
            explorer.look()
            if menu and number % 4 == 0:
                x, y, width, height = thing.box
                explorer.safely(partial(explorer.context_menu, x + min(width // 2, 80), y + height // 2))

    return tour


def context(*points: tuple[float, float]) -> Tour:
    """Context menus at places of the screen, as fractions of its size."""

    def tour(explorer: Explorer) -> None:
        width, height = explorer.slot.guest.width, explorer.slot.guest.height
        for x, y in points:
            explorer.safely(partial(explorer.context_menu, int(x * width), int(y * height)))

    return tour


def keys_then(*steps: str, look: bool = True) -> Tour:
    """Key chords that open something in the window, each looked at."""

    def tour(explorer: Explorer) -> None:
        for chord in steps:
            explorer.slot.input.key(chord)
            explorer.rest(0.6, 0.3)
            if look:
                explorer.look()

    return tour


def chain(*tours: Tour) -> Tour:
    """One tour after the other in the same application."""

    def tour(explorer: Explorer) -> None:
        for each in tours:
            explorer.safely(partial(each, explorer))

    return tour


def _press(explorer: Explorer, chord: str) -> bool:
    explorer.slot.input.key(chord)
    return True


def _rows(explorer: Explorer) -> list[Element]:
    sight = explorer.look()
    if sight is None:
        return []
    front = [t for t in things(sight) if sight.surfaces[t.surface].title == sight.window]
    return [t.element for t in front if t.element.role in ("tree item", "table cell", "list item")]


def _click_right_edge(explorer: Explorer, thing: Thing) -> None:
    x, y, width, height = thing.box
    explorer.slot.input.click(x + width - 6, y + height // 2)


def app_menu(keys: str) -> Tour:
    """The one menu of an application without a menu bar, which a chord opens."""

    def tour(explorer: Explorer) -> None:
        explorer.look()
        explorer.safely(partial(explorer.menu_of, partial(_press, explorer, keys)))

    return tour


def with_hidden_bar(inner: Tour) -> Tour:
    """A tour of an application that shows its menu bar only when F10 is pressed."""

    def tour(explorer: Explorer) -> None:
        explorer.hidden_bar = True
        inner(explorer)

    return tour


def in_tab(path: tuple[str, ...], scrolls: int) -> Tour:
    """What a menu entry opens in a tab of the window: its categories, each scrolled through."""

    def tour(explorer: Explorer) -> None:
        explorer.hidden_bar = True
        explorer.choose(path)
        explorer.rest(1.2, 0.4)
        sight = explorer.look()
        pages = [t for t in things(sight) if t.element.role in ("list item", "tree item") and t.named] if sight else []
        width, height = explorer.slot.guest.width, explorer.slot.guest.height
        for page in pages[:12]:
            explorer.click(page.box)
            explorer.rest(0.6, 0.3)
            explorer.look()
            for _ in range(scrolls):
                explorer.slot.input.scroll(int(width * 0.6), height // 2, 0, 6)
                explorer.rest(0.3, 0.2)
                explorer.look()

    return tour
