"""A smoke batch: one workflow tried for real in a warehouse of its own, before it is promoted.

The same jobs as in a round do the work (materialize, probe, play), so that what passes here passes there.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import skills
from forge.records import Channel, Probe, ProbeKind, Task
from rounds.items import Item, Tally, run_items
from rounds.materialize import Ticket, mark_near_duplicates, materialize
from rounds.play import Part, open_start, play_part
from rounds.probe import Candidate, probe
from rounds.register import register
from rounds.round import is_of_desktop
from rounds.workshop import Workshop
from skills import Draw, Workflow
from skills.authoring.port import Performed, Smoke, Tried
from warehouse import Warehouse

ROUND = 1
CANDIDATES = 4
"""Draws looked at for each one that is taken, to reach the corners of the domain."""


class WorkshopBench:
    """The authoring agent's bench over a workshop. Fills `skills.authoring.port.Bench`.

    Args:
        workshop: gives office, graders, slots; its warehouse is left alone.
    """

    def __init__(self, workshop: Workshop):
        self.workshop = workshop

    async def draws(self, workflow: Workflow, count: int) -> list[Draw]:
        """The first draws, one after another."""
        kitchen = self.workshop.kitchen()
        return await asyncio.to_thread(
            lambda: [skills.draw(workflow, Ticket(ROUND, workflow, n).seed, kitchen) for n in range(count)]
        )

    async def picture(self, workflow: Workflow, seed: int) -> bytes:
        """The desktop as the agent of the `seed`-th draw finds it, as a PNG."""
        draw = await asyncio.to_thread(
            skills.draw, workflow, Ticket(ROUND, workflow, seed).seed, self.workshop.kitchen()
        )

        def look() -> bytes:
            files = [(f.path, f.data, f.mode, f.folder) for f in draw.files if f.role != "gold"]
            with self.workshop.slots.acquire(draw.task.guest, files) as slot:
                open_start(slot, draw.task)
                return slot.screenshot().png

        return await asyncio.to_thread(look)

    async def smoke(self, workflow: Workflow, count: int, *, play: bool) -> Smoke:
        """See the port. An InputError of a draw is the author's; faults of the machine are in the result."""
        ordinals = await asyncio.to_thread(self._corners, workflow, count)
        with beside(self.workshop) as workshop:
            return await _run(workshop, workflow, ordinals, play)

    def _corners(self, workflow: Workflow, count: int) -> list[int]:
        """Ordinals whose draws together meet the most values of the parameters: every choice, both ends of ranges."""
        if count == 1:
            return [0]
        kitchen = self.workshop.kitchen()
        seeds = [Ticket(ROUND, workflow, n).seed for n in range(CANDIDATES * count)]
        resolved = [skills.draw(workflow, seed, kitchen, files=False).task.resolved for seed in seeds]
        corners = [_corners_of(workflow, each, resolved) for each in resolved]
        chosen: list[int] = []
        covered: set[tuple[str, str]] = set()
        while len(chosen) < count:
            left = [n for n in range(len(corners)) if n not in chosen]
            best = max(left, key=lambda n: (len(corners[n] - covered), -n))
            covered |= corners[best]
            chosen.append(best)
        return sorted(chosen)


@contextmanager
def beside(workshop: Workshop) -> Iterator[Workshop]:
    """A workshop with an empty warehouse of its own, and office, graders and slots of the given one."""
    with tempfile.TemporaryDirectory(prefix="smoke-", dir=workshop.scratch) as folder:
        with Warehouse.open(
            f"sqlite:///{Path(folder, 'warehouse.db')}", f"file://{Path(folder, 'blobs')}"
        ) as warehouse:
            yield workshop.sharing(warehouse)


