"""Table artifacts: what a run came to, for the Prefect page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prefect.artifacts import create_table_artifact

from forge.records.errors import ForgeError


def table(key: str, rows: Sequence[dict[str, Any]], description: str) -> None:
    """Attach a table to the current flow run. `key` holds lower-case letters, digits and dashes."""
    create_table_artifact(key=key, table=[dict(r) for r in rows], description=description)


def fail_on_faults(faults: dict[str, str]) -> None:
    """Fail the run when items are left over through faults, so that Prefect's retries take them up again."""
    if faults:
        key, error = next(iter(faults.items()))
        raise ForgeError(f"{len(faults)} items failed through faults, first {key}: {error}")
