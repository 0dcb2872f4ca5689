"""Kept answers: good ones are used again without a call, nothing else is ever kept."""

from __future__ import annotations

import asyncio

import pytest
from pydantic import BaseModel

from forge.llm import Client, RefusedError, TruncatedError
from forge.records import ModelCall, ModelError
from warehouse.engine import open_engine
from warehouse.ledger import Ledger
from warehouse.migrations import migrate

from .conftest import completion

QUESTION = [{"role": "user", "content": "Name a file."}]


class FileName(BaseModel):
    name: str


async def test_a_good_answer_is_used_again_without_a_call(server, ledger, ask):
    calls = [{"id": "a", "type": "function", "function": {"name": "bash", "arguments": '{"z": 1,  "a"'}}]
    server.script = [completion("hm", message={"tool_calls": calls, "reasoning_content": "so"}), completion("other")]
    first = await ask().chat(QUESTION, subject="one")
    again = await ask().chat(QUESTION, subject="two")
    assert (again.text, again.tool_calls, again.finish, again.thought, again.model) == (
        first.text, first.tool_calls, first.finish, first.thought, first.model,
    )  # fmt: skip
    assert again.usage.total == 0
    assert [(c.status, c.subject, c.usage.total) for c in ledger.calls] == [("ok", "one", 120), ("cached", "two", 0)]
    assert len(server.requests) == 1


async def test_another_sample_another_question_and_another_endpoint_are_asked(server, ask):
    server.script = [completion()]
    await ask().chat(QUESTION)
    await ask().chat(QUESTION, sample=1)
    await ask().chat(QUESTION, parameters={"temperature": 0.5})
    await ask(name="other").chat(QUESTION)
    await ask().chat([*QUESTION, *QUESTION])
    assert len(server.requests) == 5


async def test_without_a_sample_every_answer_is_new_and_none_is_kept(server, ledger, ask):
    server.script = [completion("a"), completion("b")]
    found = [(await ask().chat(QUESTION, sample=None)).text for _ in range(2)]
    assert found == ["a", "b"]
    assert ledger.answers == {}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (completion('{"name": "pl', finish_reason="length"), TruncatedError),
        (completion(None, message={"refusal": "no"}), RefusedError),
        (completion("no JSON"), ModelError),
        ((500, {"error": {"message": "oops"}}, {}), ModelError),
        ((429, {"error": {"message": "slow"}}, {"Retry-After": "60"}), ModelError),
        ("garbage", ModelError),
        ("cut", ModelError),
    ],
)
async def test_a_failure_is_never_kept(server, ledger, ask, answer, error):
    server.script = [answer]
    client = ask(max_attempts=1, total_seconds=5.0)
    with pytest.raises(error):
        await client.typed(QUESTION, FileName, repairs=0)
    assert ledger.answers == {}
    server.script = [completion('{"name": "plan"}')]
    if "Retry-After" not in str(answer):
        assert await client.typed(QUESTION, FileName) == FileName(name="plan")


async def test_a_kept_answer_that_no_longer_fits_is_asked_anew(server, ledger, ask):
    server.script = [completion('{"name": "plan"}')]
    client = ask()
    await client.typed(QUESTION, FileName)
    [request] = ledger.answers
    ledger.answers[request]["text"] = '{"title": "plan"}'
    assert await client.typed(QUESTION, FileName) == FileName(name="plan")
    assert [c.status for c in ledger.calls] == ["ok", "ok"]


async def test_the_row_is_there_before_the_call_and_the_answer_with_its_end(server, ask, tmp_path):
    engine = open_engine(f"sqlite:///{tmp_path / 'w.db'}")
    migrate(engine)
    ledger = Ledger(engine)
    seen: list[ModelCall] = []

    def look(body):
        seen.extend(ledger.calls())
        return completion("paid")

    server.script = [look]
    client = Client(ask().endpoint, ledger, run="r")
    await client.within(stage="author", workflow="calc.x").chat(QUESTION, prompt="names@1")
    assert [(c.status, c.run, c.stage, c.workflow, c.prompt) for c in seen] == [
        ("open", "r", "author", "calc.x", "names@1")
    ]
    assert seen[0].reserved_tokens > 8192
    [call] = ledger.calls()
    assert (call.id, call.status) == (seen[0].id, "ok")
    assert ledger.answer(call.request)["text"] == "paid"
    assert ledger.spent("r") == (120, pytest.approx(call.cost_usd))
    assert ledger.spent("r", stage="judge") == (0, 0.0)
    assert (await client.chat(QUESTION)).text == "paid"
    assert len(server.requests) == 1
    engine.dispose()


async def test_a_broken_off_call_is_closed_and_counted(server, ledger, ask):
    server.script = ["hang"]
    task = asyncio.create_task(ask().chat(QUESTION))
    await asyncio.to_thread(server.asked.wait, 10)
    assert [c.status for c in ledger.calls] == ["open"]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [c.status for c in ledger.calls] == ["error"]
