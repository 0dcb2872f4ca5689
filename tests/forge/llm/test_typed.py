"""Typed output: held by the server, or in words; repaired, refused, cut off."""

from __future__ import annotations

from typing import Literal

import pytest
from pydantic import BaseModel

from forge.llm import FakeModel, MemoryLedger, RefusedError, Reply, TruncatedError, UnusableReplyError
from forge.llm.typed import find_json

from .conftest import completion

QUESTION = [{"role": "user", "content": "Name a file."}]


class FileName(BaseModel):
    name: str
    pages: int


async def test_the_server_is_held_to_the_schema(server, ledger, ask):
    server.script = [completion('{"name": "plan", "pages": 3}')]
    assert await ask().typed(QUESTION, FileName, purpose="writer") == FileName(name="plan", pages=3)
    [request] = server.requests
    assert request["response_format"]["json_schema"]["schema"] == FileName.model_json_schema()
    assert request["messages"] == QUESTION
    assert [(c.status, c.purpose) for c in ledger.calls] == [("ok", "writer")]


async def test_a_server_without_schemas_is_asked_in_words_from_then_on(server, ledger, ask):
    fenced = "Here it is:\n```json\n{\"name\": \"plan\", \"pages\": 3}\n```\nAnything else?"  # fmt: skip
    refused = (400, {"error": {"message": "that is not supported"}}, {})
    server.script = [refused, refused, completion(fenced)]
    client = ask()
    for sample in range(2):
        assert await client.typed(QUESTION, FileName, sample=sample) == FileName(name="plan", pages=3)
    ways = [("response_format" in request, "tool_choice" in request) for request in server.requests]
    assert ways == [(True, False), (False, True), (False, False), (False, False)]
    assert '"pages"' in server.requests[2]["messages"][-1]["content"]
    assert [c.status for c in ledger.calls] == ["error", "error", "ok", "ok"]


async def test_a_server_that_only_knows_tools_is_asked_through_one(server, ledger, ask):
    call = {
        "id": "a",
        "type": "function",
        "function": {"name": "FileName", "arguments": '{"name": "plan", "pages": 3}'},
    }
    short = {**call, "function": {"name": "FileName", "arguments": '{"name": "plan"}'}}
    server.script = [
        (400, {"error": {"message": "unknown field response_format"}}, {}),
        completion(None, message={"tool_calls": [short]}, finish_reason="tool_calls"),
        completion(None, message={"tool_calls": [call]}, finish_reason="tool_calls"),
    ]
    assert await ask().typed(QUESTION, FileName) == FileName(name="plan", pages=3)
    tool = server.requests[1]["tools"][0]["function"]
    assert (tool["name"], tool["parameters"]) == ("FileName", FileName.model_json_schema())
    assert server.requests[1]["tool_choice"] == {"type": "function", "function": {"name": "FileName"}}
    assert "pages: Field required" in server.requests[2]["messages"][-1]["content"]
    assert [c.status for c in ledger.calls] == ["error", "invalid", "ok"]


class Shelf(BaseModel):
    label: str = "none"
    files: list[FileName]
    kind: Literal["paper", "cloud"] | None = None


class Anything(BaseModel):
    extra: dict[str, int]


async def test_strict_mode_is_used_where_the_schema_allows_it(server, ask):
    server.script = [completion('{"label": "a", "files": [], "kind": null}'), completion('{"extra": {}}')]
    client = ask(server="openai")
    assert await client.typed(QUESTION, Shelf) == Shelf(label="a", files=[])
    assert await client.typed(QUESTION, Anything) == Anything(extra={})
    strict, loose = (request["response_format"]["json_schema"] for request in server.requests)
    assert strict["strict"] is True
    assert strict["schema"]["required"] == ["label", "files", "kind"]
    assert strict["schema"]["additionalProperties"] is False
    assert strict["schema"]["$defs"]["FileName"]["additionalProperties"] is False
    assert "default" not in strict["schema"]["properties"]["label"]
    assert "strict" not in loose
    assert loose["schema"] == Anything.model_json_schema()


async def test_a_wrong_answer_is_shown_with_what_is_wrong_and_repaired(server, ledger, ask):
    server.script = [
        completion('{"name": "plan"}'), completion("I am not sure."), completion('{"name": "plan", "pages": 3}'),
    ]  # fmt: skip
    assert (await ask(structured="words").typed(QUESTION, FileName)).pages == 3
    assert [c.status for c in ledger.calls] == ["invalid", "invalid", "ok"]
    assert ledger.calls[0].error == "pages: Field required"
    second, third = server.requests[1]["messages"], server.requests[2]["messages"]
    assert second[-2] == {"role": "assistant", "content": '{"name": "plan"}'}
    assert "pages: Field required" in second[-1]["content"]
    assert "no complete JSON" in third[-1]["content"]


async def test_repairs_are_bounded(ledger):
    model = FakeModel(["no", "no", "no"], ledger)
    with pytest.raises(UnusableReplyError, match="no valid FileName after 2 answers"):
        await model.typed(QUESTION, FileName, repairs=1)
    assert [c.status for c in ledger.calls] == ["invalid", "invalid"]


@pytest.mark.parametrize(
    ("reply", "error", "status"),
    [
        (Reply(text='{"name": "pl', finish="length"), TruncatedError, "truncated"),
        (Reply(text="I will not.", finish="refusal"), RefusedError, "refused"),
    ],
)
async def test_refused_and_cut_off_are_errors_of_their_own_and_not_repaired(ledger, reply, error, status):
    model = FakeModel([reply, '{"name": "plan", "pages": 3}'], ledger)
    with pytest.raises(error):
        await model.typed(QUESTION, FileName)
    assert [c.status for c in ledger.calls] == [status]


async def test_the_fake_answers_in_order_and_remembers_what_it_was_asked():
    ledger = MemoryLedger()
    model = FakeModel(["one", Reply(text="two"), lambda m: m[0]["content"].upper(), ValueError("three")], ledger)
    texts = [(await model.chat(QUESTION, [{"type": "function"}], subject="s")).text for _ in range(3)]
    assert texts == ["one", "two", "NAME A FILE."]
    with pytest.raises(ValueError, match="three"):
        await model.chat(QUESTION)
    assert model.requests[0] == (QUESTION, [{"type": "function"}])
    assert [c.status for c in ledger.calls] == ["ok", "ok", "ok", "error"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("```json\n[1, 2]\n```", [1, 2]),
        ('Sure! {"a": {"b": "}"}} Hope that helps {x}', {"a": {"b": "}"}}),
        ("{not json} but [3]", [3]),
    ],
)
def test_json_is_found_among_words(text, value):
    assert find_json(text) == value


@pytest.mark.parametrize("text", ["", "no JSON here", '{"cut": '])
def test_no_json_is_an_error(text):
    with pytest.raises(ValueError, match="no complete JSON"):
        find_json(text)
