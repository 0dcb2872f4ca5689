"""A workflow, read and checked: the declarative text of one skill, ready to be drawn from."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from forge.records import JSON, Channel, Skill
from skills.language.located import Place
from skills.language.solution import SolutionTemplate
from skills.language.template import Record, Sequence, Template
from skills.language.wording import Wording
from skills.nodes.base import Node
from skills.nodes.sample import Sample

LANGUAGE = 1
"""Version of the language: raised when the same text means something else. Part of every workflow's version."""


@dataclass(frozen=True)
class Requirement:
    """A condition that a draw must meet; a draw that does not is thrown away and drawn again."""

    condition: Template
    text: str
    place: Place


@dataclass(frozen=True)
class Workflow:
    """One skill's workflow.

    Attributes:
        skill: the skill that it draws tasks of.
        version: the hash of its content: YAML (comments apart), scripts, versions of preparers and kinds of draws. Banks
            and wording are not in it: what is drawn from them is part of each task's resolved object.
        path: the workflow file.
        source: its files by name, as text, to be kept with its tasks.
        order: parameters, nodes and `guest` in an order in which they can be made.
        remarks: what is allowed but below the library's standard.
        unread: parameters and nodes that nothing reads; `remarks` names them too.
    """

    skill: Skill
    version: str
    path: Path
    source: dict[str, str] = field(repr=False)
    guest: Record = field(repr=False)
    params: dict[str, Sample] = field(repr=False)
    nodes: dict[str, Node] = field(repr=False)
    order: tuple[str, ...] = field(repr=False)
    requires: tuple[Requirement, ...] = field(repr=False)
    start: Sequence = field(repr=False)
    wording: Wording = field(repr=False)
    solutions: dict[Channel, SolutionTemplate] = field(repr=False)
    rubric: Sequence = field(repr=False)
    remarks: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The channels that it has solutions for."""
        return tuple(self.solutions)

    @property
    def steps(self) -> dict[str, Node]:
        """Parameters and nodes together, by name."""
        return {**self.params, **self.nodes}

    @property
    def place(self) -> Place:
        """Where it begins."""
        return Place(str(self.path), 1)

    def inputs(self, name: str, scope: dict[str, JSON]) -> JSON:
        """The rendered inputs of a parameter or node."""
        return self.steps[name].render(scope)
