"""The pictures of some examples, decoded once and scaled down: an example's own, or, for a control, others'."""

from __future__ import annotations

import random
from collections.abc import Sequence

from PIL import Image

from forge.records import sha256_hex
from training.batch import decode
from training.example import Example


class Gallery:
    """The distinct pictures of some examples, decoded once and scaled down."""

    def __init__(self, examples: Sequence[Example], pixels: int):
        self.pictures: dict[str, Image.Image] = {}
        self.occurrences: list[str] = []
        for example in examples:
            for picture in example.images:
                name = sha256_hex(picture)
                self.occurrences.append(name)
                if name not in self.pictures:
                    self.pictures[name] = _scaled(decode(picture, f"picture {name[:12]}"), pixels)

    def own(self, example: Example) -> list[Image.Image]:
        """The example's own pictures."""
        return [self.pictures[sha256_hex(picture)] for picture in example.images]

    def others(self, example: Example, draw: random.Random) -> list[Image.Image]:
        """As many pictures, each drawn from all places where a picture stands in the examples."""
        return [self.pictures[draw.choice(self.occurrences)] for _ in example.images]


def _scaled(picture: Image.Image, pixels: int) -> Image.Image:
    """Scaled down with its aspect ratio to at most `pixels`; a smaller picture stays as it is."""
    factor = (pixels / (picture.width * picture.height)) ** 0.5
    if factor >= 1:
        return picture
    return picture.resize(
        (max(1, int(picture.width * factor)), max(1, int(picture.height * factor))), Image.Resampling.BOX
    )
