"""`forge stats`: what the warehouse holds, in figures."""

from __future__ import annotations

from typing import Annotated

import typer


def stats(as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False) -> None:
    """Tasks, acceptance, probes, trajectories, shares and cost; each figure is a view in the warehouse.

    Example: forge stats --json
    """
    from rounds.terminal import print_json, print_table
    from rounds.workshop import Workshop

    with Workshop() as workshop:
        figures = workshop.warehouse.stats()
        tables = {} if as_json else workshop.warehouse.report()
    if as_json:
        print_json(figures)
        return
    for title, (columns, rows) in tables.items():
        print_table(title, columns, rows)
