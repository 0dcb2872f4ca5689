"""The ports: where calls are written, what a model looks like to those who ask it, and a budget that both share."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar

from pydantic import BaseModel

from forge.llm.reply import Reply
from forge.records import JSON, BudgetError, ModelCall

Purpose = Literal["author", "teacher", "judge", "writer", "reader", "other"]
Message = Mapping[str, Any]
"""A chat message in OpenAI's form; images are `image_url` parts with a data URL."""

M = TypeVar("M", bound=BaseModel)


class LedgerSink(Protocol):
    """Where model calls are written; `warehouse.ledger` fills it. May be called from any thread."""

    def record(self, call: ModelCall) -> None:
        """Write one call; writing the same id again does nothing."""
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
        repairs: int = 2,
    ) -> M:
        """One answer as a validated object. See `Client.typed`."""
        ...


class Budget:
    """What may be spent, shared by any number of clients and threads.

    Spending stops before the first call after the budget is used up; calls in flight at that moment are finished, so it
    may be passed by as much as they cost.

    Args:
        tokens: prompt and completion tokens together; None: no limit.
        usd: US dollars; None: no limit.
    """

    def __init__(self, *, tokens: int | None = None, usd: float | None = None):
        self.tokens = tokens
        self.usd = usd
        self.spent_tokens = 0
        self.spent_usd = 0.0
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raises BudgetError when nothing is left."""
        if self.tokens is not None and self.spent_tokens >= self.tokens:
            raise BudgetError(f"the budget of {self.tokens} tokens is used up", mend="raise it; finished work is kept")
        if self.usd is not None and self.spent_usd >= self.usd:
            raise BudgetError(f"the budget of ${self.usd:g} is used up", mend="raise it; finished work is kept")

    def spend(self, call: ModelCall) -> None:
        """Count one call."""
        with self._lock:
            self.spent_tokens += call.usage.total
            self.spent_usd += call.cost_usd
