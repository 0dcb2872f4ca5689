"""The gate: it opens while all is well, halves once for a burst of refusals, and pauses for everybody."""

from __future__ import annotations

import asyncio
import time

import pytest

from forge.llm.gate import FIRST_WINDOW, Gate
from forge.llm.retry import Rates


async def through(gate: Gate, count: int) -> None:
    """`count` requests at a time, all answered."""
    places = [await gate.enter(gate.ticket()) for _ in range(count)]
    for place in places:
        gate.leave(place, ok=True, tokens=100)


async def test_the_window_opens_with_every_answer_while_it_is_full():
    gate = Gate(20)
    await through(gate, 1)
    assert gate.window == FIRST_WINDOW  # one at a time says nothing about many
    await through(gate, FIRST_WINDOW)
    assert gate.window > FIRST_WINDOW
    for _ in range(12):
        await through(gate, int(gate.window))
    assert gate.window == 20


async def test_a_burst_of_refusals_halves_the_window_once_and_the_next_one_again():
    gate = Gate(16, pause_seconds=0.01)
    gate.window = 16.0
    places = [await gate.enter(gate.ticket()) for _ in range(16)]
    for place in places:
        gate.leave(place, refused=True)
    assert (gate.window, gate.refusals, gate.in_flight) == (8.0, 16, 0)
    place = await gate.enter(gate.ticket())
    gate.leave(place, refused=True)
    assert gate.window == 4.0
    await through(gate, 4)
    assert 4.0 < gate.window < 5.1  # no more by one an answer: the limit is known to be near


async def test_a_pause_holds_everybody_for_as_long_as_the_server_asked():
    gate = Gate(4)
    place = await gate.enter(gate.ticket())
    gate.leave(place, refused=True, wait=0.3)
    began = time.monotonic()
    await asyncio.gather(*(gate.enter(gate.ticket()) for _ in range(2)))
    assert 0.29 <= time.monotonic() - began < 2.0


async def test_who_was_refused_goes_before_those_who_came_later():
    gate = Gate(1, pause_seconds=0.01)
    first, later = gate.ticket(), gate.ticket()
    place = await gate.enter(first)
    order = []

    async def wait(name: str, ticket: int) -> None:
        place = await gate.enter(ticket)
        order.append(name)
        gate.leave(place, ok=True)

    waiting = asyncio.create_task(wait("later", later))
    await asyncio.sleep(0.02)
    again = asyncio.create_task(wait("again", first))
    await asyncio.sleep(0.02)
    gate.leave(place, refused=True, wait=0.05)
    await asyncio.gather(waiting, again)
    assert order == ["again", "later"]


async def test_headers_that_say_nothing_is_left_pause_before_a_refusal():
    gate = Gate(4)
    place = await gate.enter(gate.ticket())
    gate.leave(place, ok=True, tokens=100, rates=Rates(requests=0, requests_reset=0.3))
    began = time.monotonic()
    place = await gate.enter(gate.ticket())
    assert 0.29 <= time.monotonic() - began < 2.0
    gate.leave(place, ok=True, tokens=100, rates=Rates(tokens=50, tokens_reset=0.3))
    assert gate.paused_until > time.monotonic()
    assert gate.window == FIRST_WINDOW  # it is not the number of places that was too much


async def test_a_stated_rate_is_kept():
    gate = Gate(100, requests_per_minute=60 * 50)
    gate.window = 100.0
    began = time.monotonic()
    for _ in range(270):  # a burst of five seconds' worth, 250, and 20 more
        gate.leave(await gate.enter(gate.ticket()), ok=True)
    assert 0.35 <= time.monotonic() - began < 5.0


async def test_whoever_gives_up_leaves_no_hole():
    gate = Gate(1)
    place = await gate.enter(gate.ticket())
    with pytest.raises(TimeoutError):
        await gate.enter(gate.ticket(), time.monotonic() + 0.05)
    waiting = asyncio.create_task(gate.enter(gate.ticket()))
    await asyncio.sleep(0.02)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    gate.leave(place, ok=True)
    assert gate.in_flight == 0
    await asyncio.wait_for(gate.enter(gate.ticket()), 1)


def test_several_event_loops_share_it():
    gate = Gate(1)
    place = asyncio.run(gate.enter(gate.ticket()))

    async def wait() -> None:
        waiting = asyncio.create_task(gate.enter(gate.ticket()))
        await asyncio.sleep(0.02)
        await asyncio.to_thread(gate.leave, place, ok=True)
        await asyncio.wait_for(waiting, 1)

    asyncio.run(wait())
    assert gate.in_flight == 1
