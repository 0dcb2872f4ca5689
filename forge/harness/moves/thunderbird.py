"""Moves for Thunderbird: folders, messages, tags, contacts, filters, writing.

Folders are written as paths, `Inbox`, `Projects/Apollo`; those of another account or of the local folders begin with its
name, `Local Folders/Notes`. The message list is in its table view, where rows are named
`[Starred, ][Attachments, ]SUBJECT, Read|Unread, CORRESPONDENT, DATE`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar, Literal

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, MoveError, move
from forge.harness.moves.general import (
    FillArgs,
    PressArgs,
    context_menu_on,
    fill,
    press,
)
from forge.harness.moves.hands import MENU_ROLES, Hands, Scene, same_name
from forge.records import Element

APP = "thunderbird"
ROW = 14
"""Half the height of a row of the folder pane, pixels; a row's box includes the rows below it."""


LIST_ROLES, ROW_ROLES = ("list box", "tree table"), ("list item", "table row")
"""The message list has the first roles when Thunderbird starts, the second ones once another folder was opened."""

# Folders


class FolderArgs(MoveArgs):
    main: ClassVar[str] = "folder"
    folder: str = Field(description="path of the folder")


@move("folder", FolderArgs)
def folder(hands: Hands, args: FolderArgs) -> Acts:
    """Open a mail folder in the folder pane."""
    leaf = args.folder.rsplit("/", 1)[-1]

    def opened() -> bool:
        row = find_folder(hands.scene(), args.folder)
        return row is not None and "selected" in row.states and hands.look(leaf, "heading") is not None

    if not opened():
        yield hands.click(folder_row(hands, args.folder), until=opened)
        hands.wait(opened, f"the folder {args.folder!r} does not open")


def folder_row(hands: Hands, path: str) -> Element:
    """The row of a folder or account in the folder pane, cut down to its own height."""
    return hands.wait(lambda: find_folder(hands.scene(), path), f"no folder {path!r} in the folder pane")


def find_folder(scene: Scene, path: str) -> Element | None:
    """A folder's row in one reading of the tree."""
    accounts = [e for e in scene.select(None, "tree item") if e.name and not _is_folder(scene, e)]
    if not accounts:
        return None
    account = next((a for a in accounts if same_name(a.name, path.split("/")[0])), None)
    rest = path if account is None else path.partition("/")[2]
    account = account or accounts[0]
    found: Element | None = account
    if rest:
        below = [e for e in scene.below(account) if e.role == "tree item"]
        found = next((e for e in below if re.fullmatch(re.escape(rest) + r"(, .*)?", e.name)), None)
    if found is None:
        return None
    x, y, width, height = found.box
    return found.model_copy(update={"box": (x, y, width, min(height, 2 * ROW))})


def _is_folder(scene: Scene, element: Element) -> bool:
    return any(above.role == "tree item" and above.name for above in scene.ancestors(element))


class NewFolderArgs(MoveArgs):
    name: str
    parent: str = Field(description="account or folder that it goes into")


@move("new_folder", NewFolderArgs)
def new_folder(hands: Hands, args: NewFolderArgs) -> Acts:
    """Make a mail folder below an account or another folder."""
    top = not _is_folder(hands.scene(), folder_row(hands, args.parent))
    entry = "New Folder..." if top else "New Subfolder..."
    yield from context_menu_on(hands, lambda: folder_row(hands, args.parent), (entry,), opens="New Folder")
    yield from fill(hands, FillArgs(text=args.name, field="Name", within="New Folder"))
    yield from press(hands, PressArgs(button="Create Folder", dialog="New Folder"))
    folder_row(hands, args.name if top and args.parent == _first_account(hands) else f"{args.parent}/{args.name}")


def _first_account(hands: Hands) -> str:
    scene = hands.scene()
    return next(e.name for e in scene.select(None, "tree item") if e.name and not _is_folder(scene, e))


class RenameFolderArgs(MoveArgs):
    folder: str
    to: str = Field(description="the new name, without a path")


@move("rename_folder", RenameFolderArgs)
def rename_folder(hands: Hands, args: RenameFolderArgs) -> Acts:
    """Give a mail folder another name."""
    yield from context_menu_on(hands, lambda: folder_row(hands, args.folder), ("Rename",), opens="Rename Folder")
    yield from fill(hands, FillArgs(text=args.to, within="Rename Folder"))
    yield from press(hands, PressArgs(button="Rename", dialog="Rename Folder"))
    parent = args.folder.rpartition("/")[0]
    folder_row(hands, f"{parent}/{args.to}" if parent else args.to)


