"""Moves for the terminal's window (xfce4-terminal): commands typed into it, tabs, and what it shows kept in a file.

That a command has ended is seen by the prompt at the end of what the terminal shows.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, MoveError, move
from forge.harness.moves.choosers import ChooseFileArgs, choose_file
from forge.harness.moves.general import MenuArgs, menu
from forge.harness.moves.hands import Hands
from forge.records import Element

APP = "terminal"


class RunCommandArgs(MoveArgs):
    main: ClassVar[str] = "command"
    command: str = Field(min_length=1, pattern=r"^[^\n]*$", description="one line, as typed at the prompt")
    shows: str | None = Field(None, description="text that must be among what it prints")
    makes: str | None = Field(None, pattern=r"^~/", description="a file or folder that must be there afterwards")
    seconds: float = Field(20, gt=0, le=300)


@move("run_command", RunCommandArgs)
def run_command(hands: Hands, args: RunCommandArgs) -> Acts:
    """Type a command at the prompt of the terminal in view, and wait until the prompt comes back."""
    before = _shown(hands)

    def ended() -> bool:
        now = _shown(hands)
        return now != before and now.endswith("$")

    yield hands.click(_screen(hands)) + hands.type(args.command + "\n", until=ended)
    hands.wait(ended, f"{args.command!r} has not ended", args.seconds)
    if args.shows is not None and args.shows not in _since(_shown(hands), args.command):
        raise MoveError(f"{args.command!r} does not print {args.shows!r}", mend=f"it printed {_shown(hands)[-300:]!r}")
    if args.makes is not None:
        made = (Path(hands.slot.home) / args.makes[2:]).exists
        hands.wait(made, f"{args.command!r} does not make {args.makes}")


def _screen(hands: Hands) -> Element:
    return hands.find(None, "terminal", app=APP)


def _shown(hands: Hands) -> str:
    """The end of what the terminal shows, without the empty lines below the prompt."""
    screen = hands.look(None, "terminal", app=APP)
    return "" if screen is None else (screen.text or "").rstrip()


def _since(shown: str, command: str) -> str:
    """What stands below the last prompt at which a command was typed; a long one is broken into lines."""
    return shown.rpartition(f"$ {command[:20]}")[2]


class TabArgs(MoveArgs):
    pass


@move("new_terminal_tab", TabArgs)
def new_terminal_tab(hands: Hands, args: TabArgs) -> Acts:
    """Open another tab in the terminal's window."""
    before = _tabs(hands)
    opened = partial(_more, hands, before)
    yield from menu(hands, MenuArgs(path=("File", "Open Tab")))
    if not hands.becomes(opened, 2.0):
        yield hands.key("ctrl+shift+t", until=opened)
        hands.wait(opened, "no tab opens")
    hands.wait(lambda: _shown(hands).endswith("$"), "the new tab shows no prompt")


class TerminalTabArgs(MoveArgs):
    main: ClassVar[str] = "number"
    number: int = Field(ge=1, description="counted from the left")


@move("terminal_tab", TerminalTabArgs)
def terminal_tab(hands: Hands, args: TerminalTabArgs) -> Acts:
    """Bring a tab of the terminal's window to the front."""
    tabs = _row(hands)
    if args.number > len(tabs):
        raise MoveError(f"there is no tab {args.number}", mend=f"there are {max(1, len(tabs))}")
    chosen = tabs[args.number - 1]
    front = hands.showing(
        None,
        "page tab",
        app=APP,
        where=lambda e: e.path == chosen.path and bool({"selected", "focused"} & set(e.states)),
    )
    if not front():
        yield hands.click(chosen, until=front)
        hands.wait(front, f"the tab {args.number} does not come to the front")


@move("close_terminal_tab", TabArgs)
def close_terminal_tab(hands: Hands, args: TabArgs) -> Acts:
    """Close the tab in view."""
    before = _tabs(hands)
    yield from menu(hands, MenuArgs(path=("File", "Close Tab")))
    hands.wait(lambda: _tabs(hands) < before, "the tab stays open")


def _row(hands: Hands) -> list[Element]:
    return sorted(hands.scene(APP).select(None, "page tab"), key=lambda e: e.box[0])


def _tabs(hands: Hands) -> int:
    """How many tabs there are; a single one has no place in the row."""
    return max(1, len(_row(hands)))


def _more(hands: Hands, before: int) -> bool:
    return _tabs(hands) > before


class SaveTerminalArgs(MoveArgs):
    main: ClassVar[str] = "path"
    path: str = Field(pattern=r"^~/", description="~/Documents/log.txt")


@move("save_terminal", SaveTerminalArgs)
def save_terminal(hands: Hands, args: SaveTerminalArgs) -> Acts:
    """Save what the terminal shows into a file, through Terminal > Save Contents."""
    dialog = "Save contents..."
    yield from menu(hands, MenuArgs(path=("Terminal", "Save Contents..."), opens=dialog))
    yield from choose_file(hands, ChooseFileArgs(path=args.path, dialog=dialog, writes=True))


@move("copy_terminal", TabArgs)
def copy_terminal(hands: Hands, args: TabArgs) -> Acts:
    """Copy all that the terminal shows to the clipboard."""
    yield from menu(hands, MenuArgs(path=("Edit", "Select All")))
    yield from menu(hands, MenuArgs(path=("Edit", "Copy")))


@move("paste_terminal", TabArgs)
def paste_terminal(hands: Hands, args: TabArgs) -> Acts:
    """Paste the clipboard at the terminal's prompt."""
    before = _shown(hands)
    yield from menu(hands, MenuArgs(path=("Edit", "Paste")))
    hands.wait(lambda: _shown(hands) != before, "nothing was pasted")
