"""Replies: what came back from a model, read leniently from the wire and strictly kept."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from forge.records import JSON, Usage

Finish = Literal["stop", "tool_calls", "length", "refusal"]
"""Why the model stopped: it was done, it called tools, the token limit cut it off, or it (or a filter) refused."""


class Unreadable(ValueError):
    """The response is no answer: not JSON, no choices, no message."""


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
        usage: tokens, as the server counts them; none where the answer was stored before.
        model: the version that answered, as the server names it.
        call_id: the ledger row of the call.
        thought: reasoning that the server shows apart from the text.
        items: output items of the Responses dialect, where reasoning among them has to go back.
        raw: the response as it came, for what is read by few (log-probabilities, token ids); not kept with stored answers.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish: Finish = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    call_id: str = ""
    thought: str = ""
    items: tuple[dict[str, Any], ...] = ()
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def message(self) -> dict[str, Any]:
        """The assistant's message in chat form, to go on from."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.tool_calls:
            message["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.tool_calls
            ]
        return {**message, "items": list(self.items)} if self.items else message

    def stored(self) -> JSON:
        """What is kept of a good answer."""
        calls = [[call.id, call.name, call.arguments] for call in self.tool_calls]
        kept = {"text": self.text, "finish": self.finish, "model": self.model, "thought": self.thought}
        return {**kept, "tool_calls": calls, "items": list(self.items)}

    @classmethod
    def restored(cls, value: JSON, call_id: str) -> Reply:
        """The inverse of `stored`, for another call."""
        calls = tuple(ToolCall(*call) for call in value["tool_calls"])
        return cls(**{**value, "tool_calls": calls, "items": tuple(value["items"]), "call_id": call_id})


def load(data: bytes) -> dict[str, Any]:
    """A response's JSON object. Raises Unreadable for anything else."""
    try:
        raw = json.loads(data)
    except ValueError:
        raise Unreadable(f"not JSON: {data[:80]!r}") from None
    if not isinstance(raw, dict):
        raise Unreadable(f"no object: {json.dumps(raw)[:120]}")
    return raw


def text_of(content: Any) -> str:
    """The text of a message's content, a text or a list of parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return str(content or "")


def arguments_text(arguments: Any) -> str:
    """A tool call's arguments as text; some servers send the object itself."""
    return arguments if isinstance(arguments, str) else json.dumps({} if arguments is None else arguments)


def count(value: Any) -> int:
    """A token count; what is odd counts 0."""
    return max(0, value) if isinstance(value, int) else 0
