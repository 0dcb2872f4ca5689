"""Moves for any window: click, menus, dialogs and their fields."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Literal

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, MoveError, move
from forge.harness.moves.hands import BUTTON_ROLES, ENTRY_ROLES, MENU_ROLES, Hands, Scene, same_name
from forge.records import Element

COMBO_ROLES = ("combo box", "toggle button")


class Target(MoveArgs):
    """A thing on the screen by meaning."""

    main: ClassVar[str] = "name"
    name: str | None = Field(None, description="accessible name; * stands for anything")
    role: str | None = Field(None, description="accessible role, e.g. push button")
    within: str | None = Field(None, description="name of anything around it: a dialog's title, a tool bar")
    index: int = Field(0, description="which of several, in the order of the tree; -1 the last")

    def find(self, hands: Hands) -> Element:
        """Wait for it. Raises MoveError."""
        return hands.find(self.name, self.role, within=self.within, index=self.index)


class ClickArgs(Target):
    button: Literal["left", "right", "middle"] = "left"
    count: Literal[1, 2, 3] = 1
    modifiers: tuple[Literal["ctrl", "shift", "alt", "super"], ...] = ()
    fx: float = Field(0.5, ge=0, le=1, description="where in the box, as a fraction of its width")


@move("click", ClickArgs)
def click(hands: Hands, args: ClickArgs) -> Acts:
    """Click a thing by its name and role."""
    kind = {"right": "right_click", "middle": "middle_click"}.get(args.button)
    kind = kind or {1: "left_click", 2: "double_click", 3: "triple_click"}[args.count]
    yield hands.click(args.find(hands), kind, fx=args.fx, modifiers=tuple(args.modifiers))


class TypeArgs(MoveArgs):
    main: ClassVar[str] = "text"
    text: str


@move("type", TypeArgs)
def type_text(hands: Hands, args: TypeArgs) -> Acts:
    """Type text where the keyboard's focus is."""
    yield hands.type(args.text)


class KeyArgs(MoveArgs):
    main: ClassVar[str] = "keys"
    keys: str = Field(min_length=1)
    repeat: int = Field(1, ge=1, le=100)


@move("key", KeyArgs)
def key(hands: Hands, args: KeyArgs) -> Acts:
    """Press a key or a chord."""
    yield hands.key(args.keys, args.repeat)


class MenuArgs(MoveArgs):
    main: ClassVar[str] = "path"
    path: tuple[str, ...] = Field(min_length=1, description="labels from the menu bar down: [Data, Sort...]")
    opens: str | None = Field(None, description="title of the window that then appears")


@move("menu", MenuArgs)
def menu(hands: Hands, args: MenuArgs) -> Acts:
    """Open menus of the menu bar by their labels and choose the last one: with the pointer, else with the keyboard."""
    for attempt in (1, 2, 3):
        try:
            top = hands.find(args.path[0], MENU_ROLES, where=lambda e: _in_menu_bar(hands, e))
            walk = walk_menu_by_keys if attempt == 3 else walk_menu
            yield from walk(hands, top, args.path[1:], opens=args.opens)
            return
        except MoveError as error:
            yield hands.key("Escape", 3)
            if attempt == 3 or isinstance(error, NotOfferedError):
                raise


def _in_menu_bar(hands: Hands, element: Element) -> bool:
    above = next(hands.scene(element.app or None).ancestors(element), None)
    return above is not None and above.role == "menu bar"


def walk_menu(hands: Hands, top: Element | None, labels: tuple[str, ...], *, opens: str | None = None) -> Acts:
    """Click `top` and then the labels, each in the menu that the one before it opened.

    Args:
        top: a menu in a menu bar; None when a context menu is open already.
        labels: what to choose, from the outside in.
        opens: see `MenuArgs`.
    """
    item, rest = top, labels
    if item is None:
        item, rest = hands.find(labels[0], MENU_ROLES), labels[1:]
    for label in rest:
        entry = partial(_entry, hands, item, label)
        yield hands.click(item, until=entry)
        item = _offered(hands, item, label, hands.becomes(entry, 3.0))
    _not_grey(item)
    if opens is not None:
        opened = partial(hands.window, opens)
        yield hands.click(item, until=opened)
        hands.wait(opened, f"no window {opens!r} appeared")
    else:
        yield hands.click(item, until=partial(_is_shut, hands, item))


