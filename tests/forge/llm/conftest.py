"""A small OpenAI-compatible server that answers, or fails, as a test scripts it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from forge.llm import Client, Endpoint, MemoryLedger, Prices


def completion(content: str | None = "fine", **choice: Any) -> dict[str, Any]:
    """A chat completion as servers send it."""
    message = {"role": "assistant", "content": content, **choice.pop("message", {})}
    return {
        "id": "x", "object": "chat.completion", "created": 0, "model": "tiny-2026-11",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 40}},
    }  # fmt: skip


@dataclass
class Server:
    """What a running server was asked, and what it is to do next."""

    url: str
    script: list[Any]
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    asked: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)


@pytest.fixture
def server() -> Iterator[Server]:
    """Plays its script, one entry a request: a completion, (status, body, headers), "hang", "cut", "garbage"."""
    state = Server("", [])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with state.lock:
                state.requests.append(body)
                state.asked.set()
                state.keys.append(self.headers["Authorization"])
                state.headers.append({name.lower(): value for name, value in self.headers.items()})
                state.paths.append(self.path)
                step = state.script.pop(0) if len(state.script) > 1 else state.script[0]
                state.in_flight += 1
                state.most_in_flight = max(state.most_in_flight, state.in_flight)
            try:
                self.play(step(body) if callable(step) else step)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True
            finally:
                with state.lock:
                    state.in_flight -= 1

        def play(self, step: Any) -> None:
            if step == "hang":
                state.over.wait(20)
                self.close_connection = True
            elif step == "drip":
                self.send_response(200)
                self.send_header("Content-Length", "1000")
                self.end_headers()
                while not state.over.wait(0.05):
                    self.wfile.write(b" ")
            elif step == "cut":
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
            elif step == "garbage":
                self.answer(200, b"<html>not json</html>")
            elif isinstance(step, tuple):
                status, content, headers = step
                self.answer(status, json.dumps(content).encode(), headers)
            else:
                self.answer(200, json.dumps(step).encode())

        def answer(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    state.url = f"http://127.0.0.1:{httpd.server_port}/v1"
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield state
    state.over.set()
    httpd.shutdown()
    httpd.server_close()
    thread.join()


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger()


@pytest.fixture
def ask(server: Server, ledger: MemoryLedger) -> Callable[..., Client]:
    """A client of the server with short waits; keyword arguments change its endpoint."""

    def make(**changes: Any) -> Client:
        values = {
            "base_url": server.url, "model": "tiny", "backoff_seconds": 0.01, "request_seconds": 5.0,
            "prices": Prices(prompt=1.0, completion=10.0, cached=0.5),
        }  # fmt: skip
        return Client(Endpoint(**{**values, **changes}), ledger)

    return make
