"""Moves for GIMP: whole pictures scaled, cropped, turned, recoloured, and exported.

That something was done is read from the undo history beside the picture, the size from the window's title.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from forge.harness.moves.base import Acts, MoveArgs, MoveError, move
from forge.harness.moves.choosers import ChooseFileArgs, choose_file, stamp
from forge.harness.moves.general import (
    CheckArgs,
    FillArgs,
    MenuArgs,
    NotOfferedError,
    PickArgs,
    PressArgs,
    check,
    fill,
    menu,
    pick,
    press,
    uncheck,
)
from forge.harness.moves.hands import Hands
from forge.records import Element
from forge.records.guest import USER

APP = "gimp"
_TITLE = re.compile(r"\*?\[?(?P<name>.*?)\]?( \(\w+\))?-\d+\.\d+ \(.*\) (?P<width>\d+)x(?P<height>\d+) – GIMP")
_ANSWERS = ("Export", "Replace", "Overwrite")


class OpenImageArgs(MoveArgs):
    main: ClassVar[str] = "path"
    path: str = Field(pattern=r"^~/", description="~/Pictures/photo.png")


@move("open_image", OpenImageArgs)
def open_image(hands: Hands, args: OpenImageArgs) -> Acts:
    """Open a picture in GIMP through its dialog."""
    dialog = "Open Image"
    opened = partial(hands.window, dialog)
    yield hands.key("ctrl+o", until=opened)
    if not hands.becomes(opened, 2.0):
        yield from menu(hands, MenuArgs(path=("File", "Open..."), opens=dialog))
    yield from choose_file(hands, ChooseFileArgs(path=args.path, dialog=dialog))
    name = Path(args.path).stem
    hands.wait(lambda: (_shown(hands) or ("",))[0] == name, f"GIMP does not show {args.path}", 15.0)


def _shown(hands: Hands) -> tuple[str, int, int] | None:
    """Name, width and height of the picture in front."""
    for window in reversed(hands.slot.windows()):
        match = _TITLE.fullmatch(window.title)
        if match is not None:
            return match["name"], int(match["width"]), int(match["height"])
    return None


def _size(hands: Hands) -> tuple[int, int]:
    shown = hands.wait(lambda: _shown(hands), "GIMP shows no picture")
    return shown[1], shown[2]


def _done(hands: Hands) -> Callable[[], bool]:
    """A condition: the undo history has a step more than now."""

    def step() -> tuple[tuple[int, ...], str] | None:
        row = hands.look(
            None, "table cell", app=APP, within="Undo", where=lambda e: bool(e.name) and "selected" in e.states
        )
        return None if row is None else (row.path, row.name)

    before = step()
    return lambda: step() != before


class SizeArgs(MoveArgs):
    width: int | None = Field(None, ge=1, le=20000, description="pixels; without it in proportion")
    height: int | None = Field(None, ge=1, le=20000, description="pixels; without it in proportion")

    @model_validator(mode="after")
    def _something(self) -> SizeArgs:
        if self.width is None and self.height is None:
            raise ValueError("width or height is needed")
        return self


@move("scale_image", SizeArgs)
def scale_image(hands: Hands, args: SizeArgs) -> Acts:
    """Scale the picture to a size in pixels through Image > Scale Image."""
    dialog, (old_width, old_height) = "Scale Image", _size(hands)
    width = args.width or max(1, round(old_width * (args.height or 1) / old_height))
    height = args.height or max(1, round(old_height * (args.width or 1) / old_width))
    yield from menu(hands, MenuArgs(path=("Image", "Scale Image..."), opens=dialog))
    if args.width is not None and args.height is not None:
        yield from _both(hands, dialog, args.width, args.height)
    elif args.width is not None:
        yield from _number(hands, dialog, 0, args.width)
    else:
        yield from _number(hands, dialog, 1, height)
    yield from press(hands, PressArgs(button="Scale", dialog=dialog))
    hands.wait(lambda: _size(hands) == (width, height), f"the picture does not become {width}x{height}", 15.0)


def _both(hands: Hands, dialog: str, width: int, height: int) -> Acts:
    """Put in width and height; where they are chained, so that one changes the other, open the chain first."""
    yield from _number(hands, dialog, 0, width)
    yield from _number(hands, dialog, 1, height)
    first, second = _numbers(hands, dialog)[:2]
    if _value(first) == width:
        return
    left, top, below = first.box[0] + first.box[2], first.box[1], second.box[1] + second.box[3]

    def chain(element: Element) -> bool:
        x, y, wide, high = element.box
        return left <= x < left + 100 and top <= y + high // 2 < below and wide < 60

    yield hands.click(hands.find("", "push button", within=dialog, where=chain))
    yield from _number(hands, dialog, 0, width)
    yield from _number(hands, dialog, 1, height)


def _numbers(hands: Hands, dialog: str) -> list[Element]:
    """The number fields of a dialog, from top to bottom. A plug-in's dialog belongs to an application of its own."""
    found = hands.scene().select(None, "spin button", within=dialog)
    return sorted(found, key=lambda e: (e.box[1], e.box[0]))


