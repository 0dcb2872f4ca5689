"""The ledger: one row for every call of a language model, also for the failed and refused ones."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection, Engine

from forge.records import ModelCall, Usage
from warehouse.engine import begin, insert_new, read
from warehouse.schema import ModelCallRow

_USAGE = tuple(Usage.model_fields)


class Ledger:
    """Writes and reads model calls; fills the port `forge.llm.LedgerSink`."""

    def __init__(self, engine: Engine):
        self._engine = engine

    def record(self, call: ModelCall) -> None:
        """Write one call, in a transaction of its own: what was spent stays, whatever becomes of the work it was for.

        The same call written twice is one row.
        """
        with begin(self._engine) as connection:
            insert_new(connection, ModelCallRow, [_row(call)])

    def calls(self, subject: str | None = None) -> list[ModelCall]:
        """All calls, or those for one subject, in the order they were made."""
        with read(self._engine) as connection:
            return read_calls(connection, subject)


def read_calls(connection: Connection, subject: str | None = None) -> list[ModelCall]:
    """The calls of one subject, or all of them."""
    query = select(ModelCallRow.__table__).order_by(ModelCallRow.started_at, ModelCallRow.id)
    if subject is not None:
        query = query.where(ModelCallRow.subject == subject)
    return [_record(dict(row._mapping)) for row in connection.execute(query)]


def _row(call: ModelCall) -> dict[str, Any]:
    values = call.to_json()
    return {**values.pop("usage"), **values}


def _record(row: dict[str, Any]) -> ModelCall:
    usage = {name: row.pop(name) for name in _USAGE}
    return ModelCall.model_validate({**row, "usage": usage})