def walk_menu_by_keys(hands: Hands, top: Element, labels: tuple[str, ...], *, opens: str | None = None) -> Acts:
    """As `walk_menu`, with the keyboard: the menu's mnemonic, then Down to each entry and Right into its menu."""
    mnemonic = next(iter(hands.keys_of(top)), "")
    item = top
    for depth, label in enumerate(labels):
        entry = partial(_entry, hands, item, label)
        keys = "Right" if depth else mnemonic if "+" in mnemonic else f"alt+{mnemonic or item.name[:1].lower()}"
        if depth or not entry():
            yield hands.key(keys, until=entry)
        item = _offered(hands, item, label, hands.becomes(entry, 3.0))
        marked = partial(is_so, hands, item, lambda e: bool({"selected", "focused"} & set(e.states)))
        for _ in range(60):
            if marked():
                break
            yield hands.key("Down")
        hands.wait(marked, f"the menu entry {label!r} cannot be reached with the keyboard", 0.5)
    _not_grey(item)
    opened = partial(hands.window, opens) if opens is not None else partial(_is_shut, hands, item)
    yield hands.key("Return", until=opened)
    if opens is not None:
        hands.wait(opened, f"no window {opens!r} appeared")


class NotOfferedError(MoveError):
    """A menu is open and has no such entry, or it is grey: no other way to the menu would help."""


def _offered(hands: Hands, menu: Element, label: str, found: Element | None) -> Element:
    if found is not None:
        return found
    names = [e.name for e in hands.scene().entries(menu) if e.name]
    kind = NotOfferedError if names else MoveError
    raise kind(f"no {label!r} in the menu {menu.name!r}", mend=f"it has {', '.join(names) or 'nothing'}")


def _not_grey(item: Element) -> None:
    if "disabled" in item.states:
        raise NotOfferedError(f"the menu entry {item.name!r} is greyed out")


def _is_shut(hands: Hands, item: Element) -> bool:
    """Whether the menu that an entry belongs to no longer shows it."""
    scene = hands.part(item)
    return not any(scene.shows(e) for e in scene.elements if e.path == item.path and e.role in MENU_ROLES)


def _entry(hands: Hands, parent: Element, label: str) -> Element | None:
    """An entry of the menu that `parent` opened."""
    entries = hands.part(parent).entries(parent)
    return next((entry for entry in entries if same_name(entry.name, label)), None)


class ContextMenuArgs(MoveArgs):
    on: Target
    path: tuple[str, ...] = Field(min_length=1)
    opens: str | None = None
    fx: float = Field(0.5, ge=0, le=1)


@move("context_menu", ContextMenuArgs)
def context_menu(hands: Hands, args: ContextMenuArgs) -> Acts:
    """Right-click a thing and choose from its menu."""
    yield from context_menu_on(hands, lambda: args.on.find(hands), args.path, opens=args.opens, fx=args.fx)


def context_menu_on(
    hands: Hands, find: Callable[[], Element], path: tuple[str, ...], *, opens: str | None = None, fx: float = 0.5
) -> Acts:
    """Right-click what `find` finds and choose from the menu; once more when the menu does not come."""
    for attempt in (1, 2):
        try:
            opened = hands.showing(path[0], MENU_ROLES)
            yield hands.click(find(), "right_click", fx=fx, until=opened)
            hands.wait(opened, f"no menu with {path[0]!r} appeared", 2.0)
            yield from walk_menu(hands, None, path, opens=opens)
            return
        except MoveError:
            if attempt == 2:
                raise
            yield hands.key("Escape", 2)


class WaitWindowArgs(MoveArgs):
    main: ClassVar[str] = "title"
    title: str
    gone: bool = False
    seconds: float = Field(20, gt=0, le=120)


@move("wait_window", WaitWindowArgs)
def wait_window(hands: Hands, args: WaitWindowArgs) -> Acts:
    """Wait until a window with this title is there, or gone."""

    def ready() -> bool:
        return (hands.window(args.title) is None) == args.gone

    if not hands.becomes(ready, 0):
        yield hands.pause(0.5, until=ready)
    hands.wait(ready, f"the window {args.title!r} is {'still' if args.gone else 'not'} there", args.seconds)


class PressArgs(MoveArgs):
    main: ClassVar[str] = "button"
    button: str
    dialog: str | None = Field(None, description="title of the dialog; without it any window's")
    closes: bool = Field(True, description="whether the dialog is gone afterwards")


@move("press", PressArgs)
def press(hands: Hands, args: PressArgs) -> Acts:
    """Press a button of a dialog, which then closes."""
    element = hands.find(args.button, "push button", within=args.dialog)
    root = next((e for e in hands.scene().ancestors(element) if len(e.path) == 1), None)
    window = None if root is None else hands.window(root.name)

    def closed() -> bool:
        if window is not None:
            return all(other.id != window.id for other in hands.slot.windows())
        return hands.again(element) is None

    yield hands.click(element, until=closed if args.closes else None)
    if args.closes and not hands.becomes(closed, 1.0):
        yield hands.click(hands.find(args.button, "push button", within=args.dialog), until=closed)
        hands.wait(closed, f"the dialog stays open after {args.button!r}")


