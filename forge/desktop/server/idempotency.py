"""A request that is sent again does not act again: its stored answer is given instead.

A client gives every request that changes something a key of its own (`Idempotency-Key`). The request runs to its end
even when the connection breaks meanwhile; who comes with the same key gets that run's answer. With `Prefer: wait=N` an
answer that takes longer is a 202 without content: ask again with the same key. So no exchange is long, and a connection
that went dead is noticed soon.

Large answers are forgotten before their keys: a repeated key without an answer is refused (409), never run again.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

log = logging.getLogger("forge.desktop.server")

KEPT_BYTES = 128 << 20
"""Answers kept in all; the oldest are forgotten first, the latest never for its size: nobody may have read it yet."""
KEPT_SECONDS = 900.0
KEYS = 200_000
BODY_LIMIT = 600 << 20
"""Bytes of one request."""


@dataclass
class _Answer:
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


@dataclass
class _Run:
    """A request that was begun; `task` is None once its answer was forgotten."""

    request: bytes
    task: asyncio.Task[_Answer] | None
    ended: float = 0.0
    size: int = 0


class Idempotent:
    """Middleware around an ASGI application."""

    def __init__(self, app: App, kept_bytes: int = KEPT_BYTES):
        self._app = app
        self._kept_bytes = kept_bytes
        self._runs: OrderedDict[str, _Run] = OrderedDict()
        self._answered: deque[_Run] = deque()
        self._bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        body = await _whole_body(receive)
        if body is None:  # it broke off: nothing of it is carried out
            return
        if len(body) > BODY_LIMIT:
            await _send(send, _refusal(413, f"a request holds at most {BODY_LIMIT >> 20} MiB"))
            return
        key = headers.get(b"idempotency-key")
        if key is None:
            await _send(send, await self._run(scope, body))
            return
        request = hashlib.sha256(repr((scope["method"], scope["path"], scope["query_string"])).encode() + body).digest()
        run = self._runs.get(key)
        if run is None:
            run = self._begin(key, request, scope, body)
        if run.request != request:
            await _send(send, _refusal(422, "this Idempotency-Key belongs to another request"))
            return
        task = run.task
        if task is None:
            await _send(send, _refusal(409, "this request was carried out; its answer is no longer kept"))
            return
        preferred = re.search(r"\bwait=(\d+)", headers.get(b"prefer", ""))
        # shielded: the run belongs to the key, not to the connection that happened to begin it
        done, _ = await asyncio.wait({task}, timeout=float(preferred[1]) if preferred else None)
        if done:
            await _send(send, task.result())
        else:
            await _send(send, _Answer(202, [(b"retry-after", b"0")], b""))

    def _begin(self, key: str, request: bytes, scope: Scope, body: bytes) -> _Run:
        task = asyncio.ensure_future(self._run(scope, body))
        run = self._runs[key] = _Run(request, task)
        task.add_done_callback(lambda _task: self._keep(run))
        while len(self._runs) > KEYS:
            self._runs.popitem(last=False)
        return run

    async def _run(self, scope: Scope, body: bytes) -> _Answer:
        """Run the application on a request that has arrived whole, and keep its answer."""
        waiting = [{"type": "http.request", "body": body, "more_body": False}]
        status, headers, parts = 500, list[tuple[bytes, bytes]](), list[bytes]()

        async def receive() -> Message:
            if waiting:
                return waiting.pop()
            return await asyncio.Future()  # the client never hangs up on a run

        async def send(message: Message) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                status, headers = message["status"], list(message["headers"])
            elif message["type"] == "http.response.body":
                parts.append(message.get("body", b""))

        try:
            await self._app(scope, receive, send)
        except Exception as error:  # the application's own handlers have answered already, or could not
            log.exception("%s %s failed", scope["method"], scope["path"])
            return _refusal(500, f"{type(error).__name__}: {error}")
        return _Answer(status, headers, b"".join(parts))

    def _keep(self, run: _Run) -> None:
        """Note an answer, and forget those that are too old or too many."""
        assert run.task is not None
        now = time.monotonic()
        run.ended, run.size = now, 0 if run.task.cancelled() else len(run.task.result().body)
        self._answered.append(run)
        self._bytes += run.size
        while len(self._answered) > 1 and (
            self._bytes > self._kept_bytes or self._answered[0].ended < now - KEPT_SECONDS
        ):
            oldest = self._answered.popleft()
            self._bytes -= oldest.size
            oldest.task = None


async def _whole_body(receive: Receive) -> bytes | None:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False) or len(body) > BODY_LIMIT:
            return bytes(body)


def _refusal(status: int, message: str) -> _Answer:
    from forge.desktop.server.wire import Failure, Problem

    text = Failure(error=Problem(kind="refused", message=message)).model_dump_json().encode()
    return _Answer(status, [(b"content-type", b"application/json")], text)


async def _send(send: Send, answer: _Answer) -> None:
    headers = [(name, value) for name, value in answer.headers if name.lower() != b"content-length"]
    headers.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
