"""Moves for the dialogs that choose a file, of any toolkit: GTK 2 and 3, LibreOffice's own, Qt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from forge.desktop.windows import Window
from forge.harness.moves.base import Acts, MoveArgs, MoveError, move
from forge.harness.moves.general import by_label
from forge.harness.moves.hands import ENTRY_ROLES, Hands
from forge.records import Element
from forge.records.guest import USER

LABELS = ("File name", "File Name", "Name", "Location", "File name (*)")
CONFIRM = ("Replace", "Overwrite", "Yes", "Keep Current Format!", "Keep Current Format", "Use Word*Format!")


class ChooseFileArgs(MoveArgs):
    main: ClassVar[str] = "path"
    path: str = Field(pattern=r"^~/", description="the file or folder: ~/Documents/report.docx")
    dialog: str | None = Field(None, description="title of the dialog; without it the window in front")
    writes: bool = Field(False, description="the file is written then: wait for it, and confirm that it be replaced")


@move("choose_file", ChooseFileArgs)
def choose_file(hands: Hands, args: ChooseFileArgs) -> Acts:
    """Choose a file in an open file dialog by its path, and confirm."""
    window = _dialog(hands, args.dialog)
    place, file = f"/home/{USER}/{args.path[2:]}", Path(hands.slot.home) / args.path[2:]
    before = stamp(file)

    def closed() -> bool:
        return all(other.id != window.id for other in hands.slot.windows())

    def asked() -> Element | None:
        return next(
            (e for name in CONFIRM if (e := hands.look(name, "push button", where=_not_in(hands, window))) is not None),
            None,
        )

    def done() -> bool:
        return closed() or (args.writes and asked() is not None)

    entry = _entry(hands, window)
    if entry is None:  # GTK's dialogs to open a file show it once a path is begun
        yield hands.key("ctrl+l", until=lambda: _entry(hands, window) is not None)
        entry = _entry(hands, window)
    if entry is not None:
        yield hands.click(entry, fx=0.3)
    yield hands.key("ctrl+a") + hands.type(place)
    yield hands.key("Return", until=done)
    for _ in range(2):
        if hands.becomes(done, 2.0):
            break
        yield hands.key("Return", until=done)  # the first may have gone to a list of completions
    while not closed() or asked() is not None:
        question = hands.becomes(asked, 0.5)
        if question is None:
            if closed():
                break
            raise MoveError(f"the dialog {window.title!r} stays open after {args.path!r}")
        if not args.writes:
            raise MoveError(f"the dialog asks {question.name!r}?", mend="say `writes: true` to have a file replaced")
        gone = hands.gone(question.name, "push button", where=_not_in(hands, window))
        yield hands.click(question, until=gone)
        hands.wait(gone, f"the question with {question.name!r} stays open")
    if args.writes and not hands.becomes(lambda: stamp(file) != before and file.stat().st_size > 0, 10.0):
        raise MoveError(f"{args.path} is not written")


def stamp(file: Path) -> tuple[int, int, int]:
    """What changes when a file is written anew."""
    try:
        status = file.stat()
    except FileNotFoundError:
        return 0, 0, 0
    return status.st_mtime_ns, status.st_size, status.st_ino


def _dialog(hands: Hands, title: str | None) -> Window:
    def found() -> Window | None:
        if title is not None:
            window: Window | None = hands.window(title)
            return window
        return next((w for w in hands.slot.windows() if w.active), None)

    return hands.wait(found, f"no window {title or 'in front'!r} appeared")


def _entry(hands: Hands, window: Window) -> Element | None:
    scene = hands.scene()
    for label in LABELS:
        entry = by_label(scene, label, (*ENTRY_ROLES, "combo box"), window.title, 0)
        if entry is not None and entry.role != "combo box":
            return entry
    return hands.look(None, ENTRY_ROLES, within=window.title, where=lambda e: "focused" in e.states)


def _not_in(hands: Hands, window: Window) -> Callable[[Element], bool]:
    """A condition of elements: in another window than the dialog."""

    def outside(element: Element) -> bool:
        top = next((e for e in hands.scene().ancestors(element) if len(e.path) == 1), None)
        return top is not None and top.name != window.title

    return outside