# Messages


class MessageArgs(MoveArgs):
    main: ClassVar[str] = "subject"
    subject: str
    sender: str | None = Field(None, description="part of the correspondent, where several have the subject")
    nth: int = Field(0, description="which of the rows that fit, from the top")


def rows(scene: Scene, which: MessageArgs) -> list[Element]:
    """The rows of the message list that fit, from the top."""
    pattern = re.compile(
        r"((Starred|Attachments), )*" + re.escape(which.subject) + ", (Read|Unread|Replied|New|Forw).*"
    )
    found = [
        e
        for e in scene.select(None, ROW_ROLES)
        if pattern.fullmatch(e.name) and (which.sender is None or which.sender.lower() in e.name.lower())
    ]
    return sorted(found, key=lambda e: e.box[1])


def row(hands: Hands, which: MessageArgs) -> Element | None:
    """The row of a message, or None when it is not in view."""
    found = rows(hands.scene(), which)
    return found[which.nth] if -len(found) <= which.nth < len(found) else None


def reveal(hands: Hands, which: MessageArgs) -> Acts:
    """Bring a message's row into view: wheel down the list and up again; replies hide below the first of their thread."""
    if hands.becomes(lambda: row(hands, which), 2.0):
        return
    box = _message_list(hands)
    for turn in (6, -6):
        before = None
        while _names(hands, box) != before:
            before = _names(hands, box)
            yield hands.scroll(box, turn)
            if row(hands, which):
                return
    root = re.sub(r"^(?:(?:Re|Fwd|Fw|AW|Aw): )+", "", which.subject)
    if root != which.subject:
        yield from reveal(hands, MessageArgs(subject=root))
        first = row(hands, MessageArgs(subject=root))
        twisty = next((e for e in hands.scene().below(first) if e.role == "push button" and not e.name), None)  # type: ignore[arg-type]
        if twisty is not None:
            yield hands.click(twisty, until=lambda: row(hands, which) is not None)
    if not hands.becomes(lambda: row(hands, which), 1.0):
        raise MoveError(f"no message {which.subject!r} in the list")


def _message_list(hands: Hands) -> Element:
    def lists() -> Element | None:
        found = [e for e in hands.scene().select(None, LIST_ROLES) if e.name and e.box[3] > 60]
        return max(found, key=lambda e: e.box[2] * e.box[3], default=None)

    return hands.wait(lists, "no message list shows")


def _names(hands: Hands, box: Element) -> list[str]:
    return [e.name for e in hands.scene().select(None, ROW_ROLES, within=box)]


def message_row(hands: Hands, which: MessageArgs) -> Element:
    """The row of a message that is in view."""
    return hands.wait(lambda: row(hands, which), f"no message {which.subject!r} in the list")


@move("message", MessageArgs)
def message(hands: Hands, args: MessageArgs) -> Acts:
    """Open a message of the folder in view; that marks it as read."""
    yield from reveal(hands, args)

    def selected() -> bool:
        now = row(hands, args)
        return now is not None and "selected" in now.states

    if not selected():
        yield hands.click(message_row(hands, args), fx=0.3, until=selected)
        hands.wait(selected, f"the message {args.subject!r} does not open")


class StarArgs(MessageArgs):
    on: bool = True


@move("star", StarArgs)
def star(hands: Hands, args: StarArgs) -> Acts:
    """Star a message in the list, or take its star away."""
    yield from reveal(hands, args)
    name = "Message starred" if args.on else "Message not starred"
    yield from _row_button(hands, args, {"Message starred", "Message not starred"}, name)


class MarkArgs(MessageArgs):
    read: bool = True


@move("mark", MarkArgs)
def mark(hands: Hands, args: MarkArgs) -> Acts:
    """Mark a message of the list as read or unread."""
    yield from reveal(hands, args)
    name = "Message read status" if args.read else "Message unread status"
    yield from _row_button(hands, args, {"Message read status", "Message unread status"}, name)


def _row_button(hands: Hands, which: MessageArgs, names: set[str], wanted: str) -> Acts:
    """Click the button of a message's row that has one of `names` until it is called `wanted`."""

    def button() -> Element | None:
        scene = hands.scene()
        found = rows(scene, which)
        if not -len(found) <= which.nth < len(found):
            return None
        return next((e for e in scene.below(found[which.nth]) if e.role == "push button" and e.name in names), None)

    def done() -> bool:
        now = button()
        return now is not None and now.name == wanted

    for _ in (1, 2):
        now = hands.wait(button, f"the row of {which.subject!r} has none of {', '.join(sorted(names))}")
        if now.name == wanted:
            return
        yield hands.click(now, until=done)
    hands.wait(done, f"the message {which.subject!r} does not become {wanted!r}")


