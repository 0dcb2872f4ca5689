"""A sheet of pairs for the eye: of each a part of its screenshot with the box drawn, and the instruction below."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from forge.records import GroundingPair

if TYPE_CHECKING:
    from PIL import Image

PART = (300, 170)
"""Width and height of what is shown around an element, in pixels."""
LINES = 3
_LINE = 13
_TOP = 15


def sheet(pairs: Sequence[GroundingPair], get_blob: Callable[[str], bytes], columns: int = 10) -> bytes:
    """A PNG with every pair, numbered row by row; a refusal shows its whole screen."""
    from PIL import Image, ImageDraw, ImageFont

    width, height = PART[0] + 8, PART[1] + _TOP + LINES * _LINE + 8
    rows = -(-len(pairs) // columns)
    canvas = Image.new("RGB", (columns * width, max(1, rows) * height), "white")
    draw = ImageDraw.Draw(canvas)
    font = ImageFont.load_default(11)
    for number, pair in enumerate(pairs):
        left, top = number % columns * width + 4, number // columns * height + 4
        draw.text((left, top), f"{number + 1}  {pair.target.app}  {pair.style.value}", "#888", font)
        canvas.paste(_part(pair, get_blob(pair.screenshot)), (left, top + _TOP))
        text = textwrap.wrap(pair.instruction, 50)[:LINES]
        for line, words in enumerate(text):
            draw.text((left, top + _TOP + PART[1] + 1 + line * _LINE), words, "black", font)
    out = io.BytesIO()
    canvas.quantize(128, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def _part(pair: GroundingPair, png: bytes) -> Image.Image:
    from PIL import Image, ImageDraw

    picture = Image.open(io.BytesIO(png)).convert("RGB")
    if pair.box is None:
        return _fitted(picture)
    x, y, width, height = pair.box
    ImageDraw.Draw(picture).rectangle((x - 1, y - 1, x + width, y + height), outline="red", width=2)
    share = max(1.0, (width + 40) / PART[0], (height + 30) / PART[1])
    w, h = int(PART[0] * share), int(PART[1] * share)
    left = min(max(0, x + width // 2 - w // 2), max(0, picture.width - w))
    top = min(max(0, y + height // 2 - h // 2), max(0, picture.height - h))
    return _fitted(picture.crop((left, top, min(picture.width, left + w), min(picture.height, top + h))))


def _fitted(picture: Image.Image) -> Image.Image:
    from PIL import Image

    share = min(PART[0] / picture.width, PART[1] / picture.height, 1.0)
    small = picture.resize((max(1, int(picture.width * share)), max(1, int(picture.height * share))))
    part = Image.new("RGB", PART, "#eee")
    part.paste(small, (0, 0))
    return part
