"""A repeated request does not act again, whatever happened to the connection of the first."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx

from forge.desktop.server.idempotency import Idempotent


class Counter:
    """An application that counts how often it was run, and takes its time."""

    def __init__(self, seconds: float = 0.0, size: int = 4):
        self.runs: list[bytes] = []
        self.seconds = seconds
        self.size = size

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = (await receive())["body"]
        await asyncio.sleep(self.seconds)
        self.runs.append(body)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-run", b"%d" % len(self.runs))]})
        await send({"type": "http.response.body", "body": b"%d" % len(self.runs) + b"." * self.size})


def client(app: Idempotent) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server")


async def test_the_same_key_gets_the_stored_answer() -> None:
    counter = Counter()
    async with client(Idempotent(counter)) as c:
        first = await c.post("/act", content=b"a", headers={"Idempotency-Key": "k1"})
        again = await c.post("/act", content=b"a", headers={"Idempotency-Key": "k1"})
        other = await c.post("/act", content=b"a", headers={"Idempotency-Key": "k2"})
    assert (first.text, again.text, other.text) == ("1....", "1....", "2....")
    assert again.headers["x-run"] == "1"
    assert len(counter.runs) == 2


async def test_without_a_key_each_request_acts() -> None:
    counter = Counter()
    async with client(Idempotent(counter)) as c:
        await c.post("/act", content=b"a")
        await c.post("/act", content=b"a")
    assert len(counter.runs) == 2


async def test_repeats_meanwhile_join_the_run() -> None:
    counter = Counter(0.1)
    async with client(Idempotent(counter)) as c:
        answers = await asyncio.gather(*(c.post("/act", headers={"Idempotency-Key": "k"}) for _ in range(5)))
    assert {answer.text for answer in answers} == {"1...."}
    assert len(counter.runs) == 1


async def test_a_key_of_another_request_is_refused() -> None:
    counter = Counter()
    async with client(Idempotent(counter)) as c:
        await c.post("/act", content=b"a", headers={"Idempotency-Key": "k"})
        other = await c.post("/act", content=b"b", headers={"Idempotency-Key": "k"})
        elsewhere = await c.post("/stop", content=b"a", headers={"Idempotency-Key": "k"})
    assert (other.status_code, elsewhere.status_code) == (422, 422)
    assert counter.runs == [b"a"]


async def test_an_answer_that_takes_long_is_asked_for_again() -> None:
    counter = Counter(1.3)
    async with client(Idempotent(counter)) as c:
        headers = {"Idempotency-Key": "k", "Prefer": "wait=1"}
        early = await c.post("/act", headers=headers)
        late = await c.post("/act", headers=headers)
    assert (early.status_code, early.content) == (202, b"")
    assert (late.status_code, late.text) == (200, "1....")
    assert len(counter.runs) == 1


async def test_a_request_that_broke_off_is_not_carried_out() -> None:
    counter = Counter()
    parts = [{"type": "http.request", "body": b"half", "more_body": True}, {"type": "http.disconnect"}]
    sent: list[Any] = []

    async def receive() -> Any:
        return parts.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/act", "query_string": b"", "headers": []}
    await Idempotent(counter)(scope, receive, send)
    assert (counter.runs, sent) == ([], [])


async def test_a_run_goes_on_when_its_connection_breaks() -> None:
    counter = Counter(0.2)
    app = Idempotent(counter)
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/act",
        "query_string": b"",
        "headers": [(b"idempotency-key", b"k")],
    }

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        raise AssertionError("nobody is there any more")

    first = asyncio.ensure_future(app(scope, receive, send))
    await asyncio.sleep(0.05)
    first.cancel()
    async with client(app) as c:
        again = await c.post("/act", headers={"Idempotency-Key": "k"})
    assert again.text == "1...."
    assert len(counter.runs) == 1


async def test_an_answer_larger_than_what_is_kept_is_given_all_the_same() -> None:
    counter = Counter(0.1, size=2000)
    async with client(Idempotent(counter, kept_bytes=1000)) as c:
        headers = {"Idempotency-Key": "k", "Prefer": "wait=0"}
        early = await c.post("/act", headers=headers)
        await asyncio.sleep(0.3)
        answers = [early, *[await c.post("/act", headers=headers) for _ in range(2)]]
        at_once = await c.post("/act", headers={"Idempotency-Key": "k2"})
        older = await c.post("/act", headers=headers)
    assert [(answer.status_code, len(answer.content)) for answer in answers] == [(202, 0), (200, 2001), (200, 2001)]
    assert (at_once.status_code, len(at_once.content)) == (200, 2001)
    assert older.status_code == 409
    assert len(counter.runs) == 2


async def test_large_answers_are_forgotten_but_never_made_again() -> None:
    counter = Counter(size=600)
    async with client(Idempotent(counter, kept_bytes=1000)) as c:
        for key in ("k1", "k2"):
            await c.post("/act", headers={"Idempotency-Key": key})
        forgotten = await c.post("/act", headers={"Idempotency-Key": "k1"})
        kept = await c.post("/act", headers={"Idempotency-Key": "k2"})
    assert forgotten.status_code == 409
    assert kept.text.startswith("2.")
    assert len(counter.runs) == 2