class TagArgs(MessageArgs):
    tag: str = Field(description="the tag's name: Important, Work, Personal, To Do, Later, or one of the person's own")
    on: bool = True


@move("tag", TagArgs)
def tag(hands: Hands, args: TagArgs) -> Acts:
    """Put a tag on a message through its menu, or take it away."""
    yield from reveal(hands, args)
    yield from _open_message_menu(hands, args, "Tag")
    top = hands.find("Tag", "menu")

    def entry() -> Element | None:
        found = hands.scene().entries(hands.again(top) or top)
        return next((e for e in found if re.fullmatch(r"(\d+ )?" + re.escape(args.tag), e.name)), None)

    yield hands.click(top, until=lambda: entry() is not None)
    item = hands.becomes(entry, 2.0)
    if item is None:
        raise MoveError(f"there is no tag {args.tag!r}")
    if ("checked" in item.states) == args.on:
        yield hands.key("Escape", 2)
        return
    yield hands.click(item, until=hands.gone("Tag", "menu"))
    hands.wait(hands.gone("Tag", "menu"), "the menu stays open")


def _open_message_menu(hands: Hands, which: MessageArgs, expected: str) -> Acts:
    for _ in (1, 2):
        yield hands.click(message_row(hands, which), "right_click", fx=0.3, until=hands.showing(expected, MENU_ROLES))
        if hands.becomes(hands.showing(expected, MENU_ROLES), 1.0):
            return
    raise MoveError(f"the message {which.subject!r} shows no menu with {expected!r}")


class FileMessageArgs(MessageArgs):
    to: str = Field(description="path of the folder")


@move("move_message", FileMessageArgs)
def move_message(hands: Hands, args: FileMessageArgs) -> Acts:
    """Move a message into a folder through its menu."""
    yield from _file(hands, args, "Move To")
    before = _plain(args)
    hands.wait(
        lambda: not rows(hands.scene(), before) or len(rows(hands.scene(), before)) <= args.nth, "it stays there"
    )


@move("copy_message", FileMessageArgs)
def copy_message(hands: Hands, args: FileMessageArgs) -> Acts:
    """Copy a message into a folder through its menu."""
    yield from _file(hands, args, "Copy To")


def _plain(args: MessageArgs) -> MessageArgs:
    return MessageArgs(subject=args.subject, sender=args.sender, nth=args.nth)


def _file(hands: Hands, args: FileMessageArgs, entry: str) -> Acts:
    yield from reveal(hands, args)
    which = _plain(args)
    path = (entry, *_menu_path(hands, args.to))
    yield from context_menu_on(hands, lambda: message_row(hands, which), path, fx=0.3)


def _menu_path(hands: Hands, path: str) -> tuple[str, ...]:
    """A folder's path as the menus Move To and Copy To have it: a folder with subfolders comes first in its own menu."""
    scene = hands.scene()
    row_of_it = folder_row(hands, path)
    accounts = [e.name for e in scene.select(None, "tree item") if e.name and not _is_folder(scene, e)]
    parts = path.split("/")
    if parts[0] not in accounts:
        parts = [accounts[0], *parts]
    has_children = any(e.role == "tree item" for e in scene.below(row_of_it))
    return (*parts, parts[-1]) if has_children else tuple(parts)


@move("drag_message", FileMessageArgs)
def drag_message(hands: Hands, args: FileMessageArgs) -> Acts:
    """Move a message into a folder by dragging its row there; that marks it as read."""
    yield from reveal(hands, args)
    which = _plain(args)
    start, end = message_row(hands, which), folder_row(hands, args.to)
    count = len(rows(hands.scene(), which))
    left: Callable[[], bool] = lambda: len(rows(hands.scene(), which)) < count
    yield hands.drag(hands.middle(start, 0.3), hands.at(end.box[0] + 80, end.box[1] + ROW), start, until=left)
    hands.wait(left, f"the message {args.subject!r} does not leave the list")


@move("delete_message", MessageArgs)
def delete_message(hands: Hands, args: MessageArgs) -> Acts:
    """Delete a message through its menu; it goes to the trash."""
    yield from _choose(hands, args, "Delete Message")


@move("archive_message", MessageArgs)
def archive_message(hands: Hands, args: MessageArgs) -> Acts:
    """Archive a message through its menu."""
    yield from _choose(hands, args, "Archive")