def _value(field: Element) -> float | None:
    try:
        return float((field.text or "").replace("\u2212", "-"))
    except ValueError:
        return None


def _number(hands: Hands, dialog: str, nth: int, value: float) -> Acts:
    """Put a number into the nth field of a dialog, from the top."""
    text = f"{value:g}"

    def field() -> Element | None:
        fields = _numbers(hands, dialog)
        return fields[nth] if nth < len(fields) else None

    def taken() -> bool:
        now = field()
        return now is not None and _value(now) == value

    for _ in (1, 2):
        entry = hands.wait(field, f"the dialog {dialog!r} has no number field {nth + 1}")
        yield hands.click(entry, fx=0.3) + hands.key("ctrl+a") + hands.type(text) + hands.key("Tab", until=taken)
        if hands.becomes(taken, 1.0):
            return
    raise MoveError(f"number {nth + 1} of {dialog!r} does not become {text}", mend=f"it is {entry.text!r}")


class CropArgs(MoveArgs):
    x: int = Field(ge=0, description="pixels from the left")
    y: int = Field(ge=0, description="pixels from the top")
    width: int = Field(ge=1)
    height: int = Field(ge=1)


@move("crop_image", CropArgs)
def crop_image(hands: Hands, args: CropArgs) -> Acts:
    """Keep only a part of the picture, through Image > Canvas Size."""
    dialog, (width, height) = "Set Image Canvas Size", _size(hands)
    if args.x + args.width > width or args.y + args.height > height:
        raise MoveError(f"the part reaches beyond the picture, which is {width}x{height}")
    yield from menu(hands, MenuArgs(path=("Image", "Canvas Size..."), opens=dialog))
    yield from _both(hands, dialog, args.width, args.height)
    yield from _number(hands, dialog, 2, -args.x)
    yield from _number(hands, dialog, 3, -args.y)
    yield from pick(hands, PickArgs(choice="All layers", field="Resize layers", within=dialog))
    yield from press(hands, PressArgs(button="Resize", dialog=dialog))
    wanted = (args.width, args.height)
    hands.wait(lambda: _size(hands) == wanted, f"the picture does not become {args.width}x{args.height}")


class RotateArgs(MoveArgs):
    main: ClassVar[str] = "degrees"
    degrees: Literal[90, 180, 270] = Field(description="clockwise")


@move("rotate_image", RotateArgs)
def rotate_image(hands: Hands, args: RotateArgs) -> Acts:
    """Turn the whole picture by quarters."""
    entry = {90: "Rotate 90* clockwise", 180: "Rotate 180*", 270: "Rotate 90* counter-clockwise"}[args.degrees]
    yield from _choose(hands, ("Image", "Transform", entry))


class FlipArgs(MoveArgs):
    main: ClassVar[str] = "direction"
    direction: Literal["horizontally", "vertically"]


@move("flip_image", FlipArgs)
def flip_image(hands: Hands, args: FlipArgs) -> Acts:
    """Flip the whole picture like in a mirror."""
    yield from _choose(hands, ("Image", "Transform", f"Flip {args.direction.capitalize()}"))


class ImageModeArgs(MoveArgs):
    main: ClassVar[str] = "mode"
    mode: Literal["RGB", "Grayscale"]


@move("image_mode", ImageModeArgs)
def image_mode(hands: Hands, args: ImageModeArgs) -> Acts:
    """Change the picture's colour mode."""
    yield from _choose(hands, ("Image", "Mode", args.mode))


def _choose(hands: Hands, path: tuple[str, ...]) -> Acts:
    done = _done(hands)
    yield from menu(hands, MenuArgs(path=path))
    hands.wait(done, f"nothing comes of {' > '.join(path)}", 15.0)


class FilterArgs(MoveArgs):
    main: ClassVar[str] = "path"
    path: tuple[str, ...] = Field(min_length=2, description="from the menu bar down: [Colors, Invert]")
    numbers: tuple[float | None, ...] = Field(
        (), description="for the dialog's number fields, from the top; null leaves"
    )
    choices: dict[str, str] = Field(default={}, description="label of a list in the dialog to what is chosen")
    boxes: dict[str, bool] = Field(default={}, description="label of a box in the dialog to whether it is ticked")


