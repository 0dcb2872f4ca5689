"""`forge show`: a trajectory as a film strip."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def show(
    trajectory: Annotated[str, typer.Argument(help="Trajectory id, or its unique beginning.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where the PNG goes; default: film-ID.png.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the trajectory as JSON instead.")] = False,
) -> None:
    """Draw a film strip: screenshots with the actions on them, instruction, verdict with its evidence.

    Example: forge show 5c1e -o strip.png
    """
    from forge.harness.filmstrip import render
    from rounds.terminal import print_json, print_table
    from rounds.workshop import Workshop

    with Workshop() as workshop:
        warehouse = workshop.warehouse
        full = warehouse.trajectory_id(trajectory)
        found = warehouse.trajectory(full)
        if as_json:
            print_json({"id": full, **found.to_json()})
            return
        picture = render(found, warehouse.task(found.task), found.verdict, warehouse.blobs.get)
    target = out or Path(f"film-{full[:12]}.png")
    target.write_bytes(picture)
    if found.verdict is not None:
        print_table(
            f"{found.teacher} under {found.channel}: reward {found.reward}", ["criterion", "kind", "score", "evidence"],
            [(c.criterion, c.kind, c.score, c.evidence) for c in found.verdict.criteria],
        )  # fmt: skip
    print(target)
