"""The grounding harvest: walks under claims, then pairs of all the screens that they found.

A walk that was killed, or whose desktop failed, is walked again from its beginning; its screens are written together
when it is through, or when its application does not let it go on. Pairs follow from the screens alone, so they are the
same whoever walked, in whatever order.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from forge.desktop import Slot
from forge.harness import play
from forge.harness.grounding.explorer import Explorer, Found, StuckError
from forge.harness.grounding.pairing import Screen, pairs_of
from forge.harness.grounding.sight import Sight
from forge.harness.grounding.watch import WatchedEnvironment
from forge.records import DesktopError, EndedBy, GroundingPair, GroundingScreen, Task, digest
from rounds.items import Item, Progress, Silent, Tally, Writes, run_items
from rounds.play import Part, acquire, kept, make_teacher, open_start
from rounds.walks import Walk, walks
from rounds.workshop import Workshop
from warehouse import grounding as rows
from warehouse.owners import owner_name

log = logging.getLogger(__name__)

VERSION = 6
"""Of how pairs are made of screens: raise it when the same screens should give other pairs."""


@dataclass(frozen=True)
class Harvest:
    """What a harvest came to: the tally of its walks, and the rows of `warehouse.grounding.counts`."""

    walked: Tally
    counts: list[dict[str, Any]]


async def harvest(
    workshop: Workshop,
    apps: Sequence[str] = (),
    progress: Progress | None = None,
    *,
    most: int | None = None,
    oracle: int = 0,
) -> Harvest:
    """Walk what was not walked yet, and make the pairs.

    Args:
        workshop: the open resources; `settings.slots` bounds the walks at once, which are on desktops of this machine, and
            `slot_count` the episodes that are watched.
        apps: only through these applications; all if empty.
        progress: told about every walk, and every application's pairs.
        most: at most so many walks an application.
        oracle: also watch the oracle play so many accepted tasks of the warehouse in windows.

    Raises:
        InputError: there is no walk through an application.
    """
    progress = progress or Silent()
    chosen = _first(walks(apps), most)
    tally = await run_items(
        workshop.warehouse, "harvest", [Item(walk.key, walk) for walk in chosen], partial(walk_one, workshop),
        limit=workshop.settings.slots, progress=progress, stage="screens",
    )  # fmt: skip
    tasks = _tasks(workshop, apps, oracle)
    watched = await run_items(
        workshop.warehouse, "harvest", [Item(f"oracle {task.id}", task) for task in tasks], partial(watch_one, workshop),
        limit=workshop.slot_count, progress=progress, stage="oracle's screens",
    )  # fmt: skip
    tally = Tally(tally.done + watched.done, tally.skipped + watched.skipped, tally.faults | watched.faults)
    names = list(dict.fromkeys([*(walk.app for walk in chosen), *(app for task in tasks for app in task.apps)]))
    progress.start("pairs", len(names))
    for app in names:
        pair(workshop, app)
        progress.advance("pairs", app)
    with workshop.warehouse.read() as connection:
        return Harvest(tally, rows.counts(connection))


def walk_one(workshop: Workshop, walk: Walk) -> Writes:
    """One walk in a slot of its own, or several when something there broke.

    Raises:
        DesktopError: the desktop failed, and no other was to be had; nothing is kept.
    """
    found: list[GroundingScreen] = []
    with Desk(workshop, walk) as desk:
        explorer = Explorer(desk.open(), walk.app, partial(keep, workshop, walk.key, found), desk.open)
        try:
            walk.tour(explorer)
        except StuckError as error:  # it would be stuck again: what it found until then is all there is
            if not found:
                raise
            log.info("%s ended early: %s", walk.key, error)

    def writes(session: Any) -> None:
        rows.add_screens(session, found)

    return writes


async def watch_one(workshop: Workshop, task: Task) -> Writes:
    """The oracle plays a task in windows, and every screen on the way is kept; nothing is graded.

    Raises:
        DesktopError: the desktop failed; nothing is kept.
    """
    found: list[GroundingScreen] = []
    harness = workshop.harness("gui")
    slot = await acquire(workshop, task, harness)
    try:
        await asyncio.to_thread(open_start, slot, task)
        on_screen = partial(keep, workshop, f"oracle {task.id[:16]}", found)
        environment = WatchedEnvironment(slot, workshop.warehouse.blobs.put, task.apps, on_screen)
        try:
            teacher = make_teacher(workshop, Part(task, "gui"), harness, environment)
            async with kept(slot, environment):
                trajectory = await play(task, harness, teacher, environment, workshop.warehouse.blobs.put)
        finally:
            environment.close()
    finally:
        await asyncio.shield(asyncio.to_thread(slot.close))
    if trajectory.ended_by is EndedBy.INTERRUPTED:
        raise asyncio.CancelledError
    if trajectory.ended_by is EndedBy.FAULT:
        raise DesktopError(f"task {task.id[:12]} was not played through: {trajectory.error}")

    def writes(session: Any) -> None:
        rows.add_screens(session, found)

    return writes


def _tasks(workshop: Workshop, apps: Sequence[str], count: int) -> list[Task]:
    """Accepted tasks that are solved in windows alone, those of different skills first."""
    if not count:
        return []
    listed = [
        row
        for row in workshop.warehouse.list_tasks(accepted=True)
        if not apps or set(str(row["apps"]).split("+")) & set(apps)
    ]
    turns: dict[str, int] = {}
    order = []
    for row in sorted(listed, key=lambda row: str(row["id"])):
        turns[row["skill"]] = turns.get(row["skill"], 0) + 1
        order.append((turns[row["skill"]], row["skill"], row["id"]))
    tasks = (workshop.warehouse.task(task) for _, _, task in sorted(order))
    return list(itertools.islice((task for task in tasks if task.solution("gui") is not None), count))


def keep(workshop: Workshop, part: str, found: list[GroundingScreen], screen: Found) -> None:
    """Store a screen's blobs and note its row."""
    sight = screen.sight
    found.append(
        GroundingScreen(
            key=f"{part}#{len(found):04}", part=part, app=sight.app, window=sight.window, width=sight.width,
            height=sight.height, screenshot=workshop.warehouse.blobs.put(screen.png),
            sight=workshop.warehouse.blobs.put(zlib.compress(sight.model_dump_json().encode(), 9)),
        )
    )  # fmt: skip


