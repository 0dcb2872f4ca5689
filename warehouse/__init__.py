"""The warehouse: tasks, evidence, trajectories and ledger in SQL, their files in a content-addressed blob store.

`Warehouse.open(url, blob_url)` creates or migrates SQLite or PostgreSQL. Importing this package is cheap; SQLAlchemy is
loaded at the first use of a name that needs it. See docs/warehouse.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from warehouse.blobs import BlobStore

if TYPE_CHECKING:
    from warehouse.acceptance import Acceptance
    from warehouse.claims import Claims, Lease
    from warehouse.ledger import Ledger
    from warehouse.store import Warehouse
    from warehouse.trajectories import trajectory_key
    from warehouse.verdicts import RewardChange

_HOMES = {
    "Acceptance": "warehouse.acceptance",
    "Claims": "warehouse.claims",
    "Lease": "warehouse.claims",
    "Ledger": "warehouse.ledger",
    "RewardChange": "warehouse.verdicts",
    "Warehouse": "warehouse.store",
    "trajectory_key": "warehouse.trajectories",
}

__all__ = [
    "Acceptance",
    "BlobStore",
    "Claims",
    "Lease",
    "Ledger",
    "RewardChange",
    "Warehouse",
    "trajectory_key",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'warehouse' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
