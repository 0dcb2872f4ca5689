"""Hands: find things on a real desktop by meaning, and turn what is to be done with them into canonical actions."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from forge.desktop.apps import APPS
from forge.desktop.place import home as forge_home
from forge.desktop.words import whereabouts
from forge.harness.moves.base import Act, MoveError
from forge.records import Action, DesktopError, Drag, Element, Key, Point, Pointer, Scroll, Type, Wait

if TYPE_CHECKING:
    from forge.desktop.slot import Slot

PATIENCE = 6.0
"""Seconds after which something that should have appeared is taken to be missing."""
PAUSE = 0.06
"""Seconds between two looks; a look at a large window takes longer itself."""
FRESH = 0.05
"""Seconds for which a reading of the tree answers further questions; less than `PAUSE`, and never across an act."""

LONGEST = 4.0
"""Seconds after which an act is no longer waited for: another way may be open."""
PICTURES_KEPT = 200

T = TypeVar("T")

Condition = Callable[[], Any]
"""Something that becomes true, and its value then."""

MENU_ROLES = ("menu", "menu item", "check menu item", "radio menu item")
BUTTON_ROLES = ("push button", "toggle button", "radio button", "check box")
ENTRY_ROLES = ("text", "entry", "password text", "spin button")
POPUP_ROLES = ("window", "menu", "popup menu", "tool tip")
"""Of what lies directly below an application: open menus and lists, in front of its windows."""


def same_name(name: str, wanted: str) -> bool:
    """Whether a name is the wanted one. Blanks, the spelling of an ellipsis or an apostrophe, and a final colon do not
    matter; `*` stands for anything.
    """
    name, wanted = _plain(name), _plain(wanted)
    if "*" in wanted:
        return re.fullmatch(".*".join(re.escape(part) for part in wanted.split("*")), name) is not None
    return name == wanted


def _plain(name: str) -> str:
    return " ".join(name.replace("…", "...").replace("’", "'").split()).removesuffix(":")


class Scene:
    """One reading of the accessibility tree, with questions to ask of it.

    Args:
        elements: parents before children.
        front: title of the window in front; what is in it comes first.
    """

    def __init__(self, elements: Iterable[Element], front: str | None = None):
        self.elements = list(elements)
        self._front = {
            (e.app, e.path) for e in self.elements if len(e.path) == 1 and front is not None and e.name == front
        }
        self._by_path = {(element.app, element.path): element for element in self.elements}

    def ancestors(self, element: Element) -> Iterator[Element]:
        """From the parent up to the application."""
        for length in range(len(element.path) - 1, -1, -1):
            found = self._by_path.get((element.app, element.path[:length]))
            if found is not None:
                yield found

    def below(self, element: Element) -> list[Element]:
        """All descendants."""
        size = len(element.path)
        return [
            e for e in self.elements if e.app == element.app and len(e.path) > size and e.path[:size] == element.path
        ]

    def entries(self, menu: Element) -> list[Element]:
        """What an open menu offers. Qt puts a popup between a menu and its entries."""
        size = len(menu.path) + 1
        popups = {e.path for e in self.below(menu) if len(e.path) == size and e.role == "popup menu"}
        return [
            e
            for e in self.below(menu)
            if (len(e.path) == size or e.path[:-1] in popups) and e.role in MENU_ROLES and self.shows(e)
        ]

    def select(
        self,
        name: str | None = None,
        role: str | tuple[str, ...] | None = None,
        within: str | Element | None = None,
        where: Callable[[Element], bool] | None = None,
    ) -> list[Element]:
        """Everything that shows and fits: open menus and lists first, then the window in front, then the newest one, and
        in each in reading order of the tree.

        Args:
            name: see `same_name`.
            role: one role, or any of several.
            within: an element, or the name of anything that encloses it (a dialog's title, a tool bar).
            where: a further condition.
        """
        roles = (role,) if isinstance(role, str) else role
        found = [
            element
            for element in self.elements
            if self.shows(element)
            and (roles is None or element.role in roles)
            and (name is None or same_name(element.name, name))
            and (within is None or self._is_within(element, within))
            and (where is None or where(element))
        ]
        return sorted(found, key=self._rank)

    def _rank(self, element: Element) -> tuple[int, int]:
        top = self._by_path.get((element.app, element.path[:1]))
        popup = top is not None and top.role in POPUP_ROLES
        front = (element.app, element.path[:1]) in self._front
        return 0 if popup else 1 if front else 2, -element.path[0] if element.path else 0

    def shows(self, element: Element) -> bool:
        """Whether there is something to point at.

        What lies outside an open list has its place at minus two thousand million; the entries of a menu that was open
        once keep their old places in Thunderbird.
        """
        x, y, width, height = element.box
        if width <= 1 or height <= 1 or x + width <= 0 or y + height <= 0:
            return False
        if element.role not in MENU_ROLES:
            return True
        menus = (above for above in self.ancestors(element) if above.role == "menu")
        return not any("expandable" in above.states and "expanded" not in above.states for above in menus)

    def _is_within(self, element: Element, within: str | Element) -> bool:
        if isinstance(within, Element):
            return element.app == within.app and element.path[: len(within.path)] == within.path
        return any(same_name(above.name, within) for above in self.ancestors(element))


class Hands:
    """Looks at a slot and makes acts. Nothing here changes the desktop: an act is yielded to the turn loop.

    Args:
        slot: the desktop.
        patience: see `PATIENCE`.
    """

    def __init__(self, slot: Slot, patience: float = PATIENCE):
        self.slot = slot
        self.patience = patience
        self._read: dict[str | None, tuple[float, Scene]] = {}
        self._seen: dict[Condition, Any] = {}

    def scene(self, app: str | None = None) -> Scene:
        """The tree of one application, or of all."""
        when, scene = self._read.get(app, (-1.0, None))
        if scene is None or time.monotonic() - when > FRESH:
            scene = Scene(self.slot.tree(app), next((w.title for w in self.slot.windows() if w.active), None))
            self._read[app] = (time.monotonic(), scene)
        return scene

    def part(self, element: Element) -> Scene:
        """What lies in an element now, with what it lies in: a small part of the tree, and quickly read."""
        return Scene(self.slot.tree(element.app or None, under=element.path))

    def look(self, name: str | None = None, role: Any = None, *, index: int = 0, **more: Any) -> Element | None:
        """The element that fits, or None; does not wait. See `Scene.select`."""
        app = more.pop("app", None)
        found = self.scene(app).select(name, role, **more)
        return found[index] if -len(found) <= index < len(found) else None

    def find(self, name: str | None = None, role: Any = None, *, index: int = 0, **more: Any) -> Element:
        """The element that fits; waits for it. Raises MoveError with what there was instead."""
        deadline = time.monotonic() + self.patience
        while True:
            element = self.look(name, role, index=index, **more)
            if element is not None:
                return element
            if time.monotonic() > deadline:
                raise MoveError(f"no {_spec(name, role, more)} shows", mend=self._instead(role, more))
            time.sleep(PAUSE)

    def wait(self, condition: Callable[[], T | None], what: str, patience: float | None = None) -> T:
        """The first true value of `condition`. Raises MoveError: `what` did not come true."""
        value = self.becomes(condition, patience)
        if not value:
            raise MoveError(f"{what} (waited {self.patience if patience is None else patience:g} s)")
        return value

    def becomes(self, condition: Callable[[], T], patience: float | None = None) -> T:
        """The first true value of `condition`, or the last false one when patience ends.

        A condition that an act was waiting for, and that came true then, is not looked at again.
        """
        if condition in self._seen:
            seen: T = self._seen.pop(condition)
            return seen
        deadline = time.monotonic() + (self.patience if patience is None else patience)
        while True:
            value = condition()
            if value or time.monotonic() > deadline:
                return value
            time.sleep(PAUSE)

    def cell(self, ref: str) -> Element | None:
        """A cell of the spreadsheet in view, or None when it is not in view."""
        return self.slot.cell(ref)

    def window(self, title: str) -> Any | None:
        """The uppermost window with this title (see `same_name`), or None."""
        return next((w for w in reversed(self.slot.windows()) if same_name(w.title, title)), None)

    def showing(self, name: str | None = None, role: Any = None, **more: Any) -> Condition:
        """A condition: something that fits shows."""
        return lambda: self.look(name, role, **more) is not None

    def gone(self, name: str | None = None, role: Any = None, **more: Any) -> Condition:
        """A condition: nothing that fits shows."""
        return lambda: self.look(name, role, **more) is None

    def again(self, element: Element) -> Element | None:
        """The same element as it is now, None when it is gone.

        Looked for at its path first, which is quick; a window that has come or gone since moves the paths of others.
        """

        def same(other: Element | None) -> bool:
            return other is not None and (other.role, other.path) == (element.role, element.path)

        if element.role == "table cell":  # of a sheet there is no path to a cell
            x, y, width, height = element.box
            now = self.slot.element_at(x + width // 2, y + height // 2)
            if same(now):
                return now
        now = next((e for e in self.part(element).elements if same(e)), None)
        if now is not None and (now.name == element.name or now.box == element.box):
            return now if now.name else now.model_copy(update={"near": element.near})
        found = self.scene(element.app or None).select(element.name, element.role)
        tail = [e for e in found if e.path[1:] == element.path[1:]]
        return next(iter([e for e in tail if e.path == element.path] or tail), None)

    def keys_of(self, element: Element) -> list[str]:
        """The chords that an element answers to, as canonical keys: first its mnemonic, last its accelerator."""
        answer = self.slot.ask("details", match=bus_name(element.app), paths=[list(element.path)])
        told = answer[0]["keys"] if answer and answer[0] else ""
        return [chord for part in told.split(";") if (chord := as_chord(part))]

    def picture(self, name: str) -> str | None:
        """Keep the screen as a file for a person who asks why `name` failed; its path. Of many the latest stay."""
        with contextlib.suppress(OSError, DesktopError):
            folder = forge_home() / "faults"
            folder.mkdir(parents=True, exist_ok=True)
            for old in sorted(folder.glob("move-*.png"), key=os.path.getmtime)[: -PICTURES_KEPT + 1]:
                old.unlink(missing_ok=True)
            path = folder / f"move-{name}-{os.getpid()}-{time.time_ns()}.png"
            path.write_bytes(self.slot.screenshot().png)
            return str(path)
        return None

    def _watch(self, condition: Condition | None) -> Callable[[], bool] | None:
        """The condition for an act; remembers that it came true, see `becomes`. Something is about to be done."""
        self._read.clear()
        self._seen.clear()
        if condition is None:
            return None

        given_up = time.monotonic() + LONGEST

        def watch() -> bool:
            value = condition()
            if value:
                self._seen[condition] = value
            return bool(value) or time.monotonic() > given_up

        return watch

    def _instead(self, role: Any, more: dict[str, Any]) -> str:
        near = {k: v for k, v in more.items() if k in ("within", "app")}
        app = near.pop("app", None)
        scene = self.scene(app)
        names = [f"{e.name!r} ({e.role})" for e in scene.select(None, role, **near) if e.name]
        if not names:
            names = [f"window {w.title!r}" for w in self.slot.windows()]
        return f"there were {', '.join(dict.fromkeys(names[:25])) or 'no windows'}"

    def at(self, x: float, y: float) -> Point:
        """A pixel as a point."""
        width, height = self.slot.guest.width, self.slot.guest.height
        return Point(
            x=(min(max(int(x), 0), width - 1) + 0.5) / width, y=(min(max(int(y), 0), height - 1) + 0.5) / height
        )

    def middle(self, element: Element, fx: float = 0.5, fy: float = 0.5) -> Point:
        """A place inside an element's box; fractions from its top left corner."""
        x, y, width, height = element.box
        return self.at(x + (width - 1) * fx, y + (height - 1) * fy)

    def click(
        self,
        element: Element,
        kind: str = "left_click",
        *,
        fx: float = 0.5,
        fy: float = 0.5,
        modifiers: tuple[str, ...] = (),
        until: Condition | None = None,
    ) -> Act:
        """Click an element."""
        element = self._worded(element)
        action = Pointer(kind=kind, at=self.middle(element, fx, fy), modifiers=modifiers)
        return Act((action,), (element,), self._watch(until))

    def _worded(self, element: Element) -> Element:
        """With words for where it is, if it has no name of its own; from what was read last."""
        if element.name or element.near:
            return element
        read = self._read.get(element.app) or self._read.get(None)
        return element.model_copy(update={"near": whereabouts(element, read[1].elements)}) if read else element

    def drag(self, start: Point, end: Point, element: Element | None = None, until: Condition | None = None) -> Act:
        """Drag from one place to another."""
        return Act((Drag(start=start, at=end),), (element,), self._watch(until))

    def scroll(self, element: Element, dy: int, until: Condition | None = None) -> Act:
        """Turn the wheel over an element."""
        return Act((Scroll(at=self.middle(element), dy=dy),), (element,), self._watch(until))

    def type(self, text: str, until: Condition | None = None) -> Act:
        """Type text."""
        return self.do(Type(text=text), until=until)

    def key(self, keys: str, repeat: int = 1, until: Condition | None = None) -> Act:
        """Press a chord."""
        return self.do(Key(keys=keys, repeat=repeat), until=until)

    def pause(self, seconds: float = 1.0, until: Condition | None = None) -> Act:
        """Wait, as an agent would."""
        return self.do(Wait(seconds=seconds), until=until)

    def do(self, *actions: Action, until: Condition | None = None) -> Act:
        """Actions that meet no known element."""
        return Act(actions, (None,) * len(actions), self._watch(until))


def bus_name(app: str) -> str:
    """What the accessibility bus calls an application."""
    return APPS[app].bus_name if app in APPS else app


_MODIFIERS = {"control": "ctrl", "primary": "ctrl", "alt": "alt", "shift": "shift", "super": "super", "ctrl": "ctrl"}
_KEY = re.compile(r"((?:<[A-Za-z]+>|[A-Za-z]+\+)*)([^<>:+]+|\+)")


def as_chord(told: str) -> str:
    """A key binding as toolkits tell it ("<Control>s", "Ctrl+S", "<Alt>f:s") as a canonical chord; empty if it is none.

    Of a sequence through menus only the last key counts.
    """
    match = _KEY.fullmatch(told.strip().rpartition(":")[2])
    if match is None:
        return ""
    names = [_MODIFIERS.get(name.lower(), "") for name in re.findall(r"[A-Za-z]+", match[1])]
    if "" in names:
        return ""
    key = match[2].strip()
    return "+".join([*dict.fromkeys(names), key.lower() if len(key) == 1 else key])


def _spec(name: str | None, role: Any, more: dict[str, Any]) -> str:
    roles = role if isinstance(role, str) else " or ".join(role) if role else "element"
    within = more.get("within")
    place = "" if within is None else f" in {within.name if isinstance(within, Element) else within!r}"
    return f"{roles}{'' if name is None else f' {name!r}'}{place}"