def _choose(hands: Hands, args: MessageArgs, entry: str) -> Acts:
    """An entry of a message's menu after which its row is gone."""
    yield from reveal(hands, args)
    count = len(rows(hands.scene(), args))
    yield from context_menu_on(hands, lambda: message_row(hands, args), (entry,), fx=0.3)
    hands.wait(lambda: len(rows(hands.scene(), args)) < count, f"the message {args.subject!r} stays in the list")


class SaveAttachmentArgs(MessageArgs):
    name: str = Field(description="the attachment's file name")
    to: str = Field(pattern=r"^~/", description="where it goes: ~/Documents/data.csv")


@move("save_attachment", SaveAttachmentArgs)
def save_attachment(hands: Hands, args: SaveAttachmentArgs) -> Acts:
    """Open a message and save one of its attachments into a file."""
    yield from message(hands, _plain(args))
    stem, _, suffix = args.name.rpartition(".")
    pattern = re.compile(re.escape(stem) + r"\s*\." + re.escape(suffix) + r"\b.*")

    def attachment() -> Element | None:
        return next((e for e in hands.scene().select(None, "list item") if pattern.match(e.name)), None)

    if not hands.becomes(attachment, 0.5):
        label = hands.find("*attachment*", "label")
        bar = hands.find(None, "toggle button", where=lambda e: abs(_centre(e) - _centre(label)) < 14 and not e.name)
        yield hands.click(bar, until=lambda: attachment() is not None)
    hands.wait(attachment, f"the message has no attachment {args.name!r}")
    yield from context_menu_on(
        hands, lambda: hands.wait(attachment, "the attachment is gone"), ("Save As...",), opens="Save Attachment*"
    )
    yield from save_as(hands, args.to, "Save Attachment*")


def _centre(element: Element) -> float:
    return element.box[1] + element.box[3] / 2


def save_as(hands: Hands, path: str, title: str) -> Acts:
    """Give the file chooser `title` a place and press Save; waits for the file."""
    from pathlib import Path

    file = Path(hands.slot.home) / path[2:]
    yield hands.key("ctrl+a") + hands.type(f"/home/alex/{path[2:]}")
    saved: Callable[[], bool] = lambda: hands.window(title) is None and file.exists()
    yield hands.click(hands.find("Save", "push button", within=title), until=saved)
    hands.wait(saved, f"{path} does not appear")


# Address book


class NewContactArgs(MoveArgs):
    first: str = ""
    last: str = ""
    email: str
    display: str | None = Field(None, description="only where it is not first and last name")


@move("new_contact", NewContactArgs)
def new_contact(hands: Hands, args: NewContactArgs) -> Acts:
    """Add a person to the address book."""
    yield from address_book(hands, MoveArgs())
    form = hands.showing("First name", "entry")
    yield hands.click(hands.find("New Contact", "push button"), until=form)
    values = {
        "First name": args.first,
        "Last name": args.last,
        "Display name": args.display,
        "Email address": args.email,
    }
    for name, value in values.items():
        if value:
            yield from fill(hands, FillArgs(text=value, field=name))
    saved = hands.gone("First name", "entry")
    yield hands.click(hands.find("Save", "push button"), until=saved)
    hands.wait(saved, "the contact is not saved")


@move("address_book", MoveArgs)
def address_book(hands: Hands, args: MoveArgs) -> Acts:
    """Open the address book."""
    ready = hands.showing("New Contact", "push button")
    if not ready():
        yield hands.click(hands.find("Address Book (Ctrl+2)", "push button"), until=ready)
        hands.wait(ready, "the address book does not open")


@move("mail_tab", MoveArgs)
def mail_tab(hands: Hands, args: MoveArgs) -> Acts:
    """Go back to the mail."""
    ready = hands.showing("New Message", "push button")
    if not ready():
        yield hands.click(hands.find("Mail (Ctrl+1)", "push button"), until=ready)
        hands.wait(ready, "the mail does not come back")


# Filters


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
    account = args.account or _first_account(hands)
    listing, rules = "Message Filters", "Filter Rules"
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
    yield hands.key("Escape", until=lambda: hands.window(listing) is None)
    hands.wait(lambda: hands.window(listing) is None, "the window Message Filters stays open")


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
    path = _menu_path(hands, action.value) if is_folder else (action.value,)
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

    for _ in (1, 2):
        yield hands.click(find(), until=lambda: offered() is not None)
        if hands.becomes(offered, 1.5):
            break
    item = hands.wait(offered, f"the list does not offer {path[0]!r}", 0.5)
    for label in path[1:]:
        parent, wanted = item, label

        def below(parent: Element = parent, wanted: str = wanted) -> Element | None:
            entries = hands.scene().entries(hands.again(parent) or parent)
            return next((e for e in entries if same_name(e.name, wanted)), None)

        yield hands.click(parent, until=lambda b=below: b() is not None)  # type: ignore[misc]
        item = hands.wait(below, f"the list does not offer {label!r}")
    yield hands.click(item, until=lambda: offered() is None)
    hands.wait(lambda: offered() is None, "the list stays open")


