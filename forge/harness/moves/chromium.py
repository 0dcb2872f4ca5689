"""Moves for Chromium: pages, links, forms. What is kept by a profile is in `chromium_profile`.

Names of things on a page are those that the page gives to a screen reader: the text of a link or a button, the label of
a field. What lies below the part in view is scrolled to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote, unquote

from pydantic import Field

from forge.harness.moves.base import Act, Acts, MoveArgs, MoveError, move
from forge.harness.moves.general import is_so
from forge.harness.moves.hands import Hands, same_name
from forge.records import Element
from forge.records.guest import USER

APP = "chromium"
BAR = "Address and search bar"
SWITCHES = ("check box", "radio button", "toggle button", "switch")
ENTRIES = ("entry", "text", "password text", "spin button")
OPTIONS = ("menu item", "list item", "option")
FIELDS = (*SWITCHES, *ENTRIES, "combo box", "date editor")
_SCHEME = re.compile(r"^(file|https?)://")


class OpenPageArgs(MoveArgs):
    main: ClassVar[str] = "address"
    address: str = Field(pattern=r"^(~/|[a-z]+:)", description="~/Documents/page.html, http://127.0.0.1:8000/, chrome:")
    title: str | None = Field(None, description="the page's title, where it is known; * stands for anything")


@move("open_page", OpenPageArgs)
def open_page(hands: Hands, args: OpenPageArgs) -> Acts:
    """Open a page by typing its address into the address bar."""
    address = args.address
    if address.startswith("~/"):
        address = f"file:///home/{USER}/{quote(address[2:])}"

    def shown() -> bool:
        bar = hands.look(BAR, "entry", app=APP)
        there = bar is not None and "focused" not in bar.states and _same_address(bar.text or "", address)
        return there and (args.title is None or hands.window(f"{args.title} - Chromium") is not None)

    # Delete takes away what the bar completed from the history.
    typed = hands.key("ctrl+a") + hands.type(address) + hands.key("Delete")
    yield hands.click(hands.find(BAR, "entry", app=APP)) + typed + hands.key("Return", until=shown)
    if not hands.becomes(shown, 3.0):
        yield hands.key("ctrl+l") + typed + hands.key("Return", until=shown)
        hands.wait(shown, f"the page {args.address} does not come up")


def _same_address(shown: str, address: str) -> bool:
    """The bar leaves the scheme out, and shows some characters as they are."""
    plain = [unquote(_SCHEME.sub("", text)).rstrip("/") for text in (shown, address)]
    return plain[0] == plain[1]


def page(hands: Hands) -> Element | None:
    """The document in view."""
    return hands.look(None, "document web", app=APP, where=lambda e: e.box[2] > 300)


def reach(hands: Hands, name: str, roles: str | tuple[str, ...]) -> Generator[Act, None, Element]:
    """Something on the page by its name; scrolls to it. Raises MoveError with what there was."""

    def here() -> Element | None:
        document = page(hands)
        return None if document is None else hands.look(name, roles, app=APP, within=document, where=free(document))

    def free(document: Element) -> Callable[[Element], bool]:
        # Bubbles of the browser (a finished download) lie over the page for a while.
        bubbles = hands.scene(APP).select(None, "dialog", where=lambda e: len(e.path) == 1)
        return lambda e: _holds(document, e) and not any(_holds(bubble, e) for bubble in bubbles)

    found = hands.becomes(here, 1.0)
    if found is None:
        document = hands.wait(lambda: page(hands), "no page is in view")
        yield hands.scroll(document, -50)
        before = b""
        # An empty stretch of a page has no elements that move: that the end is reached is seen by the picture.
        while (found := here()) is None and (now := hands.slot.screenshot().png) != before:
            before = now
            yield hands.scroll(document, 4)
    return found or hands.find(name, roles, app=APP, within=hands.wait(lambda: page(hands), "no page is in view"))


def _holds(outer: Element, element: Element) -> bool:
    x, y = element.box[0] + element.box[2] // 2, element.box[1] + element.box[3] // 2
    left, top, width, height = outer.box
    return left <= x < left + width and top <= y < top + height


class LeaveArgs(MoveArgs):
    title: str | None = Field(None, description="title of the page that comes; * stands for anything")


class FollowLinkArgs(LeaveArgs):
    main: ClassVar[str] = "link"
    link: str


@move("follow_link", FollowLinkArgs)
def follow_link(hands: Hands, args: FollowLinkArgs) -> Acts:
    """Click a link of the page in view, and wait for the page that it leads to."""
    yield from _leave(hands, args.link, "link", args.title)


class SubmitFormArgs(LeaveArgs):
    main: ClassVar[str] = "button"
    button: str


@move("submit_form", SubmitFormArgs)
def submit_form(hands: Hands, args: SubmitFormArgs) -> Acts:
    """Press the button that sends the form in view, and wait for the page that answers."""
    yield from _leave(hands, args.button, "push button", args.title)


def _leave(hands: Hands, name: str, role: str, title: str | None) -> Acts:
    def where() -> tuple[str, str | None]:
        front = next((w.title for w in reversed(hands.slot.windows()) if w.title.endswith(" - Chromium")), "")
        bar = hands.look(BAR, "entry", app=APP)
        return front, bar.text if bar else None

    def left() -> bool:
        return where() != before if title is None else hands.window(f"{title} - Chromium") is not None

    before = where()
    for fx, fy in ((0.5, 0.5), (0.1, 0.2)):  # a link that is broken over two lines has nothing in its middle
        element = yield from reach(hands, name, role)
        yield hands.click(element, fx=fx, fy=fy, until=left)
        if hands.becomes(left, 3.0):
            return
    raise MoveError(
        f"the {role} {name!r} does not lead to {title or 'another page'}", mend=f"it is still {before[0]!r}"
    )


class FillFormArgs(MoveArgs):
    fields: dict[str, bool | str] = Field(
        min_length=1, description="label to text, choice, date (2026-05-30), or true and false for boxes and buttons"
    )


@move("fill_form", FillFormArgs)
def fill_form(hands: Hands, args: FillFormArgs) -> Acts:
    """Fill in a form by the labels of its fields: text, choices of lists, check boxes, radio buttons, dates."""
    for label, value in args.fields.items():
        yield from set_field(hands, label, value)


def set_field(hands: Hands, label: str, value: bool | str) -> Acts:
    """Give one field of the page its value."""
    if isinstance(value, bool):
        element = yield from reach(hands, label, SWITCHES)
        yield from _switch(hands, element, value)
        return
    element = yield from reach(hands, label, tuple(role for role in FIELDS if role not in SWITCHES))
    if element.role == "combo box":
        yield from _choose(hands, element, value)
    elif element.role == "date editor":
        yield from _set_date(hands, element, value)
    else:
        yield from _write(hands, element, value)


def _switch(hands: Hands, element: Element, on: bool) -> Acts:
    def so(now: Element) -> bool:
        return bool({"checked", "pressed"} & set(now.states)) == on

    if so(element):
        return
    # Found by its name again: a switch may put more into the page, or take something away.
    done = hands.showing(element.name, element.role, app=APP, where=so)
    yield hands.click(element, until=done)
    if not hands.becomes(done, 1.5):
        yield hands.key("space", until=done)  # the click has given it the focus
        hands.wait(done, f"{element.name!r} does not become {'checked' if on else 'unchecked'}", 1.5)


def _write(hands: Hands, element: Element, text: str) -> Acts:
    written = partial(is_so, hands, element, lambda now: (now.text or "").strip("\n") == text.strip("\n"))
    for _ in (1, 2):
        yield hands.click(element) + hands.key("ctrl+a") + hands.type(text, until=written)
        if element.role == "password text" or hands.becomes(written, 1.5):
            return
    now = hands.again(element)
    raise MoveError(f"the field {element.name!r} holds {now.text if now else None!r} instead of {text!r}")


def _choose(hands: Hands, element: Element, choice: str) -> Acts:
    """Choose from a list: by pointing where the choice is on the screen, else by typing its beginning."""

    def options() -> list[Element]:
        return hands.scene(APP).select(None, OPTIONS, within=element)

    yield hands.click(element, until=options)
    if not hands.becomes(options, 2.0):
        yield hands.click(element, until=options)
    offered = hands.wait(options, f"the list {element.name!r} does not open", 2.0)
    found = next((option for option in offered if same_name(option.name, choice)), None)
    if found is None:
        yield hands.key("Escape")
        names = ", ".join(option.name.strip() for option in offered[:40])
        raise MoveError(f"the list {element.name!r} does not offer {choice!r}", mend=f"it has {names}")

    def closed() -> bool:
        return not options()

    if found.box[1] + found.box[3] < hands.slot.guest.height:
        yield hands.click(found, until=closed)
    else:
        yield hands.type(choice) + hands.key("Return", until=closed)
    hands.wait(closed, f"the list {element.name!r} stays open after choosing {choice!r}")


def _set_date(hands: Hands, element: Element, date: str) -> Acts:
    match = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", date)
    if match is None:
        raise MoveError(f"{date!r} is no date for the field {element.name!r}", mend="write 2026-05-30")
    year, month, day = match.groups()
    first = hands.find("Month*", "spin button", app=APP, within=element)
    yield hands.click(first) + hands.type(month + day + year)


class DownloadArgs(MoveArgs):
    link: str = Field(description="the link to the file")
    file: str = Field(min_length=1, description="its name once it has arrived in ~/Downloads")


@move("download_file", DownloadArgs)
def download_file(hands: Hands, args: DownloadArgs) -> Acts:
    """Click a link to a file, and wait until the file has arrived in ~/Downloads."""
    target = Path(hands.slot.home) / "Downloads" / args.file
    if target.exists():
        raise MoveError(f"there is already a file {args.file!r} in ~/Downloads")
    arrived: Callable[[], bool] = target.exists
    element = yield from reach(hands, args.link, "link")
    yield hands.click(element, until=arrived)
    hands.wait(arrived, f"{args.file!r} does not arrive in ~/Downloads")


class SavePageArgs(MoveArgs):
    main: ClassVar[str] = "path"
    path: str = Field(
        pattern=r"^~/.+\.(html?|pdf)$", description="~/Documents/page.html; with .pdf it is printed to a file"
    )


@move("save_page", SavePageArgs)
def save_page(hands: Hands, args: SavePageArgs) -> Acts:
    """Save the page in view, with the files that belong to it, under a name; or print it to a PDF file."""
    target = Path(hands.slot.home) / args.path[2:]
    if target.exists():
        raise MoveError(f"there is already a file {args.path}")
    if args.path.endswith(".pdf"):
        yield from _print(hands)
    else:
        dialog = partial(hands.window, "Save File")
        yield hands.key("ctrl+s", until=dialog)
        hands.wait(dialog, "no window 'Save File' appeared")
    yield from _name_file(hands, f"/home/{USER}/{args.path[2:]}", target)


def _print(hands: Hands) -> Acts:
    ready = hands.showing("Save", "push button", app=APP)
    dialog = partial(hands.window, "Save File")
    yield hands.key("ctrl+p", until=ready)
    hands.wait(ready, "the print dialog does not offer to save")
    yield hands.click(hands.find("Save", "push button", app=APP), until=dialog)
    hands.wait(dialog, "no window 'Save File' appeared")


def _name_file(hands: Hands, path: str, target: Path) -> Acts:
    """Give the file dialog a path. Its widgets are GTK's and are not seen: it is driven by its keys."""

    def saved() -> bool:
        return target.exists() and target.stat().st_size > 0 and hands.window("Save File") is None

    for confirm in ("alt+s", "Return"):
        yield hands.key("ctrl+a") + hands.type(path) + hands.key(confirm, until=saved)
        if hands.becomes(saved, 3.0):
            return
    raise MoveError(f"the page is not saved as {path}")
