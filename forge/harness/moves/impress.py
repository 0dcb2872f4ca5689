"""Moves for LibreOffice Impress: slides, their text, layout, background, transition and notes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, MoveError, move
from forge.harness.moves.general import (
    CheckArgs,
    FillArgs,
    MenuArgs,
    PressArgs,
    TabArgs,
    check,
    fill,
    is_so,
    menu,
    press,
    tab,
)
from forge.harness.moves.hands import Hands, same_name
from forge.harness.moves.lists import reach
from forge.records import Element

APP = "impress"
PANE = "Slides View"


class SlideArgs(MoveArgs):
    main: ClassVar[str] = "slide"
    slide: int = Field(ge=1, description="its number, from 1")


@move("slide", SlideArgs)
def slide(hands: Hands, args: SlideArgs) -> Acts:
    """Show a slide by its picture in the slide pane."""
    yield from to_normal(hands)

    def found() -> Element | None:
        return _picture(hands, args.slide)

    pane = hands.find(PANE, "document frame")
    picture = yield from reach(hands, found, None, f"there is no slide {args.slide}", at=pane)
    shown = partial(is_so, hands, picture, lambda e: "selected" in e.states)
    yield hands.click(picture, until=shown)
    if not hands.becomes(shown, 1.0):
        yield hands.click(found() or picture, until=shown)
        hands.wait(shown, f"slide {args.slide} does not come up", 2.0)


def to_normal(hands: Hands) -> Acts:
    """Leave what is being edited, and any other view than the normal one."""
    if _pane(hands) is None or _editing(hands):
        yield hands.key("Escape", 2)
    if _pane(hands) is None:
        yield from menu(hands, MenuArgs(path=("View", "Normal")))
        hands.wait(partial(_pane, hands), "there is no slide pane", 3.0)


def _pane(hands: Hands) -> Element | None:
    return hands.look(PANE, "document frame")


def _editing(hands: Hands) -> bool:
    """Whether the text of a box is being edited; the status bar says so also while there is none yet."""
    if hands.look(None, "paragraph", where=lambda e: "focused" in e.states) is not None:
        return True
    return hands.look(None, "label", where=lambda e: (e.text or "").startswith("TextEdit")) is not None


def pictures(hands: Hands) -> list[Element]:
    """The slides' pictures in the pane, in order; all that the pane holds, in view or not."""
    pane = _pane(hands)
    if pane is None:
        return []
    size = len(pane.path) + 1
    below = [e for e in hands.scene(pane.app or None).below(pane) if len(e.path) == size and e.role == "panel"]
    return sorted(below, key=lambda e: e.path[-1])


def _picture(hands: Hands, number: int) -> Element | None:
    """The picture of a slide: pictures out of view are not told, their number is in their place in the pane."""
    return next((e for e in pictures(hands) if e.path[-1] == number - 1), None)


def _count(hands: Hands) -> int:
    """How many slides there are, as the status bar says."""
    told = hands.look(None, "label", where=lambda e: (e.text or "").startswith("Slide ") and " of " in (e.text or ""))
    return int((told.text or "").rpartition(" of ")[2].split()[0]) if told is not None else len(pictures(hands))


def _changed(hands: Hands, before: int, by: int) -> bool:
    return _count(hands) == before + by


class AddSlideArgs(MoveArgs):
    after: int = Field(ge=1, description="the slide that it comes after")
    layout: str | None = Field(None, description="as the list of layouts says: Title Only, Title and 2 Content")
    title: str | None = None
    body: tuple[str, ...] = Field((), description="lines of the text below the title")


@move("add_slide", AddSlideArgs)
def add_slide(hands: Hands, args: AddSlideArgs) -> Acts:
    """Add a slide behind another, and write on it."""
    yield from slide(hands, SlideArgs(slide=args.after))
    yield from _count_changes(hands, 1, "New Slide", "ctrl+m", ("Slide", "New Slide"))
    if args.layout is not None:
        yield from layout(hands, LayoutArgs(slide=args.after + 1, layout=args.layout))
    if args.title is not None:
        yield from slide_text(hands, SlideTextArgs(slide=args.after + 1, box="title", lines=(args.title,)))
    if args.body:
        yield from slide_text(hands, SlideTextArgs(slide=args.after + 1, box="body", lines=args.body))


def _count_changes(hands: Hands, by: int, button: str, keys: str | None, path: tuple[str, ...]) -> Acts:
    """Add or take away a slide: by the tool bar, else by the keyboard, else by the menu."""
    before = _count(hands)
    done = partial(_changed, hands, before, by)
    found = hands.look(button, "push button", within="Presentation")
    if found is not None and "disabled" not in found.states:
        yield hands.click(found, fx=0.35 if found.box[2] > 40 else 0.5, until=done)
        if hands.becomes(done, 2.0):
            return
    if keys is not None:
        yield hands.key(keys, until=done)
        if hands.becomes(done, 2.0):
            return
    yield from menu(hands, MenuArgs(path=path))
    hands.wait(done, f"{button!r} does not take effect; there are {_count(hands)} slides", 3.0)


