"""Play tasks on real desktops and grade what is left: one item is one episode, from a new slot to a stored verdict."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from forge.desktop import Slot, lease
from forge.harness import TEACHERS, Cast, SlotEnvironment, Teacher, play
from forge.llm import Client
from forge.llm import Role as ModelRole
from forge.records import (
    DesktopError,
    EndedBy,
    ExhaustedError,
    Grading,
    Harness,
    Probe,
    ProbeKind,
    Provenance,
    Role,
    Task,
    Trajectory,
)
from rounds.grade import grade_trajectory
from rounds.items import Item, Writes, outcome
from rounds.workshop import Workshop, dating


@dataclass(frozen=True)
class Part:
    """One episode to play.

    Args:
        task: what is to be done.
        harness: name of a preset, or a harness file.
        teacher: "oracle", "oracle/CHANNEL" (the solution of another channel than the harness's), or "llm".
        attempt: which repetition, counted from 0.
    """

    task: Task
    harness: str
    teacher: str = "oracle"
    attempt: int = 0

    @property
    def item(self) -> Item[Part]:
        """The part under its natural key."""
        return Item(f"{self.task.id}:{self.harness}:{self.teacher}:{self.attempt}", self)


async def play_part(workshop: Workshop, part: Part) -> Writes:
    """Play and grade one episode.

    Raises:
        DesktopError: the slot or an application failed; the episode counts for nothing and is tried again.
        InputError: the teacher is unknown or not configured.
        asyncio.CancelledError: interrupted; the slot is closed, nothing is stored.
    """
    harness = workshop.harness(part.harness)
    began = time.perf_counter()
    trajectory = await episode(workshop, part, harness)
    if trajectory.ended_by is EndedBy.INTERRUPTED:
        raise asyncio.CancelledError
    if trajectory.ended_by is EndedBy.FAULT:
        raise DesktopError(f"episode of task {part.task.id[:12]} under {part.harness}: {trajectory.error}")
    grading = time.perf_counter()
    verdict = await asyncio.to_thread(grade_trajectory, workshop, part.task, trajectory)
    done = time.perf_counter()
    trajectory = trajectory.model_copy(
        update={
            "verdict": verdict,
            "grading": verdict.grading,
            "reward": verdict.score if verdict.grading is Grading.GRADED else None,
            "timings": {**trajectory.timings, "grade": done - grading, "total": done - began},
        }
    )
    evidence = _evidence(part, harness, trajectory)

    def writes(session: Any) -> None:
        workshop.warehouse.register_fingerprint(session, workshop.play_fingerprint)
        workshop.warehouse.register_harness(session, harness)
        workshop.warehouse.add_trajectory(session, trajectory)
        workshop.warehouse.add_probes(session, evidence)

    return writes


async def episode(workshop: Workshop, part: Part, harness: Harness) -> Trajectory:
    """One episode in a slot of its own; the final state is taken after the agent and all its processes have stopped."""
    task, blobs = part.task, workshop.warehouse.blobs
    began = time.perf_counter()
    slot = await acquire(workshop, task, harness)
    try:
        acquired = time.perf_counter()
        await asyncio.to_thread(open_start, slot, task)
        opened = time.perf_counter()
        environment = SlotEnvironment(slot, blobs.put, elements=harness.observation.elements)
        try:
            teacher = make_teacher(workshop, part, harness, environment)
            async with kept(slot, environment):
                trajectory = await play(
                    task, harness, teacher, environment, blobs.put,
                    attempt=part.attempt, fingerprint=workshop.play_fingerprint.digest(),
                )  # fmt: skip
        finally:
            environment.close()
        await asyncio.to_thread(slot.stop)
        timings = {"slot": acquired - began, "open": opened - acquired, **trajectory.timings}
        trajectory = trajectory.model_copy(update={"timings": timings})
        try:
            snapshot = await asyncio.to_thread(slot.snapshot, blobs.put)
        except ExhaustedError as error:  # the agent left more than can be kept: no fault; it earns nothing
            if trajectory.ended_by in (EndedBy.FAULT, EndedBy.INTERRUPTED):
                return trajectory
            return trajectory.model_copy(update={"ended_by": EndedBy.EXHAUSTED, "error": str(error)})
    finally:
        await asyncio.shield(asyncio.to_thread(slot.close))
    return trajectory.model_copy(update={"final_state": blobs.put(snapshot.canonical().encode())})


@asynccontextmanager
async def kept(slot: Slot, environment: SlotEnvironment) -> AsyncIterator[None]:
    """Keep the lease of a slot while nothing touches it: a model may think for as long as it likes.

    Whatever does touch it has to renew the lease by what it does; on a frozen display it cannot, and the slot is taken back.
    """

    async def beat() -> None:
        while True:
            await asyncio.sleep(lease.SILENCE / 4)
            if not environment.busy:
                await asyncio.to_thread(slot.renew)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()


async def acquire(workshop: Workshop, task: Task, harness: Harness) -> Slot:
    """A slot for a task, lent, with its files in the home. An interruption meanwhile is answered when the slot is there, so
    that it can be closed again. Raises DesktopError.
    """
    files = workshop.artifact_files(task, (Role.VISIBLE, Role.HIDDEN))
    acquiring = asyncio.ensure_future(
        asyncio.to_thread(workshop.slots.acquire, task.guest, files, workshop.layers(harness))
    )
    try:
        return await asyncio.shield(acquiring)
    except asyncio.CancelledError:
        slot = await outcome(acquiring)
        if slot is not None:
            slot.close()
        raise


def date_files(slot: Slot, task: Task) -> None:
    """Give the task's files in a slot their times, before anything has opened them. Raises DesktopError."""
    script = dating(task)
    if not script:
        return
    done = slot.shell.run(script, by_host=True)
    if done.exit_code != 0:
        raise DesktopError(f"the files of task {task.id[:12]} cannot be dated: {done.output.strip()[-300:]}")


def open_start(slot: Slot, task: Task) -> None:
    """Open what the task wants open when the agent begins, in order, each until it is ready. Files get their times first."""
    date_files(slot, task)
    for start in task.start:
        slot.launch(start.app, start.path)
    slot.alive()


def make_teacher(workshop: Workshop, part: Part, harness: Harness, environment: SlotEnvironment) -> Teacher:
    """The teacher of a part. Raises InputError when it is unknown, or lacks an endpoint."""
    name, _, channel = part.teacher.partition("/")
    make = TEACHERS.get(name)
    client = None if name == "oracle" else workshop.models.require("teacher", workshop.run, "play")
    options = {"channel": channel} if channel else {}
    teacher = make(Cast(part.task, harness, environment, workshop.warehouse.blobs.get, client, options))
    teacher.name = part.teacher
    return teacher


def model_for(workshop: Workshop, role: ModelRole) -> Client:
    """The client for a role (author, teacher, judge, writer). Raises InputError when no endpoint answers for it."""
    return workshop.models.require(role, workshop.run)


def _evidence(part: Part, harness: Harness, trajectory: Trajectory) -> list[Probe]:
    """What an oracle's episode says about its task: its solution works, or fails without one of its channels."""
    if trajectory.provenance is not Provenance.ORACLE or trajectory.verdict is None:
        return []
    verdict = trajectory.verdict
    channel = part.teacher.partition("/")[2] or harness.channel
    common = {
        "task": part.task.id, "score": verdict.score, "verdict": verdict, "seconds": trajectory.seconds,
        "fingerprint": trajectory.fingerprint,
        "evidence": trajectory.error or "; ".join(f"{c.criterion} {c.score:g}: {c.evidence}" for c in verdict.criteria),
    }  # fmt: skip
    if channel == harness.channel:
        return [
            Probe(
                kind=ProbeKind.SOLUTION, name=f"{channel}-desktop#{part.attempt + 1}",
                expected="the solution scores 1 on the real desktop", passed=verdict.passed, **common,
            )
        ]  # fmt: skip
    return [
        Probe(
            kind=ProbeKind.GATE, name=f"{channel}-needs-more-than-{harness.channel}",
            expected=f"the {channel} solution fails under a harness that offers {harness.channel} only",
            passed=verdict.score is not None and verdict.score < 1.0, **common,
        )
    ]  # fmt: skip
