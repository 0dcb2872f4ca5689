"""Export: rows that other programs can read, with a manifest that says what they are."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pandas
import pytest

from forge.records import InputError, Task, Trajectory

from .samples import SKILL, good_evidence, make_task, make_trajectory

GOOD, BAD = make_task(1), make_task(2)


@pytest.fixture
def filled(warehouse):
    book = warehouse.blobs.put(b"book")
    warehouse.blobs.put(b"png")
    warehouse.blobs.put(b"snapshot")
    assert GOOD.artifacts[0].sha256 == book
    with warehouse.begin() as session:
        for ordinal, task in enumerate((GOOD, BAD)):
            warehouse.add_task(session, task, 1, ordinal)
            warehouse.add_trajectory(session, make_trajectory(task))
        warehouse.add_trajectory(session, make_trajectory(GOOD, teacher="llm", reward=None))
        warehouse.add_probes(session, good_evidence(GOOD))
    return warehouse


def read(path: Path, format: str) -> list[dict]:
    if format == "jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    rows = pandas.read_parquet(path, dtype_backend="pyarrow").to_dict("records")
    return [{**row, "record": json.loads(row["record"])} for row in rows]


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_accepted_tasks(filled, tmp_path, format):
    manifest = filled.export(tmp_path / "out", what="tasks", format=format)
    [row] = read(tmp_path / "out" / f"tasks.{format}", format)
    assert (row["id"], row["skill"], row["state"], list(row["apps"])) == (GOOD.id, SKILL.id, "accepted", ["calc"])
    assert Task.model_validate(row["record"]) == GOOD
    assert manifest == json.loads((tmp_path / "out" / "manifest.json").read_text())
    data = (tmp_path / "out" / f"tasks.{format}").read_bytes()
    assert manifest["files"] == [
        {"name": f"tasks.{format}", "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    ]
    assert (manifest["rows"], manifest["query"]["accepted"], manifest["query"]["predicate"]) == (1, True, "accepted_v1")


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_trajectories(filled, tmp_path, format):
    filled.export(tmp_path / "out", what="trajectories", format=format)
    rows = read(tmp_path / "out" / f"trajectories.{format}", format)
    assert [(r["task"], r["teacher"], r["n_gui"]) for r in rows] == [(GOOD.id, "llm", 3), (GOOD.id, "oracle", 3)]
    oracle = Trajectory.model_validate(rows[1]["record"])
    assert oracle == make_trajectory(GOOD)
    assert rows[1]["reward"] == 1.0
    assert pandas.isna(rows[0]["reward"])


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_everything_or_nothing(filled, tmp_path, format):
    assert filled.export(tmp_path / "all", what="tasks", format=format, accepted=False)["rows"] == 2
    assert filled.export(tmp_path / "none", what="tasks", format=format, skill="calc.x.y-z")["rows"] == 0
    assert read(tmp_path / "none" / f"tasks.{format}", format) == []
    [bad] = [r for r in read(tmp_path / "all" / f"tasks.{format}", format) if r["id"] == BAD.id]
    assert "not_probed" in list(bad["reasons"])


def test_the_files_can_go_with_them(filled, tmp_path):
    manifest = filled.export(tmp_path / "out", what="trajectories", files=True)
    assert manifest["blobs"] == {"named": 2, "copied": True}
    blobs = sorted(p.read_bytes() for p in (tmp_path / "out" / "blobs").rglob("*") if p.is_file())
    assert blobs == [b"png", b"snapshot"]
    assert not (tmp_path / "out" / "blobs" / "tmp").exists()


def test_a_folder_with_something_in_it_is_refused(filled, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old.jsonl").write_text("{}")
    with pytest.raises(InputError, match="is not empty"):
        filled.export(tmp_path / "out", what="tasks")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["old.jsonl"]
