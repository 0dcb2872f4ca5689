"""The acceptance predicate evaluated once for many figures.

Evaluating it over all tasks is what takes time in a report, and many views ask for it again. Inside `evaluated` its findings
and the tasks' states lie in temporary tables of this connection, and `once` gives a view's own words over these. Nobody else
sees them, and nothing is written to the warehouse.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import text
from sqlalchemy.engine import Connection

from warehouse.views import ORDERS, VIEWS

_ONCE = {
    "acceptance_findings_v1": "findings_once",
    "task_states_v1": "task_states_once",
    "accepted_v1": "accepted_once",
}
"""Views that others are made of, each after those that it refers to, and the tables that take their places."""


@contextmanager
def evaluated(connection: Connection) -> Iterator[None]:
    """Evaluate the predicate for all tasks, as they are in this transaction; the tables are gone after the block."""
    for view, table in _ONCE.items():
        connection.exec_driver_sql(f"CREATE TEMPORARY TABLE {table} AS {_words(view)}".replace("%", "%%"))
    yield
    for table in reversed(_ONCE.values()):  # after an error they go with the transaction
        connection.exec_driver_sql(f"DROP TABLE {table}")


def once(view: str) -> str:
    """The SELECT of a view, in its order, over what `evaluated` has found.

    Args:
        view: its plain name; the newest version is meant.
    """
    newest = max(
        (name for name in VIEWS if name.rsplit("_v", 1)[0] == view), key=lambda name: int(name.rsplit("_v", 1)[1])
    )
    source = _ONCE.get(newest, f"({_words(newest)}) {view}")
    return f"SELECT * FROM {source} ORDER BY {ORDERS[view]}"


def states_once(connection: Connection) -> dict[str, str]:
    """Every task's state, as `warehouse.acceptance.states_of` says it."""
    return dict(connection.execute(text("SELECT task, state FROM task_states_once")).all())


def _words(view: str) -> str:
    words = VIEWS[view]
    for name, table in _ONCE.items():
        words = words.replace(name, table)
    return words
