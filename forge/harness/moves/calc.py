"""Moves for LibreOffice Calc: cells, sheets, tool bars, sorting, filters, saving."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from forge.harness.moves.base import Act, Acts, MoveArgs, MoveError, move
from forge.harness.moves.general import (
    BUTTON_ROLES,
    CheckArgs,
    FillArgs,
    MenuArgs,
    PickArgs,
    PressArgs,
    TabArgs,
    check,
    context_menu_on,
    fill,
    is_so,
    menu,
    pick,
    press,
    scrolled_to,
    tab,
    uncheck,
)
from forge.harness.moves.hands import Hands, same_name
from forge.harness.moves.lists import reach
from forge.records import Element, Pointer

APP = "calc"
_REF = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})(?::\$?([A-Z]{1,3})\$?([0-9]{1,7}))?")
_COLUMNS = re.compile(r"\$?([A-Z]{1,3})(?::\$?([A-Z]{1,3}))?")


class SelectArgs(MoveArgs):
    main: ClassVar[str] = "cells"
    cells: str = Field(pattern=rf"^{_REF.pattern}$", description="a cell or a range of the sheet in view: B2, A1:D6")


@move("select", SelectArgs)
def select(hands: Hands, args: SelectArgs) -> Acts:
    """Select a cell or a range: by clicking where it is in view, else through the Name Box."""
    first, last = corners(args.cells)
    wanted = first if first == last else f"{first}:{last}"
    box = name_box(hands)
    selected = partial(_box_says, hands, box, wanted)
    start, end = hands.cell(first), hands.cell(last)
    if start is not None and end is not None:
        act = hands.click(start, until=selected if first == last else None)
        if first != last:
            act += hands.click(end, modifiers=("shift",), until=selected)
        yield act
        if hands.becomes(selected, 1.0):
            return
    yield hands.click(box, "triple_click", fx=0.4) + hands.type(wanted + "\n", until=selected)
    hands.wait(selected, f"{wanted} does not become selected; the Name Box says {name_box(hands).text!r}")


def corners(cells: str) -> tuple[str, str]:
    """First and last cell of a reference, without dollar signs."""
    found = _REF.fullmatch(cells)
    if found is None:
        raise MoveError(f"{cells!r} is no cell or range; write B2 or A1:D6")
    first = found[1] + found[2]
    return first, (found[3] + found[4] if found[3] else first)


def name_box(hands: Hands) -> Element:
    """The field left of the formula bar that names the selection."""
    return hands.find(None, "text", within="Formula Tool Bar")


def _box_says(hands: Hands, box: Element, wanted: str) -> bool:
    now = hands.again(box)
    return now is not None and now.text == wanted


class EnterArgs(MoveArgs):
    cell: str = Field(pattern=r"^[A-Z]{1,3}[0-9]{1,7}$")
    text: str = Field(
        min_length=1, description="one line, as a person would type it; numbers and dates as the locale has"
    )


@move("enter", EnterArgs)
def enter(hands: Hands, args: EnterArgs) -> Acts:
    """Select a cell, type its new content and confirm it with Return."""
    plain = not args.text.startswith(("=", "+", "-")) and re.search(r"[^\W\d]", args.text) is not None
    for attempt in (1, 2):
        yield from select(hands, SelectArgs(cells=args.cell))

        left = partial(is_so, hands, name_box(hands), lambda box: box.text != args.cell)
        # A second time, Delete takes away what Calc completed from the column's other entries.
        typed = hands.type(args.text) + hands.key("Delete") if attempt == 2 else hands.type(args.text)
        yield typed + hands.key("Return", until=left)
        hands.wait(left, f"{args.cell} stays in editing after {args.text!r}")
        shown = hands.cell(args.cell)
        if shown is None or (not plain and shown.text) or (shown.text or "") == args.text:
            return
    raise MoveError(f"{args.cell} shows {shown.text if shown else None!r} instead of {args.text!r}")


class ToolbarArgs(MoveArgs):
    main: ClassVar[str] = "button"
    button: str = Field(description="the button's name: Bold, Align Center, Sort Ascending, AutoFilter")
    bar: str | None = Field(None, description="the tool bar's name, where several have such a button")


@move("toolbar", ToolbarArgs)
def toolbar(hands: Hands, args: ToolbarArgs) -> Acts:
    """Press a button of a tool bar."""
    button = hands.find(args.button, BUTTON_ROLES, where=lambda e: _on_bar(hands, e, args.bar))
    if "disabled" in button.states:
        raise MoveError(f"the button {args.button!r} is greyed out")
    was = "checked" in button.states or "pressed" in button.states
    switched = partial(is_so, hands, button, lambda e: ("checked" in e.states or "pressed" in e.states) != was)
    # A button with a list beside it is pressed on its left, away from the arrow.
    fx = 0.35 if button.box[2] > 40 else 0.5
    yield hands.click(button, fx=fx, until=switched if button.role == "toggle button" else None)


def _on_bar(hands: Hands, element: Element, bar: str | None) -> bool:
    above = hands.scene(element.app or None).ancestors(element)
    return any(e.role == "tool bar" and (bar is None or same_name(e.name, bar)) for e in above)


class SheetArgs(MoveArgs):
    main: ClassVar[str] = "name"
    name: str


@move("sheet", SheetArgs)
def sheet(hands: Hands, args: SheetArgs) -> Acts:
    """Bring a sheet to the front by its tab."""

    page = sheet_tab(hands, args.name)
    shown = partial(is_so, hands, page, lambda e: "selected" in e.states)
    if "selected" not in page.states:
        yield hands.click(page, until=shown)
        hands.wait(shown, f"the sheet {args.name!r} does not come to the front")


def sheet_tab(hands: Hands, name: str) -> Element:
    """The tab of a sheet at the bottom of the window."""
    return hands.find(name, "page tab", where=_is_sheet_tab)


def _is_sheet_tab(element: Element) -> bool:
    return element.box[1] > 300 and element.path[:1] == (0,)


class RenameSheetArgs(MoveArgs):
    sheet: str
    to: str = Field(min_length=1, max_length=31)


@move("rename_sheet", RenameSheetArgs)
def rename_sheet(hands: Hands, args: RenameSheetArgs) -> Acts:
    """Give a sheet another name through the menu of its tab."""
    yield from context_menu_on(hands, lambda: sheet_tab(hands, args.sheet), ("Rename Sheet...",), opens="Rename Sheet")
    yield from fill(hands, FillArgs(text=args.to, within="Rename Sheet"))
    yield from press(hands, PressArgs(button="OK", dialog="Rename Sheet"))
    sheet_tab(hands, args.to)


class InsertSheetArgs(MoveArgs):
    main: ClassVar[str] = "name"
    name: str
    place: Literal["before", "after"] = Field("after", description="relative to the sheet in view")


@move("insert_sheet", InsertSheetArgs)
def insert_sheet(hands: Hands, args: InsertSheetArgs) -> Acts:
    """Insert a new, empty sheet beside the one in view."""
    yield from menu(hands, MenuArgs(path=("Sheet", "Insert Sheet..."), opens="Insert Sheet"))
    which = "Before current sheet" if args.place == "before" else "After current sheet"
    yield from check(hands, CheckArgs(name=which, within="Insert Sheet"))
    yield from fill(hands, FillArgs(text=args.name, field="Name", within="Insert Sheet"))
    yield from press(hands, PressArgs(button="OK", dialog="Insert Sheet"))
    sheet_tab(hands, args.name)


class DeleteSheetArgs(MoveArgs):
    main: ClassVar[str] = "name"
    name: str


@move("delete_sheet", DeleteSheetArgs)
def delete_sheet(hands: Hands, args: DeleteSheetArgs) -> Acts:
    """Delete a sheet through the menu of its tab, and confirm."""
    yield from context_menu_on(hands, lambda: sheet_tab(hands, args.name), ("Delete Sheet...",))
    gone = hands.gone(args.name, "page tab", where=_is_sheet_tab)
    if not hands.becomes(gone, 0.5):
        yield hands.click(hands.find("Yes", "push button"), until=gone)
    hands.wait(gone, f"the sheet {args.name!r} is still there")


class MoveSheetArgs(MoveArgs):
    sheet: str
    before: str | None = Field(None, description="the sheet it comes to stand before; without it, the end")


@move("move_sheet", MoveSheetArgs)
def move_sheet(hands: Hands, args: MoveSheetArgs) -> Acts:
    """Drag a sheet's tab to another place in the row of tabs."""

    def tabs() -> list[Element]:
        return sorted(hands.scene().select(None, "page tab", where=_is_sheet_tab), key=lambda e: e.box[0])

    def placed() -> bool:
        names = [tab.name for tab in tabs()]
        if args.before is None:
            return names[-1] == args.sheet
        return args.sheet in names and names[names.index(args.sheet) + 1 :][:1] == [args.before]

    if placed():
        return
    start = sheet_tab(hands, args.sheet)
    # Dropped on a tab it comes before that one, dropped beside the last tab to the end.
    last = tabs()[-1]
    end = hands.at(last.box[0] + last.box[2] + 14, last.box[1] + last.box[3] // 2)
    if args.before is not None:
        end = hands.middle(sheet_tab(hands, args.before), 0.4)
    yield hands.drag(hands.middle(start), end, start, until=placed)
    hands.wait(placed, f"the sheet {args.sheet!r} does not come to its place")


class SaveArgs(MoveArgs):
    main: ClassVar[str] = "path"
    path: str = Field(pattern=r"^~/", description="the file that is to change: ~/Documents/stock.xlsx")
    way: Literal["toolbar", "menu"] = "toolbar"


@move("save", SaveArgs)
def save(hands: Hands, args: SaveArgs) -> Acts:
    """Save the document in place, and wait until its file has changed."""
    file = Path(hands.slot.home) / args.path[2:]
    before = _stamp(file)

    def saved() -> bool:
        return _stamp(file) != before and _complete(file)

    def by_menu() -> Acts:
        yield from menu(hands, MenuArgs(path=("File", "Save")))

    def by_button() -> Acts:
        yield hands.click(hands.find("Save", "push button", within="Standard"), fx=0.35, until=saved)

    routes: list[Callable[[], Acts]] = [by_button, by_menu] if args.way == "toolbar" else [by_menu, by_button]
    for route in routes:
        yield from route()
        if hands.becomes(saved, 3.0):
            return
    raise MoveError(f"{args.path} does not change on saving")


def _complete(file: Path) -> bool:
    """Whether a file that is being written is all there, as far as its form can tell."""
    if file.suffix in (".xlsx", ".ods", ".docx", ".odt", ".pptx", ".odp"):
        return zipfile.is_zipfile(file)
    return file.stat().st_size > 0


def _stamp(file: Path) -> tuple[int, int, int]:
    try:
        status = file.stat()
    except FileNotFoundError:
        return 0, 0, 0
    return status.st_mtime_ns, status.st_size, status.st_ino


class SortKey(MoveArgs):
    main: ClassVar[str] = "column"
    column: str = Field(description="the column's heading, or `Column B` where there is none")
    descending: bool = False


class SortArgs(MoveArgs):
    range: str = Field(pattern=rf"^{_REF.pattern}$", description="what to sort, with its heading row")
    keys: tuple[SortKey, ...] = Field(min_length=1, max_length=3)
    headings: bool = True


@move("sort", SortArgs)
def sort(hands: Hands, args: SortArgs) -> Acts:
    """Sort a range by up to three columns through the dialog Data > Sort."""
    yield from select(hands, SelectArgs(cells=args.range))
    yield from menu(hands, MenuArgs(path=("Data", "Sort..."), opens="Sort"))
    switch = check if args.headings else uncheck
    yield from switch(hands, CheckArgs(name="Range contains column labels", within="Sort"))
    for number, item in enumerate(args.keys, 1):
        group = f"Sort Key {number}"
        yield from pick(hands, PickArgs(choice=item.column, within=group))
        yield from check(hands, CheckArgs(name="Descending" if item.descending else "Ascending", within=group))
    yield from press(hands, PressArgs(button="OK", dialog="Sort"))


class NumberFormatArgs(MoveArgs):
    cells: str = Field(pattern=rf"^{_REF.pattern}$")
    code: str = Field(min_length=1, description="the format code: 0.00%, #,##0.00, YYYY-MM-DD")


@move("number_format", NumberFormatArgs)
def number_format(hands: Hands, args: NumberFormatArgs) -> Acts:
    """Give cells a number format by its code, through the dialog Format > Cells."""
    dialog = "Format Cells"
    yield from select(hands, SelectArgs(cells=args.cells))
    yield from menu(hands, MenuArgs(path=("Format", "Cells..."), opens=dialog))
    yield from tab(hands, TabArgs(name="Numbers", within=dialog))
    yield from fill(hands, FillArgs(text=args.code, within="Format Code"))
    yield from press(hands, PressArgs(button="OK", dialog=dialog))


class ChartArgs(MoveArgs):
    range: str = Field(pattern=rf"^{_REF.pattern}$", description="what it shows, with headings")
    kind: str = Field("Column", description="as the list says it: Column, Bar, Pie, Line, XY (Scatter)")
    title: str | None = None


@move("chart", ChartArgs)
def chart(hands: Hands, args: ChartArgs) -> Acts:
    """Insert a chart of a range through the chart wizard, and go back to the sheet."""
    wizard = "Chart Type"
    yield from select(hands, SelectArgs(cells=args.range))
    yield from menu(hands, MenuArgs(path=("Insert", "Chart..."), opens=wizard))

    def kind() -> Element | None:
        return hands.look(args.kind, "table cell", within=wizard, where=lambda e: "selected" in e.states)

    if kind() is None:
        yield hands.click(hands.find(args.kind, "table cell", within=wizard), until=kind)
    if args.title is not None:  # on the fourth page; each page has a window title of its own
        for _ in range(3):
            yield from press(hands, PressArgs(button="Next >", closes=False))
        yield from fill(hands, FillArgs(text=args.title, field="Title", within="Chart Elements"))
    yield from press(hands, PressArgs(button="Finish"))
    # The chart is being edited now; a click on a cell beside it leaves it.
    sheet_menu = hands.showing("Sheet", "menu")
    free = next((cell for cell in hands.slot.cells().visible()[::-1]), None)
    yield hands.key("Escape", until=sheet_menu) if free is None else hands.click(free, until=sheet_menu)
    hands.wait(sheet_menu, "the chart stays in editing")


class AutofilterArgs(MoveArgs):
    main: ClassVar[str] = "range"
    range: str = Field(pattern=rf"^{_REF.pattern}$", description="the table, with its heading row")


@move("autofilter", AutofilterArgs)
def autofilter(hands: Hands, args: AutofilterArgs) -> Acts:
    """Put filter buttons on the headings of a table."""
    yield from select(hands, SelectArgs(cells=args.range))
    button = hands.find("AutoFilter", BUTTON_ROLES, within="Standard")
    shown = partial(is_so, hands, button, lambda e: "checked" in e.states)
    if "checked" not in button.states:
        yield hands.click(button, until=shown)
    if not hands.becomes(shown, 1.0):
        yield from menu(hands, MenuArgs(path=("Data", "AutoFilter")))
        hands.wait(shown, f"{args.range} has no filter buttons")


class FilterArgs(MoveArgs):
    heading: str = Field(pattern=r"^[A-Z]{1,3}[0-9]{1,7}$", description="the cell with the column's heading and button")
    keep: tuple[str, ...] = Field(min_length=1, description="the values to keep, as they are shown")


@move("filter", FilterArgs)
def filter_values(hands: Hands, args: FilterArgs) -> Acts:
    """Keep some values of a column by the list behind its filter button."""
    if hands.cell(args.heading) is None:
        yield from select(hands, SelectArgs(cells=args.heading))
    heading = hands.wait(lambda: hands.cell(args.heading), f"{args.heading} is not in view")
    popup = "All", "check box"
    button = hands.at(heading.box[0] + heading.box[2] - 9, heading.box[1] + heading.box[3] - 9)
    yield Act((Pointer(kind="left_click", at=button),), (heading,), hands.showing(*popup))
    cleared = partial(_is_ticked, hands, *popup, False)
    if not cleared():
        yield hands.click(hands.find(*popup), fx=0.1, until=cleared)
        if not hands.becomes(cleared, 1.0):  # it was half ticked, and is ticked now
            yield hands.click(hands.find(*popup), fx=0.1, until=cleared)
    for value in args.keep:
        yield from _tick(hands, value)
    yield from press(hands, PressArgs(button="OK"))


def _tick(hands: Hands, value: str) -> Acts:
    """Tick one value of an open filter list, scrolling to it where necessary."""

    def row() -> tuple[Element, Element] | None:
        scene = hands.scene()
        for cell in scene.select(value, "table cell"):
            box = next((e for e in scene.select(None, "table cell") if _left_of(e, cell)), None)
            if box is not None:
                return box, cell
        return None

    def ticked() -> bool:
        found = row()
        return found is not None and "checked" in found[0].states

    def offered() -> Element | None:
        found = row()
        return found and found[1]

    if hands.becomes(row, 2.0) is None:  # GTK tells no place of rows far below
        popup = hands.find("All", "check box").path[:1]
        panes = hands.scene().select(None, "scroll pane", where=lambda e: e.path[:1] == popup)
        values = max(panes, key=lambda e: e.box[3], default=None)
        yield from reach(hands, offered, None, f"the filter list does not offer {value!r}", at=values)
    cell = hands.wait(offered, f"the filter list does not offer {value!r}")
    yield from scrolled_to(hands, cell, offered)
    box, _ = hands.wait(row, f"{value!r} does not stay in view")
    yield hands.click(box, until=ticked)
    hands.wait(ticked, f"{value!r} does not become ticked", 1.0)


def _left_of(box: Element, cell: Element) -> bool:
    """Whether `box` is the tick box in the row of `cell`."""
    return box.path[:-1] == cell.path[:-1] and box.path < cell.path and not box.name


def _is_ticked(hands: Hands, name: str, role: str, ticked: bool) -> bool:
    element = hands.look(name, role)
    return element is not None and ("checked" in element.states) == ticked
