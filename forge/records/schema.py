"""JSON Schema of the records: `python -m forge.records.schema [NAME]` prints one, or all as one object."""

from __future__ import annotations

import json
import sys
from typing import Any

from forge.records import (
    ActionAdapter,
    ActionRecord,
    Artifact,
    Criterion,
    Fingerprint,
    Guest,
    Harness,
    ModelCall,
    Probe,
    Record,
    Rubric,
    Skill,
    Snapshot,
    Task,
    Trajectory,
    Turn,
    Verdict,
)

RECORDS: tuple[type[Record], ...] = (
    Skill, Task, Artifact, Snapshot, Guest, Rubric, Criterion, Verdict, Probe, Harness, Trajectory, Turn, ActionRecord,
    ModelCall, Fingerprint,
)  # fmt: skip


def schemas() -> dict[str, dict[str, Any]]:
    """Record name to its JSON Schema (draft 2020-12, as pydantic writes it)."""
    found = {record.__name__: record.model_json_schema() for record in RECORDS}
    found["Action"] = ActionAdapter.json_schema()
    return dict(sorted(found.items()))


if __name__ == "__main__":
    everything = schemas()
    wanted = sys.argv[1:]
    json.dump(everything[wanted[0]] if wanted else everything, sys.stdout, indent=2)
    print()
