"""Figures: what `forge stats` says, read from the views. A rate of nothing is None, a count of nothing 0."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from sqlalchemy import TextClause, text
from sqlalchemy.engine import Connection

from warehouse.acceptance import reason_text
from warehouse.pace import checked
from warehouse.stats_once import evaluated, once, states_once
from warehouse.views import ORDERS

OUTCOMES = ("success", "partial", "failure", "grader_error", "not_gradable", "not_trusted")

_REPORT = {
    "Tasks by application": "tasks_by_app",
    "Tasks by skill": "tasks_by_skill",
    "Why tasks are not accepted": "acceptance_reasons",
    "Probes over all candidates": "kill_rates",
    "Kills by check": "kills_by_check",
    "Trajectories by outcome": "trajectories_by_outcome",
    "Success by skill and harness": "success_by_skill_harness",
    "Share of GUI and terminal calls": "channel_share",
    "Cost per accepted task": "cost_per_accepted_task",
}


def rows_of(connection: Connection, view: str) -> list[dict[str, Any]]:
    """The rows of a view, in their order; the name must be one of ours."""
    return [dict(row._mapping) for row in connection.execute(_all_of(view))]


def report(connection: Connection) -> dict[str, tuple[list[str], list[tuple[Any, ...]]]]:
    """Tables for people: title to (columns, rows); a table without rows is left out."""
    tables: dict[str, tuple[list[str], list[tuple[Any, ...]]]] = {}
    with evaluated(connection):
        for title, view in _REPORT.items():
            found = connection.execute(text(once(view)))
            columns, rows = list(found.keys()), [tuple(row) for row in found]
            if rows:
                tables[title] = (columns, rows)
    if found_rounds := checked(connection):
        tables["Rounds, expected and taken"] = (list(found_rounds[0]), [tuple(row.values()) for row in found_rounds])
    return tables


def figures(connection: Connection) -> dict[str, Any]:
    """The figures of `forge stats --json`.

    `tasks.by_app` counts accepted tasks, one of several applications under each. The four rates of `probes` are over
    every candidate, whatever became of it. `tokens.per_accepted_task` is what making tasks cost, rejected and failed work
    included; what teachers spent on playing them is `tokens.per_trajectory`.
    """
    with evaluated(connection):
        return _figures(connection, states_once(connection))


def _figures(connection: Connection, states: dict[str, str]) -> dict[str, Any]:
    calls = _calls(connection)
    trajectories = _trajectories(connection)
    accepted = sum(state == "accepted" for state in states.values())
    rejected = {task for task, state in states.items() if state == "rejected"}
    spent = _Spent(
        making=[row for row in calls if row["purpose"] != "teacher"],
        playing=[row for row in calls if row["purpose"] == "teacher"],
        on_rejected=[row for row in _calls_for_tasks(connection) if row["subject"] in rejected],
        accepted=accepted,
        trajectories=trajectories["total"],
    )
    return {
        "tasks": _tasks(connection, states),
        "probes": _probes(connection),
        "trajectories": {
            "total": trajectories["total"],
            "by_outcome": _outcomes(connection),
            "by_ended_by": _count_by(connection, "ended_by"),
            "by_provenance": _count_by(connection, "provenance"),
            "tasks_with_oracle_success": _oracle_tasks(connection, states),
        },
        "share": {
            "gui": _ratio(trajectories["gui"], trajectories["gui"] + trajectories["terminal"]),
            "terminal": _ratio(trajectories["terminal"], trajectories["gui"] + trajectories["terminal"]),
            "gui_calls": trajectories["gui"],
            "terminal_calls": trajectories["terminal"],
        },
        "tokens": spent.of("tokens"),
        "cost_usd": spent.of("cost_usd"),
        "model_calls": {
            "total": sum(row["calls"] for row in calls),
            "by_status": _sum_by(calls, "status", "calls"),
            "by_purpose": _sum_by(calls, "purpose", "calls"),
        },
    }


def _all_of(view: str) -> TextClause:
    order = ORDERS[view.rsplit("_v", 1)[0]]
    return text(f"SELECT * FROM {view} ORDER BY {order}")


def _tasks(connection: Connection, states: dict[str, str]) -> dict[str, Any]:
    counts = Counter(states.values())
    by_app: Counter[str] = Counter()
    for app, task in connection.execute(text("SELECT app, task FROM task_apps ORDER BY app, task")):
        by_app[app] += states[task] == "accepted"
    by_skill: Counter[str] = Counter(dict.fromkeys(connection.scalars(text("SELECT id FROM skills ORDER BY id")), 0))
    several = 0
    for skill, task, apps in connection.execute(text("SELECT skill, id, n_apps FROM tasks")):
        good = states[task] == "accepted"
        by_skill[skill] += good
        several += good and apps > 1
    return {
        **{state: counts[state] for state in ("accepted", "rejected", "pending")},
        "candidates": len(states),
        "by_app": dict(by_app),
        "by_skill": dict(by_skill),
        "several_apps": several,
        "reasons": _reasons(connection),
    }


def _reasons(connection: Connection) -> dict[str, int]:
    found = connection.execute(text(once("acceptance_reasons")))
    return {reason_text(row.reason, row.detail): row.tasks for row in found}


def _probes(connection: Connection) -> dict[str, Any]:
    kinds = {row["kind"]: row for row in rows_of(connection, "kill_rates")}

    def of(kind: str, column: str, default: Any = None) -> Any:
        return kinds[kind][column] if kind in kinds else default

    return {
        "noop_false_positives": of("noop", "wrong_ones", 0),
        "oracle_pass_rate": of("solution", "rate"),
        "near_miss_kill_rate": of("near_miss", "rate"),
        "audit_kill_rate": of("audit", "rate"),
        "over_edit_recall": of("over_edit", "rate"),
        "counts": {kind: row["probes"] for kind, row in sorted(kinds.items())},
        "dropped": sum(row["dropped"] for row in kinds.values()),
    }


def _trajectories(connection: Connection) -> dict[str, int]:
    row = connection.execute(
        text("SELECT COUNT(*), COALESCE(SUM(n_gui), 0), COALESCE(SUM(n_terminal), 0) FROM trajectories")
    ).one()
    return {"total": int(row[0]), "gui": int(row[1]), "terminal": int(row[2])}


def _outcomes(connection: Connection) -> dict[str, int]:
    found = dict.fromkeys(OUTCOMES, 0)
    for row in rows_of(connection, "trajectories_by_outcome"):
        found[row["outcome"]] += row["trajectories"]
    return found


def _count_by(connection: Connection, column: str) -> dict[str, int]:
    query = text(f"SELECT {column}, COUNT(*) FROM trajectories GROUP BY {column} ORDER BY {column}")
    return dict(connection.execute(query).all())


def _oracle_tasks(connection: Connection, states: dict[str, str]) -> int:
    query = text("SELECT DISTINCT task FROM trajectories WHERE provenance = 'oracle' AND reward = 1")
    return sum(states[task] == "accepted" for task in connection.scalars(query))


def _calls(connection: Connection) -> list[dict[str, Any]]:
    """Calls by purpose, recurring and status."""
    return _sums(
        connection, "SELECT purpose, recurring, status, {sums} FROM model_calls GROUP BY purpose, recurring, status"
    )


def _calls_for_tasks(connection: Connection) -> list[dict[str, Any]]:
    """What was spent on making single tasks, by task."""
    return _sums(
        connection,
        "SELECT subject, {sums} FROM model_calls JOIN tasks ON tasks.id = subject WHERE purpose <> 'teacher' GROUP BY subject",
    )


def _sums(connection: Connection, query: str) -> list[dict[str, Any]]:
    sums = "COUNT(*) AS calls, SUM(prompt_tokens + completion_tokens) AS tokens, SUM(cost_usd) AS cost_usd"
    rows = [dict(row._mapping) for row in connection.execute(text(query.format(sums=sums)))]
    return [{**row, "tokens": int(row["tokens"]), "cost_usd": float(row["cost_usd"])} for row in rows]


@dataclass(frozen=True)
class _Spent:
    """Sums of the ledger: for making tasks, for playing them, and the part of making that went into rejected ones."""

    making: list[dict[str, Any]]
    playing: list[dict[str, Any]]
    on_rejected: list[dict[str, Any]]
    accepted: int
    trajectories: int

    def of(self, unit: str) -> dict[str, Any]:
        """What was spent in `tokens` or `cost_usd`."""

        def total(rows: list[dict[str, Any]]) -> Any:
            return sum(row[unit] for row in rows)

        making, playing = total(self.making), total(self.playing)
        return {
            "total": making + playing,
            "per_accepted_task": _ratio(making, self.accepted),
            "per_trajectory": _ratio(playing, self.trajectories),
            "recurring": total([row for row in self.making if row["recurring"]]),
            "one_off": total([row for row in self.making if not row["recurring"]]),
            "rejected_tasks": total(self.on_rejected),
            "failed_calls": total([r for r in self.making + self.playing if r["status"] not in ("ok", "cached")]),
        }


def _sum_by(rows: list[dict[str, Any]], key: str, value: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in rows:
        found[row[key]] = found.get(row[key], 0) + row[value]
    return dict(sorted(found.items()))


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
