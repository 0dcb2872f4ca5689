"""Roll out: play many parts under claims, and say what came of each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from rounds.items import Progress, Tally, run_items
from rounds.play import Part, model_for, play_part
from rounds.workshop import Workshop


async def rollout(
    workshop: Workshop, parts: Sequence[Part], progress: Progress | None = None
) -> tuple[Tally, list[dict[str, Any]]]:
    """Play every part that is not played yet.

    Args:
        workshop: the open resources; `slot_count` bounds the desktops open at once.
        parts: one episode each.
        progress: told about every episode.

    Returns:
        What was done and what failed, and a summary row (id, task, ended_by, grading, reward, n_actions, seconds) for
        each of the parts' trajectories that is in the warehouse.

    Raises:
        InputError: nobody answers for the role `teacher`, and a part needs that.
    """
    if any(part.teacher == "llm" for part in parts):
        model_for(workshop, "teacher")  # told once and at once, not by every episode
    tally = await run_items(
        workshop.warehouse, "play", [p.item for p in parts], partial(play_part, workshop),
        limit=workshop.slot_count, progress=progress, stage="rollout",
    )  # fmt: skip
    keys = {(p.task.id, workshop.harness(p.harness).digest(), p.teacher, p.attempt) for p in parts}
    rows = [
        row
        for row in workshop.warehouse.list_trajectories(tasks=sorted({p.task.id for p in parts}))
        if (row["task"], row["harness"], row["teacher"], row["attempt"]) in keys
    ]
    return tally, rows
