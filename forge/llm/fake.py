"""Fakes beside the ports: a model that answers from a list, and a ledger in memory. For tests only."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from forge.llm.budget import Budget
from forge.llm.port import LedgerSink, M, Message, Purpose
from forge.llm.reply import Reply
from forge.llm.typed import Check, ask_typed, judge
from forge.records import JSON, ModelCall, ModelError

Answer: TypeAlias = Reply | str | Exception | Callable[[Sequence[Message]], Reply | str]


class MemoryLedger:
    """Keeps the calls in a list, one each, and the answers."""

    def __init__(self) -> None:
        self._calls: dict[str, ModelCall] = {}
        self.answers: dict[str, JSON] = {}

    @property
    def calls(self) -> list[ModelCall]:
        """All calls, in the order they were begun."""
        return list(self._calls.values())

    def record(self, call: ModelCall, answer: JSON = None) -> None:
        """Write or complete the call."""
        if call.id not in self._calls or self._calls[call.id].status == "open":
            self._calls[call.id] = call
        if answer is not None:
            self.answers.setdefault(call.request, answer)

    def answer(self, request: str) -> JSON:
        """The kept answer, or None."""
        return self.answers.get(request)


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
        self._marks: dict[str, str] = {}
        self.requests: list[tuple[list[Message], list[Mapping[str, Any]]]] = []

    def within(self, *, stage: str = "", workflow: str = "", budget: Budget | None = None) -> FakeModel:
        """The same fake, its calls marked; a budget is not kept."""
        made = object.__new__(FakeModel)
        made.__dict__ |= self.__dict__
        marks = {"stage": stage, "workflow": workflow}
        made._marks = {**self._marks, **{name: value for name, value in marks.items() if value}}
        return made

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
        """The next answer."""
        note = {"purpose": purpose, "recurring": recurring, "subject": subject, "prompt": prompt}
        return self._next(messages, tools, note, lambda reply: None)

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
        """The next answer that fits `model`; those before it are repaired as the real client would."""
        note = {"purpose": purpose, "recurring": recurring, "subject": subject, "prompt": prompt}

        async def ask(conversation: Sequence[Message], check: Check) -> Reply:
            return self._next(conversation, None, note, check)

        return await ask_typed(ask, messages, model, repairs, in_words=False)

    def _next(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]] | None,
        note: dict[str, Any],
        check: Check,
    ) -> Reply:
        self.requests.append((list(messages), list(tools or ())))
        try:
            answer = next(self._answers)
        except StopIteration:
            raise ModelError(f"the fake model has no answer to request {len(self.requests)}") from None
        call_id = f"fake-{next(self._numbers)}"
        row: dict[str, Any] = {
            "id": call_id, "endpoint": "fake", "model": "fake", "request": str(len(self.requests)), **note, **self._marks,
        }  # fmt: skip
        if isinstance(answer, Exception):
            self._ledger.record(ModelCall(**row, status="error", error=str(answer)))
            raise answer
        reply = answer(messages) if callable(answer) else answer
        reply = Reply(text=reply) if isinstance(reply, str) else reply
        status, problem = judge(reply, check)
        self._ledger.record(ModelCall(**row, status=status, usage=reply.usage, error=problem))
        return replace(reply, call_id=call_id, model=reply.model or "fake")
