"""The client against a server that others wrote: `transformers serve` with a tiny model of random weights, on the CPU."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from forge.llm import Client, Endpoint, EndpointDownError, MemoryLedger, TruncatedError
from forge.records import ModelError

pytestmark = pytest.mark.slow

QUESTION = [{"role": "user", "content": "Name a file."}]
TOOL = {
    "type": "function",
    "function": {"name": "bash", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}},
}


class FileName(BaseModel):
    name: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.Popen[bytes], str, str]]:
    """The process, its URL, and the model's name."""
    folder = tmp_path_factory.mktemp("tiny") / "model"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder.parent / "log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / "tiny_server.py"), str(folder), str(port)],
            stdin=subprocess.DEVNULL, stdout=file, stderr=file, env={**os.environ, "HF_HUB_OFFLINE": "1"},
        )  # fmt: skip
    deadline = time.monotonic() + 180
    while not _healthy(port):
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.2)
    yield process, f"http://127.0.0.1:{port}/v1", str(folder)
    process.kill()
    process.wait()


def _healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.fixture
def client(served, ledger: MemoryLedger) -> Callable[..., Client]:
    def make(**changes: object) -> Client:
        _, url, model = served
        values = {"base_url": url, "model": model, "backoff_seconds": 0.01, "parameters": {"max_completion_tokens": 12}}
        return Client(Endpoint(**{**values, **changes}), ledger)

    return make


@pytest.mark.parametrize("dialect", ["chat", "responses"])
async def test_chat(client, ledger, dialect):
    reply = await client(dialect=dialect).chat(QUESTION)
    assert reply.text
    assert reply.usage.prompt_tokens > len("Name a file.")
    assert reply.usage.completion_tokens == 12
    [call] = ledger.calls
    assert call.usage == reply.usage
    if dialect == "chat":  # of a response it does not say that it was cut off
        assert (reply.finish, call.status) == ("length", "truncated")


async def test_a_tools_schema_reaches_the_model(client):
    plain = await client().chat(QUESTION)
    held = await client().chat(QUESTION, [TOOL])
    assert held.usage.prompt_tokens > plain.usage.prompt_tokens + 100  # single bytes are tokens here


@pytest.mark.parametrize("structured", ["json_schema", "tool", "words"])
async def test_noise_is_never_taken_for_an_answer(client, ledger, structured):
    with pytest.raises(TruncatedError):
        await client(structured=structured).typed(QUESTION, FileName)
    assert [call.status for call in ledger.calls] == ["truncated"]
    assert ledger.answers == {}


async def test_an_unknown_model_is_told_at_once(client, ledger):
    with pytest.raises(ModelError, match="pinned"):
        await client(model="nobody").chat(QUESTION)
    assert [call.status for call in ledger.calls] == ["error"]


async def test_its_own_faults_are_tried_again_and_written_down(client, ledger):
    with pytest.raises(EndpointDownError, match="status 500"):
        await client(max_attempts=3).chat([])
    assert [(call.status, call.attempt) for call in ledger.calls] == [("error", 1), ("error", 2), ("error", 3)]


async def test_a_server_that_dies_is_down(served, client, ledger):
    process, _, _ = served
    process.kill()
    process.wait()
    with pytest.raises(EndpointDownError, match="cannot be reached"):
        await client(max_attempts=2).chat(QUESTION, sample=7)
    assert [call.status for call in ledger.calls] == ["error", "error"]