def pair(workshop: Workshop, app: str) -> int:
    """Make the pairs of an application anew, unless they are of just these screens. Returns how many there are.

    Where another harvest adds screens meanwhile, they are made of those too: pairs of fewer never replace those of more.
    """
    while True:
        with workshop.warehouse.read() as connection:
            screens = rows.read_screens(connection, app)
        key = f"{app}:{digest([VERSION, *[screen.key for screen in screens]])}"
        lease = workshop.warehouse.claims.acquire("pairs", key, owner_name())
        if lease is None:
            return 0
        pairs = _pairs(workshop, screens)
        with workshop.warehouse.begin() as session:
            if rows.read_screens(session, app, lock=True) == screens:
                rows.replace_pairs(session, app, pairs)
                lease.complete(session)
                return len(pairs)
        lease.release("there are more screens now")


def _pairs(workshop: Workshop, screens: Sequence[GroundingScreen]) -> list[GroundingPair]:
    blobs = workshop.warehouse.blobs
    seen = [
        Screen(s.key, s.screenshot, Sight.model_validate_json(zlib.decompress(blobs.get(s.sight)))) for s in screens
    ]
    return pairs_of(seen)


class Desk:
    """Slots for one walk, one at a time; use it as a context manager."""

    def __init__(self, workshop: Workshop, walk: Walk):
        self._workshop = workshop
        self._walk = walk
        self._files = list(walk.files())
        self._slot: Slot | None = None

    def open(self) -> Slot:
        """A new slot with the application open; the one before is closed. Raises DesktopError."""
        self.close()
        self._slot = self._workshop.own_slot(self._walk.guest, self._files)
        self._slot.launch(self._walk.app, self._walk.path)
        return self._slot

    def close(self) -> None:
        """Close the slot, if one is open."""
        slot, self._slot = self._slot, None
        if slot is not None:
            with suppress(DesktopError):
                slot.close()

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _first(found: Sequence[Walk], most: int | None) -> list[Walk]:
    """At most so many walks of each application."""
    counts: dict[str, int] = {}
    chosen = []
    for walk in found:
        counts[walk.app] = counts.get(walk.app, 0) + 1
        if most is None or counts[walk.app] <= most:
            chosen.append(walk)
    return chosen
