"""Moves in Thunderbird's message list, which is in its table view: rows are named
`[Starred, ][Attachments, ]SUBJECT, Read|Unread, CORRESPONDENT, DATE`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import ClassVar

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, MoveError, move
from forge.harness.moves.general import context_menu_on
from forge.harness.moves.hands import MENU_ROLES, Hands, Scene
from forge.harness.moves.thunderbird.folders import (
    ROW,
    FolderArgs,
    folder,
    folder_row,
    menu_path,
    open_folder_path,
    reveal_folder,
    stamps,
)
from forge.records import Element

LIST_ROLES, ROW_ROLES = ("list box", "tree table"), ("list item", "table row")
"""The message list has the first roles when Thunderbird starts, the second ones once another folder was opened."""


class MessageArgs(MoveArgs):
    main: ClassVar[str] = "subject"
    subject: str
    sender: str | None = Field(None, description="part of the correspondent, where several have the subject")
    nth: int = Field(0, description="which of the rows that fit, from the top")


def rows(scene: Scene, which: MessageArgs) -> list[Element]:
    """The rows of the message list that fit and can be pointed at, from the top."""
    pattern = re.compile(
        r"((Starred|Attachments), )*" + re.escape(which.subject) + ", (Read|Unread|Replied|New|Forw).*"
    )
    found = [
        e
        for e in scene.select(None, ROW_ROLES)
        if pattern.fullmatch(e.name)
        and (which.sender is None or which.sender.lower() in e.name.lower())
        and _is_below_headings(scene, e)
    ]
    return sorted(found, key=lambda e: e.box[1])


def _is_below_headings(scene: Scene, element: Element) -> bool:
    """A row that is scrolled half out of the list lies under the column headings; a click there would sort the list."""
    heading = next(iter(scene.select("Select columns to display", "push button")), None)
    return heading is None or element.box[1] >= heading.box[1] + heading.box[3] - 3


def row(hands: Hands, which: MessageArgs) -> Element | None:
    """The row of a message, or None when it is not in view."""
    found = rows(hands.scene(), which)
    return found[which.nth] if -len(found) <= which.nth < len(found) else None


def reveal(hands: Hands, which: MessageArgs) -> Acts:
    """Bring a message's row into view: wheel down the list and up again; replies hide below the first of their thread."""
    shown = partial(row, hands, which)
    if hands.becomes(shown, 2.0):
        return
    box = message_list(hands)
    for turn in (3, -3):
        before = None
        while _names(hands, box) != before:
            before = _names(hands, box)
            yield hands.scroll(_middle_row(hands, box), turn)
            if shown():
                return
    root = re.sub(r"^(?:(?:Re|Fwd|Fw|AW|Aw): )+", "", which.subject)
    if root != which.subject:
        yield from reveal(hands, MessageArgs(subject=root))
        yield from expand(hands, MessageArgs(subject=root))
    if not hands.becomes(shown, 1.0):
        raise MoveError(f"no message {which.subject!r} in the list")


def expand(hands: Hands, which: MessageArgs) -> Acts:
    """Unfold the thread that a message in view begins; what is done to a folded thread is done to all its messages."""

    def folded() -> Element | None:
        """The button that unfolds it, or None."""
        scene = hands.scene()
        first = row(hands, which)
        if first is None:
            return None
        twisty = next((e for e in scene.below(first) if e.role == "push button" and not e.name), None)
        below = [e for e in scene.select(None, ROW_ROLES) if e.path[:-1] == first.path[:-1] and e.box[1] > first.box[1]]
        following = min(below, key=lambda e: e.box[1], default=None)
        is_open = following is not None and _indent(scene, following) > _indent(scene, first)
        return None if is_open else twisty

    twisty = folded()
    if twisty is not None:
        yield hands.click(twisty, until=lambda: folded() is None)


def _indent(scene: Scene, element: Element) -> int:
    """Where a row's subject, or the button before it, begins; replies are indented."""
    parts = [e for e in scene.below(element) if e.box[3] < 20 and (e.role == "section" or not e.name)]
    return min((part.box[0] for part in parts), default=0)


def message_list(hands: Hands) -> Element:
    def lists() -> Element | None:
        found = [e for e in hands.scene().select(None, LIST_ROLES) if e.name and e.box[3] > 60]
        return max(found, key=lambda e: e.box[2] * e.box[3], default=None)

    return hands.wait(lists, "no message list shows")


