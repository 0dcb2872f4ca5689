"""`forge tasks`: list, show, and open tasks on a desktop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from forge.records import Probe, Task

app = typer.Typer(help="Tasks in the warehouse: list, show, open.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]
TaskId = Annotated[str, typer.Argument(help="Task id, or its unique beginning.")]


@app.command("list")
def list_(
    skill: Annotated[str | None, typer.Option(help="Only this skill.")] = None,
    accepted: Annotated[
        bool | None, typer.Option("--accepted/--rejected", help="Only accepted or only rejected ones.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many rows.")] = 50,
    as_json: Json = False,
) -> None:
    """List tasks with what the acceptance says of them."""
    from rounds.round import causes_first
    from rounds.terminal import print_json, print_table
    from rounds.workshop import Workshop

    with Workshop() as workshop:
        rows = workshop.warehouse.list_tasks(skill=skill, accepted=accepted, limit=limit)
    if as_json:
        print_json(rows)
        return
    print_table(
        f"{len(rows)} tasks",
        ["task", "skill", "accepted", "reasons", "instruction"],
        [
            (
                r["id"][:12],
                r["skill"],
                "yes" if r["accepted"] else "no",
                ", ".join(causes_first(r["reasons"])),
                r["instruction"],
            )
            for r in rows
        ],
    )


@app.command()
def show(task: TaskId, as_json: Json = False) -> None:
    """Show a task with its probes."""
    from rounds.round import causes_first
    from rounds.terminal import print_json, print_table
    from rounds.workshop import Workshop

    with Workshop() as workshop:
        found = workshop.warehouse.task(task)
        probes = workshop.warehouse.probes(found.id)
        accepted, reasons = workshop.warehouse.acceptance(found.id)
    if as_json:
        print_json(
            {
                "id": found.id, "accepted": accepted, "reasons": reasons, "task": found.to_json(),
                "probes": [p.to_json() for p in probes],
            }
        )  # fmt: skip
        return
    print_task(found)
    print_table(
        "Probes", ["kind", "name", "passed", "score", "evidence"],
        [(p.kind.value, p.name, _outcome(p), p.score, _evidence(p)) for p in probes],
    )  # fmt: skip
    print("accepted" if accepted else f"not accepted: {', '.join(causes_first(reasons))}")


@app.command("open")
def open_(
    task: TaskId,
    folder: Annotated[
        Path | None, typer.Option(help="Only lay the task's files out in this folder, without a desktop.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Write a screenshot of the ready desktop here and close it.")
    ] = None,
) -> None:
    """Put a task on a desktop of its own, as an agent would find it; Ctrl-C closes it.

    Prints an address that shows the desktop in a browser of this machine, to look and to work in.

    Examples:

      forge tasks open 3f2a --picture start.png

      forge tasks open 3f2a --folder files
    """
    from forge.desktop.recording import check_target
    from forge.records import Role
    from forge.records.printable import printable
    from rounds.play import open_start
    from rounds.workshop import Workshop

    if picture is not None:
        check_target(picture, draft=False)
    with Workshop() as workshop:
        found = workshop.warehouse.task(task)
        files = workshop.artifact_files(found, (Role.VISIBLE, Role.HIDDEN))
        if folder is not None:
            from forge.desktop import lay

            folder.mkdir(parents=True, exist_ok=True)
            lay(folder, files)
            print(f"{len(files)} files of task {found.id[:12]} in {folder}")
            return
        slot = workshop.slots.acquire(found.guest, files)
        try:
            open_start(slot, found)
            if picture is not None:
                picture.write_bytes(slot.screenshot().png)
                print(picture)
                return
            from cli.desktop import show_until_interrupted

            print(printable(found.instruction))
            show_until_interrupted(slot)
        finally:
            slot.close()


def _evidence(probe: Probe) -> str:
    """The beginning of a probe's evidence; before it, in a line of its own, how a solution's script ended."""
    from rounds.probe import SCRIPT, script_end

    told = script_end(probe.evidence)
    evidence = probe.evidence.partition(SCRIPT)[0][:160]
    return f"{told}\n{evidence}" if told else evidence


def _outcome(probe: Probe) -> str:
    return "dropped" if probe.dropped else "yes" if probe.passed else "NO"


def print_task(task: Task) -> None:
    """Print a task for a person: what an agent reads, what it finds, how it is solved and graded."""
    from forge.records.printable import printable
    from rounds.terminal import print_table

    print(printable(f"task  {task.id}\nskill {task.skill}\n\n{task.instruction}\n"))
    print_table(
        "Files",
        ["path", "role", "bytes", "preparer"],
        [(a.path, a.role.value, a.size, a.preparer) for a in task.artifacts],
    )
    print_table(
        "Rubric", ["id", "kind", "check", "weight", "says"],
        [(c.id, c.kind, c.check, c.weight, c.says) for c in task.rubric.criteria],
    )  # fmt: skip
    for solution in task.solutions:
        print(f"\nsolution through {solution.channel}")
        for step in solution.steps:
            value = step.value if isinstance(step.value, str) else step.to_json()["value"]
            print(printable(f"  {step.move}: {value}"))
    print()
