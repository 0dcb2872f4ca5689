"""Examples: one turn of a trajectory as a chat, the way the model was asked and the way it answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Message = dict[str, Any]
"""`{role, content, tool_calls?, tool_call_id?}`; content is a list of parts `{type: "text", text}` or `{type: "image"}`."""


@dataclass(frozen=True)
class Example:
    """One turn to learn: everything before it is the prompt, the last message is the completion.

    Args:
        messages: the chat; the last message is the assistant's and is the only one that is trained.
        images: PNG bytes, one for each `{type: "image"}` part of the prompt, in order.
        tools: the tools that the model was offered, as JSON schemas in OpenAI's form.
        metadata: where the turn comes from; see `training.shards.METADATA`.
    """

    messages: list[Message]
    images: tuple[bytes, ...]
    tools: list[dict[str, Any]]
    metadata: dict[str, Any]

    @property
    def prompt(self) -> list[Message]:
        """What the model was shown."""
        return self.messages[:-1]

    @property
    def completion(self) -> Message:
        """What it answered."""
        return self.messages[-1]


def parts(messages: list[Message]) -> Iterator[dict[str, Any]]:
    """All content parts of a chat, in order."""
    for message in messages:
        content = message.get("content") or []
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content


def placeholders(messages: list[Message]) -> int:
    """How many pictures a chat refers to."""
    return sum(part["type"] == "image" for part in parts(messages))
