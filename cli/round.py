"""`forge round`: one generation round, as a Prefect flow run."""

from __future__ import annotations

from typing import Annotated

import typer


def round_(
    tasks: Annotated[int, typer.Option(min=1, max=100_000, help="Accepted tasks that each skill is to reach.")] = 2,
    skill: Annotated[
        list[str] | None, typer.Option(help="Skill id or shell pattern; repeatable. Default: all.")
    ] = None,
    number: Annotated[
        int | None, typer.Option("--round", min=0, help="Number of the round; default: go on, or the next.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the round's report as JSON.")] = False,
) -> None:
    """Author, prepare, probe and play one round; interrupted rounds go on where they were.

    Runs the Prefect flow `round` with the embedded server, or with the server that PREFECT_API_URL names.

    Examples:

      forge round --tasks 2

      forge round --skill 'calc.*' --tasks 10
    """
    import json
    import os
    import sys

    parameters = {"tasks": tasks, "skills": skill or [], "round": number}
    os.execv(
        sys.executable,
        [sys.executable, "-m", "flows.round", json.dumps(parameters), *(["--json"] if as_json else [])],
    )
