"""`forge show`: a trajectory as a film strip."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def show(
    trajectory: Annotated[
        str | None, typer.Argument(help="Trajectory id, or its unique beginning. Without one: a list of them.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Where the PNG goes; default: film-ID.png, unless only a film is made."),
    ] = None,
    gif: Annotated[Path | None, typer.Option("--gif", help="Also write the episode as a GIF here.")] = None,
    mp4: Annotated[Path | None, typer.Option("--mp4", help="Also write the episode as an MP4 here.")] = None,
    skill: Annotated[str | None, typer.Option(help="In the list: only episodes of this skill.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="In the list: at most so many.")] = 50,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the trajectory, or the list, as JSON instead.")
    ] = False,
) -> None:
    """Draw a film strip: screenshots with the actions on them, instruction, verdict with its evidence; or make a film.

    Examples:

      forge show --skill calc.data.sort-rows

      forge show 5c1e -o strip.png

      forge show 5c1e --mp4 episode.mp4
    """
    from forge.desktop.recording import check_target, write_gif, write_mp4
    from forge.harness.film import frames
    from forge.harness.filmstrip import render
    from rounds.terminal import print_json, print_table
    from rounds.workshop import Workshop

    with Workshop() as workshop:
        warehouse = workshop.warehouse
        if trajectory is None:
            _list(warehouse.list_trajectories(skill=skill, limit=limit), as_json)
            return
        full = warehouse.trajectory_id(trajectory)
        found = warehouse.trajectory(full)
        if as_json:
            print_json({"id": full, **found.to_json()})
            return
        target = out or (Path(f"film-{full[:12]}.png") if gif is None and mp4 is None else None)
        for file in (target, gif, mp4):
            if file is not None:
                check_target(file, draft=False)
        for film, write in ((gif, write_gif), (mp4, write_mp4)):
            if film is not None:
                write(frames(found, warehouse.blobs.get), film)
                print(film)
        if target is not None:
            target.write_bytes(render(found, warehouse.task(found.task), found.verdict, warehouse.blobs.get))
    if found.verdict is not None:
        print_table(
            f"{found.teacher} under {found.channel}: reward {found.reward}", ["criterion", "kind", "score", "evidence"],
            [(c.criterion, c.kind, c.score, c.evidence) for c in found.verdict.criteria],
        )  # fmt: skip
    if target is not None:
        print(target)


def _list(rows: list[dict[str, Any]], as_json: bool) -> None:
    from rounds.terminal import print_json, print_table

    if as_json:
        print_json(rows)
        return
    print_table(
        f"{len(rows)} trajectories", ["trajectory", "skill", "channel", "teacher", "ended by", "reward", "turns", "actions"],
        [
            (r["id"][:12], r["skill"], r["channel"], r["teacher"], r["ended_by"], r["reward"], r["n_turns"], r["n_actions"])
            for r in rows
        ],
    )  # fmt: skip
