"""Costs as tables for people: (title, columns, rows), ready for `rounds.terminal.print_table`. Figures of `warehouse.costs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rounds.terminal import Table
from warehouse.costs import AT, PAPER, PER_TASK_AGENTS


def spent(found: Mapping[str, Any]) -> Table:
    """Every part of the ledger, and the whole."""
    rows = [(part, s["calls"], s["tokens"], usd(s["usd"])) for part, s in found["parts"].items()]
    whole = found["total"]
    return (
        "Spent",
        ["part", "calls", "tokens", "US$"],
        [*rows, ("total", whole["calls"], whole["tokens"], usd(whole["usd"]))],
    )


def per_task(found: Mapping[str, Any]) -> Table:
    """What an accepted task costs: again and again, and its part of what was paid once."""
    accepted, workflows, authored = (found[key] for key in ("accepted_tasks", "workflows", "authored_workflows"))
    title = f"Per accepted task ({accepted} of {workflows} workflows; {authored} authored)"
    columns = [
        "tasks a workflow", "recurring tokens", "authoring, spread", "together", "US$ recurring", "US$ authoring",
        "US$ together",
    ]  # fmt: skip
    rows = []
    for n in map(str, AT):
        tokens = ("recurring_tokens_per_accepted_task", "authoring_tokens_per_task", "tokens_per_accepted_task")
        dollars = ("recurring_usd_per_accepted_task", "authoring_usd_per_task", "usd_per_accepted_task")
        rows.append((int(n), *(count(found[key][n]) for key in tokens), *(usd(found[key][n]) for key in dollars)))
    return title, columns, rows


def both_ways(found: Mapping[str, Any]) -> Table:
    """Tasks drawn from workflows beside tasks made one by one: tokens and dollars for each accepted task, and the break-even."""
    rows: list[tuple[Any, ...]] = [
        (
            f"drawn, {n} a workflow", count(found["tokens_per_accepted_task"][str(n)]),
            count(found["recurring_tokens_per_accepted_task"][str(n)]), usd(found["usd_per_accepted_task"][str(n)]), None, None,
        )
        for n in AT
    ]  # fmt: skip
    one = found["baseline"]
    rows.append(("paper: drawn", PAPER["tokens_per_task"], None, usd(PAPER["usd_per_task"]), None, None))
    for name, key, each in (
        (f"one by one, {one['tasks']} accepted of {one['tried']} tried", "baseline", one),
        ("paper: one by one", "paper_per_task_agents", PER_TASK_AGENTS),
    ):
        tokens, dollars = each["tokens_per_task"], each["usd_per_task"]
        even = (found["break_even"][key], found["break_even_usd"][key])
        rows.append((name, count(tokens), count(tokens), usd(dollars), *even))
    columns = [
        "a task", "tokens", "recurring tokens", "US$", "authoring pays from, tasks a workflow", "the same by US$",
    ]  # fmt: skip
    return "Both ways", columns, rows


def count(value: float | None) -> int | None:
    """A whole number."""
    return None if value is None else round(value)


def usd(value: float | None) -> str | None:
    """Dollars."""
    return None if value is None else f"{value:.4f}"
