"""Register a round: validate the skills and workflows it is to draw from, and write them to the warehouse."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass

import skills
from forge.records import InputError
from skills import Workflow
from warehouse import Warehouse


@dataclass(frozen=True)
class Plan:
    """What a round is to make: so many accepted tasks of each workflow."""

    round: int
    workflows: tuple[Workflow, ...]
    tasks: int


def choose(patterns: Sequence[str] = ()) -> list[Workflow]:
    """Load the library's workflows whose skill id matches one of the shell patterns; all of them without a pattern.

    Raises:
        InputError: a workflow is broken (file and line), or a pattern matches none.
    """
    ids = {path.parent.name: path for path in skills.library()}
    for pattern in patterns:
        if not fnmatch.filter(ids, pattern):
            raise InputError(f"no skill matches {pattern!r}", mend=f"known are {', '.join(sorted(ids))}")
    chosen = [path for name, path in ids.items() if not patterns or any(fnmatch.fnmatchcase(name, p) for p in patterns)]
    return [skills.load(path) for path in chosen]


def register(warehouse: Warehouse, workflows: Sequence[Workflow], *, tasks: int, round: int | None = None) -> Plan:
    """Write a round with its skills and workflows; a round that is there already is taken up again.

    Args:
        warehouse: where to.
        workflows: validated workflows.
        tasks: how many accepted tasks a workflow is to reach.
        round: its number; None: the unfinished round with the same plan, else the next number.
    """
    plan = {"workflows": sorted(w.version for w in workflows), "tasks": tasks}
    with warehouse.begin() as session:
        number = warehouse.register_round(session, plan, round)
        for workflow in workflows:
            warehouse.register_skill(session, workflow.skill.model_copy(update={"round": number}))
            warehouse.register_workflow(session, workflow.version, workflow.skill.id, workflow.source, number)
    return Plan(number, tuple(workflows), tasks)
