"""The moves for GIMP, in a real window; what they did is read from the pictures by another library."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops

from forge.harness import MOVES
from forge.records import InputError


def picture() -> Image.Image:
    """240 x 160, different in every corner."""
    image = Image.new("RGB", (240, 160), (30, 60, 90))
    image.paste((250, 10, 10), (0, 0, 60, 40))
    image.paste((10, 240, 10), (180, 0, 240, 40))
    image.paste((240, 240, 20), (0, 120, 60, 160))
    return image


def as_png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


FILES = [("~/Pictures/card.png", as_png(picture()), 0o644, False)]
START = [("gimp", "~/Pictures/card.png")]


def saved(path: Path) -> Image.Image:
    """A picture read whole, so that its file is closed again."""
    with Image.open(path) as image:
        image.load()
        return image


def differs(one: Image.Image, other: Image.Image) -> int:
    """The largest difference of a pixel's channel."""
    assert one.size == other.size
    return max(high for _, high in ImageChops.difference(one.convert("RGB"), other.convert("RGB")).getextrema())


def test_a_size_is_needed() -> None:
    with pytest.raises(InputError, match="width or height is needed"):
        MOVES.get("scale_image").validate({})


@pytest.mark.desktop
def test_a_picture_is_turned_cropped_recoloured_and_overwritten(play_for_real: Callable[..., Any]) -> None:
    played = play_for_real(
        [
            {"flip_image": "horizontally"},
            {"rotate_image": 90},
            {"crop_image": {"x": 0, "y": 20, "width": 150, "height": 200}},
            {"image_filter": ["Colors", "Invert"]},
            {"overwrite_image": "~/Pictures/card.png"},
        ],
        files=FILES,
        start=START,
    )
    played.check()
    wanted = picture().transpose(Image.Transpose.FLIP_LEFT_RIGHT).transpose(Image.Transpose.ROTATE_270)
    wanted = ImageChops.invert(wanted.crop((0, 20, 150, 220)))
    assert differs(saved(played.home / "Pictures/card.png"), wanted) == 0


@pytest.mark.desktop
def test_a_picture_is_scaled_and_exported_in_other_forms(play_for_real: Callable[..., Any]) -> None:
    played = play_for_real(
        [
            {"scale_image": {"width": 120}},
            {"export_image": {"path": "~/Pictures/half.jpg", "quality": 95}},
            {"scale_image": {"width": 100, "height": 90}},
            {"image_mode": "Grayscale"},
            {"export_image": "~/Pictures/card.png"},
        ],
        files=FILES,
        start=START,
    )
    played.check()
    half = saved(played.home / "Pictures/half.jpg")
    assert (half.format, half.size, half.mode) == ("JPEG", (120, 80), "RGB")
    card = saved(played.home / "Pictures/card.png")
    assert (card.format, card.size, card.mode) == ("PNG", (100, 90), "L")


@pytest.mark.desktop
@pytest.mark.slow
def test_brightness_and_blur_take_their_numbers(play_for_real: Callable[..., Any]) -> None:
    played = play_for_real(
        [
            {"adjust_brightness": {"brightness": 40}},
            {"export_image": "~/Pictures/bright.png"},
            {"image_filter": {"path": ["Filters", "Blur", "Gaussian Blur..."], "numbers": [8, 8]}},
            {"export_image": "~/Pictures/soft.png"},
            {"open_image": "~/Pictures/bright.png"},
            {"image_filter": ["Colors", "Desaturate", "Desaturate..."]},
            {"export_image": "~/Pictures/grey.png"},
        ],
        files=FILES,
        start=START,
    )
    played.check()
    before, bright = picture().getpixel((120, 80)), saved(played.home / "Pictures/bright.png").getpixel((120, 80))
    assert all(20 < new - old < 80 for old, new in zip(before, bright, strict=True))
    soft = saved(played.home / "Pictures/soft.png")
    edge = soft.getpixel((60, 20))[0]
    assert 80 < edge < 220, "the edge of the red corner is between both colours"
    red, green, blue = saved(played.home / "Pictures/grey.png").convert("RGB").getpixel((20, 20))
    assert red == green == blue
