"""The client: asks an OpenAI-compatible endpoint, tries again where that helps, and writes every request down.

Each request is exactly one ledger row, also one that failed, was refused, cut off or cancelled; the retries of one answer
share the request's hash and count `attempt`. A request refused for its rate (429) is no attempt: it waits, with all others,
until the gate opens again. What this does not do: stream, or use batch interfaces.
"""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import Any

from forge.llm.budget import Budget, Reservation
from forge.llm.dialects import DIALECTS, Form
from forge.llm.dialects.chat import LIMITS
from forge.llm.endpoint import Endpoint, Rung
from forge.llm.errors import EndpointDownError
from forge.llm.estimate import Estimator
from forge.llm.gate import Gate, Pass
from forge.llm.port import LedgerSink, M, Message, Purpose
from forge.llm.reply import Reply
from forge.llm.retry import backoff
from forge.llm.typed import Check, ask_typed, form_of, judge
from forge.llm.wire import Answer, Failure, Wire, gate_for
from forge.records import JSON, InputError, ModelCall, ModelError, digest

RUNGS: tuple[Rung, ...] = ("json_schema", "tool", "words")


class Client:
    """Asks one endpoint. May be shared by threads and event loops.

    Args:
        endpoint: whom to ask, and how hard.
        ledger: where every request is written, and good answers are kept.
        budget: what may be spent; None: no limit.
        run: the run that the calls belong to, in the ledger.
    """

    def __init__(self, endpoint: Endpoint, ledger: LedgerSink, budget: Budget | None = None, *, run: str = ""):
        self.endpoint = endpoint
        self.budget = budget or Budget()
        self._ledger = ledger
        self._note = _Note(run=run)
        self._shared = _Shared(Wire(endpoint), gate_for(endpoint), Estimator(), RUNGS.index(endpoint.structured))
        self._random = random.Random()

    @property
    def way(self) -> Rung:
        """How typed answers are asked for now, by what the server has refused so far."""
        return RUNGS[self._shared.rung]

    def within(self, *, stage: str = "", workflow: str = "", budget: Budget | None = None) -> Client:
        """The same client, its calls counted for a stage or a workflow.

        Args:
            stage: the part of the run: author, topup, judge, ...
            workflow: the workflow or skill that the calls serve.
            budget: its own, made with `budget.part(...)` of this client's.
        """
        made = object.__new__(Client)
        made.__dict__ |= self.__dict__
        made.budget = budget or self.budget
        made._note = replace(self._note, stage=stage or self._note.stage, workflow=workflow or self._note.workflow)
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
        """One answer; look at `finish` before using it (`length`: it was cut off; `refusal`: it is none).

        Args:
            messages: in OpenAI's chat form, images as data URLs.
            tools: OpenAI function definitions.
            purpose: what the call is for, in the ledger.
            recurring: paid for every task (True) or once per workflow (False).
            subject: what it is for: a task id, a workflow version.
            parameters: sent with this request, over those of the endpoint.
            prompt: template and version of the messages, in the ledger.
            sample: which of several answers to the same request is wanted. A good answer that is there already is used
                again, without a call; None: a new one every time, which is not kept.

        Raises:
            BudgetError: nothing is left to spend.
            EndpointDownError: it cannot be reached, refuses the key, or its quota is used up.
            ModelError: the endpoint failed for good: after all attempts, at the total time-out, or at once where
                another try is no use (an unknown model, a request it cannot read).
        """
        note = self._noting(purpose, recurring, subject, prompt)
        return await self._answer(_Question(messages, tools, None, parameters or {}, sample), note, lambda reply: None)

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
        """One answer as a validated `model`.

        The server is asked to hold the model to its JSON schema, or else to have it fill a tool's arguments, or else the
        schema is put in words. An answer that does not fit is shown to the model with what is wrong, `repairs` times.

        Raises:
            RefusedError, TruncatedError, UnusableReplyError: the model's answer is no use, see each.
            BudgetError, EndpointDownError, ModelError: as of `chat`.
        """
        note = self._noting(purpose, recurring, subject, prompt)

        async def ask(conversation: Sequence[Message], check: Check, *, form: Form | None) -> Reply:
            return await self._answer(_Question(conversation, None, form, parameters or {}, sample), note, check)

        for rung in range(self._shared.rung, len(RUNGS)):
            strict = self.endpoint.server in ("openai", "azure")
            form = None if RUNGS[rung] == "words" else form_of(model, RUNGS[rung], strict=strict)
            try:
                found = await ask_typed(partial(ask, form=form), messages, model, repairs, in_words=form is None)
            except _BadRequest:  # most likely it does not know this way; if it is something else, the same comes again
                if form is None:
                    raise
                continue
            self._shared.rung = max(self._shared.rung, rung)
            return found
        raise AssertionError("the last rung returns or raises")

    async def aclose(self) -> None:
        """Close what this event loop opened."""
        await self._shared.wire.aclose()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _noting(self, purpose: Purpose, recurring: bool, subject: str, prompt: str) -> _Note:
        return replace(self._note, purpose=purpose, recurring=recurring, subject=subject, prompt=prompt)

    async def _answer(self, question: _Question, note: _Note, check: Check) -> Reply:
        """The kept answer, or a new one: ask until there is one, `max_attempts` times within `total_seconds`."""
        body = self._body(question)
        request = digest([self.endpoint.name, body, question.sample or 0])
        if question.sample is not None:
            kept = await self._kept(request, note, check)
            if kept is not None:
                return kept
        if self.budget.limited_in_usd and self.endpoint.known_prices is None:
            raise InputError(
                f"endpoint {self.endpoint.name}: a budget in dollars is set, but nobody knows what {self.endpoint.model} costs",
                mend="state its prices: {prompt: 1.25, completion: 10} (US dollars per million tokens)",
            )
        self.endpoint.key()  # a missing key is told before a request is written down
        failure = await self._attempts(_Sending(body, request, question.sample is not None, note, check))
        if isinstance(failure, Reply):
            return failure
        error = _BadRequest if failure.status in (400, 422) else EndpointDownError if failure.down else ModelError
        raise error(f"endpoint {self.endpoint.name} ({self.endpoint.model}): {failure.message}", mend=failure.mend)

    async def _attempts(self, sending: _Sending) -> Reply | Failure:
        endpoint, gate = self.endpoint, self._shared.gate
        ticket, deadline, attempt = gate.ticket(), None, 1
        failure = Failure("no attempt was made")
        while True:
            self.budget.check()
            try:
                place = await gate.enter(ticket, deadline)
            except TimeoutError:
                return replace(failure, message=f"{failure.message} (and no place became free in time)")
            began = time.monotonic()
            deadline = deadline or began + endpoint.total_seconds  # waiting for a first place is nobody's fault
            result: Answer | Failure | None = None
            try:
                result = await self._request(sending, attempt, deadline)
            finally:
                _leave(gate, place, result)
            if isinstance(result, Answer):
                return result.reply
            failure = result
            if not failure.retried:
                return failure
            wait = failure.wait or 0.0
            if failure.status != 429:
                if attempt >= endpoint.max_attempts:
                    return replace(failure, message=f"{failure.message} (the last of {attempt} attempts)")
                wait = max(wait, backoff(attempt, endpoint.backoff_seconds, endpoint.backoff_limit, self._random))
                attempt += 1
            if time.monotonic() + wait >= deadline:
                of = f"of total_seconds, {endpoint.total_seconds:g} s"
                words = f"{failure.message} (and the wait of {wait:.0f} s is longer than the time left {of})"
                return Failure(words, down=True, mend=failure.mend)
            if failure.status != 429:  # after a 429 the gate does the waiting, for everybody
                await asyncio.sleep(wait)

    async def _request(self, sending: _Sending, attempt: int, deadline: float) -> Answer | Failure:
        """One request: its money reserved, its row opened, sent, and the row completed together with the answer."""
        note, body = sending.note, sending.body
        try:
            async with asyncio.timeout(deadline - time.monotonic()):  # others may have to be settled first
                reservation = await self._reserve(body)
        except TimeoutError:
            return Failure("what the budget has left stayed reserved by other calls until the time was over")
        if self.budget.limited:
            limit = "max_output_tokens" if self.endpoint.dialect == "responses" else self.endpoint.limit_name
            body = {**body, limit: reservation.completion}
        row: dict[str, Any] = {
            "id": uuid.uuid4().hex, "purpose": note.purpose, "recurring": note.recurring, "endpoint": self.endpoint.name,
            "model": self.endpoint.model, "request": sending.request, "attempt": attempt, "subject": note.subject,
            "started_at": datetime.now(UTC).isoformat(timespec="milliseconds"), "run": note.run, "stage": note.stage,
            "workflow": note.workflow, "prompt": note.prompt, "reserved_tokens": reservation.tokens,
            "reserved_usd": reservation.usd,
        }  # fmt: skip
        began = time.monotonic()
        closed = ModelCall(**row, status="error", error="it was never sent")
        answer: JSON = None
        try:
            await _unbroken(asyncio.to_thread(self._ledger.record, ModelCall(**row, status="open")))
            seconds = min(self.endpoint.request_seconds, max(deadline - time.monotonic(), 0.001))
            result = await self._shared.wire.post(body, seconds, row["id"])
            row["seconds"] = time.monotonic() - began
            if isinstance(result, Answer):
                closed, answer = self._judged(result.reply, row, sending)
            else:
                closed = ModelCall(**row, status=result.ledger, error=result.message[:2000])
        except BaseException as error:  # cancelled, or a fault of ours: the request may have been paid for
            row["seconds"] = time.monotonic() - began
            closed = ModelCall(**row, status="error", error=f"{type(error).__name__}: {error}"[:2000])
            raise
        finally:
            self.budget.settle(reservation, closed.usage, closed.cost_usd)
            await _unbroken(asyncio.to_thread(self._ledger.record, closed, answer))
        if reservation.capped_by is not None and closed.status == "truncated":
            raise reservation.capped_by.used_up("what was left of it was too little for the last answer")
        return result

    def _judged(self, reply: Reply, row: dict[str, Any], sending: _Sending) -> tuple[ModelCall, JSON]:
        """The complete row of a call that was answered, and what is kept of the answer."""
        self._shared.estimator.learn(sending.body, reply.usage.prompt_tokens)
        status, problem = judge(reply, sending.check)
        known = {"usage": reply.usage, "cost_usd": self.endpoint.price.cost(reply.usage)}
        call = ModelCall(**{**row, **known, "model": reply.model or self.endpoint.model}, status=status, error=problem)
        return call, reply.stored() if status == "ok" and sending.kept else None

    async def _reserve(self, body: dict[str, Any]) -> Reservation:
        """Reserve what a request may use."""
        stated = [value for name in (*LIMITS, "max_output_tokens") if isinstance(value := body.get(name), int)]
        wanted = min(stated, default=self.endpoint.max_output_tokens)
        prompt = self._shared.estimator.tokens(body)
        return await self.budget.reserve(prompt, wanted, self.endpoint.price)

    async def _kept(self, request: str, note: _Note, check: Check) -> Reply | None:
        """The kept answer to a request, with a row that says so; None where there is none that is good."""
        found = await asyncio.to_thread(self._ledger.answer, request)
        if found is None:
            return None
        reply = Reply.restored(found, uuid.uuid4().hex)
        if check(reply) is not None:  # kept under an older, laxer check
            return None
        call = ModelCall(
            id=reply.call_id, purpose=note.purpose, recurring=note.recurring, endpoint=self.endpoint.name,
            model=reply.model or self.endpoint.model, request=request, status="cached", subject=note.subject,
            started_at=datetime.now(UTC).isoformat(timespec="milliseconds"), run=note.run, stage=note.stage,
            workflow=note.workflow, prompt=note.prompt,
        )  # fmt: skip
        await _unbroken(asyncio.to_thread(self._ledger.record, call))
        return reply

    def _body(self, question: _Question) -> dict[str, Any]:
        parameters = {**self.endpoint.parameters, **question.parameters}
        dialect = DIALECTS[self.endpoint.dialect]
        return dialect.body(
            self.endpoint.model, question.messages, question.tools, question.form, parameters, self.endpoint.limit_name
        )


