"""What tasks cost: the ledger divided into recurring, one-off, rejected and wasted, and what that is for each accepted task.

Every call lies in exactly one part:

    wasted      it gave nothing: it failed, was refused, cut off or unusable
    rejected    it was for a task that was rejected, or for a skill whose authoring did not end in a workflow
    unfinished  it was for a skill whose authoring has not ended: in work, or interrupted
    one_off     paid once for a workflow: authoring, its readers and judges
    recurring   paid for tasks: values for banks, values written live, judges and readers of single tasks
    teaching    teachers that play tasks: no part of what a task costs to make
    baseline    tasks that were made one by one, to compare with (subjects `baseline/...`)

Of the recurring part what is for single tasks grows with them, and what is for banks does not: a bank is filled once and drawn
from for ever. So recurring tokens for each accepted task at n tasks a workflow are `per_task / accepted + per_workflow / n`,
each with its rejected and wasted calls. What was paid once is told beside it, and spread over as many tasks: `one_off` with all
that was rejected, wasted or is unfinished, divided by the workflows that came of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from sqlalchemy import text
from sqlalchemy.engine import Connection

from warehouse.acceptance import states_of

PARTS = ("recurring", "one_off", "rejected", "unfinished", "wasted", "teaching", "baseline")

AT = (20, 100, 500)
"""Tasks a workflow for which costs are told."""

PAPER = {"tokens_per_task": 85_000, "usd_per_task": 0.158}
PER_TASK_AGENTS = {"tokens_per_task": 1_276_000, "usd_per_task": 0.906}
"""What the paper reports for its pipeline and for agents that build each task from scratch."""

GOOD = ("ok", "cached")


def costs(connection: Connection, run: str = "") -> dict[str, Any]:
    """The figures of `forge cost --json`, over the whole ledger or one run of it.

    `recurring_tokens_per_accepted_task` maps "20", "100", "500" to tokens, rejected and wasted calls included; None where no
    task is accepted. `authoring_tokens_per_task` is authoring, spread over as many tasks; `tokens_per_accepted_task` is both
    together. `break_even` is the number of tasks of a workflow from which on it takes no more tokens than making each task by
    an agent, `break_even_usd` the same in dollars; None where that is not known, or never.
    """
    calls = _calls(connection, run)
    states = states_of(connection)
    outcomes: dict[str, str] = dict(connection.execute(text("SELECT subject, outcome FROM authorings")).all())
    for call in calls:
        call["part"] = _part(call, states, outcomes)
    tasks: dict[str, str] = dict(connection.execute(text("SELECT id, workflow FROM tasks")).all())
    baseline_tasks = _baseline_tasks(connection)
    accepted = sum(state == "accepted" and task not in baseline_tasks for task, state in states.items())
    workflows = len({tasks[t] for t, s in states.items() if s == "accepted" and t not in baseline_tasks})
    authored = sum(o == "authored" and not s.startswith("baseline/") for s, o in outcomes.items()) or workflows
    making = [call for call in calls if call["part"] not in ("teaching", "baseline")]
    recurring = [call for call in making if call["recurring"]]
    per_task = [call for call in recurring if call["subject"] in states]
    per_workflow = [call for call in recurring if call["subject"] not in states]
    one_off = [call for call in making if not call["recurring"]]
    found: dict[str, Any] = {
        "accepted_tasks": accepted,
        "workflows": workflows,
        "authored_workflows": authored,
        "parts": {part: _sum(call for call in calls if call["part"] == part) for part in PARTS},
        "total": _sum(calls),
        "open_calls": _sum(_open(connection, run)),
        "per_task": _sum(per_task),
        "per_workflow": _sum(per_workflow),
        "one_off_per_workflow": _ratio_of(_sum(one_off), authored),
        "one_off_per_workflow_without_rejects": _ratio_of(_sum(c for c in one_off if c["part"] == "one_off"), authored),
        "topup": {**_sum(c for c in recurring if c["subject"].startswith("bank/")), "values": _values(connection)},
        "by_stage": _by(calls, "stage"),
        "by_purpose": _by(calls, "purpose"),
        "by_prompt": _by(calls, "prompt"),
        "by_workflow": _by([call for call in calls if call["workflow"]], "workflow"),
    }
    for unit, key in (("tokens", "tokens_per_accepted_task"), ("usd", "usd_per_accepted_task")):
        single, shared = found["per_task"][unit], found["per_workflow"][unit]
        once = found["one_off_per_workflow"][unit]
        again = {str(n): _recurring(single, shared, accepted, workflows, n) for n in AT}
        found[f"recurring_{key}"] = again
        found[f"authoring_{unit}_per_task"] = {str(n): None if once is None else once / n for n in AT}
        found[key] = {n: None if cost is None else cost + (once or 0) / int(n) for n, cost in again.items()}
    found["baseline"] = _baseline(found["parts"]["baseline"], outcomes)
    others = {"baseline": found["baseline"], "paper_per_task_agents": PER_TASK_AGENTS}
    for unit, key in (("tokens", "break_even"), ("usd", "break_even_usd")):
        found[key] = {name: _break_even(found, unit, other[f"{unit}_per_task"]) for name, other in others.items()}
    return found


def _part(call: dict[str, Any], states: dict[str, str], outcomes: dict[str, str]) -> str:
    subject = call["subject"]
    if subject.startswith("baseline/"):
        return "baseline"
    if call["purpose"] == "teacher":
        return "teaching"
    if call["status"] not in GOOD:
        return "wasted"
    if states.get(subject) == "rejected" or outcomes.get(subject, "authored") != "authored":
        return "rejected"
    if subject.startswith("author/") and subject not in outcomes:
        return "unfinished"
    return "recurring" if call["recurring"] else "one_off"


def _recurring(single: float, shared: float, accepted: int, workflows: int, tasks: int) -> float | None:
    if not accepted:
        return None
    return single / accepted + shared / max(1, workflows) / tasks


def _baseline_tasks(connection: Connection) -> set[str]:
    """Tasks of workflows that the baseline made, which are not our own."""
    query = "SELECT t.id FROM tasks t JOIN authorings a ON a.version = t.workflow WHERE a.mode = 'task'"
    return set(connection.scalars(text(query)))


def _baseline(spent: dict[str, Any], outcomes: dict[str, str]) -> dict[str, Any]:
    """What a task costs that an agent makes from scratch, failed tries included."""
    made = sum(outcome == "authored" and subject.startswith("baseline/") for subject, outcome in outcomes.items())
    tried = sum(subject.startswith("baseline/") for subject in outcomes)
    ratio = _ratio_of(spent, made)
    return {"tasks": made, "tried": tried, "tokens_per_task": ratio["tokens"], "usd_per_task": ratio["usd"]}


def _break_even(found: dict[str, Any], unit: str, other: float | None) -> int | None:
    """Tasks from which on `once / n + recurring(n)` is not above what a task costs by itself."""
    once = found["one_off_per_workflow"][unit]
    if not other or not once or not found["accepted_tasks"]:
        return None
    single = found["per_task"][unit] / found["accepted_tasks"]
    shared = once + found["per_workflow"][unit] / max(1, found["workflows"])
    return None if single >= other else max(1, math.ceil(shared / (other - single)))


def _calls(connection: Connection, run: str) -> list[dict[str, Any]]:
    """Calls that ended, summed over what tells them apart."""
    keys = "purpose, recurring, status, subject, stage, workflow, prompt"
    return _rows(connection, keys, "status <> 'open'", run)


def _open(connection: Connection, run: str) -> list[dict[str, Any]]:
    """Calls that have not ended: on their way, or lost with their process. What they may have used is not known better."""
    tokens, usd = "SUM(reserved_tokens)", "SUM(reserved_usd)"
    return _rows(connection, "status", "status = 'open'", run, tokens, usd)


def _rows(
    connection: Connection,
    keys: str,
    condition: str,
    run: str,
    tokens: str = "SUM(prompt_tokens + completion_tokens)",
    usd: str = "SUM(cost_usd)",
) -> list[dict[str, Any]]:
    query = f"SELECT {keys}, COUNT(*) AS calls, {tokens} AS tokens, {usd} AS usd FROM model_calls WHERE {condition}"
    query += " AND run = :run" if run else ""
    found = connection.execute(text(f"{query} GROUP BY {keys} ORDER BY {keys}"), {"run": run} if run else {})
    rows = [dict(row._mapping) for row in found]
    return [{**row, "tokens": int(row["tokens"]), "usd": float(row["usd"])} for row in rows]


def _values(connection: Connection) -> int:
    return int(connection.scalar(text("SELECT COUNT(*) FROM bank_values")) or 0)


def _sum(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    rows = list(rows)
    return {unit: sum(row[unit] for row in rows) for unit in ("calls", "tokens", "usd")}


def _by(rows: list[dict[str, Any]], key: str) -> dict[str, dict[str, Any]]:
    return {name or "(none)": _sum(r for r in rows if r[key] == name) for name in sorted({row[key] for row in rows})}


def _ratio_of(spent: dict[str, Any], whole: int) -> dict[str, float | None]:
    return {unit: spent[unit] / whole if whole else None for unit in ("tokens", "usd")}
