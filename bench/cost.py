"""`python -m bench.cost`: what tasks cost by the ledger of the settings' warehouse, and what the door itself costs a call.

The first part needs a warehouse in which models were asked (`forge skills author`, `forge round` with an endpoint); without
calls it says so. Rejects, failed calls, judges and blind readers are in it (see `warehouse.costs`). The second asks a server
in this process that answers at once: milliseconds a call through the client, with its two ledger rows and the kept answer,
beside the same call through the bare SDK.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bench.report import Figure, options, show
from forge.llm import Client, Endpoint
from rounds.workshop import Workshop
from warehouse import Warehouse
from warehouse.costs import costs

GOAL = 4_000
"""Recurring tokens for each accepted task at 20 tasks a workflow."""

ANSWER = {
    "id": "x", "object": "chat.completion", "created": 0, "model": "none",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "fine"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 1},
}  # fmt: skip


def main() -> None:
    """Read the ledger, time the door."""
    chosen = options(__doc__ or "")
    with Workshop() as workshop, workshop.warehouse.read() as connection:
        figures = ledger_figures(costs(connection))
    figures += door_figures(20 if chosen.quick else 200)
    show(figures, as_json=chosen.json)


def ledger_figures(found: dict[str, Any]) -> list[Figure]:
    """What the ledger says; where nothing was asked, only that."""
    figures = [Figure("calls in the ledger", found["total"]["calls"], "calls")]
    if not found["total"]["calls"]:
        return figures
    for part, spent in found["parts"].items():
        figures.append(Figure(f"{part.replace('_', '-')} tokens", spent["tokens"], "tokens"))
    for tasks, tokens in found["recurring_tokens_per_accepted_task"].items():
        if tokens is not None:
            target = f"<= {GOAL}" if tasks == "20" else ""
            figures.append(Figure(f"recurring tokens per accepted task, {tasks} a workflow", tokens, "tokens", target))
            figures.append(
                Figure(f"with authoring, {tasks} a workflow", found["tokens_per_accepted_task"][tasks], "tokens")
            )
            figures.append(Figure(f"with authoring, {tasks} a workflow", found["usd_per_accepted_task"][tasks], "US$"))
    once = found["one_off_per_workflow"]
    if once["tokens"] is not None:
        figures.append(Figure("authoring a workflow, rejects included", once["tokens"], "tokens"))
        figures.append(Figure("authoring a workflow, rejects included", once["usd"], "US$"))
    baseline = found["baseline"]
    if baseline["tokens_per_task"] is not None:
        figures.append(Figure("a task by the baseline agent, rejects included", baseline["tokens_per_task"], "tokens"))
        figures.append(Figure("a task by the baseline agent, rejects included", baseline["usd_per_task"], "US$"))
    for name, tasks in found["break_even"].items():
        if tasks is not None:
            figures.append(Figure(f"break-even with {name.replace('_', ' ')}", tasks, "tasks a workflow"))
    return figures


def door_figures(calls: int) -> list[Figure]:
    """Milliseconds a call, bare and through the door, one after another."""
    import openai

    with serving() as url, tempfile.TemporaryDirectory() as folder:
        with Warehouse.open(f"sqlite:///{Path(folder) / 'w.db'}", str(Path(folder) / "blobs")) as warehouse:

            async def measure() -> tuple[float, float, float]:
                async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as sdk:
                    messages: Any = [{"role": "user", "content": "Ready?"}]
                    bare = await _mean(calls, lambda n: sdk.chat.completions.create(model="none", messages=messages))
                async with Client(Endpoint(base_url=url, model="none"), warehouse.ledger) as client:
                    door = await _mean(calls, lambda n: client.chat(messages, sample=n))
                    kept = await _mean(calls, lambda n: client.chat(messages, sample=n))
                return bare, door, kept

            bare, door, kept = asyncio.run(measure())
    return [
        Figure("a call through the bare SDK", bare * 1e3, "ms"),
        Figure("a call through the door", door * 1e3, "ms"),
        Figure("the same again, from the kept answers", kept * 1e3, "ms"),
    ]


async def _mean(calls: int, ask: Callable[[int], Awaitable[Any]]) -> float:
    await ask(-1)
    began = time.perf_counter()
    for number in range(calls):
        await ask(number)
    return (time.perf_counter() - began) / calls


@contextmanager
def serving() -> Iterator[str]:
    """A server that answers at once."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            data = json.dumps(ANSWER).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    main()
