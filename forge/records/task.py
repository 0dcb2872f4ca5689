"""Tasks: one draw of a workflow, complete: everything that an episode and its grading need."""

from __future__ import annotations

from pydantic import Field, model_validator

from forge.records.artifact import Artifact, GuestPath
from forge.records.base import JSON, Record
from forge.records.canonical import digest
from forge.records.guest import Guest
from forge.records.rubric import Rubric
from forge.records.skill import Channel


class Start(Record):
    """An application that is open, ready and in view when the agent begins."""

    app: str
    path: GuestPath | None = None


class Step(Record):
    """One step of a solution: `bash` (a command), `answer` (a text), or a named move with its argument.

    A move is semantic ("select B2", "menu Data > Sort..."); the oracle resolves it to canonical actions at play time.
    """

    move: str
    value: JSON = None


class Solution(Record):
    """How a task can be solved through one channel."""

    channel: Channel
    steps: tuple[Step, ...] = Field(min_length=1)


class Task(Record):
    """One draw. Its id is the hash of the workflow's content and the resolved object, and of nothing else.

    `resolved` is the only thing that instruction, artifacts, solutions and rubric were rendered from.
    """

    skill: str
    workflow: str = Field(pattern=r"^[0-9a-f]{64}$", description="the workflow's version: the hash of its content")
    seed: int = Field(ge=0)
    apps: tuple[str, ...]
    guest: Guest
    resolved: dict[str, JSON]
    instruction: str = Field(min_length=1)
    artifacts: tuple[Artifact, ...] = ()
    start: tuple[Start, ...] = ()
    rubric: Rubric
    solutions: tuple[Solution, ...] = Field(min_length=1)

    @property
    def id(self) -> str:
        """Hex SHA-256; a growing bank or another seed that draws the same values names the same task."""
        return task_id(self.workflow, self.resolved)

    @model_validator(mode="after")
    def _one_solution_a_channel(self) -> Task:
        channels = [s.channel for s in self.solutions]
        if len(set(channels)) != len(channels):
            raise ValueError(f"one solution a channel, got {channels}")
        return self

    def solution(self, channel: Channel) -> Solution | None:
        """The solution through `channel`, if the task declares one."""
        return next((s for s in self.solutions if s.channel == channel), None)


def task_id(workflow: str, resolved: dict[str, JSON]) -> str:
    """The id of the task that `resolved` makes under the workflow of this version (64 hex digits)."""
    return digest({"workflow": workflow, "resolved": resolved})
