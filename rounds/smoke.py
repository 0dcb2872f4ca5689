"""A smoke batch: one workflow tried for real in a warehouse of its own, before it is promoted.

The same jobs as in a round do the work (materialize, probe, play), so that what passes here passes there.
"""

from __future__ import annotations

import asyncio
import json
import logging
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

import skills
from forge.records import (
    Channel,
    EndedBy,
    ForgeError,
    Grading,
    InputError,
    Probe,
    ProbeKind,
    Task,
    Trajectory,
    Verdict,
    WarehouseError,
)
from rounds.items import Item, Tally, Writes, run_items
from rounds.materialize import Ticket, mark_near_duplicates, materialize
from rounds.play import Part, open_start, play_part
from rounds.probe import SCRIPT, Candidate, probe
from rounds.register import Wish, register
from rounds.round import is_of_desktop
from rounds.workshop import Workshop
from skills import Draw, Workflow
from skills.authoring.breakage import causes, machine_fault, redacted, told
from skills.authoring.port import Performed, Smoke, Tried
from skills.kitchen import Kitchen
from verifiers.coverage import uncovered
from warehouse import Warehouse

log = logging.getLogger(__name__)

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

    async def draws(self, workflow: Workflow, count: int, first: int = 0) -> list[Draw]:
        """Draws one after another, from the `first`-th on."""
        kitchen = self.workshop.kitchen()
        return await asyncio.to_thread(
            lambda: [drawn(workflow, number, kitchen) for number in range(first, first + count)]
        )

    async def picture(self, workflow: Workflow, seed: int) -> bytes:
        """The desktop as the agent of the `seed`-th draw finds it, as a PNG."""
        draw = await asyncio.to_thread(drawn, workflow, seed, self.workshop.kitchen())

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
        resolved = [drawn(workflow, n, kitchen, files=False).task.resolved for n in range(CANDIDATES * count)]
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


def drawn(workflow: Workflow, number: int, kitchen: Kitchen, *, files: bool = True) -> Draw:
    """A workflow's `number`-th draw.

    Raises:
        InputError: whatever breaks in it is the author's to know, with the draw's number.
        DesktopError, ModelError, WarehouseError, OSError: the machine or an endpoint failed.
    """
    try:
        return skills.draw(workflow, Ticket(ROUND, workflow, number).seed, kitchen, files=files)
    except Exception as error:
        if (fault := _fault(error)) is not None:
            raise fault from fault.__cause__
        _log(f"draw {number}", error)
        raise InputError(f"draw {number}: {told(error)}") from error


@dataclass
class _Breakage:
    """What broke in our code on some item, by who knows what was tried; such an item is not tried again.

    `found` has the lines, each once; `items` the stage and key of each item that ended so.
    """

    found: dict[str, None] = field(default_factory=dict)
    items: set[tuple[str, str]] = field(default_factory=set)

    @contextmanager
    def guarding(self, stage: str, key: str, name: str) -> Iterator[None]:
        """Work on an item: what breaks is noted under the name, and ends it. Raises the machine's fault if it was one."""
        try:
            yield
        except Exception as error:
            if (fault := _fault(error)) is not None:
                raise fault from fault.__cause__
            _log(name, error)
            self.found[f"{name}: {told(error)}"] = None
            self.items.add((stage, key))
            raise InputError(told(error)) from error

    def others(self, stage: str, tally: Tally) -> list[str]:
        """The faults of a stage that are none of these."""
        return [fault for key, fault in tally.faults.items() if (stage, key) not in self.items]


def _fault(error: Exception) -> Exception | None:
    """See `machine_fault`; an error of the database is one too."""
    database = next((cause for cause in causes(error) if isinstance(cause, SQLAlchemyError)), None)
    return machine_fault(error) if database is None else WarehouseError(f"the warehouse: {database}")


def _log(what: str, error: Exception) -> None:
    """Log what broke in our code; an error that is raised on purpose says all by itself."""
    if not isinstance(error, ForgeError):
        log.warning("%s broke: %s", what, error, exc_info=error)


