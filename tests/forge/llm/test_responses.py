"""The Responses dialect: what goes out, what comes back, and that everything above it is the same."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from forge.llm import Client, Endpoint

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"}}
TOOL = {"type": "function", "function": {"name": "bash", "description": "Run.", "parameters": {"type": "object"}}}


def response(*output: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "r", "object": "response", "status": "completed", "model": "tiny-2", "output": list(output),
        "usage": {"input_tokens": 100, "output_tokens": 20, "input_tokens_details": {"cached_tokens": 40}}, **more,
    }  # fmt: skip


def message(text: str, kind: str = "output_text") -> dict[str, Any]:
    part = {"type": kind, "refusal" if kind == "refusal" else "text": text}
    return {"type": "message", "role": "assistant", "content": [part]}


@pytest.fixture
def client(server, ledger) -> Client:
    endpoint = Endpoint(base_url=server.url, model="tiny", dialect="responses", backoff_seconds=0.01)
    return Client(endpoint, ledger)


async def test_a_conversation_with_pictures_and_tools_goes_out_as_items(server, client, ledger):
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"z":1}'}}
    server.script = [response(message("done"))]
    messages = [
        {"role": "system", "content": "You see a desktop."},
        {"role": "user", "content": [{"type": "text", "text": "Look."}, PICTURE]},
        {"role": "assistant", "content": "I run it.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "output"},
    ]
    parameters = {"max_completion_tokens": 50, "reasoning_effort": "low", "temperature": 1}
    reply = await client.chat(messages, [TOOL], parameters=parameters)
    assert server.requests[0] == {
        "model": "tiny", "store": False, "stream": False, "max_output_tokens": 50, "temperature": 1,
        "reasoning": {"effort": "low"}, "include": ["reasoning.encrypted_content"],
        "tools": [{"type": "function", "name": "bash", "description": "Run.", "parameters": {"type": "object"}}],
        "input": [
            {"role": "system", "content": [{"type": "input_text", "text": "You see a desktop."}]},
            {"role": "user", "content": [
                {"type": "input_text", "text": "Look."},
                {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"},
            ]},
            {"role": "assistant", "content": [{"type": "output_text", "text": "I run it."}]},
            {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": '{"z":1}'},
            {"type": "function_call_output", "call_id": "c1", "output": "output"},
        ],
    }  # fmt: skip
    assert (reply.text, reply.finish, reply.model) == ("done", "stop", "tiny-2")
    assert ledger.calls[0].usage.model_dump() == {"prompt_tokens": 100, "completion_tokens": 20, "cached_tokens": 40}


async def test_calls_come_back_and_reasoning_goes_out_again(server, client):
    thinking = {
        "type": "reasoning",
        "id": "rs",
        "encrypted_content": "xyz",
        "summary": [{"type": "summary_text", "text": "so"}],
    }
    call = {"type": "function_call", "id": "fc", "call_id": "c9", "name": "bash", "arguments": '{"a": 1}'}
    server.script = [response(thinking, call), response(message("done"))]
    question = [{"role": "user", "content": "Go."}]
    reply = await client.chat(question, [TOOL])
    assert (reply.finish, reply.thought) == ("tool_calls", "so")
    assert [(c.id, c.name, c.arguments) for c in reply.tool_calls] == [("c9", "bash", '{"a": 1}')]
    result = {"role": "tool", "tool_call_id": "c9", "content": "ok"}
    await client.chat([*question, reply.message, result], [TOOL])
    assert server.requests[1]["input"][1:] == [
        thinking, call, {"type": "function_call_output", "call_id": "c9", "output": "ok"},
    ]  # fmt: skip


async def test_a_chat_server_never_sees_those_items(server, ask):
    from forge.llm import Reply

    server.script = [{"choices": [{"message": {"content": "ok"}}]}]
    await ask().chat([Reply(text="hm", items=({"type": "reasoning"},)).message])
    assert server.requests[0]["messages"] == [{"role": "assistant", "content": "hm"}]


@pytest.mark.parametrize(
    ("answer", "finish", "status"),
    [
        (response(message("half"), status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "length", "truncated"),
        (response(message("I will not.", "refusal")), "refusal", "refused"),
        (response(status="incomplete", incomplete_details={"reason": "content_filter"}), "refusal", "refused"),
    ],
)  # fmt: skip
async def test_refused_and_cut_off_are_told_apart(server, client, ledger, answer, finish, status):
    server.script = [answer]
    assert (await client.chat([{"role": "user", "content": "Go."}])).finish == finish
    assert [c.status for c in ledger.calls] == [status]


@pytest.mark.parametrize("fault", [response(), response(status="failed", error={"message": "oops"}), {"id": "r"}, []])
async def test_what_is_no_answer_is_asked_again(server, client, ledger, fault):
    server.script = [fault, response(message("fine"))]
    assert (await client.chat([{"role": "user", "content": "Go."}])).text == "fine"
    assert [c.status for c in ledger.calls] == ["error", "ok"]


class FileName(BaseModel):
    name: str


async def test_typed_output_is_held_by_the_text_format_and_falls_back_to_a_tool(server, client):
    call = {"type": "function_call", "call_id": "c", "name": "FileName", "arguments": '{"name": "plan"}'}
    server.script = [(400, {"error": {"message": "no text.format here"}}, {}), response(call)]
    assert await client.typed([{"role": "user", "content": "Name one."}], FileName) == FileName(name="plan")
    first, second = server.requests
    assert first["text"]["format"]["schema"] == FileName.model_json_schema()
    assert second["tool_choice"] == {"type": "function", "name": "FileName"}
    assert "text" not in second
