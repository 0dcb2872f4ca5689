"""Harnesses: scaffold, tools, prompt, terminal environment and observation, all as data."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from forge.records.base import Record
from forge.records.skill import Channel


class TerminalSpec(Record):
    """The terminal environment: read-only layers on top of the guest's system."""

    commands: tuple[str, ...] = Field((), description="names of command layers, put first in PATH")
    python: tuple[str, ...] = Field((), description="names of Python layers, put on PYTHONPATH")


class ObservationSpec(Record):
    """What the model is shown after each turn, and how much of the past stays."""

    screenshot: bool = True
    width: int = Field(1280, ge=0, description="longest width of the picture the model sees, pixels; 0 = the screen's")
    elements: bool = Field(False, description="the accessibility tree as text, a line an element, with stable ids")
    screenshots_kept: int = Field(3, ge=0, description="latest screenshots that stay in the prompt")
    responses_kept: int = Field(
        4, ge=0, description="latest responses that stay complete; older ones become one line each"
    )
    output_limit: int = Field(8000, ge=200, description="characters of a command's output that the model sees")


class Harness(Record):
    """What stands between a model and a desktop. Its digest names it in the warehouse."""

    name: str
    channel: Channel
    scaffold: Literal["tool-loop"] = "tool-loop"
    tools: tuple[Literal["computer", "bash", "answer", "done"], ...] = Field(min_length=1)
    actions: tuple[str, ...] = Field((), description="allowed kinds of the computer tool; empty: all")
    dialect: str = Field("forge", description="how tools and coordinates look on the wire")
    system_prompt: str = Field(description="Jinja template; sees task-independent facts only")
    terminal: TerminalSpec = TerminalSpec()
    observation: ObservationSpec = ObservationSpec()
    max_turns: int = Field(50, ge=1, le=1000)
    max_seconds: float = Field(1800, gt=0)
    actions_per_turn: int = Field(8, ge=1, le=64)
