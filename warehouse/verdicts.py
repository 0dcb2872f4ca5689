"""Verdicts of trajectories: the first, and every later one that regrading gave. All are kept; one is current.

The trajectory's row repeats the current grading and reward, so that statistics need no join. A verdict is told from
another by the fingerprint it was reached under (which holds the checks' versions) and by its scores: reaching the same
verdict again writes nothing, and a check that was changed without raising its version still leaves both.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.engine import Connection
from sqlalchemy.orm import aliased

from forge.records import Grading, Trajectory, Verdict, digest
from warehouse.engine import insert_new
from warehouse.schema import TaskRow, TrajectoryRow, VerdictRow


@dataclass(frozen=True)
class RewardChange:
    """A trajectory whose current reward is not the one it was stored with, or not the one it had before."""

    trajectory: str
    task: str
    skill: str
    before: float | None
    after: float | None
    fingerprint_before: str
    fingerprint_after: str


def add_first_verdict(connection: Connection, row_id: int, trajectory: Trajectory) -> None:
    """Write the verdict an episode was stored with; also when there is none, so that a later one has its origin."""
    row = _row(row_id, trajectory.verdict, trajectory.grading, trajectory.reward, trajectory.fingerprint)
    insert_new(connection, VerdictRow, [{**row, "ordinal": 0, "current": True}])


def add_verdict(
    connection: Connection, key: str, verdict: Verdict, fingerprint: str, reward: float | None
) -> RewardChange | None:
    """Write the verdict of a regrading and make it the current one.

    Args:
        connection: a writing transaction.
        key: the trajectory's id.
        verdict: what the mended checks say of its final state.
        fingerprint: digest of what they depend on.
        reward: what the trajectory is worth now; None when it cannot be trusted.

    Returns:
        The change, when the reward is another one than before.
    """
    old = connection.execute(
        select(TrajectoryRow.id, TrajectoryRow.reward, TrajectoryRow.task).where(TrajectoryRow.key == key)
    ).one()
    now_current = select(VerdictRow.fingerprint).where(VerdictRow.trajectory == old.id, VerdictRow.current)
    before = connection.scalar(now_current) or ""
    row = _row(old.id, verdict, verdict.grading, reward, fingerprint)
    count = connection.scalar(select(func.count()).where(VerdictRow.trajectory == old.id)) or 0
    insert_new(connection, VerdictRow, [{**row, "ordinal": count, "current": False}])
    this = (VerdictRow.fingerprint == fingerprint) & (VerdictRow.digest == row["digest"])
    connection.execute(update(VerdictRow).where(VerdictRow.trajectory == old.id).values(current=this))
    connection.execute(
        update(TrajectoryRow).where(TrajectoryRow.id == old.id).values(grading=verdict.grading.value, reward=reward)
    )
    if old.reward == reward:
        return None
    skill = connection.scalar(select(TaskRow.skill).where(TaskRow.id == old.task)) or ""
    return RewardChange(key, old.task, skill, old.reward, reward, before, fingerprint)


def current_verdict(connection: Connection, row_id: int) -> dict[str, Any]:
    """The fields `verdict`, `grading` and `reward` of a trajectory's record, as they stand now."""
    row = connection.execute(
        select(VerdictRow.record, VerdictRow.grading, VerdictRow.reward).where(
            VerdictRow.trajectory == row_id, VerdictRow.current
        )
    ).one()
    return {"verdict": row.record, "grading": row.grading, "reward": row.reward}


def read_verdicts(connection: Connection, key: str) -> list[tuple[str, Verdict | None, float | None]]:
    """Every verdict of a trajectory, oldest first: (fingerprint, verdict, reward)."""
    rows = connection.execute(
        select(VerdictRow.fingerprint, VerdictRow.record, VerdictRow.reward)
        .join(TrajectoryRow, TrajectoryRow.id == VerdictRow.trajectory)
        .where(TrajectoryRow.key == key)
        .order_by(VerdictRow.ordinal)
    )
    return [
        (fingerprint, None if record is None else Verdict.model_validate(record), reward)
        for fingerprint, record, reward in rows
    ]


def changed_rewards(connection: Connection) -> list[RewardChange]:
    """The trajectories whose current reward is not the one they were stored with."""
    first, last = aliased(VerdictRow), aliased(VerdictRow)
    rows = connection.execute(
        select(
            TrajectoryRow.key,
            TrajectoryRow.task,
            TaskRow.skill,
            first.reward,
            last.reward,
            first.fingerprint,
            last.fingerprint,
        )
        .join(first, first.trajectory == TrajectoryRow.id)
        .join(last, last.trajectory == TrajectoryRow.id)
        .join(TaskRow, TaskRow.id == TrajectoryRow.task)
        .where(first.ordinal == 0, last.current, first.reward.is_distinct_from(last.reward))
        .order_by(TaskRow.skill, TrajectoryRow.key)
    )
    return [RewardChange(*row) for row in rows]


def _row(
    row_id: int, verdict: Verdict | None, grading: Grading, reward: float | None, fingerprint: str
) -> dict[str, Any]:
    record = None if verdict is None else verdict.to_json()
    scores = [] if verdict is None else [[c.criterion, c.score] for c in verdict.criteria]
    return {
        "trajectory": row_id,
        "fingerprint": fingerprint,
        "digest": digest([grading.value, reward, scores]),
        "grading": grading.value,
        "score": None if verdict is None else verdict.score,
        "reward": reward,
        "record": record,
        "created_at": time.time(),
    }
