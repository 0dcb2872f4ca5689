"""Probes in the warehouse: rows with what the acceptance and the kill tables ask for; the record whole beside it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import Any

from sqlalchemy import bindparam, case, func, select, text, update
from sqlalchemy.engine import Connection

from forge.records import Probe, ProbeKind, WarehouseError
from warehouse.engine import insert_new
from warehouse.schema import CriterionRow, ProbeRow, TaskRow

_SOLUTION_NAME = re.compile(r"^(gui|terminal|hybrid)(-desktop)?(#\d+)?$")

_ORDER = ("gate", "noop", "solution", "near_miss", "over_edit", "audit")


def add_probes(connection: Connection, probes: Iterable[Probe]) -> None:
    """Write evidence, and make it the current one in place of what other fingerprints gave.

    Args:
        connection: a writing transaction.
        probes: a solution's name says its channel and its repetition: `terminal#2` on files, `gui-desktop#1` on a
            desktop.

    Raises:
        WarehouseError: a solution's name has no channel, or a task is not in the warehouse.
    """
    found = sorted(probes, key=lambda p: (p.task, p.kind.value, p.name))
    if not found:
        return
    tasks = sorted({probe.task for probe in found})
    workflows = _workflows(connection, tasks)
    checks = _checks(connection, tasks)
    moment = time.time()
    rows = [_row(probe, workflows[probe.task], checks, moment) for probe in found]
    insert_new(connection, ProbeRow, rows)
    _supersede(connection, rows)


def _supersede(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """Files are probed as one set, in which an older set's near-misses may be missing: the newer set replaces it whole.
    Gates and desktop runs come one by one, from several jobs: each replaces the one of its name.
    """
    sets = {row["task"]: row["fingerprint"] for row in rows if row["stage"] == "file"}
    whole = (
        update(ProbeRow)
        .where(ProbeRow.task == bindparam("of_task"), ProbeRow.stage == "file")
        .values(current=ProbeRow.fingerprint == bindparam("newest"))
    )
    single = (
        update(ProbeRow)
        .where(
            ProbeRow.task == bindparam("of_task"),
            ProbeRow.kind == bindparam("of_kind"),
            ProbeRow.name == bindparam("of_name"),
        )
        .values(current=ProbeRow.fingerprint == bindparam("newest"))
    )
    replaced = [
        {"of_task": r["task"], "of_kind": r["kind"], "of_name": r["name"], "newest": r["fingerprint"]}
        for r in rows
        if r["stage"] != "file"
    ]
    if sets:
        connection.execute(whole, [{"of_task": task, "newest": newest} for task, newest in sorted(sets.items())])
    if replaced:
        connection.execute(single, replaced)


def read_probes(connection: Connection, task: str, current: bool) -> list[Probe]:
    """A task's evidence, in the order in which it is gathered."""
    place = case({kind: index for index, kind in enumerate(_ORDER)}, value=ProbeRow.kind, else_=len(_ORDER))
    query = select(ProbeRow.record).where(ProbeRow.task == task)
    if current:
        query = query.where(ProbeRow.current)
    query = query.order_by(place, ProbeRow.name, ProbeRow.fingerprint)
    return [Probe.model_validate(record) for record in connection.scalars(query)]


def has_window_evidence(connection: Connection, workflow: str, channel: str, besides: str | None) -> bool:
    """Whether the window solution of this workflow version worked once on a desktop (see `warehouse.views`)."""
    query = select(func.count()).where(
        ProbeRow.workflow == workflow,
        ProbeRow.kind == "solution",
        ProbeRow.channel == channel,
        ProbeRow.stage == "desktop",
        ProbeRow.current,
        ProbeRow.passed,
    )
    if besides is not None:
        query = query.where(ProbeRow.task != besides)
    return bool(connection.scalar(query))


def stale_tasks(connection: Connection, fingerprint: str) -> list[str]:
    """Tasks whose current file-level evidence was gathered under another fingerprint: what to probe again."""
    query = text(
        "SELECT DISTINCT task FROM probes WHERE current AND stage = 'file' AND fingerprint <> :fingerprint ORDER BY task"
    )
    return list(connection.scalars(query, {"fingerprint": fingerprint}))


def _row(probe: Probe, workflow: str, checks: dict[tuple[str, str], str], moment: float) -> dict[str, Any]:
    channel, stage = _channel_and_stage(probe)
    miss = probe.near_miss
    criterion = miss.breaks[0] if miss is not None and len(miss.breaks) == 1 else None
    return {
        "task": probe.task,
        "kind": probe.kind.value,
        "name": probe.name,
        "fingerprint": probe.fingerprint,
        "workflow": workflow,
        "stage": stage,
        "current": True,
        "channel": channel,
        "passed": probe.passed,
        "dropped": probe.dropped,
        "score": probe.score,
        "grading": None if probe.verdict is None else probe.verdict.grading.value,
        "criterion": criterion,
        "only_breaks": miss is not None and miss.only and criterion is not None,
        "n_breaks": 0 if miss is None else len(miss.breaks),
        "check_name": None if criterion is None else checks.get((probe.task, criterion)),
        "mutant": None if miss is None else miss.name.split(":", 1)[-1],
        "record": probe.to_json(),
        "created_at": moment,
    }


def _channel_and_stage(probe: Probe) -> tuple[str | None, str]:
    if probe.kind is ProbeKind.GATE:
        return None, "gate"
    if probe.kind is not ProbeKind.SOLUTION:
        return None, "file"
    match = _SOLUTION_NAME.match(probe.name)
    if match is None:
        raise WarehouseError(
            f"the solution probe {probe.name!r} of task {probe.task[:12]} does not say its channel",
            mend="name it terminal#2 for a run on files, or gui-desktop#1 for one on a desktop",
        )
    channel, desktop, _ = match.groups()
    return channel, "desktop" if desktop or channel != "terminal" else "file"


def _workflows(connection: Connection, tasks: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for start in range(0, len(tasks), 500):
        query = select(TaskRow.id, TaskRow.workflow).where(TaskRow.id.in_(tasks[start : start + 500]))
        found |= dict(connection.execute(query).all())
    missing = [task for task in tasks if task not in found]
    if missing:
        raise WarehouseError(f"task {missing[0]} is not in the warehouse", mend="add the task before its probes")
    return found


def _checks(connection: Connection, tasks: list[str]) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for start in range(0, len(tasks), 500):
        query = select(CriterionRow.task, CriterionRow.criterion, CriterionRow.check_name).where(
            CriterionRow.task.in_(tasks[start : start + 500])
        )
        found |= {(task, criterion): check for task, criterion, check in connection.execute(query)}
    return found
