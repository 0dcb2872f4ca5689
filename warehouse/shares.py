"""Shares: what students came to by skill, and how a round's tasks are divided among skills by that."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from warehouse.engine import insert_into
from warehouse.schema import RoundRow, SkillShareRow, TaskRow, TrajectoryRow

RECENT = 3
"""Results are told from the latest so many rounds in which a student was tried; older ones are stale."""


def student_results(
    connection: Connection, workflows: Mapping[str, str], *, besides: int | None = None
) -> list[tuple[str, int, int]]:
    """(skill, graded episodes, those of reward 1) of model-played episodes, by skill.

    An episode belongs to the round that had begun last when it was stored. Only the `RECENT` latest rounds that have any count,
    and of those only episodes on tasks of the workflow version that is asked for: what a student did long ago, or on a workflow
    that was since mended, says nothing of the next round. So a skill that was retired comes back untried when its result is
    stale.

    Args:
        connection: a transaction.
        workflows: skill to the workflow version that is to be drawn from.
        besides: the round that is being planned, which no episode belongs to yet.
    """
    begun = select(RoundRow.created_at).order_by(RoundRow.created_at)
    if besides is not None:
        begun = begun.where(RoundRow.number != besides)
    beginnings = list(connection.scalars(begun))
    rows = connection.execute(
        select(TaskRow.skill, TaskRow.workflow, TrajectoryRow.created_at, TrajectoryRow.reward)
        .join(TaskRow, TaskRow.id == TrajectoryRow.task)
        .where(TrajectoryRow.provenance == "model", TrajectoryRow.reward.is_not(None))
    )
    found = [(bisect.bisect_right(beginnings, at), skill, version, reward) for skill, version, at, reward in rows]
    recent = set(sorted({row[0] for row in found})[-RECENT:])
    counted = [
        (skill, reward) for at, skill, version, reward in found if at in recent and workflows.get(skill) == version
    ]
    trials = Counter(skill for skill, _ in counted)
    passes = Counter(skill for skill, reward in counted if reward == 1)
    return [(skill, trials[skill], passes[skill]) for skill in sorted(workflows)]


def add_shares(connection: Connection, round: int, shares: Iterable[Mapping[str, Any]]) -> None:
    """Write what a round was planned on, a row a skill; the same round planned again gets the newer rows."""
    for share in shares:
        statement = insert_into(connection, SkillShareRow).values({"round": round, **share})
        changed = {name: statement.excluded[name] for name in share if name != "skill"}
        connection.execute(statement.on_conflict_do_update(index_elements=["round", "skill"], set_=changed))


def shares_of(connection: Connection, round: int, plan: str) -> dict[str, dict[str, Any]]:
    """A round's rows of one plan, by skill: trials, passes, low, high, state, share and tasks."""
    table = SkillShareRow.__table__
    columns = [c for c in table.c if c.name not in ("round", "plan")]
    query = select(*columns).where(table.c.round == round, table.c.plan == plan)
    return {row.skill: dict(row._mapping) for row in connection.execute(query)}
