"""Replies: what came back from a model, read leniently from the wire and strictly kept."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from forge.records import Usage

Finish = Literal["stop", "tool_calls", "length", "refusal"]
"""Why the model stopped: it was done, it called tools, the token limit cut it off, or it (or a filter) refused."""


class Unreadable(ValueError):
    """The response is no chat completion: not JSON, no choices, no message."""


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool; `arguments` is the text exactly as the model wrote it, JSON or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Reply:
    """One answer of a model.

    Args:
        text: what it said; of a refusal the words of the refusal.
        tool_calls: in the order in which it made them.
        finish: why it stopped.
        usage: tokens, as the server counts them.
        model: the version that answered, as the server names it.
        call_id: the ledger row that paid for it.
        thought: reasoning that the server shows apart from the text.
        raw: the response as it came, for what is read by few (log-probabilities, token ids).
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish: Finish = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    call_id: str = ""
    thought: str = ""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


def read_reply(data: bytes, call_id: str) -> Reply:
    """Read a chat completion (https://platform.openai.com/docs/api-reference/chat/object).

    Raises:
        Unreadable: it is none; the message says what is missing.
    """
    try:
        raw = json.loads(data)
    except ValueError:
        raise Unreadable(f"not JSON: {data[:80]!r}") from None
    choices = raw.get("choices") if isinstance(raw, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Unreadable(f"no choices in {json.dumps(raw)[:120]}")
    choice = choices[0]
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Unreadable(f"no message in {json.dumps(choice)[:120]}")
    calls = tuple(_calls(message))
    refusal = message.get("refusal")
    return Reply(
        text=str(refusal or _text(message.get("content"))),
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
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        cached_tokens=_count(details.get("cached_tokens") if isinstance(details, dict) else None),
    )


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
    arguments = function.get("arguments")
    # Some servers send the object itself instead of its text.
    text = arguments if isinstance(arguments, str) else json.dumps({} if arguments is None else arguments)
    return ToolCall(str(call.get("id") or f"call_{position}"), str(function.get("name") or ""), text)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return str(content or "")


def _count(value: Any) -> int:
    return max(0, value) if isinstance(value, int) else 0
