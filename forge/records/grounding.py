"""Grounding: where a thing that somebody asks for lies on a screenshot."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, model_validator

from forge.records.base import Record

Box = tuple[int, int, int, int]


class Style(StrEnum):
    """How an instruction points at its target."""

    NAME = "name"
    FUNCTION = "function"
    POSITION = "position"
    REFUSAL = "refusal"


class GroundingTarget(Record):
    """A thing that can be pointed at, apart from any picture of it. Its id is its digest.

    `context` says where it belongs: a window, menu, dialog or page. Of a refusal it is what is absent there.
    """

    app: str
    context: str
    role: str
    name: str


class GroundingPair(Record):
    """An instruction and where its target lies on one screenshot; `box` is None where the right answer is to refuse.

    The box is (x, y, width, height) in pixels of the screenshot.
    """

    target: GroundingTarget
    style: Style
    instruction: str
    screen: str = Field(description="key of the screen in the harvest")
    screenshot: str = Field(description="PNG blob")
    width: int
    height: int
    box: Box | None = None

    @model_validator(mode="after")
    def _box_or_refusal(self) -> GroundingPair:
        if (self.box is None) != (self.style is Style.REFUSAL):
            raise ValueError("a refusal has no box, and everything else has one")
        return self


class GroundingScreen(Record):
    """One screen of a harvest: its picture, and all that is known of it (a blob with JSON, zlib-compressed)."""

    key: str = Field(description="part of the harvest and number within it")
    part: str
    app: str
    window: str = Field("", description="title of the active window")
    width: int
    height: int
    screenshot: str = Field(description="PNG blob")
    sight: str = Field(description="blob")
