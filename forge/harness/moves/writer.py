"""Moves for LibreOffice Writer: selecting text, styles, lists, tables, pages, find and replace, saving."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Literal

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, MoveError, move
from forge.harness.moves.general import (
    CheckArgs,
    FillArgs,
    MenuArgs,
    PickArgs,
    PressArgs,
    TabArgs,
    check,
    fill,
    is_so,
    menu,
    pick,
    press,
    tab,
    uncheck,
)
from forge.harness.moves.hands import BUTTON_ROLES, Hands, same_name
from forge.harness.moves.values import SpinArgs, spin
from forge.records import Element

APP = "writer"
TEXT_ROLES = ("paragraph", "heading")


class SelectTextArgs(MoveArgs):
    main: ClassVar[str] = "text"
    text: str = Field(min_length=1, description="text within one paragraph, as it stands there")
    nth: int = Field(1, ge=1, le=50, description="which occurrence, from the beginning of the document")


@move("select_text", SelectTextArgs)
def select_text(hands: Hands, args: SelectTextArgs) -> Acts:
    """Select text of the document by searching for it."""
    yield from to_document(hands)
    bar, selected = partial(_find_field, hands), partial(_has_selection, hands)
    yield hands.key("ctrl+Home") + hands.key("ctrl+f", until=bar)
    hands.wait(bar, "the find bar does not open")
    last = hands.key("Return", args.nth) + hands.key("Escape", until=selected)
    yield hands.key("ctrl+a") + hands.type(args.text) + last
    if not hands.becomes(selected, 1.0):  # and now look before typing: the focus may come late
        yield from to_document(hands)
        yield hands.key("ctrl+Home")
        yield hands.key("ctrl+f", until=bar)
        yield hands.click(hands.wait(bar, "the find bar does not open"), "triple_click", fx=0.3)
        yield hands.key("ctrl+a") + hands.type(args.text)
        yield hands.key("Return", args.nth)
        yield hands.key("Escape", until=selected)
    if not hands.becomes(selected, 1.0):
        raise MoveError(f"the document has no {args.text!r}", mend=f"it shows {_paragraphs(hands)}")


def to_document(hands: Hands) -> Acts:
    """Give the document the keyboard's focus; what is half open in front of it is left."""
    focused = partial(_in_document, hands)
    for _ in range(3):
        if focused():
            return
        yield hands.key("Escape", until=focused)
        if hands.becomes(focused, 0.3):
            return
    page = hands.find(None, ("paragraph", "document text"))
    yield hands.click(page, fx=min(0.5, 4 / page.box[2]), until=focused)


def _in_document(hands: Hands) -> bool:
    return hands.look(None, TEXT_ROLES, where=lambda e: "focused" in e.states) is not None


def _find_field(hands: Hands) -> Element | None:
    return hands.look(None, "text", within="Find Values")


def _has_selection(hands: Hands) -> bool:
    return hands.look(None, TEXT_ROLES, where=lambda e: "selection" in e.states) is not None


def _paragraphs(hands: Hands) -> str:
    texts = [repr((e.text or "")[:60]) for e in hands.scene().select(None, TEXT_ROLES) if e.text]
    return ", ".join(texts[:12]) or "no text"


class FormatTextArgs(SelectTextArgs):
    styles: tuple[Literal["Bold", "Italic", "Underline", "Strikethrough", "Superscript", "Subscript"], ...] = Field(
        ("Bold",), min_length=1, description="buttons of the tool bar Formatting, to be pressed in"
    )


_SHORTCUTS = {
    "Bold": "ctrl+b",
    "Italic": "ctrl+i",
    "Underline": "ctrl+u",
    "Superscript": "ctrl+shift+p",
    "Subscript": "ctrl+shift+b",
}


@move("format_text", FormatTextArgs)
def format_text(hands: Hands, args: FormatTextArgs) -> Acts:
    """Make text bold, italic, underlined and so on: by the tool bar, else by the keyboard, else by the menu."""
    yield from select_text(hands, SelectTextArgs(text=args.text, nth=args.nth))
    for style in args.styles:
        yield from _pressed_in(hands, style, _SHORTCUTS.get(style), ("Format", "Text", style))


