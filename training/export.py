"""From the warehouse to shards: which turns to learn from, and the folder that holds them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from forge.records import JSON, Harness
from training.example import Example
from training.folding import fold
from training.shards import Format, write_shards
from warehouse import Warehouse


def export_turns(
    warehouse: Warehouse,
    folder: Path,
    *,
    format: Format = "parquet",
    skill: str | None = None,
    provenance: str | None = None,
    reward: float = 1.0,
) -> dict[str, Any]:
    """Fold what the warehouse holds into shards; returns the manifest, with its number of `rows`.

    Only trajectories of accepted tasks count. An oracle's are among them: it is privileged (it knows the answer), which
    `metadata.provenance` says of every row.

    Args:
        warehouse: where the trajectories are.
        folder: a new folder; see `training.shards.write_shards`.
        format: "parquet", or "jsonl" with the pictures as files beside it.
        skill: only this skill.
        provenance: only "model", "oracle", "human" or "replay".
        reward: only trajectories with at least this reward.

    Raises:
        InputError: nothing matches, or the folder holds something else.
        WarehouseError: a screenshot is missing.
    """
    query: dict[str, JSON] = {
        "accepted": "accepted_v1",
        "provenance": provenance,
        "reward": {"at_least": reward},
        "skill": skill,
    }
    manifest = write_shards(_examples(warehouse, skill, provenance, reward), folder, query=query, format=format)
    return {**manifest.to_json(), "rows": sum(shard.rows for shard in manifest.shards)}


def _examples(warehouse: Warehouse, skill: str | None, provenance: str | None, reward: float) -> Iterator[Example]:
    accepted = {row["id"] for row in warehouse.list_tasks(skill=skill, accepted=True)}

    @cache
    def harness(digest: str) -> Harness:
        return warehouse.harness(digest)

    for row in warehouse.list_trajectories(skill=skill, provenance=provenance):
        if row["task"] in accepted and row["reward"] is not None and row["reward"] >= reward:
            trajectory = warehouse.trajectory(row["id"])
            yield from fold(
                trajectory, warehouse.task(trajectory.task), harness(trajectory.harness), warehouse.blobs.get
            )
