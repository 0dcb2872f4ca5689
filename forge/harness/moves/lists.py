"""Moves for lists, tables and trees in any window: choosing a row, opening a branch, bringing something into view."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar, Literal

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, MoveError, move
from forge.harness.moves.general import Target, is_so
from forge.harness.moves.hands import Hands
from forge.records import Element

ROW_ROLES = ("table cell", "table row", "tree item", "list item", "icon", "option")
HOLDER_ROLES = ("table", "tree table", "tree", "list", "list box", "layered pane", "scroll pane", "viewport", "panel")
_TURNS = 40  # wheel turns after which something is taken not to be in a list


class RowArgs(MoveArgs):
    main: ClassVar[str] = "name"
    name: str = Field(description="what stands in the row; * stands for anything")
    within: str | None = Field(None, description="name of anything around the list")
    index: int = Field(0, description="which of several, in the order of the list")
    count: Literal[1, 2] = Field(1, description="clicks; two open it")
    add: bool = Field(False, description="keep what is selected and add this")


@move("row", RowArgs)
def row(hands: Hands, args: RowArgs) -> Acts:
    """Choose a row of a list, table or tree by what stands in it, scrolling to it where necessary."""

    def found() -> Element | None:
        return hands.look(args.name, ROW_ROLES, within=args.within, index=args.index)

    element = yield from reach(hands, found, args.within, f"no row {args.name!r} in {args.within or 'any list'}")
    chosen = partial(_is_chosen, hands, element)
    held = ("ctrl",) if args.add else ()
    if args.count == 2:
        yield hands.click(element, "double_click", fx=_left(element))
        return
    yield hands.click(element, fx=_left(element), modifiers=held, until=chosen)
    if not hands.becomes(chosen, 0.7):
        yield hands.click(found() or element, modifiers=held, until=chosen)
        hands.wait(chosen, f"the row {args.name!r} does not become selected", 1.0)


def _left(element: Element) -> float:
    """Where in a row to click: near its left, where its text is; rows may be as wide as the screen."""
    return min(0.5, 40 / element.box[2])


def _is_chosen(hands: Hands, element: Element) -> bool:
    """Whether a row is selected. Where the list tells of no row whether it is, there is nothing to ask."""
    mine, told = False, False
    for other in hands.scene(element.app or None).elements:
        if other.path[:-1] == element.path[:-1] and {"selected", "focused"} & set(other.states):
            told = True
            same_row = other.path == element.path or _overlap(other, element)
            mine = mine or same_row
    return mine or not told


def _overlap(one: Element, other: Element) -> bool:
    """Whether two cells are in the same row."""
    middle = other.box[1] + other.box[3] // 2
    return one.box[1] <= middle < one.box[1] + one.box[3]


class ExpandArgs(MoveArgs):
    main: ClassVar[str] = "name"
    name: str = Field(description="the branch")
    within: str | None = None
    open: bool = Field(True, description="false: fold it up")


@move("expand", ExpandArgs)
def expand(hands: Hands, args: ExpandArgs) -> Acts:
    """Open a branch of a tree, or fold it up; nothing if it is so already."""

    def found() -> Element | None:
        return hands.look(args.name, ROW_ROLES, within=args.within)

    def is_open(element: Element) -> bool:
        return ("expanded" in element.states) == args.open

    element = yield from reach(hands, found, args.within, f"no branch {args.name!r}")
    if is_open(element):
        return
    done = partial(is_so, hands, element, is_open)
    yield hands.click(element, fx=_left(element))
    arrow, sign = ("Right", "plus") if args.open else ("Left", "minus")
    in_gtk = element.role == "table cell"  # there an arrow alone goes from cell to cell
    for chord in (f"shift+{arrow}", arrow, sign) if in_gtk else (arrow, f"shift+{arrow}", sign):
        yield hands.key(chord, until=done)
        if hands.becomes(done, 0.7):
            return
    yield hands.click(element, "double_click", fx=_left(element), until=done)
    hands.wait(done, f"the branch {args.name!r} does not {'open' if args.open else 'fold up'}", 1.0)


class ScrollToArgs(Target):
    pass


@move("scroll_to", ScrollToArgs)
def scroll_to(hands: Hands, args: ScrollToArgs) -> Acts:
    """Turn the wheel until a thing is in view."""

    def found() -> Element | None:
        return hands.look(args.name, args.role, within=args.within, index=args.index)

    yield from reach(hands, found, args.within, f"{args.name or args.role!r} does not come into view")


def reach(
    hands: Hands, found: Callable[[], Element | None], within: str | None, missing: str, *, at: Element | None = None
) -> Acts:
    """Scroll until `found` gives something whose middle is on the screen and inside what holds it; returns it.

    Args:
        found: looks for it.
        within: name of anything around the list.
        missing: what is said when it is not there.
        at: where the wheel is turned; the largest list, table or document if None.

    Raises:
        MoveError: it does not come into view from the top to the bottom.
    """
    element = hands.becomes(found, 0.3)
    if element is not None and _in_view(hands, element):
        return element
    holder = at or _holder(hands, element, within)
    if holder is None:
        raise MoveError(missing, mend=f"there were {_rows(hands, within)}")
    down = element is None or element.box[1] > holder.box[1]
    clicks = max(1, holder.box[3] // 100)  # a click of the wheel moves by some 80 pixels at most
    for direction in (clicks, -clicks) if down else (-clicks, clicks):
        before: list[tuple[str, tuple[int, int, int, int]]] = []
        for _ in range(_TURNS):
            yield hands.scroll(holder, direction)
            element = found()
            if element is not None and _in_view(hands, element):
                return element
            now = [(e.name, e.box) for e in hands.scene(holder.app or None).below(holder)][:200]
            if now == before:
                break
            before = now
    raise MoveError(missing, mend=f"there were {_rows(hands, within)}")


def _in_view(hands: Hands, element: Element) -> bool:
    x, y = element.box[0] + element.box[2] // 2, element.box[1] + element.box[3] // 2
    if not (0 <= y < hands.slot.guest.height):
        return False
    for above in hands.scene(element.app or None).ancestors(element):
        left, top, width, height = above.box
        if above.role in HOLDER_ROLES and width > 0 and height > 0 and not top <= y < top + height:
            return False
        if above.role in ("scroll pane", "viewport") and width > 0 and not left <= min(x, element.box[0] + 40):
            return False
    return True


def _holder(hands: Hands, element: Element | None, within: str | None) -> Element | None:
    scene = hands.scene(element.app if element is not None and element.app else None)
    if element is not None:
        around = [e for e in scene.ancestors(element) if e.role in HOLDER_ROLES and e.box[2] > 0]
        return around[0] if around else None
    lists = scene.select(None, HOLDER_ROLES[:6], within) or scene.select(None, ("scroll pane", "document web"), within)
    return max(lists, key=lambda e: e.box[2] * e.box[3], default=None)


def _rows(hands: Hands, within: str | None) -> str:
    names = [repr(e.name) for e in hands.scene().select(None, ROW_ROLES, within) if e.name]
    return ", ".join(dict.fromkeys(names[:25])) or "no rows"