STALE = 1.0
"""Seconds for which a button may still show the state of the place that the cursor has left."""
LATE = 4.0
"""Seconds for a button to show that it is pressed in: a second press that comes too early takes the first one back."""


def _pressed_in(hands: Hands, name: str, keys: str | None, path: tuple[str, ...]) -> Acts:
    """Press a button of the tool bar Formatting in; nothing if it is so already."""
    button = hands.find(name, BUTTON_ROLES, within="Formatting")
    on = partial(is_so, hands, button, lambda e: bool({"checked", "pressed"} & set(e.states)))
    # the tool bar follows the cursor late: what is pressed in may be so for the place it has just left
    if on() and not hands.becomes(lambda: not on(), STALE):
        return
    # a button with a list beside it is pressed on its left, away from the arrow
    yield hands.click(button, fx=0.35 if button.box[2] > 40 else 0.5, until=on)
    if hands.becomes(on, LATE):
        return
    if keys is not None:
        yield hands.key(keys, until=on)
        if hands.becomes(on, LATE):
            return
    yield from menu(hands, MenuArgs(path=path))
    hands.wait(on, f"{name!r} does not take effect", 1.5)


class AlignArgs(MoveArgs):
    text: str = Field(min_length=1, description="text in the paragraph")
    to: Literal["Left", "Center", "Right", "Justified"]


@move("align_paragraph", AlignArgs)
def align_paragraph(hands: Hands, args: AlignArgs) -> Acts:
    """Align a paragraph by the tool bar."""
    yield from select_text(hands, SelectTextArgs(text=args.text))
    keys = {"Left": "ctrl+l", "Center": "ctrl+e", "Right": "ctrl+r", "Justified": "ctrl+j"}[args.to]
    yield from _pressed_in(hands, args.to, keys, ("Format", "Align Text", args.to))


class ParagraphStyleArgs(MoveArgs):
    text: str = Field(min_length=1, description="text in the paragraph")
    style: str = Field(min_length=1, description="the style's name as Writer shows it: Heading 1, Title, Quotations")


@move("paragraph_style", ParagraphStyleArgs)
def paragraph_style(hands: Hands, args: ParagraphStyleArgs) -> Acts:
    """Give a paragraph a style: by the box in the tool bar, else by the menu Styles."""
    yield from select_text(hands, SelectTextArgs(text=args.text))
    box = hands.find(None, "text", within="Paragraph Style")
    shown = partial(is_so, hands, box, lambda e: e.text is not None and same_name(e.text, args.style))
    if shown():
        return
    yield hands.click(box, "triple_click", fx=0.4) + hands.type(args.style + "\n", until=shown)
    if not hands.becomes(shown, 1.5):
        yield hands.key("Escape")
        yield from menu(hands, MenuArgs(path=("Styles", args.style)))
        hands.wait(shown, f"the paragraph with {args.text!r} does not become {args.style!r}", 2.0)
    yield from to_document(hands)


class ListArgs(MoveArgs):
    text: tuple[str, ...] = Field(min_length=1, description="text in each paragraph")
    kind: Literal["bullets", "numbers", "none"] = "bullets"


@move("make_list", ListArgs)
def make_list(hands: Hands, args: ListArgs) -> Acts:
    """Turn paragraphs into items of a list, or back."""
    name, keys, path = {
        "bullets": ("Unordered List", "shift+F12", ("Format", "Bullets and Numbering", "Unordered List")),
        "numbers": ("Ordered List", "F12", ("Format", "Bullets and Numbering", "Ordered List")),
        "none": ("No List", "ctrl+shift+F12", ("Format", "Bullets and Numbering", "No List")),
    }[args.kind]
    for text in args.text:
        yield from select_text(hands, SelectTextArgs(text=text))
        yield from _pressed_in(hands, name, keys, path)


