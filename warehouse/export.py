"""Export: tasks or trajectories as JSON lines or Parquet, with a manifest that says what they are and where from.

Rows are read and written in batches, so that memory does not grow with the warehouse. In Parquet the columns that
people filter by are columns and the whole record is a JSON string beside them: records are deep and vary by task, and a
schema inferred from one batch would not hold for the next.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.engine import Connection

from forge.records import InputError, Task, Trajectory
from warehouse import tasks as task_rows
from warehouse import trajectories as trajectory_rows
from warehouse.acceptance import STATE_ACCEPTED, judged
from warehouse.blobs import BlobStore
from warehouse.schema import SCHEMA, TaskRow

BATCH = 200

_TASK_COLUMNS = {
    "id": "str",
    "skill": "str",
    "workflow": "str",
    "seed": "int",
    "apps": "list",
    "channels": "list",
    "instruction": "str",
    "n_artifacts": "int",
    "state": "str",
    "reasons": "list",
}

_TRAJECTORY_COLUMNS = {
    "id": "str",
    "task": "str",
    "skill": "str",
    "workflow": "str",
    "instruction": "str",
    "harness": "str",
    "teacher": "str",
    "attempt": "int",
    "channel": "str",
    "provenance": "str",
    "ended_by": "str",
    "grading": "str",
    "reward": "float",
    "error": "str",
    "n_turns": "int",
    "n_actions": "int",
    "n_gui": "int",
    "n_terminal": "int",
    "prompt_tokens": "int",
    "completion_tokens": "int",
    "cost_usd": "float",
    "seconds": "float",
}


def export(
    connection: Connection,
    blobs: BlobStore,
    folder: Path,
    what: str,
    format: str,
    skill: str | None,
    accepted: bool,
    files: bool,
) -> dict[str, Any]:
    """Write one file of rows and `manifest.json` into `folder`; see `Warehouse.export`.

    Raises:
        InputError: the folder is not empty.
    """
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty", mend="name a new folder, so that no older export is mixed in")
    folder.mkdir(parents=True, exist_ok=True)
    rows = _tasks(connection, skill, accepted) if what == "tasks" else _trajectories(connection, skill, accepted)
    named: set[str] = set()
    name = f"{what}.{format}"
    count = (_write_jsonl if format == "jsonl" else _write_parquet)(folder / name, _noting(rows, named))
    if files:
        _copy_blobs(blobs, folder / "blobs", named)
    manifest = {
        "what": what,
        "format": format,
        "rows": count,
        "query": {"skill": skill, "accepted": accepted, "predicate": "accepted_v1"},
        "files": [{"name": name, "sha256": _sha256(folder / name), "bytes": (folder / name).stat().st_size}],
        "blobs": {"named": len(named), "copied": files},
        "schema": SCHEMA,
        "warehouse": connection.engine.url.render_as_string(hide_password=True),
        "forge": _version(),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n")
    return manifest


def _tasks(connection: Connection, skill: str | None, accepted: bool) -> Iterator[tuple[dict[str, Any], Any]]:
    others = judged(connection)
    query = select(TaskRow.id).order_by(TaskRow.skill, TaskRow.id)
    if skill is not None:
        query = query.where(TaskRow.skill == skill)
    ids = [i for i in connection.scalars(query) if not accepted or i not in others]
    for start in range(0, len(ids), BATCH):
        part = select(TaskRow.id, TaskRow.record).where(TaskRow.id.in_(ids[start : start + BATCH]))
        for task in task_rows.read_tasks(connection, part.order_by(TaskRow.skill, TaskRow.id)):
            state, reasons = others.get(task.id, (STATE_ACCEPTED, []))
            row = {
                "id": task.id,
                "skill": task.skill,
                "workflow": task.workflow,
                "seed": task.seed,
                "apps": list(task.apps),
                "channels": [s.channel for s in task.solutions],
                "instruction": task.instruction,
                "n_artifacts": len(task.artifacts),
                "state": state,
                "reasons": reasons,
            }
            yield row, task


def _trajectories(connection: Connection, skill: str | None, accepted: bool) -> Iterator[tuple[dict[str, Any], Any]]:
    good = set(connection.scalars(text("SELECT task FROM accepted_v1"))) if accepted else None
    facts = {
        row.id: row
        for row in connection.execute(select(TaskRow.id, TaskRow.skill, TaskRow.workflow, TaskRow.instruction))
    }
    for listed in trajectory_rows.list_trajectories(connection, None, skill, None, None):
        if good is not None and listed["task"] not in good:
            continue
        task = facts[listed["task"]]
        row = {"skill": task.skill, "workflow": task.workflow, "instruction": task.instruction}
        yield {**listed, **row}, trajectory_rows.read_trajectory(connection, listed["id"])


def _noting(
    rows: Iterator[tuple[dict[str, Any], Any]], named: set[str]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Pass rows through as (columns, record), noting the blobs they name."""
    for row, record in rows:
        if isinstance(record, Task):
            named |= {artifact.sha256 for artifact in record.artifacts if not artifact.folder}
        elif isinstance(record, Trajectory):
            seen = [
                b
                for action in record.actions
                for o in (action.before, action.after)
                for b in (o.screenshot, o.elements)
            ]
            named |= {sha for sha in [*seen, record.final_state] if sha}
        yield row, record.to_json()


def _write_jsonl(path: Path, rows: Iterator[tuple[dict[str, Any], dict[str, Any]]]) -> int:
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for row, record in rows:
            file.write(_json({**row, "record": record}) + "\n")
            count += 1
    return count


def _write_parquet(path: Path, rows: Iterator[tuple[dict[str, Any], dict[str, Any]]]) -> int:
    import pyarrow
    import pyarrow.parquet

    kinds = {"int": pyarrow.int64(), "float": pyarrow.float64(), "list": pyarrow.list_(pyarrow.string())}
    columns = _TASK_COLUMNS if path.name.startswith("tasks") else _TRAJECTORY_COLUMNS
    schema = pyarrow.schema(
        [pyarrow.field(name, kinds.get(kind, pyarrow.string())) for name, kind in {**columns, "record": "str"}.items()]
    )
    count = 0
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while batch := [{**row, "record": _json(record)} for row, record in islice(rows, BATCH)]:
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
            count += len(batch)
    return count


def _json(record: dict[str, Any]) -> str:
    """JSON as it is stored: keys in their order, since training reads calls as they were on the wire."""
    return json.dumps(record, ensure_ascii=True, separators=(",", ":"))


def _copy_blobs(blobs: BlobStore, folder: Path, named: set[str]) -> None:
    target = BlobStore(str(folder))
    for sha256 in sorted(named):
        target.put(blobs.get(sha256))
    (folder / "tmp").rmdir()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("mage-cua-forge")
    except PackageNotFoundError:
        return "unknown"
