"""Chat Completions (https://platform.openai.com/docs/api-reference/chat), which every compatible server speaks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from forge.llm.dialects.base import Form
from forge.llm.reply import Finish, Reply, ToolCall, Unreadable, arguments_text, count, load, text_of
from forge.records import JSON, Usage

LIMITS = ("max_completion_tokens", "max_tokens")
"""The two names of the limit of new tokens; older servers know only the second."""


class Chat:
    """The chat form as it is."""

    def body(
        self,
        model: str,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None,
        form: Form | None,
        parameters: Mapping[str, JSON],
        limit_name: str,
    ) -> dict[str, Any]:
        """See `Dialect.body`."""
        body: dict[str, Any] = {"model": model, "messages": [_without_items(m) for m in messages]}
        if tools:
            body["tools"] = list(tools)
        if form is not None and form.rung == "tool":
            function = {"name": form.name, "description": "Give the answer.", "parameters": form.schema}
            body["tools"] = [{"type": "function", "function": function}]
            body["tool_choice"] = {"type": "function", "function": {"name": form.name}}
        elif form is not None:
            held: dict[str, Any] = {"name": form.name, "schema": form.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": {**held, **_strictness(form)}}
        return {**body, **{limit_name if name in LIMITS else name: value for name, value in parameters.items()}}

    def read(self, data: bytes, call_id: str) -> Reply:
        """See `Dialect.read`."""
        raw = load(data)
        choices = raw.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            raise Unreadable(f"no choices in {json.dumps(raw)[:120]}")
        choice = choices[0]
        message = choice.get("message")
        if not isinstance(message, dict):
            raise Unreadable(f"no message in {json.dumps(choice)[:120]}")
        calls = tuple(_calls(message))
        refusal = message.get("refusal")
        return Reply(
            text=str(refusal or text_of(message.get("content"))),
            tool_calls=calls,
            finish=_finish(choice.get("finish_reason"), refusal, calls),
            usage=read_usage(raw.get("usage")),
            model=str(raw.get("model") or ""),
            call_id=call_id,
            thought=str(message.get("reasoning_content") or message.get("reasoning") or ""),
            raw=raw,
        )


def read_usage(value: Any) -> Usage:
    """Token counts from a response's `usage`; what is missing or odd counts 0."""
    usage = value if isinstance(value, dict) else {}
    details = usage.get("prompt_tokens_details")
    return Usage(
        prompt_tokens=count(usage.get("prompt_tokens")),
        completion_tokens=count(usage.get("completion_tokens")),
        cached_tokens=count(details.get("cached_tokens") if isinstance(details, dict) else None),
    )


def _strictness(form: Form) -> dict[str, Any]:
    return {"strict": True} if form.strict else {}


def _without_items(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message without what only the Responses dialect understands (see `Reply.message`)."""
    return {key: value for key, value in message.items() if key != "items"} if "items" in message else message


def _finish(reason: Any, refusal: Any, calls: tuple[ToolCall, ...]) -> Finish:
    if refusal or reason == "content_filter":
        return "refusal"
    if reason == "length":
        return "length"
    return "tool_calls" if calls else "stop"


def _calls(message: dict[str, Any]) -> list[ToolCall]:
    found = message.get("tool_calls")
    calls = [call for call in found if isinstance(call, dict)] if isinstance(found, list) else []
    return [_call(call, position) for position, call in enumerate(calls)]


def _call(call: dict[str, Any], position: int) -> ToolCall:
    value = call.get("function")
    function: dict[str, Any] = value if isinstance(value, dict) else {}
    text = arguments_text(function.get("arguments"))
    return ToolCall(str(call.get("id") or f"call_{position}"), str(function.get("name") or ""), text)