def _middle_row(hands: Hands, box: Element) -> Element:
    """A row to put the pointer on: the list's own box reaches below what shows of it."""
    found = [e for e in hands.scene().select(None, ROW_ROLES, within=box) if _is_below_headings(hands.scene(), e)]
    return found[len(found) // 2] if found else box


def _names(hands: Hands, box: Element) -> list[str]:
    return [e.name for e in hands.scene().select(None, ROW_ROLES, within=box)]


def message_row(hands: Hands, which: MessageArgs) -> Element:
    """The row of a message that is in view."""
    return hands.wait(lambda: row(hands, which), f"no message {which.subject!r} in the list")


@move("message", MessageArgs)
def message(hands: Hands, args: MessageArgs) -> Acts:
    """Open a message of the folder in view; that marks it as read."""
    yield from reveal(hands, args)
    yield from expand(hands, args)

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
    yield from expand(hands, args)
    yield from _open_message_menu(hands, args, "Tag")
    top = hands.find("Tag", "menu")

    def entry() -> Element | None:
        found = hands.scene().entries(top)
        return next((e for e in found if re.fullmatch(r"(\d+ )?" + re.escape(args.tag), e.name)), None)

    yield hands.click(top, until=entry)
    item = hands.becomes(entry, 2.0)
    if item is None:
        raise MoveError(f"there is no tag {args.tag!r}")
    if ("checked" in item.states) == args.on:
        yield hands.key("Escape", 2)
        return
    closed = hands.gone("Tag", "menu")
    yield hands.click(item, until=closed)
    hands.wait(closed, "the menu stays open")


def _open_message_menu(hands: Hands, which: MessageArgs, expected: str) -> Acts:
    opened = hands.showing(expected, MENU_ROLES)
    for _ in (1, 2):
        yield hands.click(message_row(hands, which), "right_click", fx=0.3, until=opened)
        if hands.becomes(opened, 1.0):
            return
    raise MoveError(f"the message {which.subject!r} shows no menu with {expected!r}")


class FileMessageArgs(MessageArgs):
    to: str = Field(description="path of the folder")


@move("move_message", FileMessageArgs)
def move_message(hands: Hands, args: FileMessageArgs) -> Acts:
    """Move a message into a folder through its menu."""
    yield from _until_gone(hands, message_of(args), args.to, lambda: _file(hands, args, "Move To"))


@move("copy_message", FileMessageArgs)
def copy_message(hands: Hands, args: FileMessageArgs) -> Acts:
    """Copy a message into a folder through its menu."""
    yield from _file(hands, args, "Copy To")


def message_of(args: MessageArgs) -> MessageArgs:
    return MessageArgs(subject=args.subject, sender=args.sender, nth=args.nth)


def _file(hands: Hands, args: FileMessageArgs, entry: str) -> Acts:
    yield from reveal_folder(hands, args.to)
    yield from reveal(hands, args)
    which = message_of(args)
    yield from expand(hands, which)
    path = (entry, *menu_path(hands, args.to))
    yield from context_menu_on(hands, lambda: message_row(hands, which), path, fx=0.3)


@move("drag_message", FileMessageArgs)
def drag_message(hands: Hands, args: FileMessageArgs) -> Acts:
    """Move a message into a folder by dragging its row there; that marks it as read."""
    yield from reveal_folder(hands, args.to)
    yield from reveal(hands, args)
    which = message_of(args)
    yield from expand(hands, which)
    start, end = message_row(hands, which), folder_row(hands, args.to)
    count = len(rows(hands.scene(), which))
    left: Callable[[], bool] = lambda: len(rows(hands.scene(), which)) < count
    yield hands.drag(hands.middle(start, 0.3), hands.at(end.box[0] + 80, end.box[1] + ROW), start, until=left)
    hands.wait(left, f"the message {args.subject!r} does not leave the list")


@move("delete_message", MessageArgs)
def delete_message(hands: Hands, args: MessageArgs) -> Acts:
    """Delete a message through its menu; it goes to the trash."""
    yield from _choose(hands, args, "Delete Message", "Trash")


@move("archive_message", MessageArgs)
def archive_message(hands: Hands, args: MessageArgs) -> Acts:
    """Archive a message through its menu."""
    yield from _choose(hands, args, "Archive", "Archives")


def _choose(hands: Hands, args: MessageArgs, entry: str, target: str) -> Acts:
    """An entry of a message's menu that files it away."""
    find = partial(message_row, hands, args)
    yield from _until_gone(hands, args, target, lambda: context_menu_on(hands, find, (entry,), fx=0.3))


def _until_gone(hands: Hands, which: MessageArgs, target: str, way: Callable[[], Acts]) -> Acts:
    """Go a way that files a message away into `target`; not twice, for what lies there by then may be another one."""
    yield from reveal(hands, which)
    yield from expand(hands, which)
    count, before = len(rows(hands.scene(), which)), stamps(hands, target)
    gone: Callable[[], bool] = lambda: len(rows(hands.scene(), which)) < count
    written: Callable[[], bool] = lambda: stamps(hands, target) != before
    yield from way()
    hands.wait(written, f"the message {which.subject!r} does not arrive in {target}", 15.0)
    if hands.becomes(gone, 2.0):
        return
    # After something was dragged, Thunderbird at times leaves the row on the screen: the folder is opened anew.
    here = open_folder_path(hands.scene())
    if here is not None:
        yield from folder(hands, FolderArgs(folder=target))
        yield from folder(hands, FolderArgs(folder=here))
    hands.wait(gone, f"the message {which.subject!r} stays in the list")
