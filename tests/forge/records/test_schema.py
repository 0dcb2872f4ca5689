"""The JSON Schema export: one schema a record, closed objects, by command too."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from forge.records import Record
from forge.records.schema import RECORDS, schemas

ROOT = Path(__file__).parents[3]


def test_every_record_that_is_stored_has_a_schema() -> None:
    found = schemas()
    assert list(found) == sorted(found)
    assert set(found) == {record.__name__ for record in RECORDS} | {"Action"}
    assert {"Task", "Trajectory", "Harness", "Rubric", "Probe", "Snapshot"} <= set(found)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_a_schema_is_closed_and_says_what_its_record_is(record: type[Record]) -> None:
    schema = schemas()[record.__name__]
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert schema["description"]
    assert set(schema["properties"]) == set(record.model_fields)
    json.dumps(schema)


def test_the_command_prints_one_or_all() -> None:
    def run(*names: str) -> dict[str, object]:
        command = [sys.executable, "-m", "forge.records.schema", *names]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={"PATH": "/usr/bin:/bin"})
        assert done.returncode == 0, done.stderr
        parsed: dict[str, object] = json.loads(done.stdout)
        return parsed

    everything = run()
    assert everything == json.loads(json.dumps(schemas()))
    assert run("Task") == everything["Task"]
