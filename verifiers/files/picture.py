"""What size a picture has: `files.image_size`."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from forge.records import VerifierError
from forge.records.artifact import GuestPath
from preparers.files.params import suffix_of
from preparers.files.pictures import FORMATS
from preparers.files.reading import image_size
from verifiers.base import AgentFault, Args, Case, Finding, Mutant, check, mutants
from verifiers.files import spoiling

if TYPE_CHECKING:
    from PIL import Image

PIXEL_LIMIT = 40_000_000

SIMILAR = 16.0
"""Mean difference (0..255) of two pictures, both shrunk to 32 x 32, below which they show the same."""


class ImageSize(Args):
    """A picture must be this large and, with `like`, still show what another one showed before."""

    path: GuestPath
    width: int = Field(ge=1, description="pixels")
    height: int = Field(ge=1, description="pixels")
    format: Literal["png", "jpeg", "gif", "bmp"] | None = None
    like: GuestPath | None = Field(None, description="a picture of the state before that shows the same")


@check("files.image_size", ImageSize)
def size(case: Case, args: ImageSize) -> Finding:
    """A picture has the expected width and height and can be opened."""
    data = case.after.read(args.path)
    if data is None:
        return Finding(0.0, f"{args.path} is no file or does not exist")
    with case.after.reading(args.path):
        width, height, form = image_size(args.path, data)
    evidence = f"{args.path} is a {form} of {width} x {height}; expected {args.width} x {args.height}"
    if (width, height) != (args.width, args.height) or (args.format and form != args.format):
        return Finding(0.0, evidence + (f" {args.format}" if args.format else ""))
    picture = _open(args.path, data)
    if args.like is None:
        return Finding(1.0, evidence)
    original = case.before.read(args.like)
    if original is None:
        raise VerifierError(f"files.image_size compares with {args.like} (before), which does not exist")
    difference = _distance(picture, _open(args.like, original))
    same = difference < SIMILAR
    return Finding(float(same), f"{evidence}; it shows {'the same as' if same else 'something else than'} {args.like}")


@mutants("files.image_size")
def other_sizes(case: Case, args: ImageSize, rng: random.Random) -> Iterator[Mutant]:
    """One pixel off, sides swapped, cut off; with `like`, another picture of the right size."""
    data = case.after.read(args.path) or b""
    picture = _open(args.path, data)
    w, h = args.width, args.height
    yield Mutant("pixel-more", _resized(args, picture, w + 1, h))
    if w != h:
        yield Mutant("sides-swapped", _resized(args, picture, h, w))
    yield Mutant("pixel-less", _resized(args, picture, w, max(1, h - 1) if h > 1 else 2), audit=True)
    yield Mutant("double", _resized(args, picture, 2 * w, 2 * h), audit=True)
    yield Mutant("cut-off", spoiling.write(args.path, data[: max(8, len(data) // 3)]))
    if args.like is not None:
        from PIL import Image, ImageOps

        blank = Image.new("RGB", (w, h), "#ff00ff")
        yield Mutant("blank", spoiling.write(args.path, encoded(blank, args.path)))
        yield Mutant("negative", spoiling.write(args.path, encoded(ImageOps.invert(picture), args.path)), audit=True)


def encoded(picture: Image.Image, path: str) -> bytes:
    """A picture as the bytes of a file called `path`."""
    target = io.BytesIO()
    picture.save(target, FORMATS.get(suffix_of(path), "PNG"))
    return target.getvalue()


def _resized(args: ImageSize, picture: Image.Image, width: int, height: int) -> spoiling.Change:
    return spoiling.write(args.path, encoded(picture.resize((width, height)), args.path))


def _open(path: str, data: bytes) -> Image.Image:
    from PIL import Image, UnidentifiedImageError

    width, height, _ = image_size(path, data)
    if width * height > PIXEL_LIMIT:
        raise AgentFault(f"{path} has {width} x {height} pixels, more than a grader opens")
    try:
        with Image.open(io.BytesIO(data)) as picture:
            return picture.convert("RGB")
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError) as error:
        raise AgentFault(f"{path} cannot be opened as a picture: {error}") from error


def _distance(one: Image.Image, two: Image.Image) -> float:
    from PIL import ImageChops, ImageStat

    small = (32, 32)
    difference = ImageChops.difference(one.resize(small), two.resize(small))
    return sum(ImageStat.Stat(difference).mean) / 3