class FindReplaceArgs(MoveArgs):
    find: str = Field(min_length=1)
    replace: str = ""
    match_case: bool = False
    whole_words: bool = False


@move("find_replace", FindReplaceArgs)
def find_replace(hands: Hands, args: FindReplaceArgs) -> Acts:
    """Replace every occurrence of a text through the dialog Edit > Find and Replace."""
    dialog = "Find and Replace"
    yield from to_document(hands)
    opened = partial(hands.window, dialog)
    # nothing selected, else only the selection would be searched
    yield hands.key("ctrl+Home") + hands.key("ctrl+h", until=opened)
    if not hands.becomes(opened, 3.0):
        yield from menu(hands, MenuArgs(path=("Edit", "Find and Replace..."), opens=dialog))
    for name, on in (("Match case", args.match_case), ("Whole words only", args.whole_words)):
        yield from (check if on else uncheck)(hands, CheckArgs(name=name, within=dialog))
    yield from fill(hands, FillArgs(text=args.find, field="Find", within=dialog))
    yield from fill(hands, FillArgs(text=args.replace, field="Replace", within=dialog))
    yield from press(hands, PressArgs(button="Replace All", dialog=dialog, closes=False))
    told = hands.becomes(lambda: _told(hands, dialog), 2.0)
    missing = told is not None and "not found" in told.name
    yield from press(hands, PressArgs(button="Close", dialog=dialog))
    if missing:
        raise MoveError(f"the document has no {args.find!r}", mend=f"it shows {_paragraphs(hands)}")


def _told(hands: Hands, dialog: str) -> Element | None:
    return hands.look("*Search key*", ("label", "static"), within=dialog)


class InsertTextArgs(MoveArgs):
    text: str = Field(min_length=1, description="what is typed; a line feed begins a new paragraph")
    after: str | None = Field(None, description="text that it comes after; without it the end of the document")


@move("insert_text", InsertTextArgs)
def insert_text(hands: Hands, args: InsertTextArgs) -> Acts:
    """Type text behind a text of the document, or at its end."""
    if args.after is None:
        yield from to_document(hands)
        yield hands.key("ctrl+End")
    else:
        yield from select_text(hands, SelectTextArgs(text=args.after))
        # Right goes one beyond the end of what is selected
        yield hands.key("Right") + hands.key("Left")
    lines = args.text.split("\n")
    line = (args.after or "") + lines[0] if len(lines) == 1 else lines[-1]
    shown = hands.showing(None, TEXT_ROLES, where=lambda e: line in (e.text or ""))
    yield hands.type(args.text, until=shown if line else None)
    if line:
        hands.wait(shown, f"the document does not say {line!r}", 2.0)


class PageBreakArgs(MoveArgs):
    main: ClassVar[str] = "before"
    before: str = Field(min_length=1, description="text at the beginning of the paragraph that begins the new page")


@move("page_break", PageBreakArgs)
def page_break(hands: Hands, args: PageBreakArgs) -> Acts:
    """Let a new page begin before a paragraph."""
    yield from select_text(hands, SelectTextArgs(text=args.before))
    yield hands.key("Home")
    yield from menu(hands, MenuArgs(path=("Insert", "Page Break")))


class TableArgs(MoveArgs):
    columns: int = Field(ge=1, le=63)
    rows: int = Field(ge=1, le=999)
    name: str | None = None
    after: str | None = Field(None, description="text of the paragraph that it comes after; without it the end")
    cells: tuple[tuple[str, ...], ...] = Field((), description="what is typed into it, row by row")


