"""Models for the tests of descriptions."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class Inner(BaseModel):
    """Part of it."""

    at: tuple[float, ...] = Field(max_length=3)
    more: dict[str, int]


class Outer(BaseModel):
    """All of it."""

    name: str = Field(min_length=1, max_length=9, description="what it is called")
    kind: Literal["x", "a,b"] = "x"
    inner: tuple[Inner, ...] = ()
    size: int = Field(0, ge=0)
    pair: tuple[str, int] | None = None
    on: bool = False
    off: bool = False
