"""Responses (https://platform.openai.com/docs/api-reference/responses), without state on the server.

Nothing is stored there (`store: false`): every request carries its whole conversation. Reasoning that came with an answer goes
back, encrypted, with the next request where `Reply.message` was used for the assistant's turn; models think on from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forge.llm.dialects.base import Form
from forge.llm.dialects.chat import LIMITS
from forge.llm.reply import Finish, Reply, ToolCall, Unreadable, arguments_text, count, load, text_of
from forge.records import JSON, Usage


class Responses:
    """The chat form as input items, and output items as a reply."""

    def body(
        self,
        model: str,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None,
        form: Form | None,
        parameters: Mapping[str, JSON],
        limit_name: str,
    ) -> dict[str, Any]:
        """See `Dialect.body`; the limit of new tokens is always `max_output_tokens` here."""
        body: dict[str, Any] = {"model": model, "input": [item for message in messages for item in _items(message)]}
        body |= {"store": False, "stream": False}  # there are servers that stream unless told not to
        if tools:
            body["tools"] = [{"type": "function", **tool["function"]} for tool in tools]
        if form is not None and form.rung == "tool":
            body["tools"] = [
                {"type": "function", "name": form.name, "description": "Give the answer.", "parameters": form.schema}
            ]
            body["tool_choice"] = {"type": "function", "name": form.name}
        elif form is not None:
            held = {"type": "json_schema", "name": form.name, "schema": form.schema}
            body["text"] = {"format": {**held, **({"strict": True} if form.strict else {})}}
        for name, value in parameters.items():
            if name in LIMITS:
                body["max_output_tokens"] = value
            elif name == "reasoning_effort":
                body["reasoning"] = {"effort": value}
                body["include"] = ["reasoning.encrypted_content"]
            else:
                body[name] = value
        return body

    def read(self, data: bytes, call_id: str) -> Reply:
        """See `Dialect.read`."""
        raw = load(data)
        output = raw.get("output")
        if not isinstance(output, list):
            raise Unreadable(f"no output in {json.dumps(raw)[:120]}")
        if raw.get("status") == "failed" or (not output and raw.get("status") != "incomplete"):
            raise Unreadable(f"the response {raw.get('status')}: {json.dumps(raw.get('error'))[:200]}")
        items = [item for item in output if isinstance(item, dict)]
        parts = [p for item in items if item.get("type") == "message" for p in _parts(item)]
        refusal = "".join(str(p.get("refusal") or "") for p in parts if p.get("type") == "refusal")
        calls = tuple(_call(item, n) for n, item in enumerate(i for i in items if i.get("type") == "function_call"))
        summaries = [s for item in items if item.get("type") == "reasoning" for s in item.get("summary") or ()]
        return Reply(
            text=refusal or text_of(parts),
            tool_calls=calls,
            finish=_finish(raw, refusal, calls),
            usage=_usage(raw.get("usage")),
            model=str(raw.get("model") or ""),
            call_id=call_id,
            thought=text_of(summaries),
            items=tuple(items) if any(item.get("type") == "reasoning" for item in items) else (),
            raw=raw,
        )


def _items(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A message of the chat form as input items."""
    role, content = message.get("role"), message.get("content")
    if message.get("items"):
        yield from message["items"]
        return
    if role == "tool":
        yield {"type": "function_call_output", "call_id": message.get("tool_call_id"), "output": text_of(content)}
        return
    kind = "output_text" if role == "assistant" else "input_text"
    if content:
        found = content if isinstance(content, list) else [{"type": "text", "text": content}]
        yield {"role": role, "content": [_part(part, kind) for part in found]}
    for call in message.get("tool_calls") or ():
        function = call["function"]
        yield {
            "type": "function_call", "call_id": call["id"], "name": function["name"], "arguments": function["arguments"],
        }  # fmt: skip


def _part(part: Mapping[str, Any], kind: str) -> dict[str, Any]:
    if part.get("type") == "image_url":
        image = part["image_url"]
        detail = {"detail": image["detail"]} if "detail" in image else {}
        return {"type": "input_image", "image_url": image["url"], **detail}
    return {"type": kind, "text": part.get("text") or ""}


def _parts(item: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for part in item.get("content") or () if isinstance(part, dict)]


def _call(item: dict[str, Any], position: int) -> ToolCall:
    name = str(item.get("name") or "")
    return ToolCall(str(item.get("call_id") or f"call_{position}"), name, arguments_text(item.get("arguments")))


def _finish(raw: dict[str, Any], refusal: str, calls: tuple[ToolCall, ...]) -> Finish:
    details = raw.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    if refusal or reason == "content_filter":
        return "refusal"
    if reason == "max_output_tokens" or raw.get("status") == "incomplete":
        return "length"
    return "tool_calls" if calls else "stop"


def _usage(value: Any) -> Usage:
    usage = value if isinstance(value, dict) else {}
    details = usage.get("input_tokens_details")
    return Usage(
        prompt_tokens=count(usage.get("input_tokens")),
        completion_tokens=count(usage.get("output_tokens")),
        cached_tokens=count(details.get("cached_tokens") if isinstance(details, dict) else None),
    )
