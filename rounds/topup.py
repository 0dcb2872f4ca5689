"""Fill the banks that a round's draws take from, before anything is drawn: one claim for each bank and topic.

Every batch of values is stored as soon as it is checked, so a kill, a fault or a used-up budget loses none. All of it ends before
the first draw: what a draw sees of a bank is then the same, whoever wrote it and in whatever order.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from forge.llm import Client
from forge.records import JSON
from rounds.items import Item, Progress, Silent, Tally, Writes, run_items
from rounds.materialize import Ticket
from rounds.workshop import Workshop
from skills import Workflow
from skills.topup import WANTED, Need, needs, top_up

log = logging.getLogger(__name__)

AT_ONCE = 16
"""Banks and topics in work at once; how many requests are on their way is the gate's affair."""


async def top_up_banks(
    workshop: Workshop,
    round: int,
    workflows: Sequence[Workflow],
    draws: Mapping[str, int],
    progress: Progress | None = None,
    *,
    wanted: int = WANTED,
) -> Tally:
    """Top up what a round's draws take from banks; nothing to do without an endpoint for the role `writer`.

    Args:
        workshop: the open resources.
        round: its number.
        workflows: those that are drawn from.
        draws: how many draws of each version.
        progress: told about every bank, with what the run will have spent at the end.
        wanted: written values for each bank and topic.
    """
    client = workshop.models.client("writer", workshop.run, "topup")
    if client is None:
        return Tally()
    wants = needs((w, [Ticket(round, w, n).seed for n in range(draws[w.version])]) for w in workflows)
    items = [Item(f"{need.name}:{wanted}", need) for need in wants]
    telling = _Projecting(progress or Silent(), client)
    work = partial(_top_up_one, workshop, client, wanted=wanted)

    async def one(need: Need) -> Writes:
        return await work(need)

    return await run_items(workshop.warehouse, "topup", items, one, limit=AT_ONCE, progress=telling)


async def _top_up_one(workshop: Workshop, client: Client, need: Need, *, wanted: int) -> Writes:
    banks = workshop.warehouse.banks
    pool, about = need.bank.pool, need.about
    have = await asyncio.to_thread(lambda: banks.values(pool, about, banks.size(pool, about)))

    def store(values: list[JSON]) -> None:
        with workshop.warehouse.begin() as session:
            banks.add(session, pool, about, values)

    written = await top_up(client, need, have, lambda values: asyncio.to_thread(store, values), wanted=wanted)
    for why, count in written.rejected.most_common():
        log.info("%s: %d written values thrown away: %s", need.name, count, why)

    def writes(session: Any) -> None:
        """The values are there already, batch by batch."""

    return writes


class _Projecting:
    """Adds to every note what the run will have spent when all banks are full."""

    def __init__(self, inner: Progress, client: Client):
        self._inner = inner
        self._client = client
        self._total = 0
        self._done = 0

    def start(self, stage: str, total: int) -> None:
        """Pass it on."""
        self._total = total
        self._inner.start(stage, total)

    def advance(self, stage: str, note: str = "") -> None:
        """Pass it on with the projection."""
        self._done += 1
        self._inner.advance(stage, f"{note}, {self._client.budget.project(self._done, self._total)}")
