"""From the warehouse to shards: only rewarded turns of accepted tasks, with the selection in the manifest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.records import (
    Fingerprint,
    InputError,
    NearMiss,
    Probe,
    ProbeKind,
    Provenance,
    Skill,
    Task,
    Trajectory,
    Verdict,
    WarehouseError,
)
from training import export_turns, fold, read_manifest, read_shards
from training.lights import HARNESS, SKILL, Blobs, episode
from warehouse import Warehouse
from warehouse.views import REQUIRED_GATES

PRINT = Fingerprint(checks={"lights.right": 1})


def evidence(task: Task) -> list[Probe]:
    """All that acceptance asks for."""

    def probe(kind: ProbeKind, name: str, score: float | None, miss: NearMiss | None = None) -> Probe:
        return Probe(
            task=task.id, kind=kind, name=name, expected="x", passed=True, score=score, near_miss=miss,
            fingerprint=PRINT.digest(),
        )  # fmt: skip

    return [
        *[probe(ProbeKind.GATE, name, None) for name in REQUIRED_GATES],
        probe(ProbeKind.NOOP, "untouched", 0.0),
        probe(ProbeKind.SOLUTION, "gui-desktop#1", 1.0),
        probe(ProbeKind.NEAR_MISS, "right:other", 0.0, NearMiss(name="right:other", breaks=("right",), only=True)),
    ]


@pytest.fixture
def warehouse(tmp_path: Path, blobs: Blobs) -> Iterator[Warehouse]:
    """Episode 0: good. 1: failed. 2: without a reward. 3: good, but its task is not accepted. 4: a model's."""
    with Warehouse.open(f"sqlite:///{tmp_path}/warehouse.db", f"file://{tmp_path}/blobs") as opened:
        with opened.begin() as session:
            opened.register_skill(session, Skill(id=SKILL, apps=("lights",), title="Follow the light"))
            opened.register_workflow(session, played(0, blobs)[1].workflow, SKILL, "skill: x")
            opened.register_fingerprint(session, PRINT)
            opened.register_harness(session, HARNESS)
            for number in range(5):
                trajectory, task = played(number, blobs)
                opened.add_task(session, task)
                if number != 3:
                    opened.add_probes(session, evidence(task))
                opened.add_trajectory(session, trajectory)
        for data in blobs.values():
            opened.blobs.put(data)
        yield opened


def played(number: int, blobs: Blobs) -> tuple[Trajectory, Task]:
    trajectory, task = episode(number, blobs, reward={1: 0.5, 2: None}.get(number, 1.0))
    more: dict[str, object] = {} if number != 4 else {"teacher": "llm", "provenance": Provenance.MODEL}
    if trajectory.reward is not None:
        more["verdict"] = Verdict(grading=trajectory.grading, score=trajectory.reward)
    return trajectory.model_copy(update=more), task


def test_good_turns_of_accepted_tasks_are_written(warehouse: Warehouse, blobs: Blobs, tmp_path: Path) -> None:
    made = export_turns(warehouse, tmp_path / "shards")
    wanted = [e for number in (0, 4) for e in fold(*played(number, blobs), HARNESS, blobs.__getitem__)]
    assert made["rows"] == len(wanted)
    assert sorted(read_shards(tmp_path / "shards"), key=str) == sorted(wanted, key=str)
    assert read_manifest(tmp_path / "shards").query == {
        "accepted": "accepted_v1",
        "provenance": None,
        "reward": {"at_least": 1.0},
        "skill": None,
    }


def test_the_selection_can_be_narrowed_and_widened(warehouse: Warehouse, tmp_path: Path) -> None:
    assert export_turns(warehouse, tmp_path / "a", provenance="model")["rows"] == 2
    assert export_turns(warehouse, tmp_path / "b", reward=0.5)["rows"] == 6
    with pytest.raises(InputError, match="the selection is empty"):
        export_turns(warehouse, tmp_path / "c", skill="lights.click.other-light")


def test_exporting_twice_gives_the_same_bytes(warehouse: Warehouse, tmp_path: Path) -> None:
    assert export_turns(warehouse, tmp_path / "a") == export_turns(warehouse, tmp_path / "b")


def test_json_lines_hold_the_same_turns_and_the_pictures_lie_beside_them(warehouse: Warehouse, tmp_path: Path) -> None:
    export_turns(warehouse, tmp_path / "a")
    made = export_turns(warehouse, tmp_path / "b", format="jsonl")
    wanted = read_shards(tmp_path / "a")
    assert made["rows"] == len(wanted) == 4
    assert read_shards(tmp_path / "b") == wanted
    (line, *_) = (tmp_path / "b" / "train-00000.jsonl").read_text("utf-8").splitlines()
    row = json.loads(line)
    assert [(tmp_path / "b" / name).read_bytes() for name in row["images"]] == list(wanted[0].images)
    assert row["messages"][-1] == wanted[0].completion
    assert len(list((tmp_path / "b" / "images").iterdir())) == len({data for e in wanted for data in e.images})
    assert export_turns(warehouse, tmp_path / "b", format="jsonl") == made  # once more changes nothing


def test_a_lost_screenshot_stops_the_export_and_leaves_nothing(
    warehouse: Warehouse, blobs: Blobs, tmp_path: Path
) -> None:
    lost = played(0, blobs)[0].actions[0].before.screenshot
    warehouse.blobs.local_path(str(lost)).unlink()
    with pytest.raises(WarehouseError, match=f"turn 0: screenshot {str(lost)[:12]} cannot be had"):
        export_turns(warehouse, tmp_path / "shards")
    assert not (tmp_path / "shards").exists()
