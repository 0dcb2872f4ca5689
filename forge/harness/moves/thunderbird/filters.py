"""Message filters in Thunderbird, through the windows Message Filters and Filter Rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, MoveError, move
from forge.harness.moves.general import FillArgs, PressArgs, context_menu_on, fill, press
from forge.harness.moves.hands import Hands, same_name
from forge.harness.moves.thunderbird.folders import (
    first_account,
    folder_row,
    menu_path,
    reveal_folder,
)
from forge.records import Element


class Condition(MoveArgs):
    field: str = Field("Subject", description="as the list says it: Subject, From, To, Body, Tags")
    op: str = Field("contains", description="as the list says it: contains, is, begins with")
    value: str


class FilterAction(MoveArgs):
    kind: str = Field(description="as the list says it: Move Message to, Tag Message, Add Star, Mark As Read")
    value: str | None = Field(None, description="a folder's path or a tag's name")


class NewFilterArgs(MoveArgs):
    name: str
    match: Literal["all", "any"] = "all"
    conditions: tuple[Condition, ...] = Field(min_length=1)
    actions: tuple[FilterAction, ...] = Field(min_length=1)
    account: str | None = Field(None, description="whose filters; the first account's if not given")


@move("new_filter", NewFilterArgs)
def new_filter(hands: Hands, args: NewFilterArgs) -> Acts:
    """Make a message filter with its conditions and actions, and close the filters' windows."""
    account = args.account or first_account(hands)
    listing, rules = "Message Filters", "Filter Rules"
    yield from reveal_folder(hands, account)
    yield from context_menu_on(hands, lambda: folder_row(hands, account), (listing,), opens=listing)
    yield hands.click(
        hands.find("New...", "push button", within=listing), until=lambda: hands.window(rules) is not None
    )
    hands.wait(lambda: hands.window(rules), "the window Filter Rules does not open")
    yield from fill(hands, FillArgs(text=args.name, field="Filter name", within=rules))
    if args.match == "any":
        option = "Match any of the following"
        yield hands.click(
            hands.find(option, "radio button", within=rules),
            fx=0.1,
            until=lambda: "checked" in (hands.look(option, "radio button", within=rules) or _NOTHING).states,
        )
    for number, condition in enumerate(args.conditions):
        yield from _condition(hands, rules, number, condition)
    for number, action in enumerate(args.actions):
        yield from _action(hands, rules, number, action)
    yield from press(hands, PressArgs(button="OK", dialog=rules))
    shown = hands.showing(args.name, "check box", within=listing)
    hands.wait(shown, f"the filter {args.name!r} is not in the list")
    # The file is written when this window closes.
    closed: Callable[[], bool] = lambda: hands.window(listing) is None
    yield hands.key("Escape", until=closed)
    hands.wait(closed, "the window Message Filters stays open")


_NOTHING = Element(role="", name="", box=(0, 0, 0, 0))


def _rule_rows(hands: Hands, rules: str, *, actions: bool) -> list[Element]:
    """The rows of conditions, or of actions, from the top."""
    scene = hands.scene()
    box = next(iter(scene.select("Perform these actions", "list box", within=rules)), None)
    found = []
    for item in scene.select(None, "list item", within=rules):
        is_action = box is not None and item.path[: len(box.path)] == box.path
        has_minus = any(e.role == "push button" and e.name in ("−", "-") for e in scene.below(item))
        if has_minus and is_action == actions:
            found.append(item)
    return sorted(found, key=lambda e: e.box[1])


def _add_row(hands: Hands, rules: str, number: int, *, actions: bool) -> Acts:
    """Make sure there is a row `number`, pressing + on the last one."""

    def there() -> bool:
        return len(_rule_rows(hands, rules, actions=actions)) > number

    if not there():
        last = hands.wait(lambda: _rule_rows(hands, rules, actions=actions), "no row of conditions shows")[-1]
        plus = next(e for e in hands.scene().below(last) if e.role == "push button" and e.name == "+")
        yield hands.click(plus, until=there)
        hands.wait(there, "no further row appears")


