"""The client against a server that fails in every way: what comes back, and one ledger row a request."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from forge.llm import Budget, Client, Endpoint, MemoryLedger, Prices
from forge.llm.errors import EndpointDownError
from forge.records import ModelError

from .conftest import completion

QUESTION = [{"role": "user", "content": "How many?"}]
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
TOOL = {"type": "function", "function": {"name": "bash", "parameters": {"type": "object", "properties": {}}}}


def statuses(ledger: MemoryLedger) -> list[tuple[str, int]]:
    return [(call.status, call.attempt) for call in ledger.calls]


async def test_an_answer_with_its_usage_cost_and_ledger_row(server, ledger, ask):
    server.script = [completion("42", message={"reasoning_content": "6 times 7"})]
    reply = await ask(parameters={"temperature": 0.5}).chat(
        QUESTION, purpose="judge", recurring=False, subject="task-1", parameters={"max_completion_tokens": 9}
    )
    assert (reply.text, reply.thought, reply.finish, reply.model) == ("42", "6 times 7", "stop", "tiny-2026-11")
    assert reply.usage.model_dump() == {"prompt_tokens": 100, "completion_tokens": 20, "cached_tokens": 40}
    [call] = ledger.calls
    assert (call.id, call.status, call.purpose, call.recurring, call.subject, call.model) == (
        reply.call_id, "ok", "judge", False, "task-1", "tiny-2026-11",
    )  # fmt: skip
    assert call.cost_usd == pytest.approx((60 * 1.0 + 40 * 0.5 + 20 * 10.0) / 1e6)
    assert call.seconds > 0
    assert call.started_at.endswith("+00:00")
    [request] = server.requests
    assert request == {
        "model": "tiny", "messages": QUESTION, "temperature": 0.5, "max_completion_tokens": 9,
    }  # fmt: skip


async def test_pictures_and_tools_go_out_and_calls_come_back_as_they_were_written(server, ask):
    calls = [
        {"id": "a", "type": "function", "function": {"name": "bash", "arguments": '{"z": 1,  "a"'}},
        {"type": "function", "function": {"name": "done", "arguments": {"status": "success"}}},
    ]
    server.script = [completion(None, message={"tool_calls": calls}, finish_reason="tool_calls")]
    messages = [{"role": "user", "content": [{"type": "text", "text": "Look."}, PICTURE]}]
    reply = await ask().chat(messages, [TOOL])
    assert server.requests[0]["messages"] == messages
    assert server.requests[0]["tools"] == [TOOL]
    assert reply.finish == "tool_calls"
    assert [(c.id, c.name, c.arguments) for c in reply.tool_calls] == [
        ("a", "bash", '{"z": 1,  "a"'), ("call_1", "done", '{"status": "success"}'),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "finish", "status"),
    [
        (completion("half a sen", finish_reason="length"), "length", "truncated"),
        (completion(None, message={"refusal": "I will not."}), "refusal", "refused"),
        (completion("", finish_reason="content_filter"), "refusal", "refused"),
    ],
)
async def test_refused_and_cut_off_are_told_apart_and_not_asked_again(server, ledger, ask, answer, finish, status):
    server.script = [answer]
    reply = await ask().chat(QUESTION)
    assert reply.finish == finish
    assert statuses(ledger) == [(status, 1)]


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ((500, {"error": {"message": "oops"}}, {}), "error"),
        ((503, {"error": {"message": "busy"}}, {}), "error"),
        ("cut", "error"),
        ("garbage", "error"),
        ({"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": []}, "error"),
        ({"id": "x", "choices": [{"index": 0}]}, "error"),
        ([], "error"),
    ],
)
async def test_a_fault_is_asked_again_and_written_down(server, ledger, ask, fault, status):
    server.script = [fault, fault, completion("at last")]
    reply = await ask().chat(QUESTION)
    assert reply.text == "at last"
    assert statuses(ledger) == [(status, 1), (status, 2), ("ok", 3)]
    assert len({call.request for call in ledger.calls}) == 1
    assert len({call.id for call in ledger.calls}) == 3


async def test_a_hanging_request_times_out_and_is_asked_again(server, ledger, ask):
    server.script = ["hang", completion("awake")]
    reply = await ask(request_seconds=0.3).chat(QUESTION)
    assert reply.text == "awake"
    assert statuses(ledger) == [("error", 1), ("ok", 2)]
    assert "no answer within 0.3 s" in (ledger.calls[0].error or "")


async def test_a_server_that_drips_bytes_for_ever_times_out_too(server, ledger, ask):
    server.script = ["drip", completion("whole")]
    assert (await ask(request_seconds=0.4).chat(QUESTION)).text == "whole"
    assert statuses(ledger) == [("error", 1), ("ok", 2)]


async def test_retry_after_is_waited_for(server, ask):
    server.script = [(429, {"error": {"message": "slow"}}, {"Retry-After": "1"}), completion()]
    began = time.monotonic()
    await ask().chat(QUESTION)
    assert 1.0 <= time.monotonic() - began < 4.0


async def test_attempts_are_bounded_and_the_last_fault_is_named(server, ledger, ask):
    server.script = [(500, {"error": {"message": "oops"}}, {})]
    with pytest.raises(ModelError, match=r"endpoint default \(tiny\): status 500.*oops"):
        await ask(max_attempts=3).chat(QUESTION)
    assert statuses(ledger) == [("error", 1), ("error", 2), ("error", 3)]


async def test_refusals_for_the_rate_are_no_attempts(server, ledger, ask):
    server.script = [(429, {"error": {"message": "slow down"}}, {})] * 7 + [completion("at last")]
    reply = await ask(max_attempts=2).chat(QUESTION)
    assert reply.text == "at last"
    assert statuses(ledger) == [("rate_limited", 1)] * 7 + [("ok", 1)]


async def test_the_total_time_out_ends_it_before_a_wait_that_would_pass_it(server, ledger, ask):
    server.script = [(429, {"error": {"message": "slow"}}, {"Retry-After": "60"})]
    began = time.monotonic()
    with pytest.raises(ModelError, match="longer than the time left"):
        await ask(total_seconds=2.0).chat(QUESTION)
    assert time.monotonic() - began < 2.0
    assert statuses(ledger) == [("rate_limited", 1)]


async def test_the_total_time_out_holds_for_all_attempts_together(server, ledger, ask):
    server.script = ["hang"]
    began = time.monotonic()
    with pytest.raises(EndpointDownError, match="no answer within") as caught:
        await ask(request_seconds=0.4, total_seconds=1.0, max_attempts=20).chat(QUESTION)
    assert time.monotonic() - began < 3.0  # one attempt more or less; twenty of them would take eight seconds
    assert 2 <= len(ledger.calls) <= 5
    assert "request_seconds" in (caught.value.mend or "")


async def test_a_wait_for_the_budget_counts_as_well(server, ledger, ask):
    budget = Budget(tokens=10_000)
    await budget.reserve(9_000, 1_000, Prices())  # somebody else's, never settled here
    client = ask(total_seconds=0.3).within(budget=budget)
    with pytest.raises(ModelError, match="reserved by other calls"):
        await client.chat(QUESTION)
    assert (ledger.calls, server.requests) == ([], [])


@pytest.mark.parametrize(
    ("status", "error", "mend"),
    [
        (401, {"message": "bad key"}, "key"),
        (404, {"message": "no such model"}, "base URL and model"),
        (400, {"message": "too long"}, None),
        (429, {"message": "no money left", "code": "insufficient_quota"}, None),
    ],
)
async def test_what_another_try_cannot_cure_is_not_tried_again(server, ledger, ask, status, error, mend):
    server.script = [(status, {"error": error}, {})]
    with pytest.raises(ModelError, match=error["message"]) as caught:
        await ask().chat(QUESTION)
    assert len(ledger.calls) == 1
    assert mend is None or mend in str(caught.value.mend)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "too long"}}, "too long"),
        ({"detail": "no such model"}, "no such model"),
        ({"detail": [{"loc": ["body"], "msg": "missing"}]}, "missing"),
        ({"odd": "thing"}, "thing"),
    ],
)
async def test_what_a_server_says_of_an_error_is_told(server, ask, body, words):
    server.script = [(400, body, {})]
    with pytest.raises(ModelError, match=words):
        await ask().chat(QUESTION)


async def test_nobody_listening_is_a_model_error_with_a_mend(ledger):
    endpoint = Endpoint(base_url="http://127.0.0.1:9/v1", model="tiny", max_attempts=2, backoff_seconds=0)
    with pytest.raises(ModelError, match="cannot be reached") as caught:
        await Client(endpoint, ledger).chat(QUESTION)
    assert "is the server up" in str(caught.value)
    assert statuses(ledger) == [("error", 1), ("error", 2)]


async def test_a_cancelled_request_has_its_row(server, ledger, ask):
    server.script = ["hang"]
    task = asyncio.create_task(ask().chat(QUESTION, subject="t"))
    await asyncio.to_thread(server.asked.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [call] = ledger.calls
    assert (call.status, call.subject) == ("error", "t")
    assert "CancelledError" in (call.error or "")


async def test_no_more_requests_at_once_than_the_endpoint_allows(server, ledger, ask):
    def slow(body: Any) -> dict[str, Any]:
        server.over.wait(0.1)
        return completion()

    server.script = [slow]
    client = ask(max_concurrency=2)
    await asyncio.gather(*(client.chat(QUESTION, sample=n) for n in range(6)))
    assert server.most_in_flight == 2
    assert len(ledger.calls) == 6


async def test_the_key_comes_from_the_environment_and_never_from_the_record(server, ask, monkeypatch):
    monkeypatch.setenv("TEST_KEY", "sesame")
    server.script = [completion()]
    client = ask(api_key_env="TEST_KEY")
    await client.chat(QUESTION)
    assert server.keys == ["Bearer sesame"]
    monkeypatch.delenv("TEST_KEY")
    with pytest.raises(ModelError, match="TEST_KEY is not set"):
        await ask(api_key_env="TEST_KEY").chat(QUESTION, sample=1)
    endpoint = Endpoint(base_url="http://x/v1", model="m", api_key="sesame")
    assert "sesame" not in f"{endpoint!r} {endpoint.to_json()}"


def test_one_client_serves_several_event_loops(server, ledger, ask):
    server.script = [completion()]
    client = ask()
    for _ in range(3):
        assert asyncio.run(client.chat(QUESTION, sample=None)).text == "fine"
    assert len(ledger.calls) == 3
