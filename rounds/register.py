"""Register a round: validate the skills and workflows it is to draw from, divide its tasks among them, and write it down."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy.engine import Connection

import skills
from forge.records import JSON, InputError, digest
from skills import Workflow
from skills.feedback import Standing, apportion, standings
from warehouse import Warehouse
from warehouse.shares import add_shares, shares_of, student_results


@dataclass(frozen=True)
class Plan:
    """What a round is to make.

    Attributes:
        round: its number.
        workflows: what it draws from, one of a skill.
        tasks: accepted tasks a skill, on average.
        standings: what a student came to in each skill, with its share.
        counts: accepted tasks that each skill is to reach.
    """

    round: int
    workflows: tuple[Workflow, ...]
    tasks: int
    standings: tuple[Standing, ...]
    counts: Mapping[str, int]

    def of(self, workflow: Workflow) -> int:
        """Accepted tasks that a workflow is to reach; 0 for one of a retired skill."""
        return self.counts[workflow.skill.id]

    @property
    def draws(self) -> dict[str, int]:
        """The same by workflow version: how often each is drawn at first."""
        return {w.version: self.of(w) for w in self.workflows}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row a skill, for people: its standing, its share, its tasks."""
        return [{**asdict(s), "tasks": self.counts[s.skill]} for s in self.standings]


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


def register(
    warehouse: Warehouse,
    workflows: Sequence[Workflow],
    *,
    tasks: int,
    round: int | None = None,
    even: bool = False,
    named: Collection[str] = (),
) -> Plan:
    """Write a round with its skills, workflows and plan; a round that is there already is taken up again, with its plan.

    Args:
        warehouse: where to.
        workflows: validated workflows.
        tasks: how many accepted tasks a skill is to reach on average. They are divided by what a student came to: weak skills
            get more, retired ones none (`skills.feedback`).
        round: its number; None: the unfinished round with the same plan, else the next number.
        even: the same number for every skill, whatever a student came to.
        named: skills that are wanted even if they are retired: what a person asked for by its whole id. Others may be in it.

    Raises:
        InputError: all skills are retired.
    """
    plan = _description(workflows, tasks, even)
    with warehouse.begin() as session:
        number = warehouse.register_round(session, plan, round)
        found = _divide(session, workflows, tasks, number, plan, even, named)
        add_shares(session, number, [{**row, "plan": digest(plan)} for row in found.rows])
        for workflow in workflows:
            warehouse.register_skill(session, workflow.skill.model_copy(update={"round": number}))
            warehouse.register_workflow(session, workflow.version, workflow.skill.id, workflow.source, number)
    return found


def preview(
    warehouse: Warehouse,
    workflows: Sequence[Workflow],
    *,
    tasks: int,
    round: int | None = None,
    even: bool = False,
    named: Collection[str] = (),
) -> Plan:
    """The plan that `register` would make, or find, without writing anything. Arguments and errors are the same."""
    plan = _description(workflows, tasks, even)
    with warehouse.read() as connection:
        number = warehouse.round_number(connection, plan, round)
        return _divide(connection, workflows, tasks, number, plan, even, named)


def round_of(warehouse: Warehouse, workflows: Sequence[Workflow], *, tasks: int, round: int | None = None) -> int:
    """The number of the round that `register` would write, or take up again."""
    with warehouse.read() as connection:
        return warehouse.round_number(connection, _description(workflows, tasks, False), round)


def standing_now(warehouse: Warehouse, workflows: Mapping[str, str]) -> dict[str, Standing]:
    """What a student came to, by skill, with the share of a next round of all these skills (skill to workflow version)."""
    with warehouse.read() as connection:
        return {s.skill: s for s in standings(student_results(connection, workflows))}


def _description(workflows: Sequence[Workflow], tasks: int, even: bool) -> dict[str, JSON]:
    """What tells a plan from others: not what students came to, or a round could not be taken up after they did."""
    plan: dict[str, JSON] = {"workflows": [*sorted(w.version for w in workflows)], "tasks": tasks}
    return {**plan, "even": True} if even else plan


def _divide(
    connection: Connection, workflows: Sequence[Workflow], tasks: int, number: int, plan: Mapping[str, JSON], even: bool,
    named: Collection[str],
) -> Plan:  # fmt: skip
    versions = {w.skill.id: w.version for w in workflows}
    kept = shares_of(connection, number, digest(dict(plan)))
    if kept.keys() >= versions.keys() and not any(kept[s]["tasks"] == 0 for s in versions if s in named):
        rows = [kept[skill] for skill in sorted(versions)]
        counts = {row["skill"]: row.pop("tasks") for row in rows}
        return Plan(number, tuple(workflows), tasks, tuple(Standing(**row) for row in rows), counts)
    found = standings(student_results(connection, versions, besides=number), named=versions if even else named)
    if found and not any(s.share for s in found):
        raise InputError(
            f"nothing is left to draw: {', '.join(s.skill for s in found)} are retired by what a student came to",
            mend="name one by its whole id with --skill, or draw evenly with --even",
        )
    counts = dict.fromkeys(versions, tasks) if even else apportion(found, tasks * len(workflows))
    return Plan(number, tuple(workflows), tasks, tuple(found), counts)
