"""Trajectories in the warehouse: counters on the row, turns and actions in rows of their own, and whole again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from forge.records import Trajectory, channel_of, digest
from warehouse.engine import insert_into, insert_new
from warehouse.schema import ActionRow, ModelCallRow, TaskRow, TrajectoryRow, TurnRow
from warehouse.tasks import find_by_prefix
from warehouse.verdicts import add_first_verdict, current_verdict

_LISTED = (
    TrajectoryRow.task,
    TrajectoryRow.harness,
    TrajectoryRow.teacher,
    TrajectoryRow.attempt,
    TrajectoryRow.channel,
    TrajectoryRow.provenance,
    TrajectoryRow.ended_by,
    TrajectoryRow.grading,
    TrajectoryRow.reward,
    TrajectoryRow.error,
    TrajectoryRow.n_turns,
    TrajectoryRow.n_actions,
    TrajectoryRow.n_gui,
    TrajectoryRow.n_terminal,
    TrajectoryRow.prompt_tokens,
    TrajectoryRow.completion_tokens,
    TrajectoryRow.cost_usd,
    TrajectoryRow.seconds,
)


def trajectory_key(trajectory: Trajectory) -> str:
    """A trajectory's public id (64 hex digits): the hash of its task, harness, teacher and attempt."""
    parts = [trajectory.task, trajectory.harness, trajectory.teacher, trajectory.attempt]
    return digest(parts)


def add_trajectory(connection: Connection, trajectory: Trajectory) -> str:
    """Write an episode with its turns, actions and first verdict; does nothing when its key is there. Returns the key."""
    key = trajectory_key(trajectory)
    if connection.scalar(select(TrajectoryRow.id).where(TrajectoryRow.key == key)) is not None:
        return key
    row_id = connection.scalar(
        insert_into(connection, TrajectoryRow)
        .values(_row(connection, trajectory, key))
        .on_conflict_do_nothing()
        .returning(TrajectoryRow.id)
    )
    if row_id is None:  # another process wrote the same episode a moment ago
        return key
    _write_parts(connection, trajectory, row_id)
    add_first_verdict(connection, row_id, trajectory)
    return key


def read_trajectory(connection: Connection, prefix: str) -> Trajectory:
    """One whole episode by its id or its unique beginning, with the current verdict and reward."""
    key = full_key(connection, prefix)
    row = connection.execute(select(TrajectoryRow.id, TrajectoryRow.record).where(TrajectoryRow.key == key)).one()
    turns = connection.scalars(select(TurnRow.record).where(TurnRow.trajectory == row.id).order_by(TurnRow.idx)).all()
    actions = connection.scalars(
        select(ActionRow.record).where(ActionRow.trajectory == row.id).order_by(ActionRow.idx)
    ).all()
    return Trajectory.model_validate(
        {**row.record, "turns": turns, "actions": actions, **current_verdict(connection, row.id)}
    )


def full_key(connection: Connection, prefix: str) -> str:
    """A trajectory's id from its unique beginning. Raises WarehouseError when there is none, or several."""
    return find_by_prefix(connection, TrajectoryRow.key, prefix, "trajectory", "`forge show` lists them")


def list_trajectories(
    connection: Connection,
    tasks: Sequence[str] | None,
    skill: str | None,
    provenance: str | None,
    limit: int | None,
) -> list[dict[str, Any]]:
    """Rows of id, task, skill, harness, teacher, attempt, outcome and counters; sorted by task, harness, teacher, attempt."""
    query = select(TrajectoryRow.key.label("id"), TaskRow.skill, *_LISTED)
    query = query.join(TaskRow, TaskRow.id == TrajectoryRow.task)
    if skill is not None:
        query = query.where(TaskRow.skill == skill)
    if provenance is not None:
        query = query.where(TrajectoryRow.provenance == provenance)
    query = query.order_by(TrajectoryRow.task, TrajectoryRow.harness, TrajectoryRow.teacher, TrajectoryRow.attempt)
    if limit is not None:
        query = query.limit(limit)
    if tasks is None:
        return [dict(row._mapping) for row in connection.execute(query)]
    rows: list[dict[str, Any]] = []
    wanted = sorted(set(tasks))
    for start in range(0, len(wanted), 500):
        part = query.where(TrajectoryRow.task.in_(wanted[start : start + 500]))
        rows += [dict(row._mapping) for row in connection.execute(part)]
    return rows if limit is None else rows[:limit]


def has_oracle_success(connection: Connection, task: str) -> bool:
    """Whether the oracle played this task on a desktop with reward 1."""
    query = select(func.count()).where(
        TrajectoryRow.task == task, TrajectoryRow.provenance == "oracle", TrajectoryRow.reward == 1
    )
    return bool(connection.scalar(query))


def _row(connection: Connection, trajectory: Trajectory, key: str) -> dict[str, Any]:
    channels = [channel_of(action.action) for action in trajectory.actions]
    return {
        "key": key,
        "task": trajectory.task,
        "harness": trajectory.harness,
        "teacher": trajectory.teacher,
        "attempt": trajectory.attempt,
        "channel": trajectory.channel,
        "provenance": trajectory.provenance.value,
        "ended_by": trajectory.ended_by.value,
        "done_status": trajectory.done_status,
        "grading": trajectory.grading.value,
        "reward": trajectory.reward,
        "error": trajectory.error,
        "fingerprint": trajectory.fingerprint,
        "final_state": trajectory.final_state,
        "n_turns": len(trajectory.turns),
        "n_actions": len(trajectory.actions),
        "n_gui": channels.count("gui"),
        "n_terminal": channels.count("terminal"),
        "n_errors": sum(action.error for action in trajectory.actions),
        "prompt_tokens": sum(turn.usage.prompt_tokens for turn in trajectory.turns),
        "completion_tokens": sum(turn.usage.completion_tokens for turn in trajectory.turns),
        "cost_usd": _cost(connection, trajectory),
        "seconds": trajectory.seconds,
        "record": trajectory.model_dump(mode="json", exclude={"turns", "actions", "verdict"}),
        "created_at": time.time(),
    }


def _cost(connection: Connection, trajectory: Trajectory) -> float:
    """What the ledger says the turns cost, in US dollars; calls that failed on the way are not the episode's."""
    calls = sorted({turn.call_id for turn in trajectory.turns if turn.call_id})
    total = 0.0
    for start in range(0, len(calls), 500):
        part = calls[start : start + 500]
        query = select(func.sum(ModelCallRow.cost_usd)).where(ModelCallRow.id.in_(part))
        total += connection.scalar(query) or 0.0
    return total


def _write_parts(connection: Connection, trajectory: Trajectory, row_id: int) -> None:
    turns = [
        {
            "trajectory": row_id,
            "idx": turn.index,
            "model": turn.model,
            "call_id": turn.call_id,
            "prompt_tokens": turn.usage.prompt_tokens,
            "completion_tokens": turn.usage.completion_tokens,
            "record": turn.to_json(),
        }
        for turn in trajectory.turns
    ]
    actions = [
        {
            "trajectory": row_id,
            "idx": action.index,
            "turn": action.turn,
            "kind": action.action.kind,
            "channel": channel_of(action.action),
            "error": action.error,
            "exit_code": action.exit_code,
            "latency_ms": action.latency_ms,
            "settle_ms": action.settle_ms,
            "record": action.to_json(),
        }
        for action in trajectory.actions
    ]
    insert_new(connection, TurnRow, turns)
    insert_new(connection, ActionRow, actions)