@move("image_filter", FilterArgs)
def image_filter(hands: Hands, args: FilterArgs) -> Acts:
    """Apply a filter or a colour operation from the menus, with numbers and choices for its dialog."""
    done = _done(hands)
    yield from menu(hands, MenuArgs(path=args.path))
    if args.path[-1].endswith(("...", "…")):
        dialog = yield from _dialog(hands)
        for nth, value in enumerate(args.numbers):
            if value is not None:
                yield from _number(hands, dialog, nth, value)
        for label, choice in args.choices.items():
            yield from pick(hands, PickArgs(choice=choice, field=label, within=dialog))
        for label, ticked in args.boxes.items():
            yield from (check if ticked else uncheck)(hands, CheckArgs(name=label, within=dialog))
        yield from press(hands, PressArgs(button="OK", dialog=dialog))
    hands.wait(done, f"nothing comes of {' > '.join(args.path)}", 20.0)


def _dialog(hands: Hands) -> Acts:
    """The title of the dialog that came into front."""

    def title() -> str | None:
        front = next((w.title for w in hands.slot.windows() if w.active), None)
        return None if front is None or front.endswith("GIMP") else front

    if not hands.becomes(title, 3.0):
        yield hands.pause(0.5, until=title)
    return hands.wait(title, "no dialog appeared")


class AdjustArgs(MoveArgs):
    brightness: int = Field(0, ge=-127, le=127)
    contrast: int = Field(0, ge=-127, le=127)


@move("adjust_brightness", AdjustArgs)
def adjust_brightness(hands: Hands, args: AdjustArgs) -> Acts:
    """Change the picture's brightness and contrast."""
    numbers = (args.brightness, args.contrast)
    yield from image_filter(hands, FilterArgs(path=("Colors", "Brightness-Contrast..."), numbers=numbers))


class ExportArgs(MoveArgs):
    main: ClassVar[str] = "path"
    path: str = Field(pattern=r"^~/.+\.\w+$", description="its suffix says the form: ~/Pictures/photo.jpg")
    quality: int | None = Field(None, ge=0, le=100, description="of a JPEG file")


@move("export_image", ExportArgs)
def export_image(hands: Hands, args: ExportArgs) -> Acts:
    """Export the picture under a name, in the form that the suffix says; an existing file is replaced."""
    chooser, file = "Export Image", Path(hands.slot.home) / args.path[2:]
    before = stamp(file)
    yield from menu(hands, MenuArgs(path=("File", "Export As..."), opens=chooser))
    yield from fill(hands, FillArgs(text=f"/home/{USER}/{args.path[2:]}", field="Name", within=chooser))
    heard = partial(_heard, hands, chooser, file, before)
    for _ in (1, 2):  # the first click may only close a list of completions
        yield hands.click(hands.find("Export", "push button", app=APP, within=chooser), until=heard)
        if hands.becomes(heard, 0.5):
            break
    yield from _export(hands, file, before, args)


@move("overwrite_image", ExportArgs)
def overwrite_image(hands: Hands, args: ExportArgs) -> Acts:
    """Export the picture back into the file that it was opened from."""
    file = Path(hands.slot.home) / args.path[2:]
    before = stamp(file)
    try:
        yield from menu(hands, MenuArgs(path=("File", f"Overwrite {file.name}")))
    except NotOfferedError:  # it was exported to this file before
        yield from menu(hands, MenuArgs(path=("File", f"Export to {file.name}")))
    yield from _export(hands, file, before, args)


def _asked(hands: Hands) -> Element | None:
    """What asks something about an export: a plug-in's dialog, which is an application of its own, or a question."""
    others = [w for w in hands.slot.windows() if not w.title.endswith("GIMP") and w.title != "Export Image"]
    if not others:
        return None
    return hands.look(None, ("dialog", "alert"), where=lambda e: len(e.path) == 1 and e.name != "Export Image")


def _heard(hands: Hands, chooser: str, file: Path, before: object) -> bool:
    return _asked(hands) is not None or hands.window(chooser) is None or stamp(file) != before


def _export(hands: Hands, file: Path, before: object, args: ExportArgs) -> Acts:
    """Answer what is asked on the way until the file has been written."""

    def written() -> bool:
        return stamp(file) != before and file.stat().st_size > 0 and _asked(hands) is None

    def ready() -> bool:
        return written() or _asked(hands) is not None

    for _ in range(4):
        hands.wait(ready, f"nothing comes of exporting {args.path}", 20.0)
        dialog = _asked(hands)
        if dialog is None:
            break
        if dialog.name.startswith("Export Image as ") and args.quality is not None:
            yield from _number(hands, dialog.name, 0, args.quality)
        yield from _answer(hands, dialog)
    hands.wait(written, f"{args.path} is not written", 20.0)


def _answer(hands: Hands, dialog: Element) -> Acts:
    def button() -> Element | None:
        found = (hands.look(name, "push button", within=dialog.name) for name in _ANSWERS)
        return next((each for each in found if each is not None), None)

    closed = hands.gone(dialog.name, dialog.role)
    yield hands.click(hands.wait(button, f"{dialog.name!r} has no button to go on"), until=closed)
    hands.wait(closed, f"{dialog.name!r} stays open")
