"""The prompts of authoring: Jinja templates in files, see `forge.llm.prompts`."""

from __future__ import annotations

from pathlib import Path

from forge.llm.prompts import Prompts

PROMPTS = Prompts(Path(__file__).parent)
