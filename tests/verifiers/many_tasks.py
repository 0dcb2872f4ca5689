"""Tasks as draws of one workflow make them; for the tests of near-duplicates, also in other processes."""

from __future__ import annotations

import random

from forge.records import Criterion, Guest, Rubric, Solution, Step, Task


def many(count: int, seed: int = 0) -> list[Task]:
    """Tasks that differ in two of their choices at least, as draws of one workflow do."""
    rng = random.Random(seed)
    made = []
    for index in range(count):
        name, folder, who = (
            f"report-{index}.csv",
            f"~/Documents/Project {rng.randrange(1000)}",
            f"Person {rng.randrange(40)}",
        )
        target = f"~/Archive/backup-{rng.randrange(10_000)}.zip"
        resolved = {"file": f"{folder}/{name}", "target": target, "who": who, "rows": [[rng.random()] * 4] * 30}
        args = {"path": target, "files": {name: f"{folder}/{name}"}}
        rubric = Rubric(criteria=(Criterion(id="a", kind="must", check="files.archive", args=args, says="pack"),))
        text = f"Could you pack {name} into {target}? It is for {who}, who asked for it twice already."
        made.append(
            Task(
                skill="files.archive.pack-file",
                workflow="0" * 64,
                seed=index,
                apps=("files",),
                guest=Guest(),
                resolved=resolved,
                instruction=text,
                rubric=rubric,
                solutions=(Solution(channel="terminal", steps=(Step(move="bash", value="true"),)),),
            )
        )
    return made
