"""What of a sight can be pointed at: elements that truly show, each with a name and a place where it belongs.

An element counts when its box lies on the screen and inside all that scrolls around it, when nothing lies over its
middle and corners, when it was there before and after the picture was taken, and when there is something to see. What it
does NOT cover: what an application draws over its own window without a window of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from forge.harness.grounding.sight import Detail, Sight, Surface
from forge.records import Element

Box = tuple[int, int, int, int]

BUTTONS = ("push button", "toggle button", "button", "push button menu")
FIELDS = ("text", "entry", "password text", "spin button", "combo box")
BLANK = ("text", "entry", "password text", "spin button", "slider")
"""Roles whose things may have one colour."""
MENU_ENTRIES = ("menu item", "check menu item", "radio menu item")
CONTENT = ("table cell", "tree item", "list item", "icon", "link", "table row", "tree table row", "image", "graphic")
ROLES = {
    *BUTTONS, *FIELDS, *MENU_ENTRIES, *CONTENT, "radio button", "check box", "slider", "menu", "page tab", "column header",
    "table column header", "row header", "switch",
}  # fmt: skip
CLIPPING = {
    "scroll pane", "viewport", "frame", "dialog", "window", "alert", "file chooser", "document web", "document frame",
    "table", "tree", "tree table", "list", "list box", "layered pane", "internal frame", "tool bar", "status bar",
    "document spreadsheet", "document text", "document presentation", "option pane", "status",
}  # fmt: skip
WINDOWS = ("frame", "dialog", "alert", "file chooser", "window", "option pane")
NAME_LENGTH = 72
_FIGURES = re.compile(r"[\d.,/:%+ -]+(bytes|[KMGk]i?B|AM|PM)?")
"""Sizes, times and numbers in lists: nobody asks for them by themselves."""
EXPANDER = 18
"""Width of the arrow for unfolding a list's entry, see `sight.is_cut`."""
_LISTS = ("table", "tree table", "tree", "list", "list box")
TALL = 40
"""Height from which a check box is a button with a picture that stays pressed."""
MIN_SIDE = 6
MAX_SHARE = 0.35
"""Share of the screen above which a thing is a whole area, not something to click."""


@dataclass(frozen=True)
class Thing:
    """Something to point at. `word` is how a person calls things of its kind; `home` where it lies, for a person."""

    index: int
    element: Element
    name: str
    word: str
    context: str
    home: str
    surface: int
    box: Box
    named: bool = True
    detail: Detail = field(default_factory=Detail)


class Family:
    """Who encloses whom in a sight."""

    def __init__(self, sight: Sight):
        self._by_path = {(e.app, e.path): i for i, e in enumerate(sight.elements)}
        self._sight = sight

    def above(self, element: Element) -> Iterator[tuple[int, Element]]:
        """From the parent up to the application. Cells of a sheet are below their table."""
        for length in range(len(element.path) - 1, 0, -1):
            index = self._by_path.get((element.app, element.path[:length]))
            if index is not None:
                yield index, self._sight.elements[index]


def things(sight: Sight) -> list[Thing]:
    """Everything in a sight that can be pointed at, in the order of the tree; also what has no name (`named` False)."""
    family = Family(sight)
    moved, flat = set(sight.moved), set(sight.flat)
    found = []
    for index, element in enumerate(sight.elements):
        if element.role not in ROLES or index in moved or not _has_size(sight, element.box):
            continue
        above = list(family.above(element))
        if index in flat and element.role not in BLANK:
            continue
        if not _is_clipped_in(element, [e for _, e in above]) or _holds_own_kind(sight, element):
            continue
        surface = _surface_of(sight, element, [e for _, e in above])
        if surface is None:
            continue
        detail = sight.details.get(index, Detail())
        name = name_of(sight, index, above, detail)
        word = _word(element, above)
        context, home = _belongs(sight, element, [e for _, e in above], sight.surfaces[surface])
        if element.role == "list item" and "color" in context.lower():
            word = "color"
        found.append(
            Thing(
                index,
                element,
                name,
                word,
                context,
                home,
                surface,
                _own_box(sight, index, above),
                bool(name),
                detail,
            )
        )
    return _not_under_headers(sight, _apart(_without_holders(_outermost(found))))


