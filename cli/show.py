"""`forge show`: a trajectory as a film strip."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def show(
    trajectory: Annotated[str, typer.Argument(help="Trajectory id, or its unique beginning.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where the PNG goes; default: film-ID.png.")] = None,
    gif: Annotated[Path | None, typer.Option("--gif", help="Also write the episode as a GIF here.")] = None,
    mp4: Annotated[Path | None, typer.Option("--mp4", help="Also write the episode as an MP4 here.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the trajectory as JSON instead.")] = False,
) -> None:
    """Draw a film strip: screenshots with the actions on them, instruction, verdict with its evidence; or make a film.

    Examples:

      forge show 5c1e -o strip.png

      forge show 5c1e --mp4 episode.mp4
    """
    from forge.desktop.recording import write_gif, write_mp4
    from forge.harness.film import frames
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
        for film, write in ((gif, write_gif), (mp4, write_mp4)):
            if film is not None:
                write(frames(found, warehouse.blobs.get), film)
                print(film)
        picture = render(found, warehouse.task(found.task), found.verdict, warehouse.blobs.get)
    target = out or Path(f"film-{full[:12]}.png")
    target.write_bytes(picture)
    if found.verdict is not None:
        print_table(
            f"{found.teacher} under {found.channel}: reward {found.reward}", ["criterion", "kind", "score", "evidence"],
            [(c.criterion, c.kind, c.score, c.evidence) for c in found.verdict.criteria],
        )  # fmt: skip
    print(target)
