"""`forge regrade`: apply mended checks to stored final states."""

from __future__ import annotations

from typing import Annotated

import typer


def regrade(
    skill: Annotated[str | None, typer.Option(help="Only trajectories of this skill.")] = None,
    check: Annotated[str | None, typer.Option(help="Only tasks whose rubric uses this check.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Compare only, write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Grade the kept final states again and say which rewards changed.

    Example: forge regrade --check calc.formula --dry-run
    """
    from dataclasses import asdict

    from rounds.regrade import regrade as grade_again
    from rounds.terminal import Bars, print_json, print_table
    from rounds.workshop import Workshop

    with Workshop() as workshop, Bars() as bars:
        changes = grade_again(workshop, skill=skill, check=check, dry_run=dry_run, progress=bars)
    if as_json:
        print_json([asdict(c) for c in changes])
    else:
        print_table(
            f"{len(changes)} rewards changed{' (dry run)' if dry_run else ''}",
            ["trajectory", "task", "before", "after", "evidence"],
            [(c.trajectory[:12], c.task[:12], c.before, c.after, c.evidence[:200]) for c in changes],
        )  # fmt: skip
