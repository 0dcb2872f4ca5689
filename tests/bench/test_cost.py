"""The bench of costs: each figure under a name of its own, drawn tasks beside tasks made one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.cost import ledger_figures
from bench.report import Figure
from forge.records import Usage
from rounds.cost_tables import both_ways, per_task
from warehouse import Warehouse
from warehouse.costs import costs

from ..warehouse.samples import WORKFLOW, good_evidence, make_call, make_task, register
from ..warehouse.test_costs import authored


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Warehouse]:
    """One workflow authored for 100 000 tokens, two accepted tasks of it, a baseline's task for 30 000 and a failed one."""
    with Warehouse.open(f"sqlite:///{tmp_path / 'warehouse.db'}", str(tmp_path / "blobs")) as opened:
        with opened.begin() as session:
            register(opened, session)
            for number in range(2):
                opened.add_task(session, make_task(number), 1, number)
                opened.add_probes(session, good_evidence(make_task(number)))
            authored(session, "author/1:calc.a:workflow", "authored", version=WORKFLOW)
            authored(session, "baseline/1:calc.a:task", "authored", mode="task")
            authored(session, "baseline/1:calc.b:task", "gave_up", mode="task")
        for name, subject, tokens, recurring in (
            ("a", "author/1:calc.a:workflow", 100_000, False),
            ("b", "baseline/1:calc.a:task", 20_000, False),
            ("c", "baseline/1:calc.b:task", 10_000, False),
            ("d", "bank/names/stock", 2_000, True),
        ):
            usage = Usage(prompt_tokens=tokens, completion_tokens=0)
            opened.ledger.record(
                make_call(
                    name, purpose="author", recurring=recurring, subject=subject, usage=usage, cost_usd=tokens / 1e6
                )
            )
        yield opened


def test_every_figure_has_a_name_of_its_own(warehouse):
    with warehouse.read() as connection:
        figures = ledger_figures(costs(connection))
    found = {f.name: f for f in figures}
    assert len(found) == len(figures)
    recurring = next(f for name, f in found.items() if name.startswith("recurring tokens per accepted task, 20 "))
    assert recurring == Figure(recurring.name, 100.0, "tokens", "<= 4000")
    assert recurring.met
    assert found["break-even with baseline, by tokens"].value == 4  # 102 000 / 30 000
    assert found["break-even with baseline, by US$"].value == 4


def test_drawn_tasks_stand_beside_those_made_one_by_one(warehouse):
    with warehouse.read() as connection:
        found = costs(connection)
    _, columns, rows = both_ways(found)
    table = {row[0]: dict(zip(columns, row, strict=True)) for row in rows}
    assert [table[f"drawn, {n} a workflow"]["tokens"] for n in (20, 100, 500)] == [5_100, 1_020, 204]
    assert [table[f"drawn, {n} a workflow"]["recurring tokens"] for n in (20, 100, 500)] == [100, 20, 4]
    one = table["one by one, 1 accepted of 2 tried"]
    assert (one["tokens"], one["US$"], one["authoring pays from, tasks a workflow"]) == (30_000, "0.0300", 4)
    _, columns, rows = per_task(found)
    assert rows[0][:4] == (20, 100, 5_000, 5_100)
    assert len(columns) == len(rows[0])
