"""Shares: what students came to by skill, and what that means for the next round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from warehouse.engine import insert_into
from warehouse.schema import SkillShareRow, TaskRow, TrajectoryRow


def student_results(connection: Connection, teacher: str | None = None) -> list[tuple[str, int, int]]:
    """(skill, graded episodes, those of reward 1) of model-played episodes, of one teacher or of all; sorted by skill."""
    passed = func.count().filter(TrajectoryRow.reward == 1)
    query = (
        select(TaskRow.skill, func.count(), passed)
        .join(TaskRow, TaskRow.id == TrajectoryRow.task)
        .where(TrajectoryRow.provenance == "model", TrajectoryRow.reward.is_not(None))
        .group_by(TaskRow.skill)
        .order_by(TaskRow.skill)
    )
    if teacher is not None:
        query = query.where(TrajectoryRow.teacher == teacher)
    return [(skill, trials, passes) for skill, trials, passes in connection.execute(query)]


def add_shares(connection: Connection, round: int, standings: Iterable[Mapping[str, Any]]) -> None:
    """Write the standings that a round was planned on; the same round written again gets the newer ones."""
    for standing in standings:
        statement = insert_into(connection, SkillShareRow).values({"round": round, **standing})
        changed = {name: statement.excluded[name] for name in standing if name != "skill"}
        connection.execute(statement.on_conflict_do_update(index_elements=["round", "skill"], set_=changed))
