"""Drawing many tasks of a workflow side by side, without duplicates."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skills.drawing import Draw, draw
from skills.kitchen import Kitchen
from skills.workflow import Workflow

if TYPE_CHECKING:
    from verifiers.gates import NearDuplicates


@dataclass(frozen=True)
class Dropped:
    """A draw that was left out: it is, or is nearly, the task `twin`."""

    seed: int
    task: str
    twin: str


@dataclass(frozen=True)
class Batch:
    """The draws that stay, in the order of their seeds, and those that were dropped."""

    draws: tuple[Draw, ...]
    dropped: tuple[Dropped, ...]


def draw_many(
    workflow: Workflow,
    seeds: Iterable[int],
    kitchen: Kitchen,
    *,
    limit: int | None = None,
    workers: int = 2,
    files: bool = True,
    seen: NearDuplicates | None = None,
) -> Batch:
    """Draw tasks and keep those that are unlike all before them.

    Args:
        workflow: the workflow.
        seeds: in this order; may be endless when there is a limit.
        kitchen: office, cache, box.
        limit: stop after so many kept draws.
        workers: draws made at once. It pays while nodes wait for LibreOffice or a box.
        files: make the files.
        seen: tasks that are there already; new ones are added to it.

    Raises:
        InputError, DesktopError: as `draw`; the first fault ends the whole.
    """
    from verifiers.gates import NearDuplicates  # here, for it loads numpy

    seen = NearDuplicates() if seen is None else seen
    kept: list[Draw] = []
    dropped: list[Dropped] = []
    for made in _side_by_side(workflow, seeds, kitchen, workers, files):
        before = len(seen)
        twin = seen.add(made.task)
        if len(seen) == before:  # it is there already, or nearly
            dropped.append(Dropped(made.task.seed, made.task.id, twin or made.task.id))
            continue
        kept.append(made)
        if limit is not None and len(kept) >= limit:
            break
    return Batch(tuple(kept), tuple(dropped))


def _side_by_side(
    workflow: Workflow, seeds: Iterable[int], kitchen: Kitchen, workers: int, files: bool
) -> Iterator[Draw]:
    """Draws in the order of the seeds, at most twice `workers` of them begun and not yet taken."""
    todo = iter(seeds)
    begun: deque[Future[Draw]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="draw") as pool:
        try:
            while True:
                while len(begun) < 2 * workers and (seed := next(todo, None)) is not None:
                    begun.append(pool.submit(draw, workflow, seed, kitchen, files=files))
                if not begun:
                    return
                yield begun.popleft().result()
        finally:
            for future in begun:
                future.cancel()