def _cells(hands: Hands, rules: str, number: int, *, actions: bool) -> list[Element]:
    """The lists and fields of a row, from the left."""
    item = _rule_rows(hands, rules, actions=actions)[number]
    wanted = ("combo box", "entry", "menu list", "push button", "toggle button")
    found = [
        e for e in hands.scene().below(item) if e.role in wanted and e.name not in ("+", "−", "-") and e.box[2] > 1
    ]
    return sorted(found, key=lambda e: e.box[0])


def _condition(hands: Hands, rules: str, number: int, condition: Condition) -> Acts:
    yield from _add_row(hands, rules, number, actions=False)
    said = _words(_rule_rows(hands, rules, actions=False)[number].name)
    for position, choice in enumerate((condition.field, condition.op)):
        if said.startswith(_words(f"{condition.field} {condition.op} ") if position else _words(condition.field) + " "):
            continue  # Subject and contains stand there already
        yield from _choose_from(hands, lambda p=position: _cells(hands, rules, number, actions=False)[p], (choice,))  # type: ignore[misc]

    def field() -> Element | None:
        cells = _cells(hands, rules, number, actions=False)
        return cells[2] if len(cells) > 2 else None

    value = hands.wait(field, "the condition has no field for its value")
    if value.role == "entry":
        filled: Callable[[], bool] = lambda: (field() or _NOTHING).text == condition.value
        yield hands.click(value)
        yield hands.key("ctrl+a") + hands.type(condition.value, until=filled)
        hands.wait(filled, f"the condition does not hold {condition.value!r}", 2.0)
    else:
        yield from _choose_from(hands, lambda: hands.wait(field, "no list"), (condition.value,))
    _expect_row(hands, rules, number, f"{condition.field} {condition.op} {condition.value}", actions=False)


def _expect_row(hands: Hands, rules: str, number: int, says: str, *, actions: bool) -> None:
    """Check what a row says as a whole. Raises MoveError."""

    def fits() -> bool:
        return _words(_rule_rows(hands, rules, actions=actions)[number].name).startswith(_words(says))

    if not hands.becomes(fits, 2.0):
        raise MoveError(f"a row says {_rule_rows(hands, rules, actions=actions)[number].name!r} instead of {says!r}")


def _words(text: str) -> str:
    return " ".join(text.replace("’", "'").split())


def _action(hands: Hands, rules: str, number: int, action: FilterAction) -> Acts:
    yield from _add_row(hands, rules, number, actions=True)
    if not _words(_rule_rows(hands, rules, actions=True)[number].name).startswith(_words(action.kind) + " "):
        yield from _choose_from(hands, lambda: _cells(hands, rules, number, actions=True)[0], (action.kind,))
    if action.value is None:
        _expect_row(hands, rules, number, action.kind, actions=True)
        return
    is_folder = action.kind.endswith("Message to") and not action.kind.startswith(("Forward", "Reply"))
    path = menu_path(hands, action.value) if is_folder else (action.value,)
    yield from _choose_from(hands, lambda: _cells(hands, rules, number, actions=True)[1], path)
    _expect_row(hands, rules, number, f"{action.kind} {path[-1]}", actions=True)


def _choose_from(hands: Hands, find: Callable[[], Element], path: tuple[str, ...]) -> Acts:
    """Open an unnamed list and choose from it, going down its submenus."""
    combo = find()

    def offered() -> Element | None:
        scene = hands.scene()
        popups = [e for e in scene.below(combo) if e.role == "menu" and len(e.path) == len(combo.path) + 1]
        entries = [e for popup in popups for e in scene.entries(popup)]
        return next((e for e in entries if same_name(e.name, path[0])), None)

    item = None
    for _ in (1, 2):
        yield hands.click(find(), until=offered)
        item = hands.becomes(offered, 1.5)
        if item is not None:
            break
    if item is None:
        raise MoveError(f"the list does not offer {path[0]!r}")
    for label in path[1:]:
        parent, wanted = item, label

        def below(parent: Element = parent, wanted: str = wanted) -> Element | None:
            entries = hands.scene().entries(parent)
            return next((e for e in entries if same_name(e.name, wanted)), None)

        yield hands.click(parent, until=below)
        item = hands.wait(below, f"the list does not offer {label!r}")
    closed: Callable[[], bool] = lambda: offered() is None
    yield hands.click(item, until=closed)
    hands.wait(closed, "the list stays open")
