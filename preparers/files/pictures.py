"""Pictures drawn from a few numbers: not art, but something to look at, the same bytes each time with one Pillow."""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING

from preparers.files.params import ImageItem, suffix_of

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".gif": "GIF", ".bmp": "BMP"}

PALETTES = (
    ("#87b5d9", "#f3dfc1", "#5b7f4c", "#38542f", "#f7c64b"),
    ("#2c3e63", "#e98a5b", "#3d2b3d", "#251a29", "#ffd9a0"),
    ("#a9c9cf", "#e9eef0", "#7d8f99", "#4f5d66", "#ffffff"),
    ("#6fa8dc", "#d9ead3", "#93a85a", "#6b7a3a", "#fff2cc"),
    ("#c9b6d8", "#fbe9e7", "#a27a8a", "#6d4c5d", "#ffe0b2"),
)


def picture(item: ImageItem) -> bytes:
    """The picture's file, in the format of its suffix."""
    from PIL import Image, ImageDraw

    numbers = hashlib.sha256(f"{item.scene}:{item.variant}".encode()).digest()
    image = Image.new("RGB", (item.width, item.height), "#ffffff")
    draw = ImageDraw.Draw(image)
    colours = PALETTES[numbers[0] % len(PALETTES)]
    _SCENES[item.scene](draw, item.width, item.height, colours, numbers)
    return encoded(image, item.path)


def encoded(image: Image.Image, name: str) -> bytes:
    """An image as the bytes of a file called `name`, without time stamps."""
    target = io.BytesIO()
    image.save(target, FORMATS[suffix_of(name)])
    return target.getvalue()


def _sky(draw: ImageDraw.ImageDraw, width: int, height: int, top: str, bottom: str) -> None:
    one, two = _rgb(top), _rgb(bottom)
    for y in range(height):
        share = y / max(1, height - 1)
        draw.line(((0, y), (width, y)), fill=tuple(round(a + (b - a) * share) for a, b in zip(one, two, strict=True)))


def _landscape(draw: ImageDraw.ImageDraw, w: int, h: int, colours: tuple[str, ...], n: bytes) -> None:
    _sky(draw, w, h, colours[0], colours[1])
    x, y, r = w * n[1] // 255, h * (40 + n[2] // 4) // 400, max(1, min(w, h) // 12)
    draw.ellipse((x - r, y - r, x + r, y + r), fill=colours[4])
    for layer, colour in enumerate(colours[2:4]):
        points = [(w * i // 6, h * (50 + 18 * layer + n[3 + 7 * layer + i] % 18) // 100) for i in range(7)]
        draw.polygon([(0, h), *points, (w, h)], fill=colour)


def _portrait(draw: ImageDraw.ImageDraw, w: int, h: int, colours: tuple[str, ...], n: bytes) -> None:
    _sky(draw, w, h, colours[1], colours[0])
    r = max(1, min(w, h) // 5)
    draw.ellipse((w // 2 - 2 * r, h - 2 * r, w // 2 + 2 * r, h + 2 * r), fill=colours[3])
    skin = ("#e8c39e", "#c68642", "#8d5524", "#f1c9a5")[n[1] % 4]
    draw.ellipse((w // 2 - r, h // 2 - r, w // 2 + r, h // 2 + r), fill=skin)
    draw.pieslice((w // 2 - r, h // 2 - r, w // 2 + r, h // 2 + r), 180, 360, fill=("#3b2a1a", "#111111")[n[2] % 2])


def _chart(draw: ImageDraw.ImageDraw, w: int, h: int, colours: tuple[str, ...], n: bytes) -> None:
    bars = 4 + n[1] % 5
    for i in range(bars):
        top = h * (15 + n[2 + i] % 70) // 100
        draw.rectangle(
            (w * (2 * i + 1) // (2 * bars + 1), top, w * (2 * i + 2) // (2 * bars + 1), h - h // 20), colours[2]
        )
    draw.line(((0, h - h // 20), (w, h - h // 20)), fill="#444444", width=max(1, h // 200))


def _scan(draw: ImageDraw.ImageDraw, w: int, h: int, colours: tuple[str, ...], n: bytes) -> None:
    draw.rectangle((0, 0, w, h), fill="#fbfaf5")
    lines = 12 + n[1] % 10
    for i in range(lines):
        y, length = h * (i + 2) // (lines + 4), 50 + n[2 + i % 28] % 45
        draw.rectangle((w // 10, y, w * length // 110, y + max(1, h // 120)), fill="#55534c")


def _logo(draw: ImageDraw.ImageDraw, w: int, h: int, colours: tuple[str, ...], n: bytes) -> None:
    r = max(1, min(w, h) * 2 // 5)
    box = (w // 2 - r, h // 2 - r, w // 2 + r, h // 2 + r)
    draw.ellipse(box, fill=colours[2])
    draw.pieslice(box, n[1], n[1] + 90 + n[2] // 2, fill=colours[4])


def _plain(draw: ImageDraw.ImageDraw, w: int, h: int, colours: tuple[str, ...], n: bytes) -> None:
    draw.rectangle((0, 0, w, h), fill=colours[n[1] % len(colours)])


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


_SCENES = {
    "landscape": _landscape, "portrait": _portrait, "chart": _chart, "scan": _scan, "logo": _logo, "plain": _plain,
}  # fmt: skip
