"""Moves in Thunderbird's folder pane.

Folders are written as paths, `Inbox`, `Projects/Apollo`; those of another account or of the local folders begin with its
name, `Local Folders/Notes`.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from typing import ClassVar

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, move
from forge.harness.moves.general import FillArgs, PressArgs, context_menu_on, fill, press
from forge.harness.moves.hands import Hands, Scene, same_name
from forge.records import Element, Scroll

SHOWN_AS = {"Unsent Messages": "Outbox", "Junk": "Spam"}
"""Folders that are called otherwise in the window than their files are."""
ROW = 14
"""Half the height of a row of the folder pane, pixels; a row's box includes the rows below it."""


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
        yield from reveal_folder(hands, args.folder)
        yield hands.click(folder_row(hands, args.folder), until=opened)
        hands.wait(opened, f"the folder {args.folder!r} does not open")


def folder_row(hands: Hands, path: str) -> Element:
    """The row of a folder or account in the folder pane, cut down to its own height."""
    return hands.wait(lambda: find_folder(hands.scene(), path), f"no folder {path!r} in the folder pane")


def reveal_folder(hands: Hands, path: str) -> Acts:
    """Bring a folder's row into view, by wheel."""

    def in_view() -> bool:
        found = find_folder(hands.scene(), path)
        if found is None:
            return False
        bar = hands.look("Folder pane options", "push button")
        return bar is None or found.box[1] + ROW > bar.box[1] + bar.box[3] + ROW

    if hands.becomes(in_view, 2.0):
        return
    pane = hands.find(None, "tree")
    for turn in (-3, 3):
        before = None
        while (names := [e.name for e in hands.scene().select(None, "tree item")]) != before:
            before = names
            yield hands.do(Scroll(at=hands.at(pane.box[0] + 80, 400), dy=turn))
            if in_view():
                return
    folder_row(hands, path)


def find_folder(scene: Scene, path: str) -> Element | None:
    """A folder's row in one reading of the tree."""
    accounts = _accounts(scene)
    if not accounts:
        return None
    account = next((a for a in accounts if same_name(a.name, path.split("/")[0])), None)
    rest = path if account is None else path.partition("/")[2]
    rest = SHOWN_AS.get(rest, rest)
    account = account or accounts[0]
    found: Element | None = account
    if rest:
        below = [e for e in scene.below(account) if e.role == "tree item"]
        found = next((e for e in below if re.fullmatch(re.escape(rest) + r"(, .*)?", e.name)), None)
    if found is None:
        return None
    x, y, width, height = found.box
    return found.model_copy(update={"box": (x, y, width, min(height, 2 * ROW))})


def _accounts(scene: Scene) -> list[Element]:
    return [e for e in scene.select(None, "tree item") if e.name and not is_folder(scene, e)]


def is_folder(scene: Scene, element: Element) -> bool:
    return any(above.role == "tree item" and above.name for above in scene.ancestors(element))


class NewFolderArgs(MoveArgs):
    name: str
    parent: str = Field(description="account or folder that it goes into")


@move("new_folder", NewFolderArgs)
def new_folder(hands: Hands, args: NewFolderArgs) -> Acts:
    """Make a mail folder below an account or another folder."""
    yield from reveal_folder(hands, args.parent)
    top = not is_folder(hands.scene(), folder_row(hands, args.parent))
    entry = "New Folder..." if top else "New Subfolder..."
    yield from context_menu_on(hands, lambda: folder_row(hands, args.parent), (entry,), opens="New Folder")
    yield from fill(hands, FillArgs(text=args.name, field="Name", within="New Folder"))
    yield from press(hands, PressArgs(button="Create Folder", dialog="New Folder"))
    folder_row(hands, args.name if top and args.parent == first_account(hands) else f"{args.parent}/{args.name}")


def first_account(hands: Hands) -> str:
    scene = hands.scene()
    return next(e.name for e in scene.select(None, "tree item") if e.name and not is_folder(scene, e))


class RenameFolderArgs(MoveArgs):
    folder: str
    to: str = Field(description="the new name, without a path")


@move("rename_folder", RenameFolderArgs)
def rename_folder(hands: Hands, args: RenameFolderArgs) -> Acts:
    """Give a mail folder another name."""
    yield from reveal_folder(hands, args.folder)
    yield from context_menu_on(hands, lambda: folder_row(hands, args.folder), ("Rename",), opens="Rename Folder")
    yield from fill(hands, FillArgs(text=args.to, within="Rename Folder"))
    yield from press(hands, PressArgs(button="Rename", dialog="Rename Folder"))
    parent = args.folder.rpartition("/")[0]
    folder_row(hands, f"{parent}/{args.to}" if parent else args.to)


def stamps(hands: Hands, path: str) -> set[tuple[str, int, int]]:
    """Sizes and times of the files of a folder and those below it; of all accounts that have a folder of this name."""
    leaf = path.rsplit("/", 1)[-1]
    leaf = next((file for file, shown in SHOWN_AS.items() if shown == leaf), leaf)
    found = set()
    for profile in (Path(hands.slot.home) / ".thunderbird").glob("*/Mail"):
        for file in (*profile.rglob(leaf), *profile.rglob(f"{leaf}.sbd/*")):
            with suppress(FileNotFoundError):
                status = file.stat()
                if S_ISREG(status.st_mode) and file.suffix != ".msf":
                    found.add((str(file), status.st_size, status.st_mtime_ns))
    return found


def open_folder_path(scene: Scene) -> str | None:
    """The path of the folder that is open."""
    row = next((e for e in scene.select(None, "tree item") if "selected" in e.states), None)
    if row is None or not is_folder(scene, row):
        return None
    name = re.sub(r", \d+ .*", "", row.name)
    label = [above.name for above in scene.ancestors(row) if above.role == "tree item" and above.name][-1]
    return name if label == _accounts(scene)[0].name else f"{label}/{name}"


def menu_path(hands: Hands, path: str) -> tuple[str, ...]:
    """A folder's path as the menus Move To and Copy To have it: a folder with subfolders comes first in its own menu."""
    scene = hands.scene()
    row_of_it = folder_row(hands, path)
    accounts = [e.name for e in scene.select(None, "tree item") if e.name and not is_folder(scene, e)]
    parts = path.split("/")
    if parts[0] not in accounts:
        parts = [accounts[0], *parts]
    has_children = any(e.role == "tree item" for e in scene.below(row_of_it))
    return (*parts, parts[-1]) if has_children else tuple(parts)