@move("insert_table", TableArgs)
def insert_table(hands: Hands, args: TableArgs) -> Acts:
    """Insert a table through the dialog Table > Insert Table, and fill it."""
    dialog = "Insert Table"
    if args.after is None:
        yield from to_document(hands)
        yield hands.key("ctrl+End")
    else:
        yield from select_text(hands, SelectTextArgs(text=args.after))
        yield hands.key("End") + hands.key("Return")
    yield from menu(hands, MenuArgs(path=("Table", "Insert Table..."), opens=dialog))
    if args.name is not None:
        yield from fill(hands, FillArgs(text=args.name, field="Name", within=dialog))
    yield from spin(hands, SpinArgs(value=str(args.columns), field="Columns", within=dialog))
    yield from spin(hands, SpinArgs(value=str(args.rows), field="Rows", within=dialog))
    yield from press(hands, PressArgs(button="Insert", dialog=dialog))
    hands.wait(hands.showing(None, "table"), "no table appears in the document", 3.0)
    texts = [text for row in args.cells for text in (*row, *[""] * (args.columns - len(row)))]
    if texts:
        last = hands.showing(None, TEXT_ROLES, where=lambda e: e.text == texts[-1] and _lies_in(hands, e, "table cell"))
        yield hands.type("\t".join(texts), until=last if texts[-1] else None)
        shown = {
            e.text for e in hands.scene().select(None, TEXT_ROLES, where=lambda e: _lies_in(hands, e, "table cell"))
        }
        missing = [text for text in texts if text not in shown]
        if missing:
            raise MoveError(f"the table does not hold {missing[0]!r}", mend="Writer puts a capital first in a sentence")


class PageStyleArgs(MoveArgs):
    orientation: Literal["Portrait", "Landscape"] | None = None
    format: str | None = Field(None, description="the paper as the list says it: A4, A5, Letter")
    left: str | None = Field(None, description="margin with its unit: 2.5 cm")
    right: str | None = None
    top: str | None = None
    bottom: str | None = None


@move("page_style", PageStyleArgs)
def page_style(hands: Hands, args: PageStyleArgs) -> Acts:
    """Set paper, orientation and margins through the dialog Format > Page Style."""
    dialog = "Page Style: *"
    yield from to_document(hands)
    yield from menu(hands, MenuArgs(path=("Format", "Page Style..."), opens=dialog))
    yield from tab(hands, TabArgs(name="Page", within=dialog))
    if args.format is not None:
        yield from pick(hands, PickArgs(choice=args.format, field="Format", within=dialog))
    if args.orientation is not None:
        yield from check(hands, CheckArgs(name=args.orientation, within=dialog))
    for side in ("left", "right", "top", "bottom"):
        value = getattr(args, side)
        if value is not None:
            yield from spin(hands, SpinArgs(value=value, field=side.capitalize(), within=dialog))
    yield from press(hands, PressArgs(button="OK", dialog=dialog))


class HeaderArgs(MoveArgs):
    main: ClassVar[str] = "text"
    text: str = Field(min_length=1)
    place: Literal["header", "footer"] = "header"


@move("page_header", HeaderArgs)
def page_header(hands: Hands, args: HeaderArgs) -> Acts:
    """Switch the pages' header or footer on and write into it."""
    yield from to_document(hands)
    role = args.place
    if hands.look(None, role) is None:
        style = "Default Page Style"
        yield from menu(hands, MenuArgs(path=("Insert", "Header and Footer", args.place.capitalize(), style)))
    line = hands.wait(
        lambda: hands.look(None, "paragraph", where=lambda e: _lies_in(hands, e, role)), f"no {role} appears", 3.0
    )
    yield hands.click(line, fx=min(0.5, 6 / line.box[2]))
    shown = hands.showing(None, "paragraph", where=lambda e: _lies_in(hands, e, role) and e.text == args.text)
    yield hands.key("Home") + hands.key("shift+End") + hands.type(args.text, until=shown)
    hands.wait(shown, f"the {role} does not say {args.text!r}", 2.0)
    body = hands.find(None, "paragraph", where=lambda e: not _lies_in(hands, e, "header", "footer"))
    yield hands.click(body, fx=min(0.5, 4 / body.box[2]), until=partial(_in_document, hands))


def _lies_in(hands: Hands, element: Element, *roles: str) -> bool:
    return any(e.role in roles for e in hands.scene().ancestors(element))