def _leave(gate: Gate, place: Pass, result: Answer | Failure | None) -> None:
    """Give a place back with what the gate learns from; None: the request was broken off."""
    if isinstance(result, Answer):
        gate.leave(place, ok=True, rates=result.rates, tokens=result.reply.usage.total)
    elif result is None:
        gate.leave(place)
    else:
        gate.leave(
            place, refused=result.status == 429 and result.retried, overloaded=result.overloaded, wait=result.wait,
            rates=result.rates,
        )  # fmt: skip


async def _unbroken(work: Coroutine[Any, Any, None]) -> None:
    """Wait for work to its end, also through a cancellation, which is raised afterwards."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            cancelled = True
    task.result()
    if cancelled:
        raise asyncio.CancelledError


@dataclass
class _Shared:
    """What a client and its parts (`within`) share: connection, gate, what was learnt about the server."""

    wire: Wire
    gate: Gate
    estimator: Estimator
    rung: int


@dataclass(frozen=True)
class _Note:
    """What the ledger says a call was for."""

    purpose: Purpose = "other"
    recurring: bool = True
    subject: str = ""
    run: str = ""
    stage: str = ""
    workflow: str = ""
    prompt: str = ""


@dataclass(frozen=True)
class _Question:
    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] | None
    form: Form | None
    parameters: Mapping[str, JSON]
    sample: int | None


@dataclass(frozen=True)
class _Sending:
    """A request ready to go: its body, its hash, whether its answer is kept, what it is for and how it is judged."""

    body: dict[str, Any]
    request: str
    kept: bool
    note: _Note
    check: Check


class _BadRequest(ModelError):
    """The server cannot read this request; it may lack a feature that the request uses."""
