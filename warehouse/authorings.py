"""Authoring runs: how they ended, what they cost, and what they taught."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from forge.records import JSON, Skill
from warehouse.engine import insert_into, now
from warehouse.schema import AuthoringRow, ClaimRow, ModelCallRow

LESSONS = 12
"""How many of the latest lessons are handed on."""

FAILED = ("error", "rate_limited", "open")
"""States of calls that gave no answer; one that stayed open was killed with its process."""


def add_authoring(
    connection: Connection,
    skill: Skill,
    round: int,
    mode: str,
    subject: str,
    report: Mapping[str, JSON],
    conversation: str | None,
) -> None:
    """Write how a run ended; a later run of the same skill, round and mode takes the row's place.

    Tokens, answered calls and cost are summed from the ledger's rows with this subject.
    """
    tokens = (
        func.coalesce(func.sum(ModelCallRow.prompt_tokens), 0),
        func.coalesce(func.sum(ModelCallRow.completion_tokens), 0),
    )
    usd = func.coalesce(func.sum(ModelCallRow.cost_usd), 0.0)
    prompt, completion, cost, calls = connection.execute(
        select(*tokens, usd, func.count().filter(ModelCallRow.status.not_in((*FAILED, "cached")))).where(
            ModelCallRow.subject == subject
        )
    ).one()
    readers = report.get("readers") or []
    last = readers[-1]["task"] if readers else None
    row: dict[str, Any] = {
        "round": round, "skill": skill.id, "mode": mode, "subject": subject, "apps": "+".join(sorted(skill.apps)),
        "outcome": report["outcome"], "reason": report["reason"], "version": report["version"],
        "steps": report["steps"], "calls": calls, "prompt_tokens": prompt, "completion_tokens": completion,
        "cost_usd": cost, "seconds": report["seconds"], "acceptance": report["acceptance"],
        "readers_agreed": None if last is None else all(r["agreed"] for r in readers[-2:]),
        "conversation": conversation, "record": {"skill": skill.to_json(), **report}, "created_at": time.time(),
    }  # fmt: skip
    statement = insert_into(connection, AuthoringRow).values(row)
    keys = ("round", "skill", "mode")
    changed = {name: statement.excluded[name] for name in row if name not in keys}
    connection.execute(statement.on_conflict_do_update(index_elements=list(keys), set_=changed))


def lessons_for(connection: Connection, apps: Iterable[str]) -> tuple[str, ...]:
    """The latest lessons of runs that share an application with these, oldest first, each once."""
    wanted = set(apps)
    rows = connection.execute(select(AuthoringRow.apps, AuthoringRow.record).order_by(AuthoringRow.created_at))
    found = [text for names, record in rows if wanted & set(names.split("+")) for text in record.get("lessons", [])]
    return tuple(dict.fromkeys(found))[-LESSONS:]


def tries_before(connection: Connection, round: int) -> Counter[str]:
    """How often each skill's authoring ended without a workflow in rounds before this one."""
    table = AuthoringRow.__table__
    query = (
        select(table.c.skill, func.count())
        .where(table.c.round < round, table.c.mode == "workflow", table.c.outcome != "authored")
        .group_by(table.c.skill)
    )
    return Counter(dict(connection.execute(query).all()))


def in_work_elsewhere(connection: Connection, round: int) -> set[str]:
    """Skills whose workflow somebody authors at this moment for another round than this one."""
    table = ClaimRow.__table__
    held = select(table.c.key).where(
        table.c.kind == "author", table.c.state == "held", table.c.expires_at > now(connection)
    )
    keys = (key.split(":") for key in connection.scalars(held))
    return {skill for number, skill, mode in keys if mode == "workflow" and number != str(round)}


def list_authorings(connection: Connection) -> list[dict[str, Any]]:
    """All runs without their records, by round, skill and mode.

    `calls` are those that were answered, `failed` those that were not; an answer that was there already is neither.
    """
    table = AuthoringRow.__table__
    columns = [c for c in table.c if c.name not in ("record", "conversation")]
    failed = (
        select(func.count())
        .where(ModelCallRow.subject == table.c.subject, ModelCallRow.status.in_(FAILED))
        .scalar_subquery()
        .label("failed")
    )
    rows = connection.execute(select(*columns, failed).order_by(table.c.round, table.c.skill, table.c.mode))
    return [dict(row._mapping) for row in rows]
