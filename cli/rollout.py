"""`forge rollout`: play a teacher on tasks."""

from __future__ import annotations

from typing import Annotated

import typer


def rollout(
    task: Annotated[
        list[str] | None, typer.Option(help="Task id or its beginning; repeatable. Default: all accepted.")
    ] = None,
    skill: Annotated[str | None, typer.Option(help="Only tasks of this skill.")] = None,
    harness: Annotated[str, typer.Option(help="gui, terminal, hybrid, or a harness file.")] = "hybrid",
    teacher: Annotated[str, typer.Option(help="oracle, oracle/CHANNEL, or llm (the configured endpoint).")] = "oracle",
    repeat: Annotated[int, typer.Option(min=1, help="Episodes a task.")] = 1,
    desktops: Annotated[
        str | None, typer.Option(help="Slot servers, http://host:port,...; default: FORGE_DESKTOPS, else this machine.")
    ] = None,
    endpoint: Annotated[
        str,
        typer.Option(help="Which endpoint the teacher llm asks; default: as endpoints.yaml or FORGE_LLM_ROLES say."),
    ] = "",
    limit: Annotated[int, typer.Option(min=1, help="At most so many tasks.")] = 1000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Play a teacher on tasks, grade what it left, store the trajectories. What is played already is skipped.

    Examples:

      forge rollout --teacher oracle --harness gui --skill calc.formula.total-below-column

      FORGE_LLM_BASE_URL=http://127.0.0.1:8000/v1 FORGE_LLM_MODEL=qwen forge rollout --teacher llm --limit 10
    """
    from forge.records import Settings
    from forge.records.printable import printable
    from rounds import interrupts
    from rounds.models import choosing
    from rounds.play import Part
    from rounds.rollout import rollout as play
    from rounds.terminal import Bars, print_json, print_table
    from rounds.workshop import Workshop

    settings = Settings() if desktops is None else Settings(desktops=desktops)
    with Workshop(choosing(settings, "teacher", endpoint)) as workshop, Bars() as bars:
        warehouse = workshop.warehouse
        ids = task or [r["id"] for r in warehouse.list_tasks(skill=skill, accepted=True, limit=limit)]
        parts = [Part(warehouse.task(i), harness, teacher, n) for i in ids for n in range(repeat)]
        tally, rows = interrupts.run(play(workshop, parts, bars))
    if as_json:
        print_json({"done": tally.done, "skipped": tally.skipped, "faults": tally.faults, "trajectories": rows})
    else:
        print_table(
            f"{tally.done} played, {tally.skipped} were there, {len(tally.faults)} faults",
            ["trajectory", "task", "ended by", "grading", "reward", "actions", "seconds"],
            [(r["id"][:12], r["task"][:12], r["ended_by"], r["grading"], r["reward"], r["n_actions"], r["seconds"]) for r in rows],
        )  # fmt: skip
        for key, error in tally.faults.items():
            print(printable(f"fault: {key}: {error}"))
    if tally.faults:
        raise typer.Exit(3)
