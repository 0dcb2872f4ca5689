"""`forge skills`: list, show, start and validate skills and their workflows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Skills and their workflows: list, show, new, validate.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]


@app.command("list")
def list_(
    app_: Annotated[str | None, typer.Option("--app", help="Only skills of this application.")] = None,
    as_json: Json = False,
) -> None:
    """List the skills of the library.

    Example: forge skills list --app calc
    """
    from rounds.terminal import print_json, print_table
    from skills.taxonomy import listing

    rows = [row for row in listing() if app_ is None or app_ in row["apps"]]
    if as_json:
        print_json(rows)
        return
    print_table(
        f"{len(rows)} skills", ["skill", "apps", "channels", "state", "title"],
        [(r["id"], " ".join(r["apps"]), " ".join(r["channels"]), r["state"], r["title"]) for r in rows],
    )  # fmt: skip


@app.command()
def show(
    skill: Annotated[str, typer.Argument(help="Skill id, or a workflow file.")],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw that is shown.")] = 0,
    as_json: Json = False,
) -> None:
    """Draw one task of a skill and show it: instruction, files, solutions, rubric.

    Example: forge skills show calc.formula.total-below-column --seed 7
    """
    from cli.tasks import print_task
    from rounds.terminal import print_json
    from rounds.workshop import Workshop
    from skills import draw, load

    with Workshop() as workshop:
        task = draw(load(skill), seed, workshop.kitchen()).task
    if as_json:
        print_json({"id": task.id, **task.to_json()})
    else:
        print_task(task)


@app.command()
def new(
    skill: Annotated[str, typer.Argument(help="Id of the new skill: app.area.verb-object.")],
    folder: Annotated[Path, typer.Option(help="Where to write it.")] = Path("."),
) -> None:
    """Write a commented starting point for a workflow that already validates and draws.

    Example: forge skills new calc.format.mark-negative --folder mine
    """
    from skills.starter import new as write

    print(write(skill, folder))


@app.command()
def validate(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Workflow files or skill ids; default: the library.")
    ] = None,
    draws: Annotated[int, typer.Option(min=0, help="Also draw this many tasks of each and pass their gates.")] = 0,
) -> None:
    """Check workflows without running anything, or draw from them too.

    Exit code 2 names the file and line of the first fault.
    """
    from skills import draw, library, load

    chosen = [load(p) for p in (paths or library())]
    for workflow in chosen:
        print(f"{workflow.skill.id}  {workflow.version[:12]}  {' '.join(workflow.channels)}")
    if not draws:
        return
    from rounds.materialize import gate_rows
    from rounds.workshop import Workshop

    failed = 0
    with Workshop() as workshop:
        for workflow in chosen:
            for seed in range(draws):
                for row in gate_rows(draw(workflow, seed, workshop.kitchen())):
                    if not row.passed:
                        failed += 1
                        print(f"{workflow.skill.id} seed {seed}: gate {row.name}: {row.evidence}")
    if failed:
        raise typer.Exit(1)