async def _run(workshop: Workshop, workflow: Workflow, ordinals: Sequence[int], play: bool) -> Smoke:
    warehouse = workshop.warehouse
    register(warehouse, [workflow], tasks=len(ordinals), round=ROUND)
    kitchen = workshop.kitchen()
    tickets = [Ticket(ROUND, workflow, n) for n in ordinals]
    for ticket in tickets:  # what the author wrote wrong is raised here, as it is; the draws are kept for `materialize`
        await asyncio.to_thread(skills.draw, workflow, ticket.seed, kitchen)
    limit = workshop.workers
    items = [t.item for t in tickets]
    tally = await run_items(warehouse, "materialize", items, lambda t: materialize(workshop, t), limit=limit)
    mark_near_duplicates(workshop, ROUND, workflow, len(ordinals))
    tasks = warehouse.tasks_of_round(ROUND, workflow.version)
    candidates = [Candidate(task, workflow).item for task in tasks]
    probed = await run_items(warehouse, "probe", candidates, lambda c: probe(workshop, c), limit=limit)
    tried = [_tried(warehouse, task) for task in tasks]
    red = [line for task in tasks for line in _red(warehouse, task)]
    performed: list[Performed] = []
    faults = {**tally.faults, **probed.faults}
    good = [task for task, what in zip(tasks, tried, strict=True) if what.accepted]
    if play and good:
        performed, played = await _perform(workshop, workflow, good[0])
        faults |= played.faults
    return Smoke(
        tuple(tried), tuple(performed), tuple(dict.fromkeys(red)), workflow.channels if play else (),
        tuple(dict.fromkeys(faults.values())),
    )  # fmt: skip


async def _perform(workshop: Workshop, workflow: Workflow, task: Task) -> tuple[list[Performed], Tally]:
    """Play every declared solution of one task; a hybrid one also with either channel taken away."""
    parts: list[Part] = []
    performed: list[Performed] = []
    for channel in workflow.channels:
        if channel == "terminal" and any(start.app == "thunderbird" for start in task.start):
            # it holds its address book locked and does not look at files changed beside it: the probes on files stand
            performed.append(Performed("terminal", "terminal", 1.0, evidence="on files, three times"))
            continue
        parts.append(Part(task, channel))
        if channel == "hybrid":
            parts += [Part(task, "gui", "oracle/hybrid"), Part(task, "terminal", "oracle/hybrid")]
    items: list[Item[Part]] = [part.item for part in parts]
    tally = await run_items(workshop.warehouse, "play", items, partial(play_part, workshop), limit=workshop.slot_count)
    for row in workshop.warehouse.list_trajectories():
        trajectory = workshop.warehouse.trajectory(row["id"])
        solution: Channel = trajectory.teacher.partition("/")[2] or row["channel"]  # type: ignore[assignment]
        verdict = trajectory.verdict
        found = (
            "" if verdict is None else "; ".join(f"{c.criterion} {c.score:g}: {c.evidence}" for c in verdict.criteria)
        )
        performed.append(Performed(solution, row["channel"], trajectory.reward, trajectory.error or "", found))
    return performed, tally


def _tried(warehouse: Warehouse, task: Task) -> Tried:
    reasons = [reason for reason in warehouse.acceptance(task.id)[1] if not is_of_desktop(reason)]
    evidence = [
        f"{p.kind} {p.name}: expected {p.expected}; {p.evidence}" for p in warehouse.probes(task.id) if _is_red(p)
    ]
    return Tried(task.seed, task.instruction, not reasons, tuple(reasons), tuple(evidence))


def _red(warehouse: Warehouse, task: Task) -> Iterator[str]:
    """Probes that no workflow may fail on any draw; a near-duplicate is a draw's bad luck and only costs that draw."""
    for p in warehouse.probes(task.id):
        if _is_red(p) and p.kind is not ProbeKind.AUDIT and p.name != "near-duplicate":
            yield f"{p.kind} {p.name}: expected {p.expected}; {p.evidence[:500]}"


def _is_red(probe: Probe) -> bool:
    return not probe.passed and not probe.dropped


def _corners_of(workflow: Workflow, resolved: dict[str, Any], others: Sequence[dict[str, Any]]) -> set[tuple[str, str]]:
    """(parameter, value) pairs of a draw that count as corners: small values as they are, numbers at their ends."""
    found: set[tuple[str, str]] = set()
    for name in workflow.params:
        value = resolved[name]
        if isinstance(value, bool | str):
            found.add((name, str(value)[:80]))
        elif isinstance(value, int | float):
            numbers = [o[name] for o in others if isinstance(o[name], int | float)]
            found |= {(name, end) for end, bound in (("least", min(numbers)), ("most", max(numbers))) if value == bound}
        else:
            found.add((name, str(len(json.dumps(value)) // 2000)))
    return found
