"""Fakes beside the ports: a model that answers from a list, and a ledger in memory. For tests only."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from forge.llm.port import LedgerSink, M, Message, Purpose
from forge.llm.reply import Reply
from forge.llm.typed import Check, ask_typed, judge
from forge.records import JSON, ModelCall, ModelError

Answer: TypeAlias = Reply | str | Exception | Callable[[Sequence[Message]], Reply | str]


class MemoryLedger:
    """Keeps the calls in a list."""

    def __init__(self) -> None:
        self.calls: list[ModelCall] = []

    def record(self, call: ModelCall) -> None:
        """Append the call."""
        self.calls.append(call)


class FakeModel:
    """Answers with `answers`, one after another: a reply, a text, a function of the messages, or an error to raise.

    `requests` holds what it was asked: messages and tools.

    Raises:
        ModelError: it is asked more often than it has answers.
    """

    def __init__(self, answers: Iterable[Answer], ledger: LedgerSink | None = None):
        self._answers = iter(answers)
        self._ledger = ledger or MemoryLedger()
        self._numbers = itertools.count(1)
        self.requests: list[tuple[list[Message], list[Mapping[str, Any]]]] = []

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
        """The next answer."""
        return self._next(messages, tools, purpose, recurring, subject, lambda reply: None)

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
        """The next answer that fits `model`; those before it are repaired as the real client would."""

        async def ask(conversation: Sequence[Message], check: Check) -> Reply:
            return self._next(conversation, None, purpose, recurring, subject, check)

        return await ask_typed(ask, messages, model, repairs, in_words=False)

    def _next(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]] | None,
        purpose: Purpose,
        recurring: bool,
        subject: str,
        check: Check,
    ) -> Reply:
        self.requests.append((list(messages), list(tools or ())))
        try:
            answer = next(self._answers)
        except StopIteration:
            raise ModelError(f"the fake model has no answer to request {len(self.requests)}") from None
        call_id = f"fake-{next(self._numbers)}"
        note: dict[str, Any] = {
            "id": call_id, "purpose": purpose, "recurring": recurring, "endpoint": "fake", "model": "fake",
            "request": str(len(self.requests)), "subject": subject,
        }  # fmt: skip
        if isinstance(answer, Exception):
            self._ledger.record(ModelCall(**note, status="error", error=str(answer)))
            raise answer
        reply = answer(messages) if callable(answer) else answer
        reply = Reply(text=reply) if isinstance(reply, str) else reply
        status, problem = judge(reply, check)
        self._ledger.record(ModelCall(**note, status=status, usage=reply.usage, error=problem))
        return replace(reply, call_id=call_id, model=reply.model or "fake")
