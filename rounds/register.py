"""Register a round: validate the skills and workflows it is to draw from, divide its tasks among them, and write it down."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from typing import Any

from sqlalchemy.engine import Connection

import skills
from forge.records import JSON, InputError, digest
from skills import Workflow
from skills.feedback import Standing, apportion, standings
from skills.loading import require_known
from warehouse import Warehouse
from warehouse.shares import add_shares, shares_of, student_results


@dataclass(frozen=True)
class Wish:
    """What is wanted of a round.

    Args:
        workflows: validated workflows, one of a skill.
        tasks: how many accepted tasks a skill is to reach on average. They are divided by what a student came to: weak skills
            get more, retired ones none (`skills.feedback`).
        round: its number; None: the unfinished round with the same plan, else the next number.
        even: the same number for every skill, whatever a student came to.
        named: skills that are wanted even if they are retired: what a person asked for by its whole id. Others may be in it.
    """

    workflows: Sequence[Workflow]
    _: KW_ONLY
    tasks: int
    round: int | None = None
    even: bool = False
    named: Collection[str] = ()

    @property
    def description(self) -> dict[str, JSON]:
        """What tells a plan from others: not what students came to, or a round could not be taken up after they did."""
        plan: dict[str, JSON] = {"workflows": [*sorted(w.version for w in self.workflows)], "tasks": self.tasks}
        return {**plan, "even": True} if self.even else plan


@dataclass(frozen=True)
class Plan:
    """What a round is to make.

    Attributes:
        round: its number.
        workflows: what it draws from, one of a skill.
        standings: what a student came to in each skill, with its share.
        counts: accepted tasks that each skill is to reach.
    """

    round: int
    workflows: tuple[Workflow, ...]
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
    require_known(patterns)
    chosen = [path for name, path in ids.items() if not patterns or any(fnmatch.fnmatchcase(name, p) for p in patterns)]
    return [skills.load(path) for path in chosen]


def register(warehouse: Warehouse, wish: Wish) -> Plan:
    """Write a round with its skills, workflows and plan; a round that is there already is taken up again, with its plan.

    Raises:
        InputError: all skills are retired.
    """
    plan = wish.description
    with warehouse.begin() as session:
        number = warehouse.register_round(session, plan, wish.round)
        found = _divide(session, wish, number)
        add_shares(session, number, [{**row, "plan": digest(plan)} for row in found.rows])
        for workflow in wish.workflows:
            warehouse.register_skill(session, workflow.skill.model_copy(update={"round": number}))
            warehouse.register_workflow(session, workflow.version, workflow.skill.id, workflow.source, number)
    return found


def preview(warehouse: Warehouse, wish: Wish) -> Plan:
    """The plan that `register` would make, or find, without writing anything. Errors are the same."""
    with warehouse.read() as connection:
        return _divide(connection, wish, warehouse.round_number(connection, wish.description, wish.round))


def round_of(warehouse: Warehouse, wish: Wish) -> int:
    """The number of the round that `register` would write, or take up again."""
    with warehouse.read() as connection:
        return warehouse.round_number(connection, wish.description, wish.round)


def standing_now(warehouse: Warehouse, workflows: Mapping[str, str]) -> dict[str, Standing]:
    """What a student came to, by skill, with the share of a next round of all these skills (skill to workflow version)."""
    with warehouse.read() as connection:
        return {s.skill: s for s in standings(student_results(connection, workflows))}


def _divide(connection: Connection, wish: Wish, number: int) -> Plan:
    versions = {w.skill.id: w.version for w in wish.workflows}
    kept = shares_of(connection, number, digest(wish.description))
    if kept.keys() >= versions.keys() and not any(kept[s]["tasks"] == 0 for s in versions if s in wish.named):
        rows = [kept[skill] for skill in sorted(versions)]
        counts = {row["skill"]: row.pop("tasks") for row in rows}
        return Plan(number, tuple(wish.workflows), tuple(Standing(**row) for row in rows), counts)
    found = standings(
        student_results(connection, versions, besides=number), named=versions if wish.even else wish.named
    )
    if found and not any(s.share for s in found):
        raise InputError(
            f"nothing is left to draw: {', '.join(s.skill for s in found)} are retired by what a student came to",
            mend="name one by its whole id with --skill, or draw evenly with --even",
        )
    counts = dict.fromkeys(versions, wish.tasks) if wish.even else apportion(found, wish.tasks * len(wish.workflows))
    return Plan(number, tuple(wish.workflows), tuple(found), counts)
