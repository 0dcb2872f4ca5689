"""Plans, forecasts and checks as tables for people: (title, columns, rows), ready for `rounds.terminal.print_table`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rounds.register import Plan
from rounds.terminal import Table
from skills.feedback import Standing


def by_skill(plan: Plan) -> Table:
    """How a round's tasks are divided."""
    title = f"Round {plan.round}: {sum(plan.counts.values())} tasks of {len(plan.counts)} skills"
    rows = [
        (
            s.skill,
            f"{s.passes} of {s.trials}",
            f"{s.low:.2f} to {s.high:.2f}",
            s.state,
            share_of(s),
            plan.counts[s.skill],
        )
        for s in plan.standings
    ]
    return title, ["skill", "student passed", "pass rate, 95 %", "state", "share", "tasks"], rows


def share_of(standing: Standing | None) -> str:
    """A share in percent."""
    return "" if standing is None else f"{100 * standing.share:.1f} %"


def expected(found: Mapping[str, Any]) -> Table:
    """A forecast."""
    rows: list[tuple[Any, ...]] = [
        ("hours", figure(found["hours"])),
        *((f"  {name}", figure(hours)) for name, hours in found["hours_by_stage"].items()),
        ("gigabytes", figure(found["gigabytes"])),
        ("tokens", found["tokens"]),
        ("US$", figure(found["usd"])),
        ("draws", found["candidates"]),
        ("episodes", found["episodes"]),
        ("values to write for banks", found["bank_values"]),
    ]
    return f"A round of {found['tasks']} accepted tasks", ["", "expected"], rows


def check(rows: Sequence[Mapping[str, Any]], title: str = "Expected and taken") -> Table:
    """What rounds were expected to take, and took."""
    cells = [(r["round"], r["quantity"], figure(r["expected"]), figure(r["took"]), figure(r["ratio"], 2)) for r in rows]
    return title, ["round", "quantity", "expected", "took", "took / expected"], cells


def figure(value: float | None, digits: int = 3) -> str:
    """A number with as many digits as are worth reading, never in powers of ten."""
    if value is None:
        return "-"
    if value == 0 or value == int(value):
        return f"{int(value)}"
    return f"{float(f'{value:.{digits}g}'):f}".rstrip("0").rstrip(".") or "0"
