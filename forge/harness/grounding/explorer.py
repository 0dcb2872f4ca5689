"""The explorer: walks through an application and keeps a sight of everything that opens, changing nothing.

It opens menus and rests on submenus, opens what ends with dots and closes it again, and shows the pages of dialogs. A
step that does not come about is left out; one that breaks the desktop costs the slot. An application that does not let
the walk go on ends it with a StuckError, a desktop that fails with another DesktopError.
"""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from forge.desktop.apps import find_app
from forge.desktop.screen import encode_png
from forge.desktop.windows import Pane
from forge.harness.grounding.sight import Detail, Sight, take
from forge.harness.grounding.visible import MENU_ENTRIES, Thing, things
from forge.records import DesktopError, Element

if TYPE_CHECKING:
    from forge.desktop.slot import Slot

log = logging.getLogger(__name__)

ENOUGH = 5
"""Sights of the same target that one walk keeps."""
RESTARTS = 8
"""How often one walk may need another slot."""
OPENS = 3.0
"""Seconds within which a menu or a dialog appears."""
HARMFUL = re.compile(
    r"quit|exit|log ?out|shut ?down|restart|safe mode|print\b|send|terminal|file manager|eject|online|check for updates|"
    r"update|donat|get involved|report|feedback|help$|web ?site|user guides?|video|what's this|full ?screen|macro|basic|"
    r"xml filter|script-fu|python-fu|wizard|java|screenshot|scan|acquire|from webpage|camera|device|convert ?/ ?save|"
    r"stream|troubleshoot|work offline|digital sign|developer|task manager|e-mail|mail merge|^chart\.\.\.",
    re.IGNORECASE,
)
"""Entries whose dialogs are not opened: they leave the application, need what the box has not, or cannot be left again."""
LEAVE = ("Cancel", "Close", "Discard", "Don't Save", "No", "OK", "_Close", "_Cancel")


class StuckError(DesktopError):
    """The application does not let the walk go on: what it opened does not close, or its steps need slot after slot."""


@dataclass(frozen=True)
class Found:
    """One kept screen: what is known of it, and its picture."""

    sight: Sight
    png: bytes


