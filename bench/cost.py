"""`python -m bench.cost`: what tasks cost by the ledger of the settings' warehouse, and what the door itself costs a call.

The first part needs a warehouse in which models were asked (`forge skills author`, `forge round` with an endpoint); without
calls it says so. Rejects, failed calls, judges and blind readers are in it (see `warehouse.costs`). Tasks drawn from workflows
are set beside tasks that an agent makes one by one (`forge skills author --single-task`), with the number from which on
authoring pays; in JSON the rows are under `both ways`. The second part asks a server
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
from rounds.cost_tables import both_ways
from rounds.terminal import print_table
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
        found = costs(connection)
    figures = ledger_figures(found) + door_figures(20 if chosen.quick else 200)
    title, columns, rows = both_ways(found)
    if chosen.json:
        show(figures, as_json=True, more={"both ways": [dict(zip(columns, row, strict=True)) for row in rows]})
        return
    show(figures, as_json=False)
    print_table(title, columns, rows)


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
            name = f"recurring tokens per accepted task, {tasks} a workflow, rejects, judges and blind readers included"
            figures.append(Figure(name, tokens, "tokens", target))
    for unit, sign in (("tokens", "tokens"), ("usd", "US$")):
        for name, each in (
            ("authoring a workflow, rejects included", found["one_off_per_workflow"]),
            ("authoring a workflow, what went into promoted ones alone", found["one_off_per_workflow_without_rejects"]),
        ):
            if each[unit] is not None:
                figures.append(Figure(f"{name}, {sign}", each[unit], sign))
        if found["baseline"][f"{unit}_per_task"] is not None:
            name = f"a task by the baseline agent, rejects included, {sign}"
            figures.append(Figure(name, found["baseline"][f"{unit}_per_task"], sign))
    for key, sign in (("break_even", "tokens"), ("break_even_usd", "US$")):
        for name, tasks in found[key].items():
            if tasks is not None:
                figures.append(
                    Figure(f"break-even with {name.replace('_', ' ')}, by {sign}", tasks, "tasks a workflow")
                )
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
