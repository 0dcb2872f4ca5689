"""`forge round`: one generation round, as a Prefect flow run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from skills import Workflow


def round_(
    tasks: Annotated[int, typer.Option(min=1, max=100_000, help="Accepted tasks a skill, on average.")] = 2,
    skill: Annotated[
        list[str] | None, typer.Option(help="Skill id or shell pattern; repeatable. Default: all.")
    ] = None,
    number: Annotated[
        int | None, typer.Option("--round", min=0, help="Number of the round; default: go on, or the next.")
    ] = None,
    even: Annotated[bool, typer.Option("--even", help="The same number of tasks for every skill.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show tasks by skill and what they will take; do nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the round's report as JSON.")] = False,
) -> None:
    """Prepare, probe and play one round; interrupted rounds go on where they were.

    Weak skills get more of the tasks by what a student came to, retired ones none unless --skill names them whole.
    Runs the Prefect flow `round` with the embedded server, or with the server that PREFECT_API_URL names.

    Examples:

      forge round --tasks 2

      forge round --skill 'calc.*' --tasks 10 --dry-run
    """
    import json
    import os
    import sys

    from forge.desktop.limits import slot_limits
    from forge.records import Settings
    from rounds.register import choose

    slot_limits(Settings())  # what is wrong there, or with the skills, is told before Prefect starts
    chosen = choose(skill or [])
    if dry_run:
        _preview(chosen, tasks, skill or [], number, even, as_json)
        return
    parameters = {"tasks": tasks, "skills": skill or [], "round": number, "even": even}
    os.execv(
        sys.executable,
        [sys.executable, "-m", "flows.round", json.dumps(parameters), *(["--json"] if as_json else [])],
    )


def _preview(
    workflows: list[Workflow], tasks: int, skills: list[str], number: int | None, even: bool, as_json: bool
) -> None:
    from rounds.plan import forecast
    from rounds.plan_tables import by_skill, expected
    from rounds.register import Wish, preview
    from rounds.terminal import print_json, print_table
    from rounds.workshop import Workshop

    with Workshop() as workshop:
        plan = preview(workshop.warehouse, Wish(workflows, tasks=tasks, round=number, even=even, named=skills))
        found = forecast(workshop, plan)
    if as_json:
        print_json({"round": plan.round, "skills": plan.rows, "forecast": found})
    else:
        print_table(*by_skill(plan))
        print_table(*expected(found))
