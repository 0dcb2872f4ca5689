"""`forge plan`: what a round will take, before it begins; and what earlier ones took beside what was expected."""

from __future__ import annotations

from typing import Annotated

import typer


def plan(
    tasks: Annotated[int, typer.Option(min=1, max=100_000, help="Accepted tasks a skill, on average.")] = 2,
    skill: Annotated[
        list[str] | None, typer.Option(help="Skill id or shell pattern; repeatable. Default: all.")
    ] = None,
    even: Annotated[bool, typer.Option("--even", help="The same number of tasks for every skill.")] = False,
    number: Annotated[
        int | None, typer.Option("--round", min=0, help="Show what this round was expected to take, and took.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Show what every round was expected to take, and took.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Tasks by skill, hours, gigabytes, tokens and dollars of a round, from what was measured in this warehouse.

    Examples:

      forge plan --tasks 100

      forge plan --round 3
    """
    from forge.records import InputError
    from rounds.plan import forecast
    from rounds.plan_check import checked
    from rounds.plan_tables import by_skill, expected
    from rounds.plan_tables import check as check_table
    from rounds.register import Wish, choose, preview
    from rounds.terminal import print_json, print_table
    from rounds.workshop import Workshop

    with Workshop() as workshop:
        if check or number is not None:
            rows = checked(workshop, number)
            if number is not None and not rows:
                raise InputError(
                    f"round {number} has no forecast", mend="`forge plan --check` lists those that have one"
                )
        else:
            planned = preview(workshop.warehouse, Wish(choose(skill or []), tasks=tasks, even=even, named=skill or []))
            found = forecast(workshop, planned)
    if check or number is not None:
        print_json(rows) if as_json else print_table(*check_table(rows))
        return
    if as_json:
        print_json({**found, "round": planned.round, "skills": planned.rows})
        return
    print_table(*by_skill(planned))
    print_table(*expected(found))
    if found["assumed"]:
        print(f"assumed, for too little was measured here: {', '.join(found['assumed'])}")