class FillArgs(MoveArgs):
    text: str
    field: str | None = Field(None, description="the field's name, or the label beside or above it")
    nth: int = Field(0, ge=0, description="which of the fields that fit, in reading order")
    within: str | None = Field(None, description="name of anything around it")


@move("fill", FillArgs)
def fill(hands: Hands, args: FillArgs) -> Acts:
    """Put text into a field of a dialog, in place of what was there."""

    def field() -> Element:
        return hands.wait(
            lambda: by_label(hands.scene(), args.field, ENTRY_ROLES, args.within, args.nth),
            f"no text field {args.field or args.nth!r} in {args.within!r}",
        )

    def filled() -> bool:
        now = hands.again(entry) or by_label(hands.scene(), args.field, ENTRY_ROLES, args.within, args.nth)
        return now is not None and now.text is not None and _same_text(now.text, args.text)

    entry = field()
    yield hands.click(entry) + hands.key("ctrl+a") + hands.type(args.text, until=filled)
    if entry.text is not None and entry.role != "password text" and not hands.becomes(filled, 1.0):
        yield hands.click(field())  # and then look, before typing: the focus may come late
        yield hands.key("ctrl+a") + hands.type(args.text, until=filled)
        hands.wait(filled, f"the field {args.field or args.nth!r} does not hold {args.text!r}")


def _same_text(shown: str, wanted: str) -> bool:
    """Long texts show their beginning only."""
    shown, wanted = shown.strip("\n "), wanted.strip("\n ")
    return shown == wanted or (len(shown) >= 250 and wanted.startswith(shown))


class CheckArgs(MoveArgs):
    main: ClassVar[str] = "name"
    name: str
    within: str | None = None
    index: int = 0


@move("check", CheckArgs)
def check(hands: Hands, args: CheckArgs) -> Acts:
    """Tick a check box, choose a radio button, or press a toggle button in; nothing if it is so already."""
    yield from _switch(hands, args, on=True)


@move("uncheck", CheckArgs)
def uncheck(hands: Hands, args: CheckArgs) -> Acts:
    """Clear a check box or release a toggle button; nothing if it is so already."""
    yield from _switch(hands, args, on=False)


def _switch(hands: Hands, args: CheckArgs, *, on: bool) -> Acts:
    roles = ("check box", "radio button", "toggle button", "switch", "check menu item", "radio menu item")

    def is_on(element: Element) -> bool:
        return bool({"checked", "pressed", "selected"} & set(element.states))

    for fx in (None, 0.5):
        element = hands.find(args.name, roles, within=args.within, index=args.index)
        if is_on(element) == on:
            return
        switched = partial(is_so, hands, element, lambda e: is_on(e) == on)
        # The label beside a box is a part of it; the box itself is on the left.
        at = fx or (0.5 if element.role == "toggle button" else min(0.5, 11 / element.box[2]))
        yield hands.click(element, fx=at, until=switched)
        if hands.becomes(switched, 1.0):
            return
    mnemonic = next((keys for keys in hands.keys_of(element) if keys), "")
    if mnemonic:
        yield hands.key(mnemonic if "+" in mnemonic else f"alt+{mnemonic}", until=switched)
        if hands.becomes(switched, 1.0):
            return
    raise MoveError(f"{args.name!r} does not become {'checked' if on else 'unchecked'}")


def is_so(hands: Hands, element: Element, test: Callable[[Element], bool]) -> bool:
    """Whether an element is still where it was, and passes a test."""
    now = hands.again(element)
    return now is not None and test(now)


class PickArgs(MoveArgs):
    choice: str
    field: str | None = Field(None, description="the list's name, or the label beside or above it")
    nth: int = Field(0, ge=0, description="which of the lists that fit, in reading order")
    within: str | None = None


CHOICE_ROLES = ("table cell", "menu item", "check menu item", "radio menu item", "list item", "option")


@move("pick", PickArgs)
def pick(hands: Hands, args: PickArgs) -> Acts:
    """Open a drop-down list and choose from it."""
    combo = hands.wait(
        lambda: by_label(hands.scene(), args.field, COMBO_ROLES, args.within, args.nth, nameless=True),
        f"no list {args.field or args.nth!r} in {args.within!r}",
    )
    before = {(e.path, e.role, e.name) for e in _choices(hands, args.choice)}

    def offered() -> Element | None:
        fresh = [e for e in _choices(hands, args.choice) if (e.path, e.role, e.name) not in before]
        return fresh[0] if fresh else None

    yield hands.click(combo, fx=0.9 if combo.box[2] > 60 else 0.5, until=offered)
    choice = hands.becomes(offered, 2.0)
    if choice is None:
        yield hands.click(combo, until=offered)
        choice = hands.wait(offered, f"the list does not offer {args.choice!r}", 2.0)
    choice = yield from scrolled_to(hands, choice, offered)
    closed = partial(_is_none, offered)
    yield hands.click(choice, until=closed)
    hands.wait(closed, f"the list stays open after choosing {args.choice!r}")


