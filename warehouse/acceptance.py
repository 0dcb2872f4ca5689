"""Acceptance: what the predicate of `warehouse.views` says of one task."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.engine import Connection

STATE_ACCEPTED, STATE_REJECTED, STATE_PENDING = "accepted", "rejected", "pending"


class Acceptance(NamedTuple):
    """Whether a task is accepted, and all that stands between: `reason` or `reason: detail`, see `warehouse.views`."""

    accepted: bool
    reasons: list[str]


def acceptance_of(connection: Connection, task: str) -> Acceptance:
    """Evaluate `acceptance_findings_v1` for one task; the task must exist."""
    rows = connection.execute(
        text("SELECT reason, detail FROM acceptance_findings_v1 WHERE task = :task ORDER BY reason, detail"),
        {"task": task},
    )
    reasons = [reason_text(reason, detail) for reason, detail in rows]
    return Acceptance(not reasons, reasons)


def states_of(connection: Connection) -> dict[str, str]:
    """Every task's state: accepted, rejected or pending."""
    rows = connection.execute(text("SELECT task, state FROM task_states_v1"))
    return dict(rows.all())


def judged(connection: Connection) -> dict[str, tuple[str, list[str]]]:
    """The state and the reasons of every task that is not accepted: one evaluation of the predicate for all."""
    found: dict[str, tuple[str, list[str]]] = {}
    rows = connection.execute(
        text("SELECT task, reason, detail, final FROM acceptance_findings_v1 ORDER BY task, reason, detail")
    )
    for task, reason, detail, final in rows:
        state, reasons = found.get(task, (STATE_PENDING, []))
        found[task] = (STATE_REJECTED if final else state, [*reasons, reason_text(reason, detail)])
    return found


def reason_text(reason: str, detail: str) -> str:
    """A finding in one line."""
    return f"{reason}: {detail}" if detail else reason
