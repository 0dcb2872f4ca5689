"""Moves for VLC: media opened and queued, playlists saved, tags written, preferences changed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, MoveError, move
from forge.harness.moves.choosers import ChooseFileArgs, choose_file, stamp
from forge.harness.moves.general import CheckArgs, FillArgs, PickArgs, check, fill, pick, uncheck
from forge.harness.moves.hands import MENU_ROLES, Hands
from forge.records import Element

APP = "vlc"
SETTINGS = ".config/vlc/vlcrc"
LISTS = {".xspf": "XSPF playlist*", ".m3u": "M3U playlist*", ".m3u8": "M3U8 playlist*"}
"""Suffix to what the dialog calls such a playlist."""


class MediaArgs(MoveArgs):
    main: ClassVar[str] = "path"
    path: str = Field(pattern=r"^~/", description="~/Music/song.ogg")


@move("open_media", MediaArgs)
def open_media(hands: Hands, args: MediaArgs) -> Acts:
    """Open a media file and play it."""
    dialog = "Select one or more files to open"
    yield from _open(hands, "ctrl+o", dialog, ("Media", "Open File..."))
    yield from choose_file(hands, ChooseFileArgs(path=args.path, dialog=dialog))
    name = args.path.rpartition("/")[2]
    shown = partial(hands.window, "* - VLC media player")
    hands.wait(shown, f"VLC does not play {name!r}")


@move("queue_media", MediaArgs)
def queue_media(hands: Hands, args: MediaArgs) -> Acts:
    """Put a media file at the end of the playlist."""
    dialog, chooser, name = "Open Media", "Select one or multiple files", args.path.rpartition("/")[2]
    yield from _open(hands, "ctrl+shift+o", dialog, ("Media", "Open Multiple Files..."))
    opened = partial(hands.window, chooser)
    yield hands.click(hands.find("Add...", "push button", app=APP, within=dialog), until=opened)
    hands.wait(opened, f"no window {chooser!r} appeared")
    yield from choose_file(hands, ChooseFileArgs(path=args.path, dialog=chooser))
    hands.wait(hands.showing(f"*/{name}", "list item", app=APP, within=dialog), f"{name!r} is not in the list")
    closed = partial(_closed, hands, dialog)
    yield hands.key("alt+e", until=closed)  # the menu behind the button Play: Enqueue
    hands.wait(closed, f"the dialog {dialog!r} stays open")


class SavePlaylistArgs(MoveArgs):
    main: ClassVar[str] = "path"
    path: str = Field(pattern=r"^~/.+\.(xspf|m3u8?)$", description="its suffix says the form: ~/Music/evening.m3u")


@move("save_playlist", SavePlaylistArgs)
def save_playlist(hands: Hands, args: SavePlaylistArgs) -> Acts:
    """Save the playlist to a file."""
    dialog, kind = "Save playlist as...", LISTS[Path(args.path).suffix]
    yield from _open(hands, "ctrl+y", dialog, ("Media", "Save Playlist to File..."))
    if hands.look(kind, "combo box", app=APP, within=dialog) is None:
        yield from pick(hands, PickArgs(choice=kind, field="Files of type", within=dialog))
    yield from choose_file(hands, ChooseFileArgs(path=args.path, dialog=dialog, writes=True))


class TagMediaArgs(MoveArgs):
    path: str = Field(pattern=r"^~/", description="the file that plays: ~/Music/song.ogg")
    tags: dict[str, str] = Field(min_length=1, description="label to text: Title, Artist, Album, Date, Genre, Comments")


@move("tag_media", TagMediaArgs)
def tag_media(hands: Hands, args: TagMediaArgs) -> Acts:
    """Write tags into the file that plays, through Tools > Media Information."""
    dialog, file = "Current Media Information", Path(hands.slot.home) / args.path[2:]
    before = stamp(file)
    yield from _open(hands, "ctrl+i", dialog, ("Tools", "Media Information"))
    for label, text in args.tags.items():
        yield from fill(hands, FillArgs(text=text, field=label, within=dialog))

    def written() -> bool:
        return stamp(file) != before

    yield hands.click(hands.find("Save Metadata", "push button", app=APP, within=dialog), until=written)
    hands.wait(written, f"{args.path} is not written")
    closed = partial(_closed, hands, dialog)
    yield hands.click(hands.find("Close", "push button", app=APP, within=dialog), until=closed)
    hands.wait(closed, f"the window {dialog!r} stays open")


class MediaSettingArgs(MoveArgs):
    page: str = Field(description="as the picture is called: Interface, Audio, Video, Subtitles / OSD, Input / Codecs")
    name: str = Field(description="as it is labelled there")
    value: bool | str = Field(description="true or false for a box, the choice of a list, the text of a field")


@move("media_setting", MediaSettingArgs)
def media_setting(hands: Hands, args: MediaSettingArgs) -> Acts:
    """Change one of VLC's preferences and save them."""
    dialog, file = "Simple Preferences", Path(hands.slot.home) / SETTINGS
    before = stamp(file)
    yield from _open(hands, "ctrl+p", dialog, ("Tools", "Preferences"))
    page = partial(hands.look, args.page, "check box", app=APP, within=dialog)
    shown = partial(hands.look, args.page, "check box", app=APP, within=dialog, where=_on)
    if shown() is None:
        yield hands.click(hands.wait(page, f"the preferences have no page {args.page!r}"), until=shown)
        hands.wait(shown, f"the page {args.page!r} does not come up")
    yield from _set(hands, dialog, args)

    def saved() -> bool:
        return stamp(file) != before and _closed(hands, dialog)

    yield hands.click(hands.find("Save", "push button", app=APP, within=dialog), until=saved)
    hands.wait(saved, "the preferences are not saved")


def _set(hands: Hands, dialog: str, args: MediaSettingArgs) -> Acts:
    if isinstance(args.value, bool):
        yield from (check if args.value else uncheck)(hands, CheckArgs(name=args.name, within=dialog))
        return
    # A field and the label beside it have the same name here.
    field = hands.look(args.name, ("text", "spin button"), app=APP, within=dialog)
    if field is not None:
        yield from fill(hands, FillArgs(text=args.value, field=args.name, within=dialog))
    else:
        yield from pick(hands, PickArgs(choice=args.value, field=args.name, within=dialog))


def _on(element: Element) -> bool:
    return "checked" in element.states


def _closed(hands: Hands, dialog: str) -> bool:
    return hands.window(dialog) is None


def _open(hands: Hands, keys: str, dialog: str, path: tuple[str, str]) -> Acts:
    """Open a dialog from its menu, else by its key. Qt's menus hold their entries one level deeper than others."""
    opened = partial(hands.window, dialog)
    bar, label = path
    entry = partial(_entry, hands, bar, label)
    yield hands.click(hands.find(bar, MENU_ROLES, app=APP), until=entry)
    found = hands.becomes(entry, 2.0)
    if found is not None:
        yield hands.click(found, until=opened)
        if hands.becomes(opened, 2.0):
            return
    yield hands.key("Escape", 2)
    yield hands.key(keys, until=opened)
    if not hands.becomes(opened, 3.0):
        raise MoveError(f"no window {dialog!r} appeared")


def _entry(hands: Hands, bar: str, label: str) -> Element | None:
    top = hands.look(bar, MENU_ROLES, app=APP)
    return None if top is None else hands.look(label, MENU_ROLES, app=APP, within=top)