# Writing


class WriteArgs(MoveArgs):
    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    bcc: tuple[str, ...] = ()
    subject: str | None = None
    body: str | None = Field(None, description="typed where the cursor stands: at the top of a new message")
    attach: tuple[str, ...] = Field((), description="files: ~/Documents/data.csv")
    then: Literal["draft", "send"] = "draft"


@move("write", WriteArgs)
def write(hands: Hands, args: WriteArgs) -> Acts:
    """Write a new message and save it as a draft or send it."""
    yield hands.click(hands.find("New Message", "push button"), until=lambda: _composer(hands) is not None)
    yield from _compose(hands, args)


class ReplyArgs(MessageArgs):
    body: str
    all: bool = False
    then: Literal["draft", "send"] = "draft"


@move("reply", ReplyArgs)
def reply(hands: Hands, args: ReplyArgs) -> Acts:
    """Open a message, reply to it, and save the reply as a draft or send it."""
    yield from message(hands, _plain(args))
    name = "Reply All" if args.all else "Reply"
    yield hands.click(hands.find(name, "push button"), until=lambda: _composer(hands) is not None)
    yield from _compose(hands, WriteArgs(body=args.body, then=args.then))


def _composer(hands: Hands) -> str | None:
    """The title of the window in which a message is being written."""
    window = hands.window("Write:*")
    return None if window is None else str(window.title)


def _compose(hands: Hands, args: WriteArgs) -> Acts:
    within = "Write:*"
    hands.wait(lambda: hands.look("Subject", "entry", within=within), "the window for writing does not open", 15)
    for name, people in (("To", args.to), ("Cc", args.cc), ("Bcc", args.bcc)):
        if not people:
            continue
        # The field is called "To", and "To with 2 addresses, ..." once there are some.
        field = hands.showing(f"{name}*", "entry", within=within)
        if not field():
            yield hands.click(hands.find(name, "push button", within=within), until=field)
        yield hands.click(hands.find(f"{name}*", "entry", within=within))
        for person in people:
            pill = hands.showing(f"*{_address(person)}*", "section", within=within)
            yield hands.type(person + ",", until=pill)
            hands.wait(pill, f"{person!r} does not become a recipient", 3.0)
    if args.subject is not None:
        yield from fill(hands, FillArgs(text=args.subject, field="Subject", within=within))
    if args.body is not None:
        yield hands.click(hands.find("Message body", "document web", within=within), fy=0.03)
        yield hands.key("ctrl+Home") + hands.type(args.body)
    for path in args.attach:
        yield from _attach(hands, path)
    yield from _finish(hands, args.then)


def _address(person: str) -> str:
    found = re.search(r"<([^>]+)>", person)
    return found[1] if found else person


def _attach(hands: Hands, path: str) -> Acts:
    title = "Attach File*"
    yield hands.click(
        hands.find("Attach", "push button", within="Write:*"), fx=0.3, until=lambda: hands.window(title) is not None
    )
    hands.wait(lambda: hands.window(title), "the file chooser does not open")
    name = path.rsplit("/", 1)[-1]
    attached: Callable[[], bool] = lambda: hands.window(title) is None
    yield hands.type(f"/home/alex/{path[2:]}")
    yield hands.key("Return", until=attached)
    if not hands.becomes(attached, 1.0):
        yield hands.key("Return", until=attached)
    hands.wait(attached, f"the file chooser does not take {path}")
    hands.wait(
        lambda: hands.look(f"{name.rpartition('.')[0]}*", "list item", within="Write:*"), f"{path} is not attached"
    )


def _finish(hands: Hands, then: str) -> Acts:
    closed: Callable[[], bool] = lambda: _composer(hands) is None
    if then == "send":
        yield hands.click(hands.find("Send Later", "push button", within="Write:*"), until=closed)
        hands.wait(closed, "the message is not sent")
        return
    yield hands.click(hands.find("Save", "push button", within="Write:*"), fx=0.3)
    yield hands.key("ctrl+w", until=closed)
    hands.wait(closed, "the window for writing stays open")
