"""Moves for the text editor (mousepad): texts opened, searched, changed line by line, and saved."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, MoveError, move
from forge.harness.moves.choosers import ChooseFileArgs, choose_file, stamp
from forge.harness.moves.general import CheckArgs, FillArgs, MenuArgs, PressArgs, check, fill, menu, press, uncheck
from forge.harness.moves.hands import Hands
from forge.records import Element

APP = "editor"


class TextFileArgs(MoveArgs):
    main: ClassVar[str] = "path"
    path: str = Field(pattern=r"^~/", description="~/Documents/notes.txt")


@move("open_text", TextFileArgs)
def open_text(hands: Hands, args: TextFileArgs) -> Acts:
    """Open a text file in the editor."""
    yield from _ask(hands, "ctrl+o", "Open File", ("File", "Open..."))
    yield from choose_file(hands, ChooseFileArgs(path=args.path, dialog="Open File"))
    shown = partial(hands.window, f"*{args.path.rpartition('/')[2]} - Mousepad")
    hands.wait(shown, f"the editor does not show {args.path}")


@move("save_text", TextFileArgs)
def save_text(hands: Hands, args: TextFileArgs) -> Acts:
    """Save the text in view into its file, and wait until that has changed."""
    file = Path(hands.slot.home) / args.path[2:]
    before = stamp(file)

    def saved() -> bool:
        return stamp(file) != before

    yield hands.key("ctrl+s", until=saved)
    if not hands.becomes(saved, 1.0):
        yield from menu(hands, MenuArgs(path=("File", "Save")))
        hands.wait(saved, f"{args.path} does not change on saving")


@move("save_text_as", TextFileArgs)
def save_text_as(hands: Hands, args: TextFileArgs) -> Acts:
    """Save the text in view under another name."""
    yield from _ask(hands, "ctrl+shift+s", "Save As", ("File", "Save As..."))
    yield from choose_file(hands, ChooseFileArgs(path=args.path, dialog="Save As", writes=True))


class ReplaceTextArgs(MoveArgs):
    find: str = Field(min_length=1)
    replace: str
    match_case: bool = False
    whole_word: bool = False
    regular: bool = Field(False, description="what is looked for is a regular expression")


@move("replace_text", ReplaceTextArgs)
def replace_text(hands: Hands, args: ReplaceTextArgs) -> Acts:
    """Replace a text everywhere in the text in view."""
    dialog = "Find and Replace"
    yield from _ask(hands, "ctrl+r", dialog, ("Search", "Find and Replace..."))
    boxes = {"Match case": args.match_case, "Match whole word": args.whole_word, "Regular expression": args.regular}
    for name, ticked in {**boxes, "Replace all in": True}.items():
        yield from (check if ticked else uncheck)(hands, CheckArgs(name=name, within=dialog))
    yield from fill(hands, FillArgs(text=args.find, field="Search for", within=dialog))
    yield from fill(hands, FillArgs(text=args.replace, field="Replace with", within=dialog))
    counted = partial(hands.look, "*occurrence*", "label", app=APP, within=dialog, where=_found_some)
    hands.wait(counted, f"{args.find!r} does not occur in the text")
    done = hands.gone("*occurrence*", "label", app=APP, within=dialog, where=_found_some)
    button = hands.find("Replace All", "push button", app=APP, within=dialog)
    yield hands.click(button, until=done)
    if args.find not in args.replace and not args.regular:
        hands.wait(done, f"{args.find!r} still occurs in the text")
    yield from press(hands, PressArgs(button="Close", dialog=dialog))


def _found_some(label: Element) -> bool:
    return not label.name.startswith("0 ")


class LineArgs(MoveArgs):
    main: ClassVar[str] = "line"
    line: int = Field(ge=1, description="counted from 1")


@move("go_to_line", LineArgs)
def go_to_line(hands: Hands, args: LineArgs) -> Acts:
    """Put the cursor at the beginning of a line."""
    dialog = "Go To"
    yield from _ask(hands, "ctrl+l", dialog, ("Search", "Go to..."))
    yield from fill(hands, FillArgs(text=str(args.line), field="Line number", within=dialog))
    yield from press(hands, PressArgs(button="Jump to", dialog=dialog))
    yield hands.key("Home")  # the column stays what it was


class InsertAtLineArgs(LineArgs):
    text: str = Field(min_length=1)


@move("insert_at_line", InsertAtLineArgs)
def insert_at_line(hands: Hands, args: InsertAtLineArgs) -> Acts:
    """Type a text at the beginning of a line; with a newline at its end it becomes a line of its own."""
    yield from go_to_line(hands, LineArgs(line=args.line))
    yield from _change(hands, partial(_type, hands, args.text), f"{args.text[:40]!r} is not in the text")


def _type(hands: Hands, text: str) -> Acts:
    yield hands.type(text)


class EditLineArgs(LineArgs):
    how: Literal["delete", "duplicate", "up", "down"]


@move("edit_line", EditLineArgs)
def edit_line(hands: Hands, args: EditLineArgs) -> Acts:
    """Delete or duplicate a line, or move it up or down by one, through the menu Edit."""
    path = {
        "delete": ("Edit", "Delete Line"),
        "duplicate": ("Edit", "Duplicate Line / Selection"),
        "up": ("Edit", "Move", "Line Up"),
        "down": ("Edit", "Move", "Line Down"),
    }[args.how]
    yield from go_to_line(hands, LineArgs(line=args.line))
    yield from _change(hands, partial(menu, hands, MenuArgs(path=path)), f"line {args.line} is as it was")


class ConvertTextArgs(MoveArgs):
    main: ClassVar[str] = "to"
    to: Literal["Lowercase", "Uppercase", "Title Case", "Opposite Case"]
    line: int | None = Field(None, ge=1, description="only this line")


@move("convert_text", ConvertTextArgs)
def convert_text(hands: Hands, args: ConvertTextArgs) -> Acts:
    """Change the case of all letters, or of those in one line."""
    if args.line is None:
        yield hands.click(_text(hands)) + hands.key("ctrl+a")
    else:
        yield from go_to_line(hands, LineArgs(line=args.line))
        yield hands.key("shift+End")
    path = ("Edit", "Convert", f"To {args.to}")
    yield from _change(hands, partial(menu, hands, MenuArgs(path=path)), "no letter has changed")


class LineEndingArgs(MoveArgs):
    main: ClassVar[str] = "kind"
    kind: Literal["Unix", "DOS", "Mac"]


@move("line_ending", LineEndingArgs)
def line_ending(hands: Hands, args: LineEndingArgs) -> Acts:
    """Choose how the lines of the text end in its file: Unix (LF), DOS (CR LF), Mac (CR)."""
    yield from menu(hands, MenuArgs(path=("Document", "Line Ending", f"{args.kind}*")))


def _text(hands: Hands) -> Element:
    return hands.find(None, "text", app=APP, where=lambda e: e.box[3] > 100)


def _change(hands: Hands, how: partial[Acts], otherwise: str) -> Acts:
    """Do something that changes the text. Only its beginning is seen: of a longer one nothing is expected."""
    before = _text(hands).text
    yield from how()
    changed = hands.becomes(lambda: _text(hands).text != before, 1.5)
    if not changed and len(before or "") < 250:
        raise MoveError(otherwise)


def _ask(hands: Hands, keys: str, dialog: str, path: tuple[str, ...]) -> Acts:
    """Open a dialog by its key, else from the menu."""
    opened = partial(hands.window, dialog)
    yield hands.key(keys, until=opened)
    if not hands.becomes(opened, 1.5):
        yield from menu(hands, MenuArgs(path=path, opens=dialog))
