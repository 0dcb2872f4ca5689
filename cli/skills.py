"""`forge skills`: list, show, start and validate skills and their workflows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from skills.feedback import Standing

app = typer.Typer(help="Skills and their workflows: list, show, new, validate, author.", no_args_is_help=True)

AUTHORED = {
    "skill": "skill", "mode": "mode", "outcome": "outcome", "steps": "turns", "calls": "answered", "failed": "failed",
    "prompt_tokens": "prompt tokens", "completion_tokens": "completion tokens", "reason": "reason",
}  # fmt: skip
"""Keys of an authoring run and what the table calls them: calls of the model that were answered, and that failed."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]
Endpoint = Annotated[
    str, typer.Option(help="Which endpoint the author is; default: as endpoints.yaml or FORGE_LLM_ROLES say.")
]


@app.command("list")
def list_(
    app_: Annotated[str | None, typer.Option("--app", help="Only skills of this application.")] = None,
    candidates: Annotated[
        bool, typer.Option("--candidates", help="Also what has no workflow yet: the taxonomy's and the harvest's.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the skills of the library, with what a student came to and the share that a next round would give them.

    In JSON `workflow` is null where none exists, and so are `share`, `trials`, `passes` and `standing`.

    Examples:

      forge skills list --app calc

      forge skills list --candidates --json | jq 'map(select(.workflow == null)) | length'
    """
    from rounds.plan_tables import share_of
    from rounds.register import standing_now
    from rounds.terminal import print_json, print_table
    from rounds.workshop import Workshop
    from skills.taxonomy import listing

    rows = listing(candidates=candidates)
    with Workshop() as workshop:
        found = standing_now(workshop.warehouse, {r["id"]: r["workflow"] for r in rows if r["workflow"] is not None})
    rows = [row for row in rows if app_ is None or app_ in row["apps"]]
    if as_json:
        for row in rows:
            one = found.get(row["id"])
            row |= {name: getattr(one, name, None) for name in ("share", "trials", "passes")}
            row["standing"] = getattr(one, "state", None)
        print_json(rows)
        return
    cells = []
    for row in rows:
        one = found.get(row["id"])
        apps, channels = " ".join(row["apps"]), " ".join(row["channels"])
        cells.append((row["id"], apps, channels, _state(row, one), share_of(one), row["title"]))
    print_table(f"{len(rows)} skills", ["skill", "apps", "channels", "state", "share", "title"], cells)


def _state(row: dict[str, Any], standing: Standing | None) -> str:
    """A skill's own state, and the student's where it is retired."""
    retired = "" if standing is None or standing.state == "active" else f", {standing.state}"
    return f"{row['state']}{retired}"


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
        list[str] | None,
        typer.Argument(help="Workflow files, skill ids, or folders of one or several skills; default: the library."),
    ] = None,
    draws: Annotated[int, typer.Option(min=0, help="Also draw this many tasks of each and pass their gates.")] = 0,
) -> None:
    """Check workflows without running anything, or draw from them too. Solutions are played only in a round.

    Exit code 2 names the file and line of the first fault.
    """
    from skills import draw, library, load
    from skills.loading import workflows_in

    chosen = [load(each) for path in (paths or library()) for each in workflows_in(path)]
    for workflow in chosen:
        print(f"{workflow.skill.id}  {workflow.version[:12]}  {' '.join(workflow.channels)}")
    if not draws:
        print(
            "checked: keys, names, expressions, wording, literal arguments and scripts' syntax; nothing was drawn (--draws 5)"
            ", solutions are played in a round"
        )
        return
    from rounds.materialize import gate_rows
    from rounds.workshop import Workshop

    failed = 0
    with Workshop() as workshop:
        for workflow in chosen:
            for seed in range(draws):
                rows = [row for row in gate_rows(draw(workflow, seed, workshop.kitchen())) if not row.passed]
                failed += bool(rows)
                for row in rows:
                    print(f"{workflow.skill.id} seed {seed}: gate {row.name}: {row.evidence}")
    drawn = f"{draws * len(chosen)} draws"
    if failed:
        print(f"{drawn}, {failed} failed gates")
        raise typer.Exit(1)
    print(f"{drawn}, gates passed; solutions are played in a round")


@app.command()
def harvest(
    source: Annotated[list[str] | None, typer.Option(help="Only this registry; repeatable. Default: all.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write. Default: FORGE_HOME/taxonomy/harvest.csv.")] = None,
    as_json: Json = False,
) -> None:
    """Read candidates for skills from the applications' own registries, without a model. Running it again changes nothing.

    Example: forge skills harvest
    """
    import skills.harvest as harvesting
    from rounds.terminal import print_json, print_table
    from skills.taxonomy import harvest_file

    found = harvesting.harvest(source or ())
    path = out or harvest_file()
    harvesting.write(found, path)
    rows = harvesting.counts(found)
    if as_json:
        keys = ("candidates", "verifiable", "areas")
        print_json(
            {"file": str(path), "total": len(found), "apps": {r[0]: dict(zip(keys, r[1:], strict=True)) for r in rows}}
        )
        return
    total = ("all", len(found), sum(r[2] for r in rows), sum(r[3] for r in rows))
    print_table(
        f"{len(found)} candidates", ["application", "candidates", "leave checkable state", "areas"], [*rows, total]
    )
    print(f"written to {path}")


@app.command()
def expand(
    count: Annotated[int, typer.Option(min=0, help="Workflows to author at most; needs an endpoint.")] = 5,
    apps: Annotated[list[str] | None, typer.Option("--app", help="Only these applications; repeatable.")] = None,
    round_: Annotated[int | None, typer.Option("--round", min=0, help="Round that is registered.")] = None,
    tokens: Annotated[int | None, typer.Option(help="Tokens that all of it may use.")] = None,
    usd: Annotated[float | None, typer.Option(help="US dollars that all of it may use.")] = None,
    endpoint: Endpoint = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done; change nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Register a round; with an endpoint, author what is wanted and have new skills proposed where coverage is thin.

    The same as the deployment forge/skill-expand, without Prefect.

    Example: forge skills expand --app files --count 3 --dry-run
    """
    from dataclasses import asdict

    from forge.records import Settings
    from rounds import interrupts
    from rounds.expand import Order, skill_expand
    from rounds.models import choosing
    from rounds.terminal import Bars, print_json, print_table
    from rounds.workshop import Workshop

    order = Order(round_, apps=tuple(apps or ()), count=count, tokens=tokens, usd=usd, dry_run=dry_run)
    with Workshop(choosing(Settings(), "author", endpoint)) as workshop, Bars() as bars:
        workshop.run = f"skill-expand-{round_ or 'next'}"
        found = interrupts.run(skill_expand(workshop, order, bars))
    if as_json:
        print_json(asdict(found))
        return
    columns = ["skill", "apps", "channels", "version"]
    print_table(f"{len(found.registered)} workflows", columns, [[r[c] for c in columns] for r in found.registered])
    if found.authored:
        print_table("Authored", list(AUTHORED.values()), [[r[c] for c in AUTHORED] for r in found.authored])
    if found.refused:
        print_table("Refused proposals", ["skill", "why"], found.refused)
    print(f"{found.harvested} candidates harvested. {found.note}".strip())


@app.command()
def author(
    skills: Annotated[list[str], typer.Argument(help="Ids of the skills: app.area.verb-object.")],
    title: Annotated[str, typer.Option(help="What it is, for a skill that the taxonomy does not list.")] = "",
    description: Annotated[str, typer.Option(help="The same in a sentence or two.")] = "",
    apps: Annotated[list[str] | None, typer.Option("--app", help="Applications it needs; repeatable.")] = None,
    round_: Annotated[int, typer.Option("--round", min=0, help="Round that it is authored for.")] = 1,
    into: Annotated[Path | None, typer.Option(help="Library to promote into. Default: FORGE_HOME/library.")] = None,
    steps: Annotated[int, typer.Option(min=1, help="Turns that one skill may use.")] = 40,
    tokens: Annotated[int, typer.Option(min=1000, help="Tokens that one skill may use.")] = 600_000,
    smoke: Annotated[int, typer.Option(min=2, max=100, help="Draws of the smoke batch before promotion.")] = 10,
    parallel: Annotated[int, typer.Option(min=1, max=64, help="Skills in work at once.")] = 2,
    single: Annotated[bool, typer.Option("--single-task", help="The baseline: one task from scratch.")] = False,
    afresh: Annotated[
        bool, typer.Option("--afresh", help="Set the kept conversation aside and begin anew, also what had ended.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No line for every turn and call.")] = False,
    endpoint: Endpoint = "",
    as_json: Json = False,
) -> None:
    """Let a model author workflows: it drafts, tries, mends and submits; what passes is promoted into the library.

    Needs an endpoint for the role `author`. A run that was interrupted goes on with the same conversation; one that had
    ended, also for want of budget, is begun anew by --afresh. Every turn and call has a line on standard error.

    Examples:

      forge skills author calc.format.mark-negative-numbers

      forge skills author files.csv.merge-exports --app files --title "Merge monthly CSV exports into one file"
    """
    from forge.records import InputError, Settings
    from forge.records.printable import printable
    from rounds import interrupts
    from rounds.author import Commission, author_all, skill_of, start_afresh
    from rounds.models import choosing
    from rounds.play import model_for
    from rounds.terminal import Bars, print_json, print_table
    from rounds.workshop import Workshop
    from skills.authoring.brief import Limits, Mode
    from skills.loading import own_folder
    from warehouse.authorings import list_authorings

    if single and into is not None:
        raise InputError(
            "--single-task promotes nothing, so --into has no meaning with it", mend="leave one of them out"
        )
    limits = Limits(steps=steps, tokens=tokens)
    mode: Mode = "task" if single else "workflow"
    library = (into or own_folder()).resolve()
    wanted = [skill_of(each, apps or (), title, description) for each in skills]
    with Workshop(choosing(Settings(), "author", endpoint)) as workshop:
        commissions = [Commission(s, round_, library, mode, limits, smoke) for s in wanted]
        model = model_for(workshop, "author")
        for each in commissions if afresh else ():
            start_afresh(workshop, each)
        ended = {each.skill.id for each in commissions if workshop.warehouse.claims.is_done("author", each.key)}
        with Bars() as bars:
            tell = (lambda line: None) if quiet else bars.say
            job = author_all(workshop, commissions, model, limit=parallel, progress=bars, tell=tell)
            tally = interrupts.run(job)
        with workshop.warehouse.read() as connection:
            keys = {(round_, s.id, mode) for s in wanted}
            rows = [r for r in list_authorings(connection) if (r["round"], r["skill"], r["mode"]) in keys]
    if as_json:
        print_json({"authorings": rows, "faults": tally.faults})
    else:
        print_table("Authored", list(AUTHORED.values()), [[r[c] for c in AUTHORED] for r in rows])
    for row in rows:
        if row["skill"] in ended:
            again = "nothing was asked for; --afresh begins it anew, with a budget of its own"
            typer.echo(printable(f"{row['skill']}: had ended before as {row['outcome']}; {again}"), err=True)
    for key, fault in tally.faults.items():
        typer.echo(printable(f"{key}: {fault}"), err=True)
    if tally.faults:
        raise typer.Exit(3)
    if any(r["outcome"] != "authored" for r in rows):
        raise typer.Exit(1)
