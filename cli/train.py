"""`forge train`: gradient steps on what the warehouse holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def train(
    shards: Annotated[
        Path, typer.Argument(help="Folder of turn shards, from `forge export --what turns --format parquet`.")
    ],
    steps: Annotated[int, typer.Option(min=1, help="Gradient steps.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of the model and the batches.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Fine-tune a tiny, randomly initialised vision-language model on folded turns, with right and with shuffled images.

    Needs torch and transformers: `setup/install.sh test`.
    """
    from dataclasses import asdict

    from rounds.terminal import print_json, print_table
    from training.sft import compare

    paired, shuffled = compare(shards, steps=steps, seed=seed)
    if as_json:
        print_json({"paired": asdict(paired), "shuffled": asdict(shuffled)})
    else:
        print_table(
            f"{steps} steps", ["step", "loss", "loss, images shuffled"],
            [(n + 1, a, b) for n, (a, b) in enumerate(zip(paired.losses, shuffled.losses, strict=True))],
        )  # fmt: skip