def _own_box(sight: Sight, index: int, above: list[tuple[int, Element]]) -> Box:
    """The box without what is below in the tree (an unfolded entry holds its children), and with all of its text."""
    element = sight.elements[index]
    x, y, width, height = element.box
    holder = next((outer.box for _, outer in above if outer.role in _LISTS), None)
    in_document = any(outer.role.startswith("document") for _, outer in above)
    if index in sight.cut and holder is not None and not in_document:
        left = max(x - EXPANDER, holder[0])
        ends = x + width >= holder[0] + holder[2] - 6
        return left, y, width + x - left if ends else width, height
    if element.role not in ("tree item", "list item"):
        return element.box
    size = len(element.path)
    inside = [
        e.box[1]
        for e in sight.elements
        if e.role == element.role and e.app == element.app and len(e.path) > size and e.path[:size] == element.path
    ]
    top = min((edge for edge in inside if edge >= y + MIN_SIDE), default=y + height)
    return x, y, width, min(height, top - y)


def contains(outer: Box, inner: Box, slack: int = 2) -> bool:
    """Whether a box lies in another."""
    return (
        outer[0] - slack <= inner[0]
        and outer[1] - slack <= inner[1]
        and inner[0] + inner[2] <= outer[0] + outer[2] + slack
        and inner[1] + inner[3] <= outer[1] + outer[3] + slack
    )


def clean(name: str) -> str:
    """A name as a person would say it: one line, no key hints, no dots at the end; empty when it is none."""
    name = " ".join(name.strip().split("\n")[0].replace("…", "...").split())
    name = re.sub(r"\s*\((Ctrl|Alt|Shift|F\d)[^)]*\)$", "", name)
    name = name.removesuffix("...").rstrip(" :.")
    if len(name) > NAME_LENGTH or not re.search(r"\w", name) or any(not c.isprintable() for c in name):
        return ""
    return name if len(name) > 1 or name.isdigit() else ""


def name_of(sight: Sight, index: int, above: list[tuple[int, Element]], detail: Detail) -> str:
    """What a thing is called: by itself, its label, its description, or the panel that it fills."""
    element = sight.elements[index]
    own = clean(element.name)
    if element.role == "combo box":  # what it is called is often only what is chosen in it
        label = clean(detail.label) or _label_beside(sight, index)
        if label:
            return label
    if element.role == "table cell" and any(outer.role == "document spreadsheet" for _, outer in above):
        return clean(element.text or "") or own
    if element.role == "table cell" and (_FIGURES.fullmatch(own) or _is_reference(own, above)):
        return ""
    if own and not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", own):  # the file name of an icon
        return own
    label = clean(detail.label)
    if label:
        return label
    if element.role in BUTTONS:
        described = clean(detail.description)
        if described and len(described) <= 45:
            return described
    for _, outer in above[:10]:
        if outer.role in CLIPPING and outer.role != "tool bar":
            break
        name = clean(outer.name)
        if name and outer.role in ("panel", "combo box", "filler"):
            share = element.box[2] * element.box[3] / max(1, outer.box[2] * outer.box[3])
            return name if share > 0.6 and contains(outer.box, element.box, 4) else ""
    return _label_beside(sight, index) if element.role in FIELDS else ""


def _is_reference(name: str, above: list[tuple[int, Element]]) -> bool:
    """Whether a cell of a text's table is called by its place, which nobody can see there."""
    return any(outer.role in ("document text", "document presentation") for _, outer in above) and bool(
        re.fullmatch(r"[A-Z]{1,2}\d+(\.\d+)*", name)
    )


def _label_beside(sight: Sight, index: int) -> str:
    """The text directly left of a field, on the same line and with nothing in between."""
    x, y, _, height = sight.elements[index].box
    app, top = sight.elements[index].app, sight.elements[index].path[:1]
    best: tuple[int, str, str] | None = None
    for number, other in enumerate(sight.elements):
        ox, oy, width, tall = other.box
        if number == index or other.app != app or other.path[:1] != top or width <= 1 or tall <= 1 or tall > 60:
            continue
        gap = x - (ox + width)
        overlap = min(y + height, oy + tall) - max(y, oy)
        beside = -2 <= gap <= 60 and overlap >= 0.6 * min(height, tall) and (best is None or gap < best[0])
        if beside and (other.role == "label" or other.role in ROLES):
            best = (gap, other.role, clean(other.name))
    # a number beside a field is a value that changes, not what the field is called
    return best[2] if best is not None and best[1] == "label" and not _FIGURES.fullmatch(best[2]) else ""


def _has_size(sight: Sight, box: Box) -> bool:
    x, y, width, height = box
    return (
        width >= MIN_SIDE
        and height >= MIN_SIDE
        and x >= 0
        and y >= 0
        and x + width <= sight.width
        and y + height <= sight.height
        and width * height <= MAX_SHARE * sight.width * sight.height
    )


