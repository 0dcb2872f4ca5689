"""Moves for single things in the file manager: made, dragged, linked, deleted, opened with a program, given rights."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, MoveError, move
from forge.harness.moves.choosers import ChooseFileArgs, choose_file
from forge.harness.moves.files import APP, ItemArgs, item
from forge.harness.moves.general import (
    FillArgs,
    MenuArgs,
    PickArgs,
    PressArgs,
    context_menu_on,
    fill,
    menu,
    pick,
    press,
)
from forge.harness.moves.hands import Hands
from forge.harness.moves.installed import Entry, installed
from forge.harness.moves.lists import ROW_ROLES, ExpandArgs, RowArgs, expand, row
from forge.records import Element
from forge.records.guest import USER

Who = Literal["Nobody", "Only owner", "Only owner and group", "Anyone"]
PROPERTIES = "File Properties"

TRIES = 6
"""How often a file is opened with a program. A command line is at times forgotten by the file manager without a word: it
writes an entry for it and looks it up before GLib has noticed the new file (about one time in three, homes being in memory)."""

OPENS = 10.0
"""Seconds in which a program's window appears."""

LISTS = 2.0
"""Seconds in which the dialog of a program lists the installed applications."""


class MakeFileArgs(MoveArgs):
    main: ClassVar[str] = "name"
    name: str = Field(min_length=1)


@move("make_file", MakeFileArgs)
def make_file(hands: Hands, args: MakeFileArgs) -> Acts:
    """Make a new, empty file in the folder in view, through File > Create New."""
    dialog = "Creating ..."
    yield from menu(hands, MenuArgs(path=("File", "Create New...", "Empty File"), opens=dialog))
    yield from fill(hands, FillArgs(text=args.name, within=dialog))
    yield from press(hands, PressArgs(button="OK", dialog=dialog))
    item(hands, args.name)


class DragItemArgs(ItemArgs):
    onto: str = Field(description="a folder of the folder in view")


@move("drag_item", DragItemArgs)
def drag_item(hands: Hands, args: DragItemArgs) -> Acts:
    """Move a file or folder by dragging it onto a folder beside it."""
    folder = _folder(hands)
    if (folder / args.onto / args.name).exists():
        raise MoveError(f"there is already {args.name!r} in {args.onto!r}")
    moved = partial(_is_in, folder / args.onto, args.name)
    for fraction in (0.05, 0.1):
        start, end = item(hands, args.name), item(hands, args.onto)
        yield hands.drag(hands.middle(start, fraction), hands.middle(end, fraction), start, until=moved)
        if hands.becomes(moved, 1.5):
            return
    raise MoveError(f"{args.name!r} does not arrive in {args.onto!r}")


def _is_in(folder: Path, name: str) -> bool:
    return os.path.lexists(folder / name)


def _folder(hands: Hands) -> Path:
    """The folder in view, on the host."""
    bar = hands.find(None, "text", app=APP, where=lambda e: (e.text or "").startswith("/"))
    home, place = f"/home/{USER}", (bar.text or "").rstrip("/")
    if place != home and not place.startswith(f"{home}/"):
        raise MoveError(f"the folder in view, {place}, is not below the home")
    return Path(hands.slot.home) / place[len(home) + 1 :]


@move("delete_item", ItemArgs)
def delete_item(hands: Hands, args: ItemArgs) -> Acts:
    """Delete a file or folder of the folder in view for good, past the trash can, and confirm."""
    folder = _folder(hands)
    asked = hands.showing("Yes", "push button", app=APP)
    yield hands.click(item(hands, args.name), fx=0.05) + hands.key("shift+Delete", until=asked)
    if not hands.becomes(asked, 1.5):
        yield from menu(hands, MenuArgs(path=("Edit", "Remove")))
    yield from press(hands, PressArgs(button="Yes"))
    hands.wait(lambda: not _is_in(folder, args.name), f"{args.name!r} is still there")


class LinkItemArgs(ItemArgs):
    to: str = Field(pattern=r"^~(/|$)", description="the folder that the link is put into: ~/Desktop")