@move("duplicate_slide", SlideArgs)
def duplicate_slide(hands: Hands, args: SlideArgs) -> Acts:
    """Put a copy of a slide behind it."""
    yield from slide(hands, args)
    yield from _count_changes(hands, 1, "Duplicate Slide", None, ("Slide", "Duplicate Slide"))


@move("delete_slide", SlideArgs)
def delete_slide(hands: Hands, args: SlideArgs) -> Acts:
    """Delete a slide."""
    yield from slide(hands, args)
    yield from _count_changes(hands, -1, "Delete Slide", None, ("Slide", "Delete Slide"))


class MoveSlideArgs(SlideArgs):
    to: int = Field(ge=1, description="the number that it gets")


@move("move_slide", MoveSlideArgs)
def move_slide(hands: Hands, args: MoveSlideArgs) -> Acts:
    """Move a slide to another place among the slides, a step at a time through the menu Slide > Move."""
    yield from slide(hands, SlideArgs(slide=args.slide))
    count = _count(hands)
    if args.to > count:
        raise MoveError(f"there is no place {args.to}", mend=f"there are {count} slides")
    place = args.slide
    while place != args.to:
        step = 1 if args.to > place else -1
        entry = "Slide Down" if step > 0 else "Slide Up"
        if args.to in (1, count) and abs(args.to - place) > 1:
            entry, step = ("Slide to Start", 1 - place) if args.to == 1 else ("Slide to End", count - place)
        yield from menu(hands, MenuArgs(path=("Slide", "Move", entry)))
        place += step
        hands.wait(partial(_is_on, hands, place), f"slide {args.slide} does not come to place {place}", 3.0)


def _is_on(hands: Hands, number: int) -> bool:
    told = hands.look(None, "label", where=lambda e: (e.text or "").startswith(f"Slide {number} of "))
    return told is not None


class SlideTextArgs(SlideArgs):
    box: str = Field("title", description="title, body, or the name of a box on the slide")
    lines: tuple[str, ...] = Field(min_length=1, description="what it is to say, a paragraph each")


@move("slide_text", SlideTextArgs)
def slide_text(hands: Hands, args: SlideTextArgs) -> Acts:
    """Write the text of a box on a slide, in place of what it said."""
    yield from slide(hands, SlideArgs(slide=args.slide))
    yield from _write(hands, lambda: box_on_slide(hands, args.box), args.lines, f"{args.box} of slide {args.slide}")


def _write(hands: Hands, find: Callable[[], Element | None], lines: tuple[str, ...], what: str) -> Acts:
    """Open a box's text, replace it, and leave it again."""
    box = hands.wait(find, f"there is no {what}", 3.0)
    editing = partial(_editing, hands)
    yield hands.click(box, "double_click", until=editing)
    if not hands.becomes(editing, 1.0):
        yield hands.click(find() or box)
        yield hands.key("F2", until=editing)
        hands.wait(editing, f"the {what} cannot be edited", 2.0)
    says = partial(_says, hands, box, lines)
    yield hands.key("ctrl+a") + hands.type("\n".join(lines), until=says)
    hands.wait(says, f"the {what} does not say {lines!r}", 2.0)
    yield hands.key("Escape", 2)


def _says(hands: Hands, box: Element, lines: tuple[str, ...]) -> bool:
    """Whether a box holds the lines; what is being edited is told below the document, not below its box."""
    scene = hands.scene(box.app or None)
    texts = [e.text or "" for e in scene.select(None, "paragraph")]
    joined = "\n".join(text.rstrip("\n") for text in texts)
    return "\n".join(lines) in joined


def boxes_on_slide(hands: Hands) -> list[Element]:
    """The boxes of the slide in view, from top to bottom."""
    scene = hands.scene()
    document = next(iter(scene.select(None, "document presentation")), None)
    if document is None:
        return []
    size = len(document.path) + 1
    found = [e for e in scene.below(document) if len(e.path) == size and not e.name.startswith("PageShape")]
    return sorted(found, key=lambda e: (e.box[1], e.box[0]))


def box_on_slide(hands: Hands, name: str) -> Element | None:
    """A box by its name, or the title, or the body: the uppermost one, and the largest of the others."""
    boxes = boxes_on_slide(hands)
    named = [e for e in boxes if same_name(e.name.strip(), name)]
    if named or name not in ("title", "body"):
        return next(iter(named), None)
    titles = [e for e in boxes if "title" in e.name.lower() and "sub" not in e.name.lower()] or boxes[:1]
    if name == "title":
        return next(iter(titles), None)
    return max((e for e in boxes if e not in titles), key=lambda e: e.box[2] * e.box[3], default=None)


class LayoutArgs(SlideArgs):
    layout: str = Field(description="as the list of layouts says: Title Slide, Title, Content, Title Only, Blank Slide")