def _is_clipped_in(element: Element, above: list[Element]) -> bool:
    """Whether all that scrolls or frames around it holds the whole element."""
    if is_popup(element, above):
        return True
    return all(
        contains(outer.box, element.box, 3)
        for outer in above
        if outer.role in CLIPPING and outer.box[2] > 1 and outer.box[3] > 1 and outer.box[0] > -10000
    )


def _holds_own_kind(sight: Sight, element: Element) -> bool:
    """A row that is a table cell of its own around the cells: those are meant, not it."""
    if element.role != "table cell" or element.name:
        return False
    size = len(element.path)
    return any(
        e.role == "table cell" and e.app == element.app and len(e.path) == size + 1 and e.path[:size] == element.path
        for e in sight.elements
    )


def is_popup(element: Element, above: list[Element]) -> bool:
    """Whether it lies in something that pops up over windows: an open menu, a list, a tooltip."""
    roles = [e.role for e in above]
    if element.role in (*MENU_ENTRIES, "menu"):
        return not roles or roles[0] != "menu bar"
    return "window" in roles or "menu" in roles or "popup menu" in roles or "tool tip" in roles


def _surface_of(sight: Sight, element: Element, above: list[Element]) -> int | None:
    """The surface on which all of the element shows; None when another lies over it, or it is not its own."""
    x, y, width, height = element.box
    dx, dy = max(1, min(6, width // 6)), max(1, min(6, height // 6))
    points = [(x + width // 2, y + height // 2)]
    points += [(px, py) for px in (x + dx, x + width - 1 - dx) for py in (y + dy, y + height - 1 - dy)]
    tops = {_topmost(sight.surfaces, *point) for point in points}
    if len(tops) != 1:
        return None
    number = tops.pop()
    if number is None:
        return None
    surface = sight.surfaces[number]
    if any(_overlaps(other, element.box) for other in sight.surfaces[number + 1 :]):
        return None
    top = above[-1] if above else element
    if surface.title is None:
        inside = contains((surface.x, surface.y, surface.width, surface.height), element.box)
        return number if inside and is_popup(element, above) else None
    if is_popup(element, above) and not (top.role == "window" and top.name == surface.title):
        return None
    titles = {s.title for s in sight.surfaces if s.title is not None}
    # a window may be called otherwise on the bus; then its size tells
    alike = top.name not in titles and surface.title == sight.window and _is_of_size(surface, top.box)
    return number if surface.title == top.name or alike else None


def _is_of_size(surface: Surface, box: Box) -> bool:
    """Whether a window's surface, with its decoration, is about as large as a box."""
    return abs(surface.width - box[2]) <= 20 and abs(surface.height - box[3]) <= 40


def _topmost(surfaces: tuple[Surface, ...], x: int, y: int) -> int | None:
    for number in reversed(range(len(surfaces))):
        s = surfaces[number]
        if s.x <= x < s.x + s.width and s.y <= y < s.y + s.height:
            return number
    return None


def _overlaps(surface: Surface, box: Box) -> bool:
    return (
        surface.x < box[0] + box[2]
        and box[0] < surface.x + surface.width
        and surface.y < box[1] + box[3]
        and box[1] < surface.y + surface.height
    )


_WORDS = {
    "toggle button": "button", "push button": "button", "push button menu": "button", "button": "button",
    "check box": "check box", "radio button": "radio button", "combo box": "drop-down list", "text": "text field",
    "entry": "text field", "password text": "text field", "spin button": "number field", "slider": "slider",
    "menu item": "menu entry", "check menu item": "menu entry", "radio menu item": "menu entry", "page tab": "tab",
    "link": "link", "table cell": "cell", "tree item": "row", "table row": "row", "tree table row": "row",
    "list item": "list entry", "icon": "icon", "column header": "column header", "table column header": "column header",
    "row header": "row header", "switch": "switch", "image": "image", "graphic": "image",
}  # fmt: skip


def _word(element: Element, above: list[tuple[int, Element]]) -> str:
    roles = [outer.role for _, outer in above]
    if element.role in ("menu", "menu item") and roles[:1] == ["menu bar"]:
        return "menu"
    if element.role == "menu":
        return "submenu"
    if element.role == "check box" and element.box[3] > TALL:
        return "button"
    if element.role == "table cell" and "document spreadsheet" not in roles:
        return "table cell" if "document web" in roles else "list entry"
    return _WORDS[element.role]


def _belongs(sight: Sight, element: Element, above: list[Element], surface: Surface) -> tuple[str, str]:
    """(context, home): where a thing belongs, for its identity and for a person."""
    menus = [e.name for e in above if e.role == "menu" and e.name]
    if menus:
        path = " > ".join(clean(name) or name for name in reversed(menus))
        return f"menu {path}", f'the "{clean(menus[0]) or menus[0]}" menu'
    top = above[-1] if above else element
    title = surface.title if surface.title is not None else top.name
    document = next((e.name for e in above if e.role == "document web" and e.name), "")
    if document:
        return f"page {document}", "the page"
    pages = [clean(e.name) for e in above if e.role == "page tab" and clean(e.name)]
    bar = next((clean(e.name) for e in above if e.role == "tool bar" and clean(e.name)), "")
    inner = " > ".join(reversed(pages))
    if surface.title is None:
        return _in_popup(sight, surface, clean(top.name))
    if not _is_main(sight, surface):
        shared = element.role in CONTENT or clean(element.name).lower() in ("ok", "cancel", "apply", "reset", "help")
        # "Options - LibreOffice - View" is a page: what every page has belongs to the dialog
        base = title.split(" - ")[0] if shared and title.count(" - ") > 1 else title
        return f"dialog {base}" + (f", {inner}" if inner else ""), f'the "{title}" dialog'
    if bar:
        return f"window, {bar}", f'the "{bar}" bar'
    if element.role in CONTENT:
        inner = next((clean(e.name) for e in above if e.role in _LISTS and clean(e.name)), inner)
    return f"window, {inner}" if inner else "window", "the window"


def _in_popup(sight: Sight, surface: Surface, name: str) -> tuple[str, str]:
    """(context, home) in a menu whose name the tree does not tell: the way by which it was opened does."""
    open_ones = [s for s in sight.surfaces if s.title is None]
    level = open_ones.index(surface) - len(open_ones)
    path = [clean(part) or part for part in sight.menu[: len(sight.menu) + level + 1]]
    if path:
        return f"menu {' > '.join(path)}", f'the "{path[-1]}" menu'
    return f"popup {name}" if not sight.menu else "menu", "the list that is open"


def _is_main(sight: Sight, surface: Surface) -> bool:
    """Whether it is an application's main window: as wide and high as the screen, but for a few pixels."""
    return surface.width >= 0.95 * sight.width and surface.height >= 0.9 * sight.height


def _without_holders(found: list[Thing]) -> list[Thing]:
    """Without a page's cells that hold buttons: their names are all their buttons' names in a row."""
    held = {
        other.element.path[:length]
        for other in found
        if other.word in ("button", "switch", "check box")
        for length in range(len(other.element.path))
    }
    return [thing for thing in found if thing.word != "table cell" or thing.element.path not in held]


def _apart(found: list[Thing]) -> list[Thing]:
    """Without things that lie over each other on one surface: which of them is on top, the tree does not tell."""
    hidden = set()
    for number, one in enumerate(found):
        for other in found[number + 1 :]:
            if one.surface == other.surface and _share(one.box, other.box) > 0.2 and not _related(one, other):
                hidden |= {one.index, other.index}
    return [thing for thing in found if thing.index not in hidden]


def _related(one: Thing, other: Thing) -> bool:
    """Whether one is below the other in the tree."""
    short, long = sorted((one.element.path, other.element.path), key=len)
    return long[: len(short)] == short


def _share(one: Box, other: Box) -> float:
    """The area that two boxes share, as a part of the smaller one."""
    width = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    height = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    return max(0, width) * max(0, height) / min(one[2] * one[3], other[2] * other[3])


def _not_under_headers(sight: Sight, found: list[Thing]) -> list[Thing]:
    """Without what may lie under a page's own header: headers that stay while the page scrolls hold a search field."""
    tops = [e.box[1] for e in sight.elements if e.role == "document web" and e.box[3] > 1]
    bars = [t for t in found if t.context.startswith("page ") and t.word == "text field" and t.box[1] < min(tops) + 80]
    return [
        thing
        for thing in found
        if thing in bars
        or not thing.context.startswith("page ")
        or all(thing.box[1] > bar.box[1] + bar.box[3] + 12 for bar in bars)
    ]


def _outermost(found: list[Thing]) -> list[Thing]:
    """Without things that lie in one of the same name: a row's text is the row."""
    kept: list[Thing] = []
    for thing in found:
        twin = (
            other
            for other in kept
            if thing.name
            and other.name == thing.name
            and other.element.path == thing.element.path[: len(other.element.path)]
            and contains(other.box, thing.box)
        )
        if next(twin, None) is None:
            kept.append(thing)
    return kept
