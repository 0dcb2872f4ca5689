"""A process that does so many items under claims, and can be killed at any moment: python worker.py URL BLOBS ITEMS."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))

import samples

from forge.records import Artifact, WarehouseError, digest
from warehouse import Lease, Warehouse

TTL = 0.3
"""Short, so that what a killed worker held is taken over soon."""


def main(url: str, blobs: str, items: int) -> None:
    """Do every item that is not done, waiting for those that another one holds."""
    with Warehouse.open(url, blobs) as warehouse:
        print("working", flush=True)
        with warehouse.begin() as session:
            samples.register(warehouse, session, 1)
        for ordinal in range(items):
            while not warehouse.claims.is_done("make", str(ordinal)):
                lease = warehouse.claims.acquire("make", str(ordinal), "worker", TTL)
                if lease is None:
                    time.sleep(0.02)
                    continue
                # A loaded machine may take longer than the lease lasts; then another one does the item.
                with contextlib.suppress(WarehouseError):
                    make(warehouse, ordinal, lease)
        with warehouse.begin() as session:
            warehouse.finish_round(session, 1)


def make(warehouse: Warehouse, ordinal: int, lease: Lease) -> None:
    """One item: blob, task, evidence, episode and claim in one transaction."""
    data = digest(["book", ordinal]).encode()
    artifact = Artifact(path="~/a.txt", sha256=warehouse.blobs.put(data), size=len(data))
    task = samples.make_task(ordinal).model_copy(update={"artifacts": (artifact,)})
    with warehouse.begin() as session:
        warehouse.add_task(session, task, 1, ordinal)
        warehouse.add_probes(session, samples.good_evidence(task))
        warehouse.add_trajectory(session, samples.make_trajectory(task))
        lease.complete(session)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