class Explorer:
    """Walks one application in an open slot.

    Args:
        slot: the desktop; the application is open.
        app: which one.
        on_screen: called for every kept screen.
        again: closes the slot and gives one like it was at the start, after something did not close or answer.
    """

    def __init__(
        self,
        slot: Slot,
        app: str,
        on_screen: Callable[[Found], None] | None = None,
        again: Callable[[], Slot] | None = None,
    ):
        self.slot = slot
        self.app = app
        self.hidden_bar = False
        """Whether the menu bar shows only once F10 was pressed, which opens its first menu."""
        self.found: list[Found] = []
        self._on_screen = on_screen
        self._again = again
        self._restarts = 0
        self._seen: Counter[tuple[str, str, str]] = Counter()
        self._details: dict[tuple[object, ...], Detail] = {}

    def look(self, *, cells: bool = False, menu: tuple[str, ...] = ()) -> Sight | None:
        """Keep the screen as it is, if it shows anything that was not seen often enough.

        Args:
            cells: with the cells of the spreadsheet in view.
            menu: the path of the menu that was opened last.
        """
        taken = take(self.slot, self.app, cells)
        if taken is None:
            return None
        sight, pixels = taken
        sight = sight.model_copy(update={"menu": menu})
        shown = things(sight)
        sight = self._with_details(sight, shown)
        fresh = [key for t in shown if self._seen[key := (t.context, t.element.role, t.name)] < ENOUGH]
        fresh = [key for key in fresh if self._seen[key] == 0] or (fresh if len(fresh) >= 12 else [])
        if fresh:
            self._seen.update((t.context, t.element.role, t.name) for t in shown)
            found = Found(sight, encode_png(pixels))
            self.found.append(found)
            if self._on_screen is not None:
                self._on_screen(found)
        return sight

    def rest(self, first: float = 0.25, quiet: float = 0.15) -> None:
        """Wait for the last action's effect."""
        self.slot.settle(first=first, quiet=quiet, timeout=4)

    def point(self, box: tuple[int, int, int, int]) -> None:
        """Move the pointer to the middle of a box."""
        x, y, width, height = box
        self.slot.input.move(x + width // 2, y + height // 2)

    def click(self, box: tuple[int, int, int, int], button: int = 1) -> None:
        """Click the middle of a box."""
        x, y, width, height = box
        self.slot.input.click(x + width // 2, y + height // 2, button=button)

    def becomes(self, predicate: Callable[[], bool], seconds: float = OPENS) -> bool:
        """Wait for something to come true."""
        end = time.monotonic() + seconds
        while not predicate():
            if time.monotonic() > end:
                return False
            time.sleep(0.03)
        return True

    def menu_bar(self) -> list[Element]:
        """The menus of the menu bar, as they lie now."""
        tree = self.slot.tree(self.app, menus=False)
        bars = {e.path for e in tree if e.role == "menu bar"}
        return [e for e in tree if e.role in ("menu", "menu item") and e.path[:-1] in bars and e.name and e.box[2] > 4]

    def menus(self, *names: str, dialogs: bool = True) -> None:
        """Walk the menus of the menu bar, all of them or those named; then open the dialogs that they offer."""
        if self.hidden_bar:
            self._show_bar()
        shown = [menu.name for menu in self.menu_bar()]
        self.close_menus()
        for menu in [name for name in shown if not names or name in names]:
            paths: list[tuple[str, ...]] = []
            self.safely(partial(self._menu, menu, paths))
            for path in paths if dialogs else ():
                if not HARMFUL.search(path[-1]):
                    self.safely(partial(self.dialog_of, partial(self.choose, path), path))

    def safely(self, step: Callable[[], object]) -> None:
        """Take a step of the walk. After a fault of the desktop the walk goes on behind it, in a slot like the first.

        Raises:
            StuckError: too many slots were needed.
            DesktopError: there is no way to get another slot, or it did not open.
        """
        try:
            step()
        except DesktopError as error:
            again, self._again = self._again, None  # what ends the walk ends the steps around this one too
            if again is None:
                raise
            self._restarts += 1
            if self._restarts > RESTARTS:
                raise StuckError(f"the walk needed more than {RESTARTS} other slots: {error.message}") from error
            log.info("%s: %s; the walk goes on in another slot", self.app, error)
            self.slot = again()
            self._again = again

    def _menu(self, name: str, paths: list[tuple[str, ...]]) -> None:
        if self._open_menu(name):
            self._walk((name,), paths)
        self.close_menus()

    def _show_bar(self) -> None:
        for _ in range(2):  # where the bar still had the keyboard, the first one only gives it back
            self.slot.input.key("F10")
            if self._opens(0, 1.5):
                break
        self.rest(0.2, 0.15)

    def _open_menu(self, name: str) -> bool:
        """Open a menu of the menu bar. Returns whether it came."""
        if self.hidden_bar:
            self._show_bar()
        bar = self.menu_bar()
        menu = next((menu for menu in bar if menu.name == name), None)
        if menu is None:
            return False
        if not self.hidden_bar:
            return self._open(menu.box)
        before = self._popups()
        if menu is not bar[0]:  # an open menu bar follows the pointer
            self.point(menu.box)
            self.becomes(lambda: bool(self._popups()) and self._popups() != before, OPENS)
            self.rest(0.1, 0.15)
        return bool(self._popups())

    def menu_of(self, action: Callable[[], object]) -> None:
        """Do what opens a menu, and walk it."""
        count = len(self._popups())
        action()
        if self._opens(count, OPENS):
            self.rest(0.2, 0.15)
            self._walk(("context",), [])
        self.close_menus()

    def context_menu(self, x: int, y: int) -> None:
        """Walk the menu that a right click opens."""
        self.menu_of(partial(self.slot.input.click, x, y, 3))

    def popup_of(self, action: Callable[[], object], what: str = "") -> None:
        """Do what opens a list or a menu, look at it, and close it again; a dialog that came instead is closed too."""
        before, windows = self._popups(), {w.id for w in self.slot.windows()}
        action()
        if self.becomes(lambda: self._popups() != before, 1.0):
            self.rest(0.1, 0.1)
            self.look(menu=(what,) if what else ())
        self.close_menus()
        if not self.leave(windows):
            raise StuckError(f"what {what} opened does not close")

    def peek(self, path: tuple[str, ...], role: str | None = None) -> list[str]:
        """What a submenu offers, by name; with `role` only entries of this kind."""
        names: list[str] = []
        if self.choose(path):
            self.rest(0.2, 0.1)
            sight = self.look(menu=path)
            entries = [] if sight is None else _entries(sight)
            names = [t.element.name for t in entries if role in (None, t.element.role)]
        self.close_menus()
        return names

    def dialog_of(
        self, action: Callable[[], bool], what: object = "", tour: Callable[[Explorer], None] | None = None
    ) -> None:
        """Do what opens a dialog, look at all of its pages, or take a tour of it, and close it again."""
        before = {w.id for w in self.slot.windows()}
        if not action() or not self.becomes(lambda: self._new_windows(before) != [], OPENS):
            self.close_menus()
            return
        self.rest(0.3, 0.2)
        if tour is None:
            self.dialog()
        else:
            tour(self)
        if not self.leave(before):
            raise StuckError(f"the dialog of {what} did not close")

    def dialog(self) -> None:
        """Look at the dialog in front: its pages, and what its lists offer."""
        sight = self.look()
        if sight is None:
            return
        front = [t for t in things(sight) if sight.surfaces[t.surface].title == sight.window]
        for page in [t for t in front if t.word == "tab" and "selected" not in t.element.states]:
            self.click(page.box)
            self.rest(0.2)
            self.look()
        for box in [t for t in front if t.element.role == "combo box" and "disabled" not in t.element.states][:3]:
            count = len(self._popups())
            self.click(box.box)
            if self._opens(count, 1.0):
                self.rest(0.1, 0.1)
                self.look()
                self.slot.input.key("Escape")
                self._closes(count + 1, 0.6)

    def leave(self, before: set[int]) -> bool:
        """Close every window that is not among `before`. Returns whether it worked."""
        for attempt in range(5):
            fresh = self._new_windows(before)
            count = len(fresh)
            if not fresh:
                return True
            if attempt in (0, 1):
                self.slot.input.key("Escape")
            elif attempt in (2, 3):
                button = next(
                    (e for name in LEAVE for e in self._front_buttons() if e.name == name and e.box[2] > 4), None
                )
                if button is not None:
                    self.click(button.box)
            elif any(w.active and w.id in fresh for w in self.slot.windows()):
                self.slot.input.key("alt+F4")
            self.becomes(partial(self._are_fewer, before, count), 2.0)
        return not self._new_windows(before)

    def close_menus(self) -> None:
        """Close every popup."""
        for _ in range(5):
            if not self._popups():
                return
            count = len(self._popups())
            self.slot.input.key("Escape")
            self._closes(count, 1.0)
        self.slot.input.click(self.slot.guest.width // 2, 8)  # the title bar
        if not self.becomes(lambda: not self._popups(), 1.0):
            raise StuckError("a menu does not close")

    def _opens(self, count: int, seconds: float) -> bool:
        return self.becomes(lambda: len(self._popups()) > count, seconds)

    def _closes(self, count: int, seconds: float) -> bool:
        return self.becomes(lambda: len(self._popups()) < count, seconds)

    def _is_other(self, before: list[Pane], base: int) -> bool:
        """Whether another submenu is open than before, beside the `base` popups that stay."""
        now = self._popups()
        return now != before and len(now) > base

    def _are_fewer(self, before: set[int], count: int) -> bool:
        return len(self._new_windows(before)) < count

    def _popups(self) -> list[Pane]:
        return [pane for pane in self.slot.panes() if pane.client is None and pane.width > 20 and pane.height > 20]

    def _new_windows(self, before: set[int]) -> list[int]:
        return [w.id for w in self.slot.windows() if w.id not in before]

    def _front_buttons(self) -> Iterator[Element]:
        title = next((w.title for w in self.slot.windows() if w.active), None)
        tree = self.slot.tree(self.app, menus=False)
        tops = {e.path for e in tree if len(e.path) == 1 and e.name == title}
        return (e for e in tree if e.role in ("push button", "button") and e.path[:1] in tops)

    def _open(self, box: tuple[int, int, int, int]) -> bool:
        count = len(self._popups())
        self.click(box)
        opened = self._opens(count, OPENS)
        self.rest(0.1, 0.1)
        return opened

    def _walk(self, path: tuple[str, ...], dialogs: list[tuple[str, ...]], depth: int = 0) -> None:
        """Look at the menu that is open, and go into its submenus. Adds the paths of entries with dialogs."""
        sight = self.look(menu=path)
        if sight is None:
            return
        entries = _entries(sight)
        base = len(self._popups())
        dialogs += [
            (*path, e.element.name)
            for e in entries
            if e.element.role in MENU_ENTRIES
            and e.element.name.rstrip().endswith(("...", "…"))
            and "disabled" not in e.element.states
        ]
        if depth >= 3:
            return
        for entry in entries:
            if not _is_submenu(entry) or "disabled" in entry.element.states:
                continue
            before = self._popups()
            self.point(entry.box)
            if not self.becomes(partial(self._is_other, before, base), 1.5):
                continue
            self.rest(0.05, 0.1)
            self._walk((*path, entry.element.name), dialogs, depth + 1)

    def choose(self, path: tuple[str, ...]) -> bool:
        """Choose a menu entry by its path, clicking the way there."""
        if not self._open_menu(path[0]):
            return False
        for depth, name in enumerate(path[1:], 1):
            found = self._find_entry(name)
            if found is None:
                return False
            count = len(self._popups())
            if depth == len(path) - 1:
                self.click(found.box)
                return True
            self.point(found.box)
            if not self._opens(count, 1.0):
                self.click(found.box)
            self.rest(0.05, 0.08)
        return True

    def _find_entry(self, name: str) -> Element | None:
        end = time.monotonic() + OPENS
        while True:
            tree = self.slot.tree(self.app)
            found = [
                e
                for e in tree
                if e.role in (*MENU_ENTRIES, "menu") and e.name == name and e.box[2] > 4 and e.box[0] >= 0
            ]
            popups = [pane for pane in self.slot.panes() if pane.client is None]
            for element in reversed(found):
                x, y, width, height = element.box
                if any(pane.holds(x + width // 2, y + height // 2) for pane in popups):
                    return element
            if time.monotonic() > end:
                return None
            time.sleep(0.05)

    def _with_details(self, sight: Sight, shown: list[Thing]) -> Sight:
        """The sight with what the application tells of things that are new."""
        keys = {t.index: (t.element.path[-3:], t.element.role, t.element.name, t.context) for t in shown}
        wanted = [index for index, key in keys.items() if key not in self._details and not _is_cell(sight, index)]
        paths = [list(sight.elements[index].path) for index in wanted]
        told = self.slot.ask("details", match=find_app(self.app).bus_name, paths=paths) if paths else []
        for index, each in zip(wanted, told, strict=True):
            self._details[keys[index]] = Detail(**(each or {}))
        found = {i: d for i, key in keys.items() if (d := self._details.get(key)) is not None and d != Detail()}
        return sight.model_copy(update={"details": found})


def _entries(sight: Sight) -> list[Thing]:
    """What the menu that was opened last offers: the entries on the topmost surface that has some."""
    found = [t for t in things(sight) if t.word in ("menu entry", "submenu") and t.named]
    top = max((t.surface for t in found), default=0)
    return [t for t in found if t.surface == top]


def _is_submenu(thing: Thing) -> bool:
    return thing.word == "submenu" or "expandable" in thing.element.states


def _is_cell(sight: Sight, index: int) -> bool:
    """A spreadsheet's cell: its place among its brothers is far beyond what a path can be followed along."""
    element = sight.elements[index]
    return element.role == "table cell" and bool(element.path) and element.path[-1] > 5000
