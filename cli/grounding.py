"""`forge grounding`: harvest pairs of instruction and place from real screens; list, export, score, look at them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

app = typer.Typer(help="Grounding data from real screens: harvest, list, export, score, sheet.", no_args_is_help=True)

Apps = Annotated[list[str] | None, typer.Option("--app", help="Application; repeatable. Default: all.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]


@app.command()
def harvest(
    apps: Apps = None,
    most: Annotated[int | None, typer.Option(min=0, help="At most so many walks through an application.")] = None,
    oracle: Annotated[
        int, typer.Option(min=0, help="Also watch the oracle play so many tasks of the warehouse in windows.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Walk through applications, keep what shows, make pairs; what was walked is not walked again.

    Examples:

      forge grounding harvest

      forge grounding harvest --app calc --app gimp
    """
    from forge.records.printable import printable
    from rounds import interrupts
    from rounds.harvest import harvest as run
    from rounds.terminal import Bars, print_json
    from rounds.workshop import Workshop

    with Workshop() as workshop:
        with Bars() as bars:
            done = interrupts.run(run(workshop, apps or (), bars, most=most, oracle=oracle))
    if as_json:
        print_json({"counts": done.counts, "faults": done.walked.faults})
    else:
        _print_counts(done.counts)
        for key, fault in done.walked.faults.items():
            print(printable(f"{key}: {fault}"))
    if done.walked.faults:
        raise typer.Exit(1)


@app.command("list")
def list_(as_json: Json = False) -> None:
    """Show how many screens, targets and pairs there are of each application."""
    from rounds.terminal import print_json
    from rounds.workshop import Workshop
    from warehouse import grounding

    with Workshop() as workshop, workshop.warehouse.read() as connection:
        counts = grounding.counts(connection)
    if as_json:
        print_json(counts)
    else:
        _print_counts(counts)


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Folder to write; must be empty or absent.")],
    form: Annotated[Literal["screenspot", "osworld-g"], typer.Option(help="Which benchmark's form.")] = "osworld-g",
    hold_out: Annotated[
        list[str] | None, typer.Option(help="Application whose pairs are for testing only; repeatable.")
    ] = None,
    apps: Apps = None,
) -> None:
    """Write pairs in the form of ScreenSpot-v2 or OSWorld-G, whole applications held out.

    Example:

      forge grounding export pairs --form screenspot --hold-out gimp --hold-out files
    """
    from rounds.workshop import Workshop
    from training.grounding import export_pairs
    from warehouse import grounding

    with Workshop() as workshop:
        with workshop.warehouse.read() as connection:
            pairs = grounding.read_pairs(connection, apps)
        manifest = export_pairs(pairs, workshop.warehouse.blobs.get, folder, form=form, held_out=hold_out or ())
    print(f"{manifest['rows']} rows in {folder}")


@app.command()
def score(
    rows: Annotated[Path, typer.Argument(help="JSON file of either form.", exists=True, dir_okay=False)],
    predictions: Annotated[
        Path,
        typer.Argument(
            help=r"JSON list, one a row: \[x, y] or \[x, y, width, height] in pixels; \[-1, -1] is a refusal; "
            "null is no answer, wrong everywhere.",
            exists=True,
            dir_okay=False,
        ),
    ],
    group: Annotated[
        str | None, typer.Option(help="Key of the rows to score apart by. Default: style, where the rows have it.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Score predictions: point in box, point in polygon, refusal."""
    from rounds.terminal import print_json, print_table
    from training.grounding import read_predictions, read_rows
    from training.grounding import score as run

    asked = read_rows(rows)
    if group is None:
        group = "style" if any("style" in row for row in asked) else ""
    found = run(asked, read_predictions(predictions), group)
    groups = {name: {"rows": n, "right": right, "accuracy": right / n} for name, (n, right) in found.groups.items()}
    if as_json:
        print_json({"rows": found.rows, "right": found.right, "accuracy": found.accuracy, "groups": groups})
        return
    table = [(name, g["rows"], g["right"], g["accuracy"]) for name, g in groups.items()]
    print_table("Score", ["", "rows", "right", "share"], [*table, ("all", found.rows, found.right, found.accuracy)])


@app.command()
def sheet(
    picture: Annotated[Path, typer.Argument(help="PNG file to write.")],
    count: Annotated[int, typer.Option(min=1, max=400, help="How many pairs.")] = 100,
    seed: Annotated[int, typer.Option(help="Which ones are drawn.")] = 0,
    apps: Apps = None,
) -> None:
    """Draw random pairs on one picture, to be looked at."""
    import random

    from forge.desktop.recording import check_target
    from forge.harness.grounding.sheet import sheet as draw
    from rounds.workshop import Workshop
    from warehouse import grounding

    check_target(picture, draft=False)
    with Workshop() as workshop:
        with workshop.warehouse.read() as connection:
            pairs = grounding.read_pairs(connection, apps)
        chosen = random.Random(seed).sample(pairs, min(count, len(pairs)))
        picture.write_bytes(draw(chosen, workshop.warehouse.blobs.get))
    print(picture)


def _print_counts(counts: list[dict[str, Any]]) -> None:
    from rounds.terminal import print_table

    names = ("screens", "targets", "pairs", "name", "function", "position", "refusal", "most")
    totals = [sum(row[name] for row in counts) for name in names[:-1]]
    most = max((row["most"] for row in counts), default=0)
    print_table(
        "Grounding pairs", ["application", *names],
        [*((row["app"], *(row[name] for name in names)) for row in counts), ("all", *totals, most)],
    )  # fmt: skip
