"""Tasks in the warehouse: a record in, rows out, and back."""

from __future__ import annotations

import time
from pathlib import PurePosixPath
from typing import Any

from sqlalchemy import Select, exists, func, select
from sqlalchemy.engine import Connection

from forge.records import Task, WarehouseError
from warehouse.acceptance import STATE_ACCEPTED, STATE_REJECTED, judged
from warehouse.engine import insert_into, insert_new
from warehouse.schema import (
    ArtifactRow,
    CriterionRow,
    ProbeRow,
    RoundTaskRow,
    SolutionRow,
    TaskAppRow,
    TaskRow,
)

SHORTEST_PREFIX = 4


def add_task(connection: Connection, task: Task, round: int | None, ordinal: int) -> str:
    """Write a task with its artifacts, criteria and solutions, and which draw of the round gave it.

    Two seeds may draw the same task. Whichever is written first, the row keeps the smaller seed as long as nothing was
    probed under the other, so that the outcome does not depend on which worker was faster.
    """
    task_id = task.id
    _write_row(connection, task, task_id)
    insert_new(connection, TaskAppRow, [{"task": task_id, "app": app} for app in sorted(set(task.apps))])
    insert_new(
        connection,
        ArtifactRow,
        [
            {
                "task": task_id,
                "position": position,
                "path": artifact.path,
                "suffix": "" if artifact.folder else PurePosixPath(artifact.path).suffix.lower(),
                "role": artifact.role.value,
                "sha256": artifact.sha256,
                "size": artifact.size,
                "folder": artifact.folder,
                "preparer": artifact.preparer,
                "record": artifact.to_json(),
            }
            for position, artifact in enumerate(task.artifacts)
        ],
    )
    insert_new(
        connection,
        CriterionRow,
        [
            {
                "task": task_id,
                "criterion": criterion.id,
                "kind": criterion.kind,
                "check_name": criterion.check,
                "weight": criterion.weight,
                "says": criterion.says,
            }
            for criterion in task.rubric.criteria
        ],
    )
    insert_new(
        connection,
        SolutionRow,
        [{"task": task_id, "channel": s.channel, "n_steps": len(s.steps)} for s in task.solutions],
    )
    if round is not None:
        row = {"round": round, "workflow": task.workflow, "ordinal": ordinal, "task": task_id}
        insert_new(connection, RoundTaskRow, [row])
    return task_id


def _write_row(connection: Connection, task: Task, task_id: str) -> None:
    record = task.to_json()
    record.pop("artifacts")
    row = {
        "id": task_id,
        "skill": task.skill,
        "workflow": task.workflow,
        "seed": task.seed,
        "apps": "+".join(sorted(set(task.apps))),
        "n_apps": len(set(task.apps)),
        "instruction": task.instruction,
        "n_artifacts": len(task.artifacts),
        "has_must_not": any(c.kind == "must_not" for c in task.rubric.criteria),
        "record": record,
        "created_at": time.time(),
    }
    statement = insert_into(connection, TaskRow).values(row)
    probed = exists().where(ProbeRow.task == TaskRow.id, ProbeRow.stage != "gate")
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["id"],
            set_={"seed": statement.excluded.seed, "record": statement.excluded.record},
            where=(statement.excluded.seed < TaskRow.seed) & ~probed,
        )
    )


def full_id(connection: Connection, prefix: str) -> str:
    """A task's id from its unique beginning. Raises WarehouseError when there is none, or several."""
    return find_by_prefix(connection, TaskRow.id, prefix, "task", "`forge tasks list` shows them")


def find_by_prefix(connection: Connection, column: Any, prefix: str, noun: str, mend: str) -> str:
    """The one value of a column that begins with `prefix`. Raises WarehouseError when there is none, or several."""
    if len(prefix) >= 64:
        found = list(connection.scalars(select(column).where(column == prefix)))
    elif len(prefix) >= SHORTEST_PREFIX:
        found = list(connection.scalars(select(column).where(column.startswith(prefix, autoescape=True)).limit(3)))
    else:
        raise WarehouseError(f"{prefix!r} is too short to name a {noun}", mend=f"give {SHORTEST_PREFIX} or more digits")
    if not found:
        raise WarehouseError(f"there is no {noun} {prefix}", mend=mend)
    if len(found) > 1:
        raise WarehouseError(f"{prefix} begins the ids of several {noun}s", mend="give more digits")
    return str(found[0])


