"""`forge export`: tasks and trajectories for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def export(
    folder: Annotated[Path, typer.Argument(help="Folder to write; must be empty or absent.")],
    format_: Annotated[
        Literal["jsonl", "parquet"] | None, typer.Option("--format", help="Default: jsonl; of turns parquet.")
    ] = None,
    what: Annotated[
        Literal["tasks", "trajectories", "turns"],
        typer.Option(help="tasks, trajectories, or turns (training examples)."),
    ] = "trajectories",
    skill: Annotated[str | None, typer.Option(help="Only this skill.")] = None,
) -> None:
    """Write accepted tasks, trajectories, or folded training examples with a manifest.

    Examples:

      forge export out --what tasks --format jsonl

      forge export shards --what turns --format parquet
    """
    from rounds.workshop import Workshop

    with Workshop() as workshop:
        if what == "turns":
            from training import export_turns

            manifest = export_turns(workshop.warehouse, folder, format=format_ or "parquet", skill=skill)
        else:
            manifest = workshop.warehouse.export(folder, what=what, format=format_ or "jsonl", skill=skill)
    print(f"{manifest['rows']} rows in {folder}")