@move("link_item", LinkItemArgs)
def link_item(hands: Hands, args: LinkItemArgs) -> Acts:
    """Put a symbolic link to a file or folder of the folder in view into another folder."""
    dialog, target = "Select Folder", Path(hands.slot.home) / args.to[2:]
    if _is_in(target, args.name):
        raise MoveError(f"there is already {args.name!r} in {args.to}")
    yield hands.click(item(hands, args.name), fx=0.05)
    yield from menu(hands, MenuArgs(path=("Edit", "Create Link..."), opens=dialog))
    # Beginning with what was used lately the dialog loses the first letters of a path that is typed.
    yield hands.click(hands.find(USER, "table cell", app=APP, within=dialog))
    yield from choose_file(hands, ChooseFileArgs(path=args.to, dialog=dialog))
    hands.wait(partial(_is_in, target, args.name), f"there is no link to {args.name!r} in {args.to}")


class PermissionsArgs(ItemArgs):
    view: Who | None = None
    change: Who | None = None
    execute: Who | None = None


@move("set_permissions", PermissionsArgs)
def set_permissions(hands: Hands, args: PermissionsArgs) -> Acts:
    """Say who may view, change or execute a file of the folder in view, in its properties."""
    file = _folder(hands) / args.name
    before = file.stat().st_mode
    yield from context_menu_on(hands, lambda: item(hands, args.name), ("Properties",), opens=PROPERTIES, fx=0.05)
    shown = hands.showing("View content", "label", app=APP, within=PROPERTIES)
    yield hands.click(hands.find("Permissions", "page tab", app=APP, within=PROPERTIES), until=shown)
    hands.wait(shown, "the page 'Permissions' does not come up")
    wanted = {"View content": args.view, "Change content": args.change, "Execute": args.execute}
    changed = False
    for label, who in wanted.items():
        if who is None or hands.look(who, "combo box", app=APP, within=PROPERTIES, where=_beside(hands, label)):
            continue
        yield from pick(hands, PickArgs(choice=who, field=label, within=PROPERTIES))
        changed = True
    yield from press(hands, PressArgs(button="OK", dialog=PROPERTIES))
    if changed:
        hands.wait(lambda: file.stat().st_mode != before, f"the rights of {args.name!r} stay as they were")


def _beside(hands: Hands, label: str) -> Callable[[Element], bool]:
    """A condition of elements: on the line of a label."""
    text = hands.find(label, "label", app=APP, within=PROPERTIES)
    middle = text.box[1] + text.box[3] // 2
    return lambda e: abs(e.box[1] + e.box[3] // 2 - middle) <= 4


class OpenWithArgs(ItemArgs):
    command: str = Field(min_length=1, description="the program: mousepad, vlc, gimp")
    title: str | None = Field(None, description="title of the window that then appears; * stands for anything")


@move("open_with", OpenWithArgs)
def open_with(hands: Hands, args: OpenWithArgs) -> Acts:
    """Open a file of the folder in view with a program: one of the applications that are listed, else by its command line."""
    dialog, known = "Choose Application", {window.id for window in hands.slot.windows()}

    def opened() -> bool:
        if args.title is not None:
            return hands.window(args.title) is not None
        return any(window.id not in known and window.title != dialog for window in hands.slot.windows())

    entry = installed(args.command)
    for _ in range(TRIES):
        yield from context_menu_on(hands, lambda: item(hands, args.name), ("Open With...",), opens=dialog, fx=0.05)
        if entry is None or not (yield from _choose(hands, entry, dialog)):
            field = partial(hands.look, None, "text", app=APP, within=dialog)
            yield hands.click(hands.find("Custom Command Line", "page tab", app=APP, within=dialog), until=field)
            hands.wait(field, "no field for a command appeared")
            yield from fill(hands, FillArgs(text=f"{args.command} %f", within=dialog))
        yield from press(hands, PressArgs(button="OK", dialog=dialog))
        if hands.becomes(opened, OPENS):
            return
    raise MoveError(f"{args.command!r} shows no window for {args.name!r}, {TRIES} times tried, {OPENS:g} s each")


def _choose(hands: Hands, entry: Entry, dialog: str) -> Acts:
    """Choose an installed application from the dialog's list; returns whether it is listed, which on another machine than this
    one it need not be.
    """

    def listed(name: str) -> bool:
        return bool(hands.becomes(lambda: hands.look(name, ROW_ROLES, app=APP, within=dialog), LISTS))

    if not listed(entry.group):
        return False
    yield from expand(hands, ExpandArgs(name=entry.group, within=dialog))
    if not listed(entry.name):
        return False
    yield from row(hands, RowArgs(name=entry.name, within=dialog))
    return True
