"""Figures: what `forge stats` says, read from the views. A rate of nothing is None, a count of nothing 0."""

from __future__ import annotations

from typing import Any

from sqlalchemy import TextClause, text
from sqlalchemy.engine import Connection

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
    tables = {}
    for title, view in _REPORT.items():
        found = connection.execute(_all_of(view))
        columns, rows = list(found.keys()), [tuple(row) for row in found]
        if rows:
            tables[title] = (columns, rows)
    return tables


def figures(connection: Connection) -> dict[str, Any]:
    """The figures of `forge stats --json`.

    `tasks.by_app` counts accepted tasks, one of several applications under each. The four rates of `probes` are over
    every candidate, whatever became of it. `tokens.per_accepted_task` is what making tasks cost, rejected and failed work
    included; what teachers spent on playing them is `tokens.per_trajectory`.
    """
    states = _states(connection)
    calls = _calls(connection)
    trajectories = _trajectories(connection)
    accepted = states["accepted"]
    making = [row for row in calls if row["purpose"] != "teacher"]
    playing = [row for row in calls if row["purpose"] == "teacher"]
    return {
        "tasks": {
            **states,
            "candidates": sum(states.values()),
            "by_app": {row["app"]: row["accepted"] for row in rows_of(connection, "tasks_by_app")},
            "by_skill": {row["skill"]: row["accepted"] for row in rows_of(connection, "tasks_by_skill")},
            "several_apps": _accepted_several_apps(connection),
            "reasons": _reasons(connection),
        },
        "probes": _probes(connection),
        "trajectories": {
            "total": trajectories["total"],
            "by_outcome": _outcomes(connection),
            "by_ended_by": _count_by(connection, "ended_by"),
            "by_provenance": _count_by(connection, "provenance"),
            "tasks_with_oracle_success": _oracle_tasks(connection),
        },
        "share": {
            "gui": _ratio(trajectories["gui"], trajectories["gui"] + trajectories["terminal"]),
            "terminal": _ratio(trajectories["terminal"], trajectories["gui"] + trajectories["terminal"]),
            "gui_calls": trajectories["gui"],
            "terminal_calls": trajectories["terminal"],
        },
        "tokens": _spent(making, playing, "tokens", accepted, trajectories["total"]),
        "cost_usd": _spent(making, playing, "cost_usd", accepted, trajectories["total"]),
        "model_calls": {
            "total": sum(row["calls"] for row in calls),
            "by_status": _sum_by(calls, "status", "calls"),
            "by_purpose": _sum_by(calls, "purpose", "calls"),
        },
    }


def _all_of(view: str) -> TextClause:
    order = ORDERS[view.rsplit("_v", 1)[0]]
    return text(f"SELECT * FROM {view} ORDER BY {order}")


def _states(connection: Connection) -> dict[str, int]:
    found = connection.execute(text("SELECT state, COUNT(*) FROM task_states_v1 GROUP BY state")).all()
    return {"accepted": 0, "rejected": 0, "pending": 0, **dict(found)}


def _accepted_several_apps(connection: Connection) -> int:
    query = "SELECT COUNT(*) FROM task_states_v1 WHERE state = 'accepted' AND n_apps > 1"
    return connection.scalar(text(query)) or 0


def _reasons(connection: Connection) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in rows_of(connection, "acceptance_reasons"):
        name = f"{row['reason']}: {row['detail']}" if row["detail"] else row["reason"]
        found[name] = row["tasks"]
    return found


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


def _oracle_tasks(connection: Connection) -> int:
    query = text(
        "SELECT COUNT(DISTINCT r.task) FROM trajectories r JOIN accepted_v1 a ON a.task = r.task"
        " WHERE r.provenance = 'oracle' AND r.reward = 1"
    )
    return connection.scalar(query) or 0


def _calls(connection: Connection) -> list[dict[str, Any]]:
    """Calls by purpose, recurring, status, and whether what they were for is a task that was rejected."""
    query = text(
        "SELECT m.purpose, m.recurring, m.status, COALESCE(s.state, '') = 'rejected' AS rejected, COUNT(*) AS calls,"
        " SUM(m.prompt_tokens + m.completion_tokens) AS tokens, SUM(m.cost_usd) AS cost_usd"
        " FROM model_calls m LEFT JOIN task_states_v1 s ON s.task = m.subject"
        " GROUP BY m.purpose, m.recurring, m.status, COALESCE(s.state, '') = 'rejected'"
    )
    rows = [dict(row._mapping) for row in connection.execute(query)]
    return [{**row, "tokens": int(row["tokens"]), "cost_usd": float(row["cost_usd"])} for row in rows]


def _spent(
    making: list[dict[str, Any]], playing: list[dict[str, Any]], unit: str, accepted: int, trajectories: int
) -> dict[str, Any]:
    """What making and playing tasks cost in tokens or dollars; the parts overlap only with the totals."""

    def total(rows: list[dict[str, Any]]) -> Any:
        return sum(row[unit] for row in rows)

    return {
        "total": total(making) + total(playing),
        "per_accepted_task": _ratio(total(making), accepted),
        "per_trajectory": _ratio(total(playing), trajectories),
        "recurring": total([row for row in making if row["recurring"]]),
        "one_off": total([row for row in making if not row["recurring"]]),
        "rejected_tasks": total([row for row in making if row["rejected"]]),
        "failed_calls": total([row for row in making + playing if row["status"] not in ("ok", "cached")]),
    }


def _sum_by(rows: list[dict[str, Any]], key: str, value: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in rows:
        found[row[key]] = found.get(row[key], 0) + row[value]
    return dict(sorted(found.items()))


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
