"""Moves in Thunderbird's folder pane.

Folders are written as paths, `Inbox`, `Projects/Apollo`; those of another account or of the local folders begin with its
name, `Local Folders/Notes`.
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, move
from forge.harness.moves.hands import Hands, Scene
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
    above = [e for e in scene.ancestors(row) if e.role == "tree item" and e.name]
    account = above[-1]
    return name if account.name == _accounts(scene)[0].name else f"{account.name}/{name}"


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
