"""What a dialect is. Everything above it speaks OpenAI's chat form; a dialect translates that to its wire and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from forge.llm.reply import Reply
from forge.records import JSON


@dataclass(frozen=True)
class Form:
    """A form that the answer is held to: a JSON Schema with a name, through the response format or through a tool.

    Args:
        name: letters, digits, dashes and underscores, at most 64.
        schema: the JSON Schema.
        rung: "json_schema": the server holds the model to it; "tool": the model fills a tool's arguments.
        strict: whether the schema is one that OpenAI's strict mode takes.
    """

    name: str
    schema: dict[str, Any]
    rung: str = "json_schema"
    strict: bool = False


class Dialect(Protocol):
    """Translates requests and answers. Pure."""

    def body(
        self,
        model: str,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None,
        form: Form | None,
        parameters: Mapping[str, JSON],
        limit_name: str,
    ) -> dict[str, Any]:
        """The body of a request.

        Args:
            model: its name on the server.
            messages: in chat form.
            tools: OpenAI function definitions.
            form: what the answer is held to.
            parameters: in chat's names; they are translated.
            limit_name: how the server calls the limit of new tokens in the chat dialect.
        """

    def read(self, data: bytes, call_id: str) -> Reply:
        """The answer. Raises `forge.llm.reply.Unreadable`."""
