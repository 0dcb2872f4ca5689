"""The ports: where calls are written and answers kept, and what a model looks like to those who ask it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar

from pydantic import BaseModel

from forge.llm.budget import Budget
from forge.llm.reply import Reply
from forge.records import JSON, ModelCall

Purpose = Literal["author", "teacher", "judge", "writer", "reader", "other"]
Message = Mapping[str, Any]
"""A chat message in OpenAI's form; images are `image_url` parts with a data URL."""

M = TypeVar("M", bound=BaseModel)


class LedgerSink(Protocol):
    """Where model calls are written; `warehouse.ledger` fills it. May be called from any thread."""

    def record(self, call: ModelCall, answer: JSON = None) -> None:
        """Write one call, with its answer where that is worth keeping. A call that is open is completed; a completed one
        stays as it is.
        """
        ...

    def answer(self, request: str) -> JSON:
        """The kept answer to a request, or None."""
        ...


class ChatModel(Protocol):
    """A model to ask: `Client` is the real one, `FakeModel` the one for tests."""

    async def chat(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]] | None = None,
        *,
        purpose: Purpose = "other",
        recurring: bool = True,
        subject: str = "",
        parameters: Mapping[str, JSON] | None = None,
        prompt: str = "",
        sample: int | None = 0,
    ) -> Reply:
        """One answer. See `Client.chat`."""
        ...

    async def typed(
        self,
        messages: Sequence[Message],
        model: type[M],
        *,
        purpose: Purpose = "other",
        recurring: bool = True,
        subject: str = "",
        parameters: Mapping[str, JSON] | None = None,
        prompt: str = "",
        sample: int | None = 0,
        repairs: int = 2,
    ) -> M:
        """One answer as a validated object. See `Client.typed`."""
        ...

    def within(self, *, stage: str = "", workflow: str = "", budget: Budget | None = None) -> ChatModel:
        """The same model, its calls counted for a stage or a workflow. See `Client.within`."""
        ...
