"""Moves for what Chromium keeps in its profile: bookmarks, settings, tabs. Bookmarks are looked up in its file."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, MoveError, move
from forge.harness.moves.chromium import APP, OpenPageArgs, open_page, set_field
from forge.harness.moves.general import FillArgs, PickArgs, fill, pick
from forge.harness.moves.hands import Hands
from forge.records import Element

PROFILE = ".config/chromium/Default"
WRITTEN = 15.0
"""Seconds in which bookmarks must have come to the disk; Chromium waits 2.5 seconds after a change."""

ADDED = "Bookmark added"
EDITED = "Edit bookmark"


class BookmarkPageArgs(MoveArgs):
    main: ClassVar[str] = "name"
    name: str | None = Field(None, description="the bookmark's name; the page's title if not given")
    folder: str = Field("Other bookmarks", description="as the list says it: Bookmarks bar, Other bookmarks, one's own")


@move("bookmark_page", BookmarkPageArgs)
def bookmark_page(hands: Hands, args: BookmarkPageArgs) -> Acts:
    """Bookmark the page in view, or rename or move its bookmark, by the star in the address bar."""
    title = next((w.title for w in reversed(hands.slot.windows()) if w.title.endswith(" - Chromium")), "")
    name = args.name or title.removesuffix(" - Chromium")
    bubble = yield from _open_bubble(hands)
    yield from fill(hands, FillArgs(text=name, field="Bookmark name", within=bubble.name))
    combo = hands.find("Folder", "combo box", app=APP, within=bubble)
    if combo.text != args.folder:
        yield from pick(hands, PickArgs(choice=args.folder, field="Folder", within=bubble.name))
    closed = hands.gone(bubble.name, "dialog", app=APP)
    yield hands.click(hands.find("Done", "push button", app=APP), until=closed)
    hands.wait(closed, "the bookmark's bubble stays open")
    _wait_written(hands, name, args.folder, True)


class UnbookmarkPageArgs(MoveArgs):
    pass


@move("unbookmark_page", UnbookmarkPageArgs)
def unbookmark_page(hands: Hands, args: UnbookmarkPageArgs) -> Acts:
    """Remove the bookmark of the page in view."""
    if hands.look("Edit bookmark for this tab", "push button", app=APP) is None:
        raise MoveError("the page in view has no bookmark")
    bubble = yield from _open_bubble(hands)
    name = hands.find("Bookmark name", "entry", app=APP, within=bubble).text or ""
    gone = hands.showing("Bookmark this tab", "push button", app=APP)
    for _ in (1, 2):  # a click that comes too soon after a bubble has opened is not heeded, against mishaps
        yield hands.click(hands.find("Remove", "push button", app=APP, within=bubble.name), until=gone)
        if hands.becomes(gone, 0.5):
            break
    hands.wait(gone, "the page is still bookmarked")
    _wait_written(hands, name, None, False)


def _open_bubble(hands: Hands) -> Any:
    """Open what asks for a bookmark's name and folder: by the star, else by its key."""

    def bubble() -> Element | None:
        return hands.look(None, "dialog", app=APP, where=lambda e: e.name in (ADDED, EDITED))

    yield hands.click(hands.find("*ookmark *this tab", "push button", app=APP), until=bubble)
    found = hands.becomes(bubble, 2.0)
    if found is None:
        yield hands.key("ctrl+d", until=bubble)
        found = hands.wait(bubble, "nothing asks for the bookmark's name")
    return found


def bookmarks(home: Path) -> list[tuple[str, str, str]]:
    """(folder, name, address) of all bookmarks that a profile has on the disk; a folder's own address is empty."""
    try:
        roots = json.loads((home / PROFILE / "Bookmarks").read_text())["roots"]
    except (FileNotFoundError, json.JSONDecodeError, KeyError):
        return []
    found: list[tuple[str, str, str]] = []

    def walk(node: dict[str, Any]) -> None:
        for child in node.get("children", ()):
            found.append((node["name"], child["name"], child.get("url", "")))
            walk(child)

    for root in roots.values():
        walk(root)
    return found


def _wait_written(hands: Hands, name: str, folder: str | None, there: bool) -> None:
    def written() -> bool:
        kept = bookmarks(Path(hands.slot.home))
        return any(each == name and folder in (None, place) for place, each, _ in kept) == there

    hands.wait(written, f"the bookmark {name!r} is {'not' if there else 'still'} in the profile's file", WRITTEN)


