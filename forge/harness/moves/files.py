"""Moves for the file manager (pcmanfm): folders, renaming, copying, moving. What they did is looked up on the disk."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from forge.harness.moves.base import Act, Acts, MoveArgs, MoveError, move
from forge.harness.moves.general import FillArgs, PressArgs, context_menu_on, fill, press
from forge.harness.moves.hands import Hands
from forge.records import Element
from forge.records.guest import USER

APP = "files"
_HEADINGS = 27
"""Height of the column headings, pixels."""


class OpenFolderArgs(MoveArgs):
    main: ClassVar[str] = "path"
    path: str = Field(pattern=r"^~(/|$)", description="the folder: ~/Documents/Old")


@move("open_folder", OpenFolderArgs)
def open_folder(hands: Hands, args: OpenFolderArgs) -> Acts:
    """Show a folder by typing its place into the address bar."""
    place = f"/home/{USER}{args.path[1:]}"
    bar = hands.find(None, "text", app=APP, where=lambda e: (e.text or "").startswith("/"))
    shown = partial(_shows, hands, place)
    if not shown():
        yield hands.click(bar) + hands.key("ctrl+a") + hands.type(place + "\n", until=shown)
        hands.wait(shown, f"the file manager does not show {args.path}")


def _shows(hands: Hands, place: str) -> bool:
    title = posixpath.basename(place.rstrip("/"))
    bar = hands.look(None, "text", app=APP, where=lambda e: e.text == place)
    return bar is not None and hands.window(title) is not None


class ItemArgs(MoveArgs):
    main: ClassVar[str] = "name"
    name: str = Field(description="a file or folder of the folder in view")


def item(hands: Hands, name: str) -> Element:
    """The row of a file or folder."""
    return hands.find(name, ("table cell", "icon"), app=APP, where=lambda e: e.box[0] > 160)


@move("open_item", ItemArgs)
def open_item(hands: Hands, args: ItemArgs) -> Acts:
    """Double-click a file or folder of the folder in view."""
    yield hands.click(item(hands, args.name), "double_click", fx=0.05)


class RenameItemArgs(ItemArgs):
    to: str = Field(min_length=1)


@move("rename_item", RenameItemArgs)
def rename_item(hands: Hands, args: RenameItemArgs) -> Acts:
    """Give a file or folder of the folder in view another name."""
    dialog = "Rename File"
    yield from context_menu_on(hands, lambda: item(hands, args.name), ("Rename...",), opens=dialog, fx=0.05)
    yield from fill(hands, FillArgs(text=args.to, within=dialog))
    yield from press(hands, PressArgs(button="OK", dialog=dialog))
    item(hands, args.to)


class MakeFolderArgs(MoveArgs):
    main: ClassVar[str] = "name"
    name: str = Field(min_length=1)


@move("make_folder", MakeFolderArgs)
def make_folder(hands: Hands, args: MakeFolderArgs) -> Acts:
    """Make a new folder in the folder in view."""
    dialog = "Creating New Folder"
    opened = partial(hands.window, dialog)
    yield hands.key("ctrl+shift+n", until=opened)
    hands.wait(opened, f"no window {dialog!r} appeared")
    yield from fill(hands, FillArgs(text=args.name, within=dialog))
    yield from press(hands, PressArgs(button="OK", dialog=dialog))
    item(hands, args.name)


class TransferArgs(ItemArgs):
    to: str = Field(pattern=r"^~(/|$)", description="the folder that it goes into: ~/Documents/Old")
    how: Literal["copy", "move"] = "move"


@move("transfer_item", TransferArgs)
def transfer_item(hands: Hands, args: TransferArgs) -> Acts:
    """Cut or copy a file or folder of the folder in view, open another folder and paste it there."""
    target = Path(hands.slot.home) / args.to[2:] / args.name
    if target.exists():
        raise MoveError(f"there is already {args.name!r} in {args.to}")
    entry = "Cut" if args.how == "move" else "Copy"
    yield from context_menu_on(hands, lambda: item(hands, args.name), (entry,), fx=0.05)
    yield from open_folder(hands, OpenFolderArgs(path=args.to))
    there: Callable[[], bool] = target.exists
    yield hands.key("ctrl+v", until=there)
    hands.wait(there, f"{args.name!r} does not arrive in {args.to}", 10.0)


@move("trash_item", ItemArgs)
def trash_item(hands: Hands, args: ItemArgs) -> Acts:
    """Move a file or folder of the folder in view to the trash can, and confirm."""
    yield from context_menu_on(hands, lambda: item(hands, args.name), ("Move to Trash",), fx=0.05)
    yield from press(hands, PressArgs(button="Yes"))
    gone = hands.gone(args.name, ("table cell", "icon"), app=APP, where=lambda e: e.box[0] > 160)
    hands.wait(gone, f"{args.name!r} is still there")


class TransferItemsArgs(MoveArgs):
    names: tuple[str, ...] = Field(min_length=1, description="files or folders of the folder in view")
    to: str = Field(pattern=r"^~(/|$)", description="the folder that they go into: ~/Documents/Old")
    how: Literal["copy", "move"] = "move"


@move("transfer_items", TransferItemsArgs)
def transfer_items(hands: Hands, args: TransferItemsArgs) -> Acts:
    """Select several files or folders of the folder in view, cut or copy them, and paste them into another folder."""
    target = Path(hands.slot.home) / args.to[2:]
    there = [name for name in args.names if (target / name).exists()]
    if there:
        raise MoveError(f"there is already {there[0]!r} in {args.to}")
    yield from select_items(hands, args.names)
    yield hands.key("ctrl+x" if args.how == "move" else "ctrl+c")
    yield from open_folder(hands, OpenFolderArgs(path=args.to))
    arrived: Callable[[], bool] = lambda: all((target / name).exists() for name in args.names)
    yield hands.key("ctrl+v", until=arrived)
    hands.wait(arrived, f"not all of {', '.join(args.names)} arrive in {args.to}", 15.0)


def select_items(hands: Hands, names: Sequence[str]) -> Acts:
    """Select files of the folder in view by clicking each, with ctrl from the second on; the status bar counts them."""
    for attempt in (1, 2):
        for number, name in enumerate(names):
            row = yield from _item_in_view(hands, name)
            chosen = partial(_is_selected, hands, number + 1)
            yield hands.click(row, fx=0.05, modifiers=("ctrl",) if number else (), until=chosen)
            if not hands.becomes(chosen, 1.0):
                break
        else:
            return
        if attempt == 2:
            raise MoveError(f"{name!r} does not become selected beside {number} others")


def _item_in_view(hands: Hands, name: str) -> Generator[Act, None, Element]:
    """The row of a file: the wheel is turned down the list, and then up, until it lies inside."""
    pane = _list(hands)
    inside = range(pane.box[1] + _HEADINGS, pane.box[1] + pane.box[3])
    row = partial(
        hands.look,
        name,
        ("table cell", "icon"),
        app=APP,
        where=lambda e: e.box[0] > 160 and e.box[1] + e.box[3] // 2 in inside,
    )
    if hands.becomes(row, 1.0) is None:
        for turn in (5, -5):
            before = None
            while (names := _names(hands)) != before and row() is None:
                before = names
                yield hands.scroll(pane, turn)
    return hands.wait(row, f"{name!r} is not in the folder in view")


def _list(hands: Hands) -> Element:
    """The list of the folder in view."""
    return hands.find(None, "scroll pane", app=APP, where=lambda e: e.box[0] > 100)


def _names(hands: Hands) -> list[str]:
    return [e.name for e in hands.scene(APP).select(None, "table cell", _list(hands)) if e.name]


def _is_selected(hands: Hands, count: int) -> bool:
    """Whether the status bar says that so many items are selected; of a single one it says the name and the size."""
    bar = hands.look(None, "status bar", app=APP)
    words = r"\".*\".*" if count == 1 else rf"{count} items selected.*"
    return bar is not None and re.match(words, bar.name) is not None
