"""The client: asks an OpenAI-compatible endpoint, tries again where that helps, and writes every request down.

Each request is exactly one ledger row, also one that failed, was refused, cut off or cancelled; the retries of one answer
share the request's hash and count `attempt`. What this does not do: stream, cache, or speak other protocols.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import time
import uuid
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from forge.llm.endpoint import Endpoint
from forge.llm.port import Budget, LedgerSink, M, Message, Purpose
from forge.llm.reply import Reply, Unreadable, read_reply
from forge.llm.retry import backoff, is_retried, retry_after
from forge.llm.typed import Check, ask_typed, judge, response_format
from forge.records import JSON, ModelCall, ModelError


class Client:
    """Asks one endpoint. May be shared by threads and event loops.

    Args:
        endpoint: whom to ask, and how hard.
        ledger: where every request is written.
        budget: what may be spent; None: no limit.
    """

    def __init__(self, endpoint: Endpoint, ledger: LedgerSink, budget: Budget | None = None):
        self.endpoint = endpoint
        self._ledger = ledger
        self._budget = budget or Budget()
        self._random = random.Random()
        self._schema_refused = False
        self._doors: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Door] = weakref.WeakKeyDictionary()

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
        """One answer; look at `finish` before using it (`length`: it was cut off; `refusal`: it is none).

        Args:
            messages: in OpenAI's chat form, images as data URLs.
            tools: OpenAI function definitions.
            purpose: what the call is for, in the ledger.
            recurring: paid for every task (True) or once per workflow (False).
            subject: what it is for: a task id, a workflow version.
            parameters: sent with this request, over those of the endpoint.

        Raises:
            BudgetError: nothing is left to spend.
            ModelError: the endpoint failed for good: after all attempts, at the total time-out, or at once where
                another try is no use (a wrong key, an unknown model, a request it cannot read).
        """
        note = _Note(purpose, recurring, subject)
        body = self._body(messages, tools, parameters)
        return await self._answer(body, note, lambda reply: None)

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
        """One answer as a validated `model`.

        The server is asked to hold the model to its JSON schema; where it cannot, the schema is put in words. An answer
        that does not fit is shown to the model with what is wrong, `repairs` times.

        Raises:
            RefusedError, TruncatedError, UnusableReplyError: the model's answer is no use, see each.
            BudgetError, ModelError: as of `chat`.
        """
        note = _Note(purpose, recurring, subject)

        async def ask(conversation: Sequence[Message], check: Check, held: bool) -> Reply:
            extra = {"response_format": response_format(model)} if held else {}
            return await self._answer(self._body(conversation, None, {**(parameters or {}), **extra}), note, check)

        if self.endpoint.structured == "json_schema" and not self._schema_refused:
            try:
                return await ask_typed(lambda c, k: ask(c, k, True), messages, model, repairs, in_words=False)
            except _BadRequest:  # most likely it does not know schemas; if it is something else, the same comes again
                answer = await ask_typed(lambda c, k: ask(c, k, False), messages, model, repairs, in_words=True)
                self._schema_refused = True
                return answer
        return await ask_typed(lambda c, k: ask(c, k, False), messages, model, repairs, in_words=True)

    async def aclose(self) -> None:
        """Close what this event loop opened."""
        door = self._doors.pop(asyncio.get_running_loop(), None)
        if door is not None:
            await door.sdk.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _body(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]] | None,
        parameters: Mapping[str, JSON] | None,
    ) -> dict[str, Any]:
        body = {"model": self.endpoint.model, "messages": list(messages)}
        if tools:
            body["tools"] = list(tools)
        return {**body, **self.endpoint.parameters, **(parameters or {})}

    async def _answer(self, body: dict[str, Any], note: _Note, check: Check) -> Reply:
        """Ask until there is an answer, `max_attempts` times within `total_seconds`."""
        request = _hash(body)
        deadline = time.monotonic() + self.endpoint.total_seconds
        failure = _Failure("no attempt was made")
        for attempt in range(1, self.endpoint.max_attempts + 1):
            self._budget.check()
            left = deadline - time.monotonic()
            if left <= 0:
                break
            result = await self._request(body, request, attempt, min(left, self.endpoint.request_seconds), note, check)
            if isinstance(result, Reply):
                return result
            failure = result
            if not failure.retried:
                break
            if attempt < self.endpoint.max_attempts:
                wait = backoff(attempt, self.endpoint.backoff_seconds, self.endpoint.backoff_limit, self._random)
                wait = max(wait, failure.wait or 0.0)
                if time.monotonic() + wait >= deadline:
                    failure = _Failure(f"{failure.message} (and the wait of {wait:.0f} s is longer than the time left)")
                    break
                await asyncio.sleep(wait)
        error = _BadRequest if failure.status in (400, 422) else ModelError
        raise error(f"endpoint {self.endpoint.name} ({self.endpoint.model}): {failure.message}", mend=failure.mend)

    async def _request(
        self, body: dict[str, Any], request: str, attempt: int, seconds: float, note: _Note, check: Check
    ) -> Reply | _Failure:
        """One request and its ledger row."""
        call_id = uuid.uuid4().hex
        door = self._door()
        async with door.gate:
            started, began = datetime.now(UTC), time.monotonic()
            row: dict[str, Any] = {
                "id": call_id, "purpose": note.purpose, "recurring": note.recurring, "endpoint": self.endpoint.name,
                "model": self.endpoint.model, "request": request, "attempt": attempt, "subject": note.subject,
                "started_at": started.isoformat(timespec="milliseconds"),
            }  # fmt: skip
            try:
                result = await _post(door.sdk, body, seconds, call_id)
            except BaseException as error:  # cancelled, or a fault of ours: the request may have been paid for
                row |= {"status": "error", "error": f"{type(error).__name__}: {error}"[:2000]}
                self._write(ModelCall(**row, seconds=time.monotonic() - began))
                raise
            row["seconds"] = time.monotonic() - began
        if isinstance(result, Reply):
            row["status"], row["error"] = judge(result, check)
            row |= {"usage": result.usage, "cost_usd": self.endpoint.prices.cost(result.usage)}
            row["model"] = result.model or self.endpoint.model
        else:
            row |= {"status": result.ledger, "error": result.message[:2000]}
        await asyncio.shield(asyncio.to_thread(self._write, ModelCall(**row)))  # also when the caller is cancelled now
        return result

    def _write(self, call: ModelCall) -> None:
        self._budget.spend(call)
        self._ledger.record(call)

    def _door(self) -> _Door:
        loop = asyncio.get_running_loop()
        door = self._doors.get(loop)
        if door is None:
            door = self._doors[loop] = _Door(_open_sdk(self.endpoint), asyncio.Semaphore(self.endpoint.max_concurrency))
        return door


@dataclass(frozen=True)
class _Note:
    """What the ledger says a call was for."""

    purpose: Purpose
    recurring: bool
    subject: str


@dataclass(frozen=True)
class _Door:
    """The SDK's client and the gate before it, which both belong to one event loop."""

    sdk: Any
    gate: asyncio.Semaphore