class BookmarkFolderArgs(MoveArgs):
    main: ClassVar[str] = "name"
    name: str = Field(min_length=1)
    within: str = Field("Bookmarks bar", description="the folder that it is made in")


@move("new_bookmark_folder", BookmarkFolderArgs)
def new_bookmark_folder(hands: Hands, args: BookmarkFolderArgs) -> Acts:
    """Make a folder for bookmarks in the bookmark manager."""
    yield from open_page(hands, OpenPageArgs(address="chrome://bookmarks"))
    place = hands.find(args.within, "tree item", app=APP)
    chosen = hands.showing(args.within, "tree item", app=APP, where=lambda e: "selected" in e.states)
    if not chosen():
        yield hands.click(place, until=chosen)
        hands.wait(chosen, f"the folder {args.within!r} is not shown")
    entry = hands.showing("Add new folder", "menu item", app=APP)
    yield hands.click(hands.find("Organize", "push button", app=APP), until=entry)
    hands.wait(entry, "no menu with 'Add new folder' appeared")
    asked = hands.showing("Name", "entry", app=APP)
    yield hands.click(hands.find("Add new folder", "menu item", app=APP), until=asked)
    hands.wait(asked, "nothing asks for the folder's name")
    yield from fill(hands, FillArgs(text=args.name, field="Name"))
    yield hands.click(hands.find("Save", "push button", app=APP), until=hands.gone("Name", "entry", app=APP))
    _wait_written(hands, args.name, args.within, True)


class BrowserSettingArgs(MoveArgs):
    page: str = Field(description="the part of the settings: appearance, downloads, onStartup, languages")
    name: str = Field(description="as it is labelled there")
    value: bool | str = Field(description="true or false for a switch, the choice of a list, the text of a field")


@move("browser_setting", BrowserSettingArgs)
def browser_setting(hands: Hands, args: BrowserSettingArgs) -> Acts:
    """Change one of Chromium's settings on its page."""
    yield from open_page(hands, OpenPageArgs(address=f"chrome://settings/{args.page}"))
    yield from set_field(hands, args.name, args.value)


class TabArgs(MoveArgs):
    main: ClassVar[str] = "title"
    title: str = Field(description="the title of its page; * stands for anything")


@move("browser_tab", TabArgs)
def browser_tab(hands: Hands, args: TabArgs) -> Acts:
    """Bring a tab of the browser to the front."""
    shown = partial(hands.window, f"{args.title} - Chromium")
    if shown() is None:
        yield hands.click(_tab(hands, args.title), fx=0.4, until=shown)
        hands.wait(shown, f"the tab {args.title!r} does not come to the front")


@move("close_browser_tab", TabArgs)
def close_browser_tab(hands: Hands, args: TabArgs) -> Acts:
    """Close a tab of the browser by the cross on it."""
    page = _tab(hands, args.title)
    count = len(_tabs(hands))
    cross = hands.find("Close", "push button", app=APP, within=page)
    yield hands.click(cross, until=lambda: len(_tabs(hands)) < count)
    hands.wait(lambda: len(_tabs(hands)) < count, f"the tab {args.title!r} stays open")


class NewTabArgs(MoveArgs):
    main: ClassVar[str] = "address"
    address: str | None = Field(None, description="see open_page")


@move("new_browser_tab", NewTabArgs)
def new_browser_tab(hands: Hands, args: NewTabArgs) -> Acts:
    """Open a tab of the browser, and a page in it."""
    count = len(_tabs(hands))
    yield hands.click(hands.find("New Tab", "push button", app=APP), until=lambda: len(_tabs(hands)) > count)
    hands.wait(lambda: len(_tabs(hands)) > count, "no tab opens")
    if args.address is not None:
        yield from open_page(hands, OpenPageArgs(address=args.address))


def _tabs(hands: Hands) -> list[Element]:
    return hands.scene(APP).select(None, "page tab", where=lambda e: e.box[1] < 60)


def _tab(hands: Hands, title: str) -> Element:
    return hands.find(title, "page tab", app=APP, where=lambda e: e.box[1] < 60)
