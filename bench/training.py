"""`python -m bench.training`: gradient steps per second, and the loss with right and with shuffled pictures.

On made-up episodes whose screens say by their colour what to do, and, where this machine's warehouse has rewarded
episodes, on those. Loss in nats per completion token.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.report import Figure, options, show
from forge.records import InputError, Settings
from training import TrainReport, compare, export_turns, fold, write_shards
from training.lights import HARNESS, Blobs, episode
from warehouse import Warehouse


def lights(folder: Path, episodes: int = 24) -> None:
    """Shards of made-up episodes."""
    blobs = Blobs()
    played = [episode(number, blobs) for number in range(episodes)]
    write_shards([e for t, task in played for e in fold(t, task, HARNESS, blobs.__getitem__)], folder)


def own(folder: Path) -> bool:
    """Shards of what this machine's warehouse holds; False when it holds nothing to learn from."""
    settings = Settings()
    if not settings.warehouse and not (settings.home / "warehouse.db").exists():
        return False
    with Warehouse.open(settings.warehouse_url, settings.blob_url) as warehouse:
        try:
            export_turns(warehouse, folder)
        except InputError:
            return False
    return True


def figures(name: str, paired: TrainReport, shuffled: TrainReport, target: str) -> list[Figure]:
    """Speed, both loss curves at a few steps, and the loss over fixed examples after all steps."""
    steps = len(paired.losses)
    found = [
        Figure(f"{name}: examples", paired.examples, ""),
        Figure(f"{name}: longest", paired.tokens, "tokens"),
        Figure(f"{name}: speed", paired.steps_per_second, "steps/s"),
    ]
    for step in sorted({1, *range(5, steps, 5), steps}):
        found.append(Figure(f"{name}: step {step}", paired.losses[step - 1], "nats"))
        found.append(Figure(f"{name}: step {step}, shuffled", shuffled.losses[step - 1], "nats"))
    return [
        *found,
        Figure(f"{name}: fall", paired.fall, "nats"),
        Figure(f"{name}: fall, shuffled", shuffled.fall, "nats"),
        Figure(f"{name}: after", paired.after, "nats"),
        Figure(f"{name}: after, shuffled", shuffled.after, "nats"),
        Figure(f"{name}: after, shuffled : right", shuffled.after / paired.after, "", target),
        Figure(f"{name}: same weights, others' pictures : right", paired.after_shuffled / paired.after, "", target),
    ]


def main() -> None:
    """Train on each kind of shards that can be had, with the control."""
    chosen = options(__doc__ or "")
    steps = 10 if chosen.quick else 20
    found: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        made, real = Path(folder) / "lights", Path(folder) / "own"
        lights(made)
        paired, shuffled = compare(made, steps=steps)
        found += figures("lights", paired, shuffled, "" if chosen.quick else ">= 1.2")
        if own(real):
            paired, shuffled = compare(real, steps=steps)
            found += figures("own episodes", paired, shuffled, "")
    show(found, as_json=chosen.json)


if __name__ == "__main__":
    main()
