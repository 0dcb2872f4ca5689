"""Skills: atomic abilities, the leaves of the taxonomy."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from forge.records.base import Record

Channel = Literal["gui", "terminal", "hybrid"]
"""How a solution or a harness acts: through windows, through a shell, or both."""

SKILL_ID = r"^[a-z][a-z0-9]*\.[a-z][a-z0-9-]*\.[a-z][a-z0-9]*(-[a-z0-9]+)+$"


class SkillState(StrEnum):
    CANDIDATE = "candidate"
    AUTHORED = "authored"
    RETIRED = "retired"


class Skill(Record):
    """One atomic ability, id `app.area.verb-object`, e.g. `calc.formula.total-below-column`."""

    id: str = Field(pattern=SKILL_ID)
    apps: tuple[str, ...] = Field(min_length=1)
    title: str
    description: str = ""
    affinity: Literal["gui", "terminal", "either"] = "either"
    parameters: dict[str, str] = Field(default_factory=dict, description="parameter name to its type, for listings")
    origin: str = Field("library", description="where it came from: library, harvest, expand, person")
    round: int = Field(0, ge=0, description="the round that added it")
    state: SkillState = SkillState.AUTHORED
