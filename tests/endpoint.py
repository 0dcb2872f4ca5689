"""A model's HTTP server for tests: it answers from a function of the request, and fails on a schedule."""

from __future__ import annotations

import json
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Called = Sequence[tuple[str, dict[str, Any]]]
"""Tool calls: names and arguments."""

Answer = Callable[[dict[str, Any]], str | Called]
"""The text or the tool calls that a request is answered with: the same request, the same answer. Four characters are a token."""


@dataclass
class Endpoint:
    """A running server: its URL, what it was asked, how often each fault came."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serve(answer: Answer, faults: Sequence[tuple[str, int]] = (), hang: float = 60.0) -> Iterator[Endpoint]:
    """Serve until the block ends.

    Args:
        answer: gives a request's answer.
        faults: pairs of a kind and a number: every so manieth request fails so: "429", "500", "hang", "cut", "garbage",
            "empty", "truncated". The first pair that applies counts.
        hang: seconds until a hanging request is dropped.
    """
    state = Endpoint("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with state.lock:
                state.requests.append(body)
                number = len(state.requests)
                kind = next((kind for kind, every in faults if number % every == 0), "")
                state.faults[kind] += 1
            try:
                self.play(kind, body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def play(self, kind: str, body: dict[str, Any]) -> None:
            if kind == "hang":
                state.over.wait(hang)
                self.close_connection = True
            elif kind == "cut":
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
            elif kind == "garbage":
                self.send(200, b"<html>not json</html>")
            elif kind.isdigit():
                data = json.dumps({"error": {"message": f"fault {kind}"}}).encode()
                self.send(int(kind), data, {"Retry-After": "0.05"} if kind == "429" else {})
            else:
                self.send(200, json.dumps(self.completion(kind, body)).encode())

        def completion(self, kind: str, body: dict[str, Any]) -> dict[str, Any]:
            found = answer(body)
            whole = found if isinstance(found, str) else json.dumps(found)
            limit = 4 * body.get("max_completion_tokens", len(whole))
            text = whole[: min(limit, len(whole) // 2 if kind == "truncated" else len(whole))]
            message: dict[str, Any] = {"role": "assistant", "content": text}
            if text == whole and not isinstance(found, str):
                message = {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [_call(n, c) for n, c in enumerate(found)],
                }
            finish = "length" if text != whole else "stop" if isinstance(found, str) else "tool_calls"
            choice = {"index": 0, "finish_reason": finish, "message": message}
            usage = {"prompt_tokens": len(json.dumps(body["messages"])) // 4, "completion_tokens": len(text) // 4}
            made = {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"], "usage": usage}
            return {**made, "choices": [] if kind == "empty" else [choice]}

        def send(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
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
    try:
        yield state
    finally:
        state.over.set()
        httpd.shutdown()
        httpd.server_close()
        thread.join()


def _call(number: int, call: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    name, arguments = call
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"call_{number}", "type": "function", "function": function}
