"""`forge stats`: what the warehouse holds, in figures."""

from __future__ import annotations

from typing import Annotated

import typer

KILLS = "Kills by check"


def stats(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
    kills: Annotated[
        bool, typer.Option("--kills", help="Show how every kind of near-miss fared, check by check.")
    ] = False,
) -> None:
    """Tasks, acceptance, probes, trajectories, shares and cost; each figure is a view in the warehouse.

    Examples:

      forge stats --json

      forge stats --kills
    """
    from rounds.terminal import print_json, print_table
    from rounds.workshop import Workshop

    with Workshop() as workshop:
        found, tables = (workshop.warehouse.stats(), {}) if as_json else ({}, workshop.warehouse.report())
    if as_json:
        print_json(found)
        return
    for title, (columns, rows) in tables.items():
        if kills == (title == KILLS):
            print_table(title, columns, rows)
