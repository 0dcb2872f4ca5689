"""A sign of life for flow runs: a lease in the warehouse, renewed while the run's process lives.

Prefect leaves a flow run `Running` for ever when its worker is killed, and such a run eats the deployment's concurrency
limit. A run that keeps a lease can be told from one that died: `flows.sweep` ends those whose lease ran out.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from prefect.runtime import flow_run

from forge.records import ForgeError
from warehouse import Warehouse
from warehouse.owners import owner_name

log = logging.getLogger(__name__)

KIND = "flow-run"
SECONDS = 90.0


@contextmanager
def alive(warehouse: Warehouse) -> Iterator[None]:
    """Keep the current flow run's lease for the duration of the block."""
    key = flow_run.id
    lease = warehouse.claims.acquire(KIND, key, owner_name(), SECONDS) if key else None
    if lease is None:
        yield
        return
    over = threading.Event()

    def beat() -> None:
        while not over.wait(SECONDS / 3):
            try:
                lease.renew()
            except ForgeError as error:  # a busy warehouse; the next beat is in time still
                log.warning("flow run %s: its sign of life was not renewed: %s", key, error)

    thread = threading.Thread(target=beat, name="flow-run-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        lease.release("over")
