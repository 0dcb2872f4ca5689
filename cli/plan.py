"""`forge plan`: what a round will take, before it begins; and what earlier ones took beside what was expected."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def plan(
    tasks: Annotated[int, typer.Option(min=1, max=100_000, help="Accepted tasks that each skill is to reach.")] = 2,
    skill: Annotated[
        list[str] | None, typer.Option(help="Skill id or shell pattern; repeatable. Default: all.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Show what every round was expected to take and what it took.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Hours, gigabytes, tokens and dollars of a round, from what was measured in this warehouse.

    Examples:

      forge plan --tasks 100

      forge plan --check
    """
    from rounds.plan import forecast
    from rounds.register import choose
    from rounds.terminal import print_json, print_table
    from rounds.workshop import Workshop
    from warehouse import pace

    with Workshop() as workshop:
        if check:
            with workshop.warehouse.read() as connection:
                rows = pace.forecasts(connection)
        else:
            found = forecast(workshop, choose(skill or []), tasks)
    if as_json:
        print_json(rows if check else found)
    elif check:
        names = ("tasks", "hours", "tokens", "usd")
        print_table(
            "Expected and taken", ["round", *(f"{name}: {what}" for name in names for what in ("expected", "took"))],
            [(row["round"], *_pairs(row, names)) for row in rows],
        )  # fmt: skip
    else:
        print_table(
            f"A round of {found['tasks']} accepted tasks", ["", "expected"],
            [
                ("hours", round(found["hours"], 2)),
                *((f"  {name}", round(hours, 2)) for name, hours in found["hours_by_stage"].items()),
                ("gigabytes", round(found["gigabytes"], 3)),
                ("tokens", found["tokens"]),
                ("US$", round(found["usd"], 4)),
                ("draws", found["candidates"]),
                ("episodes", found["episodes"]),
                ("values to write for banks", found["bank_values"]),
            ],
        )  # fmt: skip
        if found["assumed"]:
            print(f"assumed, for too little was measured here: {', '.join(found['assumed'])}")


def _pairs(row: dict[str, Any], names: tuple[str, ...]) -> list[Any]:
    took = row["took"] or {}
    return [
        None if value is None else round(value, 4)
        for name in names
        for value in (row["forecast"].get(name), took.get(name))
    ]
