"""The ledger: one row for every call of a language model, also for the failed and refused ones, and the good answers.

A call's row is written before it is made (`open`) and completed when it ended; a row that stays open tells of a process that was
killed with money on the way. The answer goes in with the completed row, in one transaction and before anybody uses it, so
that what was paid for is not paid for again.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import case, func, select
from sqlalchemy.engine import Connection, Engine

from forge.records import JSON, ModelCall, Usage
from warehouse.engine import begin, insert_into, insert_new, read
from warehouse.schema import ModelAnswerRow, ModelCallRow

_USAGE = tuple(Usage.model_fields)


class Ledger:
    """Writes and reads model calls; fills the port `forge.llm.LedgerSink`."""

    def __init__(self, engine: Engine):
        self._engine = engine

    def record(self, call: ModelCall, answer: JSON = None) -> None:
        """Write one call, in a transaction of its own: what was spent stays, whatever becomes of the work it was for.

        The same call written twice is one row; one that is open is completed.

        Args:
            call: the call.
            answer: the good answer that it gave, to be found under its request from now on.
        """
        row = _row(call)
        with begin(self._engine) as connection:
            statement = insert_into(connection, ModelCallRow).values(row)
            changed = {name: statement.excluded[name] for name in row if name != "id"}
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["id"], set_=changed, where=ModelCallRow.status == "open"
                )
            )
            if answer is not None:
                insert_new(connection, ModelAnswerRow, [{"request": call.request, "call": call.id, "answer": answer}])

    def answer(self, request: str) -> JSON:
        """The stored answer to a request, or None."""
        with read(self._engine) as connection:
            return connection.scalar(select(ModelAnswerRow.answer).where(ModelAnswerRow.request == request))

    def spent(self, run: str, stage: str = "", workflow: str = "") -> tuple[int, float]:
        """(tokens, US dollars) of a run, or of one of its stages or workflows; open calls count what they may use at most."""
        tokens = ModelCallRow.prompt_tokens + ModelCallRow.completion_tokens
        is_open = ModelCallRow.status == "open"
        query = select(
            func.sum(func.coalesce(tokens, 0)).filter(~is_open),
            func.sum(ModelCallRow.cost_usd).filter(~is_open),
            func.sum(ModelCallRow.reserved_tokens).filter(is_open),
            func.sum(ModelCallRow.reserved_usd).filter(is_open),
        ).where(ModelCallRow.run == run)
        if stage:
            query = query.where(ModelCallRow.stage == stage)
        if workflow:
            query = query.where(ModelCallRow.workflow == workflow)
        with read(self._engine) as connection:
            used, usd, reserved, reserved_usd = connection.execute(query).one()
        return int(used or 0) + int(reserved or 0), float(usd or 0) + float(reserved_usd or 0)

    def spent_for(self, subject: str) -> tuple[int, float]:
        """(tokens, US dollars) of all calls for one subject; open calls count what they may use at most."""
        is_open = ModelCallRow.status == "open"
        tokens = ModelCallRow.prompt_tokens + ModelCallRow.completion_tokens
        query = select(
            func.sum(case((is_open, ModelCallRow.reserved_tokens), else_=tokens)),
            func.sum(case((is_open, ModelCallRow.reserved_usd), else_=ModelCallRow.cost_usd)),
        ).where(ModelCallRow.subject == subject)
        with read(self._engine) as connection:
            used, usd = connection.execute(query).one()
        return int(used or 0), float(usd or 0)

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