def _is_none(condition: Callable[[], Any]) -> bool:
    return condition() is None


def _choices(hands: Hands, name: str) -> list[Element]:
    return hands.scene().select(name, CHOICE_ROLES)


def scrolled_to(hands: Hands, choice: Element, offered: Callable[[], Element | None]) -> Acts:
    """Turn the wheel over an open list until the choice lies inside it."""
    for _ in range(30):
        scene = hands.scene(choice.app or None)
        frame = next(
            (e for e in scene.ancestors(choice) if e.role in ("scroll pane", "window", "viewport", "list")), None
        )
        if frame is None:
            return choice
        top, bottom = frame.box[1], frame.box[1] + frame.box[3]
        middle = choice.box[1] + choice.box[3] / 2
        if top < middle < bottom:
            return choice
        yield hands.scroll(frame, 3 if middle >= bottom else -3)
        choice = offered() or choice
    raise MoveError(f"{choice.name!r} does not come into view")


class TabArgs(MoveArgs):
    main: ClassVar[str] = "name"
    name: str
    within: str | None = None


@move("tab", TabArgs)
def tab(hands: Hands, args: TabArgs) -> Acts:
    """Show a page of a tabbed dialog."""
    page = hands.find(args.name, "page tab", within=args.within)
    # Not looked for where it was: of two rows of tabs the one with the page shown comes to the front.
    shown = hands.showing(args.name, "page tab", within=args.within, where=lambda e: "selected" in e.states)
    if "selected" not in page.states:
        yield hands.click(page, until=shown)
        hands.wait(shown, f"the page {args.name!r} does not come up")


class DragArgs(MoveArgs):
    model_config = MoveArgs.model_config | {"populate_by_name": True}
    start: Target = Field(alias="from")
    to: Target
    from_fx: float = Field(0.5, ge=0, le=1)
    to_fx: float = Field(0.5, ge=0, le=1)


@move("drag", DragArgs)
def drag(hands: Hands, args: DragArgs) -> Acts:
    """Drag one thing onto another."""
    start, end = args.start.find(hands), args.to.find(hands)
    yield hands.drag(hands.middle(start, args.from_fx), hands.middle(end, args.to_fx), start)


def by_label(
    scene: Scene,
    label: str | None,
    roles: tuple[str, ...],
    within: str | Element | None,
    nth: int,
    *,
    nameless: bool = False,
) -> Element | None:
    """A field by its own name, or the nearest one right of or below a label, or the nth in reading order.

    Args:
        scene: where to look.
        label: name or label; None counts all fields.
        roles: what counts as such a field.
        within: see `Scene.select`.
        nth: which of those that fit, from 0.
        nameless: by label or number, only fields without a name of their own count (a closed gtk list is one, a toggle
            button that carries a caption is none).
    """
    fields = [e for e in scene.select(None, roles, within) if not nameless or e.role == "combo box" or not e.name]
    fields.sort(key=lambda e: (-e.path[0], e.box[1], e.box[0]))
    if label is None:
        return fields[nth] if nth < len(fields) else None
    named = [e for e in scene.select(label, roles, within) if e.role != "toggle button"]
    if named:
        return named[nth] if nth < len(named) else None
    found = []
    for tag in scene.select(label, ("label", "static", "text", "paragraph"), within):
        x, y, width, height = tag.box
        beside = [
            (e.box[0] - x, e)
            for e in fields
            if e.path[:1] == tag.path[:1] and e.box[0] >= x + width - 8 and _overlap(e.box[1], e.box[3], y, height)
        ]
        under = [
            (e.box[1] - y, e)
            for e in fields
            if e.path[:1] == tag.path[:1] and 0 <= e.box[1] - y - height < 40 and _overlap(e.box[0], e.box[2], x, width)
        ]
        nearest = min(beside or under, key=lambda pair: pair[0], default=None)
        if nearest is not None and nearest[1] not in found:
            found.append(nearest[1])
    return found[nth] if nth < len(found) else None


def _overlap(start: int, length: int, other: int, size: int) -> bool:
    return min(start + length, other + size) - max(start, other) > 0


__all__ = ["BUTTON_ROLES", "Target", "by_label", "context_menu_on", "scrolled_to", "walk_menu"]
