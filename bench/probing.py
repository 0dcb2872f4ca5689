"""`python -m bench.probing`: tasks materialized and probed on files per second, with every core at work."""

from __future__ import annotations

import asyncio
import logging
import tempfile
import time
from pathlib import Path

from bench.report import Figure, options, show
from forge.records import Settings
from rounds.register import Wish, choose, register
from rounds.round import prepare
from rounds.workshop import Workshop


def rate(patterns: list[str], tasks: int) -> tuple[int, float]:
    """Probe `tasks` draws of every matching skill in a new warehouse. Returns the tasks and the seconds they took."""
    with tempfile.TemporaryDirectory() as folder, Workshop(Settings(home=Path(folder))) as workshop:
        workflows = choose(patterns)
        plan = register(workshop.warehouse, Wish(workflows, tasks=tasks))
        # one task first: LibreOffice and the graders' server are up before the clock starts
        asyncio.run(prepare(workshop, plan.round, workflows[:1], {workflows[0].version: 1}))
        done = 1
        began = time.perf_counter()
        draws = dict.fromkeys((w.version for w in workflows), tasks)
        asyncio.run(prepare(workshop, plan.round, workflows, draws))
        return len(workflows) * tasks - done, time.perf_counter() - began


def main() -> None:
    """Measure Calc, mail and file skills apart."""
    logging.disable(logging.WARNING)
    chosen = options(__doc__ or "")
    tasks = 2 if chosen.quick else 6
    figures = []
    for name, pattern, target in (
        ("Calc", "calc.*", ">= 0.5"),
        ("mail", "thunderbird.*", ""),
        ("file", "files.*", ">= 1"),
    ):
        count, seconds = rate([pattern], tasks)
        figures.append(Figure(f"{name} tasks probed", count / seconds, "tasks/s", target))
    show(figures, as_json=chosen.json)


if __name__ == "__main__":
    main()