async def _run(workshop: Workshop, workflow: Workflow, ordinals: Sequence[int], play: bool) -> Smoke:
    warehouse = workshop.warehouse
    register(warehouse, Wish([workflow], tasks=len(ordinals), round=ROUND))
    kitchen = workshop.kitchen()
    tickets = [Ticket(ROUND, workflow, n) for n in ordinals]
    for ticket in tickets:  # what the author wrote wrong is raised here, as it is; the draws are kept for `materialize`
        await asyncio.to_thread(drawn, workflow, ticket.ordinal, kitchen)
    limit, broken = workshop.workers, _Breakage()
    numbers = {ticket.seed: ticket.ordinal for ticket in tickets}

    def make(ticket: Ticket) -> Writes:
        with broken.guarding("materialize", ticket.item.key, f"making draw {ticket.ordinal}"):
            return materialize(workshop, ticket)

    def test(candidate: Candidate) -> Writes:
        with broken.guarding("probe", candidate.item.key, f"probing draw {numbers[candidate.task.seed]}"):
            return probe(workshop, candidate)

    made = await run_items(warehouse, "materialize", [t.item for t in tickets], make, limit=limit)
    mark_near_duplicates(workshop, ROUND, workflow, len(ordinals))
    tasks = warehouse.tasks_of_round(ROUND, workflow.version)
    candidates = [Candidate(task, workflow).item for task in tasks]
    probed = await run_items(warehouse, "probe", candidates, test, limit=limit)
    tried = [_tried(warehouse, task, numbers[task.seed]) for task in tasks]
    red = [line for task in tasks for line in _red(warehouse, task)]
    performed: list[Performed] = []
    faults = [*broken.others("materialize", made), *broken.others("probe", probed)]
    good = [task for task, what in zip(tasks, tried, strict=True) if what.accepted]
    if play and good:
        performed, played = await _perform(workshop, workflow, good[0], broken)
        faults += broken.others("play", played)
    machine = [redacted(fault) for fault in faults]
    return Smoke(
        tuple(tried), tuple(performed), tuple(dict.fromkeys(red)), workflow.channels if play else (),
        tuple(dict.fromkeys(machine)), tuple(broken.found),
    )  # fmt: skip


async def _perform(
    workshop: Workshop, workflow: Workflow, task: Task, broken: _Breakage
) -> tuple[list[Performed], Tally]:
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

    async def one(part: Part) -> Writes:
        with broken.guarding("play", part.item.key, f"playing {part.harness}"):
            return await play_part(workshop, part)

    items: list[Item[Part]] = [part.item for part in parts]
    tally = await run_items(workshop.warehouse, "play", items, one, limit=workshop.slot_count)
    for row in workshop.warehouse.list_trajectories():
        trajectory = workshop.warehouse.trajectory(row["id"])
        solution: Channel = trajectory.teacher.partition("/")[2] or row["channel"]  # type: ignore[assignment]
        found = "" if trajectory.verdict is None else _verdict(trajectory.verdict)
        played = Performed(solution, row["channel"], trajectory.reward, _stumble(trajectory), found)
        if played.failed:
            played = replace(played, png=_last_screen(workshop.warehouse, trajectory))
        performed.append(played)
    return performed, tally


def _stumble(trajectory: Trajectory) -> str:
    """Why an episode went wrong: the step, what its move expected, and what there was instead."""
    ended = "" if trajectory.ended_by is EndedBy.DONE else f"it ended by {trajectory.ended_by}; "
    said = redacted(trajectory.error or "")
    return f"{ended}{'; '.join(line.strip().removeprefix('mend: ') for line in said.splitlines() if line.strip())}"


def _last_screen(warehouse: Warehouse, trajectory: Trajectory) -> bytes | None:
    """The last picture of an episode."""
    shots = [record.after.screenshot for record in trajectory.actions if record.after.screenshot]
    return warehouse.blobs.get(shots[-1]) if shots else None


def _tried(warehouse: Warehouse, task: Task, number: int) -> Tried:
    reasons = [reason for reason in warehouse.acceptance(task.id)[1] if not is_of_desktop(reason)]
    found = warehouse.probes(task.id)
    probes = [p for p in found if _is_red(p)]
    scripts = [p.evidence.partition(SCRIPT)[2] for p in probes if SCRIPT in p.evidence]
    return Tried(
        task.seed, task.instruction, not reasons, tuple(reasons),
        (*_lines(probes), *uncovered(task.rubric, found).values()), number,
        redacted(scripts[0]) if scripts else "",
    )  # fmt: skip


def _red(warehouse: Warehouse, task: Task) -> tuple[str, ...]:
    """Probes that no workflow may fail on any draw; a near-duplicate is a draw's bad luck and only costs that draw."""
    probes = [p for p in warehouse.probes(task.id) if _is_red(p)]
    return _lines(p for p in probes if p.kind is not ProbeKind.AUDIT and p.name != "near-duplicate")


def _lines(probes: Iterable[Probe]) -> tuple[str, ...]:
    """A line a probe; a solution that failed in the same way each time it was run has one."""
    lines: dict[str, str] = {}
    for p in probes:
        lines.setdefault(f"{p.kind} {p.name.partition('#')[0]} {_what_came(p)}", _line(p))
    return tuple(lines.values())


def _line(p: Probe) -> str:
    return f"{p.kind} {p.name}: expected {p.expected}; {_what_came(p)[:1500]}"


def _what_came(p: Probe) -> str:
    """A probe's evidence without its script's words; of a grader's error what was raised, not where."""
    if p.verdict is not None and p.verdict.grading is not Grading.GRADED:
        criteria = (line for line in (p.verdict.error or "").splitlines() if line.startswith("criterion "))
        said = "; ".join(criteria) or p.verdict.error or ""
        return redacted(f"{p.verdict.grading}: {said}")
    return redacted(p.evidence.partition(SCRIPT)[0])


def _verdict(verdict: Verdict) -> str:
    if verdict.grading is not Grading.GRADED:
        return f"{verdict.grading}: {verdict.error}"
    return "; ".join(f"{c.criterion} {c.score:g}: {c.evidence}" for c in verdict.criteria)


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
