"""Pictures that a model is shown: a screenshot, scaled down where the harness says so, or a region of one, larger.

Serving and training both make them here, from the stored screenshot, so that they are the same bytes.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

from PIL import Image

from forge.records import Zoom

ZOOM_FACTOR = 4
"""A zoomed region is enlarged at most so much; more shows no more."""


@dataclass(frozen=True)
class Picture:
    """One picture of a prompt, by content.

    Args:
        screenshot: blob of the PNG it is made from.
        width: greatest width in pixels; 0 keeps the screenshot's.
        region: (left, top, right, bottom) as fractions of the screenshot; None shows all of it.
    """

    screenshot: str
    width: int = 0
    region: tuple[float, float, float, float] | None = None

    @property
    def reference(self) -> str:
        """A stable text that names the picture, for training rows: `blob:SHA256?width=1280&region=0,0,0.5,0.5`."""
        region = "" if self.region is None else "&region=" + ",".join(f"{part:g}" for part in self.region)
        return f"blob:{self.screenshot}?width={self.width}{region}"

    @classmethod
    def parse(cls, reference: str) -> Picture:
        """Read `reference` back."""
        blob, _, query = reference.removeprefix("blob:").partition("?")
        values = dict(part.split("=", 1) for part in query.split("&"))
        region = tuple(float(part) for part in values["region"].split(",")) if "region" in values else None
        return cls(blob, int(values["width"]), region)  # type: ignore[arg-type]


def zoomed(screenshot: str, action: Zoom, width: int) -> Picture:
    """The picture that a zoom on a screenshot gives."""
    region = (action.top_left.x, action.top_left.y, action.bottom_right.x, action.bottom_right.y)
    return Picture(screenshot, width, tuple(round(part, 6) for part in region))  # type: ignore[arg-type]


def paint(png: bytes, picture: Picture) -> bytes:
    """The PNG bytes of `picture`, made from the screenshot's PNG. Unchanged bytes when there is nothing to do."""
    if picture.region is None:
        width = _width(png)
        if not picture.width or width <= picture.width:
            return png
        image = Image.open(io.BytesIO(png)).convert("RGB")
        size = (picture.width, max(1, round(image.height * picture.width / image.width)))
        return _png(image.resize(size, Image.Resampling.LANCZOS))
    image = Image.open(io.BytesIO(png)).convert("RGB")
    left, top, right, bottom = picture.region
    box = (
        int(left * image.width),
        int(top * image.height),
        int(right * image.width) + 1,
        int(bottom * image.height) + 1,
    )
    part = image.crop((box[0], box[1], min(box[2], image.width), min(box[3], image.height)))
    factor = min(ZOOM_FACTOR, (picture.width or image.width) / part.width, image.height / part.height)
    size = (max(1, round(part.width * factor)), max(1, round(part.height * factor)))
    return _png(part.resize(size, Image.Resampling.LANCZOS) if size != part.size else part)


def _width(png: bytes) -> int:
    return int.from_bytes(png[16:20], "big")  # the IHDR chunk always comes first


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()