def read_task(connection: Connection, prefix: str) -> Task:
    """One whole task by its id or its unique beginning."""
    query = select(TaskRow.id, TaskRow.record).where(TaskRow.id == full_id(connection, prefix))
    return read_tasks(connection, query)[0]


def read_tasks(connection: Connection, query: Select[Any]) -> list[Task]:
    """Whole tasks for a query of (id, record), in its order."""
    rows = connection.execute(query).all()
    ids = [row.id for row in rows]
    artifacts: dict[str, list[Any]] = {}
    for start in range(0, len(ids), 500):
        found = connection.execute(
            select(ArtifactRow.task, ArtifactRow.record)
            .where(ArtifactRow.task.in_(ids[start : start + 500]))
            .order_by(ArtifactRow.task, ArtifactRow.position)
        )
        for task, record in found:
            artifacts.setdefault(task, []).append(record)
    return [Task.model_validate({**row.record, "artifacts": artifacts.get(row.id, [])}) for row in rows]


def of_round(round: int, workflow: str) -> Select[Any]:
    """Tasks of one workflow in one round, each once, in the order of drawing."""
    first = (
        select(RoundTaskRow.task, func.min(RoundTaskRow.ordinal).label("first"))
        .where(RoundTaskRow.round == round, RoundTaskRow.workflow == workflow)
        .group_by(RoundTaskRow.task)
        .subquery()
    )
    return select(TaskRow.id, TaskRow.record).join(first, first.c.task == TaskRow.id).order_by(first.c.first)


def of_skill(skill: str, before_round: int | None) -> Select[Any]:
    """Tasks of a skill, under any version of its workflow, in the order of round, workflow and drawing."""
    query = select(TaskRow.id, TaskRow.record).where(TaskRow.skill == skill)
    if before_round is None:
        return query.order_by(TaskRow.id)
    ranked = (
        select(
            RoundTaskRow.task,
            func.row_number()
            .over(
                partition_by=RoundTaskRow.task,
                order_by=(RoundTaskRow.round, RoundTaskRow.workflow, RoundTaskRow.ordinal),
            )
            .label("nth"),
            RoundTaskRow.round,
            RoundTaskRow.workflow,
            RoundTaskRow.ordinal,
        )
        .where(RoundTaskRow.round < before_round)
        .subquery()
    )
    return (
        query.join(ranked, (ranked.c.task == TaskRow.id) & (ranked.c.nth == 1))
        .order_by(ranked.c.round, ranked.c.workflow, ranked.c.ordinal)
    )  # fmt: skip


def list_tasks(
    connection: Connection,
    skill: str | None,
    app: str | None,
    round: int | None,
    accepted: bool | None,
    limit: int | None,
) -> list[dict[str, Any]]:
    """Rows of id, skill, workflow, apps, instruction, state, accepted and reasons; sorted by skill and id."""
    query = select(TaskRow.id, TaskRow.skill, TaskRow.workflow, TaskRow.apps, TaskRow.seed, TaskRow.instruction)
    if skill is not None:
        query = query.where(TaskRow.skill == skill)
    if app is not None:
        query = query.where(exists().where(TaskAppRow.task == TaskRow.id, TaskAppRow.app == app))
    if round is not None:
        query = query.where(exists().where(RoundTaskRow.task == TaskRow.id, RoundTaskRow.round == round))
    others = judged(connection)
    wanted = None if accepted is None else STATE_ACCEPTED if accepted else STATE_REJECTED
    rows: list[dict[str, Any]] = []
    for row in connection.execute(query.order_by(TaskRow.skill, TaskRow.id)):
        state, reasons = others.get(row.id, (STATE_ACCEPTED, []))
        if wanted is None or state == wanted:
            rows.append(
                {
                    **row._mapping,
                    "state": state,
                    "accepted": state == STATE_ACCEPTED,
                    "reasons": reasons,
                }
            )
        if limit is not None and len(rows) >= limit:
            break
    return rows