@move("layout", LayoutArgs)
def layout(hands: Hands, args: LayoutArgs) -> Acts:
    """Give a slide another layout: by the list at the side, else by the menu."""
    yield from slide(hands, SlideArgs(slide=args.slide))
    found = hands.look(args.layout, "list item", within="Layouts")
    before = [(e.name, e.box) for e in boxes_on_slide(hands)]

    def changed() -> bool:
        return [(e.name, e.box) for e in boxes_on_slide(hands)] != before

    if found is not None:
        yield hands.click(found, until=changed)
        if hands.becomes(changed, 1.5):
            return
    yield from menu(hands, MenuArgs(path=("Slide", "Layout", args.layout)))
    if not hands.becomes(changed, 2.0) and found is None:
        raise MoveError(f"slide {args.slide} does not get the layout {args.layout!r}")


class BackgroundArgs(SlideArgs):
    color: str = Field(pattern=r"^#?[0-9a-fA-F]{6}$", description="red, green and blue in hexadecimal: ffcc00")
    all_slides: bool = False


@move("slide_background", BackgroundArgs)
def slide_background(hands: Hands, args: BackgroundArgs) -> Acts:
    """Give a slide a background of one color through the dialog Slide > Slide Properties."""
    dialog, code = "Slide Properties", args.color.removeprefix("#").lower()
    yield from slide(hands, SlideArgs(slide=args.slide))
    yield from menu(hands, MenuArgs(path=("Slide", "Slide Properties..."), opens=dialog))
    yield from tab(hands, TabArgs(name="Background", within=dialog))
    yield from check(hands, CheckArgs(name="Color", within=dialog))
    yield from fill(hands, FillArgs(text=code, field="Hex", within="New"))
    yield hands.key("Tab")
    asked = partial(_question, hands, dialog)
    yield from press(hands, PressArgs(button="OK", dialog=dialog))
    if hands.becomes(asked, 0.5):
        yield from press(hands, PressArgs(button="Yes" if args.all_slides else "No"))


def _question(hands: Hands, dialog: str) -> Element | None:
    """The question whether all slides are meant, where it is asked."""
    return hands.look(
        "No", "push button", where=lambda e: not any(a.name == dialog for a in hands.scene().ancestors(e))
    )


class TransitionArgs(SlideArgs):
    name: str = Field(description="as the list says: Wipe, Fade, Cover, None")
    all_slides: bool = False


@move("transition", TransitionArgs)
def transition(hands: Hands, args: TransitionArgs) -> Acts:
    """Choose how a slide comes on, in the panel Slide Transition."""
    panel = "Slide Transition"
    yield from slide(hands, SlideArgs(slide=args.slide))
    opened = hands.showing("None", "list item", within=panel)
    if not opened():
        yield from menu(hands, MenuArgs(path=("Slide", "Slide Transition")))
        hands.wait(opened, f"the panel {panel!r} does not open", 3.0)

    def found() -> Element | None:
        return hands.look(args.name, "list item", within=panel)

    item = yield from reach(hands, found, panel, f"there is no transition {args.name!r}")
    chosen = partial(is_so, hands, item, lambda e: "selected" in e.states)
    yield hands.click(item, until=chosen)
    if not hands.becomes(chosen, 1.0):
        yield hands.click(found() or item, until=chosen)
        hands.wait(chosen, f"the transition {args.name!r} does not become selected", 2.0)
    if args.all_slides:
        yield hands.click(hands.find("Apply Transition to All Slides", "push button"))


class NotesArgs(SlideArgs):
    lines: tuple[str, ...] = Field(min_length=1, description="the notes, a paragraph each")


@move("slide_notes", NotesArgs)
def slide_notes(hands: Hands, args: NotesArgs) -> Acts:
    """Write a slide's notes for the speaker, in the view Notes, and go back to the normal view."""
    yield from slide(hands, SlideArgs(slide=args.slide))
    yield from menu(hands, MenuArgs(path=("View", "Notes")))

    def box() -> Element | None:
        boxes = [e for e in boxes_on_slide(hands) if "Page" not in e.name and "Image" not in e.name]
        return next(iter([e for e in boxes if "notes" in e.name.lower()] or boxes[-1:]), None)

    yield from _write(hands, box, args.lines, f"notes of slide {args.slide}")
    yield from menu(hands, MenuArgs(path=("View", "Normal")))
    hands.wait(partial(_pane, hands), "there is no slide pane", 3.0)


class RenameSlideArgs(SlideArgs):
    to: str = Field(min_length=1)


@move("rename_slide", RenameSlideArgs)
def rename_slide(hands: Hands, args: RenameSlideArgs) -> Acts:
    """Give a slide a name through the menu Slide > Rename Slide."""
    dialog = "Rename Slide"
    yield from slide(hands, SlideArgs(slide=args.slide))
    yield from menu(hands, MenuArgs(path=("Slide", "Rename Slide..."), opens=dialog))
    yield from fill(hands, FillArgs(text=args.to, within=dialog))
    yield from press(hands, PressArgs(button="OK", dialog=dialog))