@dataclass(frozen=True)
class _Failure:
    """A request that gave no answer, and whether another may."""

    message: str
    retried: bool = False
    wait: float | None = None
    status: int = 0
    ledger: str = "error"
    mend: str | None = None


class _BadRequest(ModelError):
    """The server cannot read this request; it may lack a feature that the request uses."""


def _open_sdk(endpoint: Endpoint) -> Any:
    import openai

    # No connection outlives its request: an event loop may end at any time, and answers take seconds anyway.
    limits = type(openai.DEFAULT_CONNECTION_LIMITS)(max_keepalive_connections=0)
    return openai.AsyncOpenAI(
        base_url=endpoint.base_url, api_key=endpoint.key(), max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(limits=limits),
    )  # fmt: skip


async def _post(sdk: Any, body: dict[str, Any], seconds: float, call_id: str) -> Reply | _Failure:
    import openai

    known = {"model", "messages", "tools", "response_format"}
    extra = {name: value for name, value in body.items() if name not in known}
    try:
        async with asyncio.timeout(seconds):  # the SDK's own time-out begins anew with every byte
            response = await sdk.chat.completions.with_raw_response.create(
                **{name: body[name] for name in known if name in body}, extra_body=extra or None, timeout=seconds
            )
            return read_reply(response.http_response.content, call_id)
    except (TimeoutError, openai.APITimeoutError):
        return _Failure(f"no answer within {seconds:g} s", retried=True, mend="is the server overloaded?")
    except openai.APIStatusError as error:
        return _of_status(error)
    except openai.APIConnectionError as error:
        cause = error.__cause__ or error
        return _Failure(f"cannot be reached: {cause or type(cause).__name__}", retried=True, mend="is the server up?")
    except (Unreadable, openai.APIError) as error:
        return _Failure(f"unreadable response: {error}", retried=True, ledger="invalid")


def _of_status(error: Any) -> _Failure:
    status, code = int(error.status_code), str(getattr(error, "code", "") or "")
    mends = {
        401: "set the endpoint's key",
        403: "is the key allowed to use this model?",
        404: "check base URL and model",
    }
    return _Failure(
        f"status {status}: {error.message}",
        retried=is_retried(status, code),
        wait=retry_after(error.response.headers),
        status=status,
        ledger="rate_limited" if status == 429 else "error",
        mend=mends.get(status),
    )


def _hash(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
