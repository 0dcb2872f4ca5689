"""The wire: one request through the SDK, and what can go wrong with it, as data. The SDK's own retries are off."""

from __future__ import annotations

import asyncio
import json
import threading
import weakref
from dataclasses import dataclass, field, replace
from typing import Any

from forge.llm.dialects import DIALECTS
from forge.llm.endpoint import Endpoint
from forge.llm.gate import Gate
from forge.llm.reply import Reply, Unreadable
from forge.llm.retry import OVERLOADED, Rates, is_retried, rates_of, retry_after

_FILTERED = frozenset({"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"})
"""Codes of a 400 that mean: a filter before the model refused the question."""

_MENDS = {
    401: "set the endpoint's key",
    402: "pay, or take another endpoint",
    403: "is the key allowed to use this model?",
    404: "check base URL and model",
}


@dataclass(frozen=True)
class Failure:
    """A request that gave no answer.

    Args:
        message: what happened.
        retried: whether another try may help.
        wait: seconds that the server asked to wait.
        status: of HTTP; 0: none came.
        ledger: the status of its row.
        mend: how to put it right.
        down: the endpoint cannot be used, whatever is asked.
        overloaded: fewer requests at once may help.
        rates: what the headers said.
    """

    message: str
    retried: bool = False
    wait: float | None = None
    status: int = 0
    ledger: str = "error"
    mend: str | None = None
    down: bool = False
    overloaded: bool = False
    rates: Rates | None = None


@dataclass(frozen=True)
class Answer:
    """A request that was answered, and what the headers said."""

    reply: Reply
    rates: Rates = field(default_factory=Rates)


class Wire:
    """Connections to one endpoint, one SDK client an event loop."""

    def __init__(self, endpoint: Endpoint):
        self._endpoint = endpoint
        self._sdks: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = weakref.WeakKeyDictionary()

    async def post(self, body: dict[str, Any], seconds: float, call_id: str) -> Answer | Failure:
        """Send one request and read its answer.

        Args:
            body: in the endpoint's dialect.
            seconds: how long it may take, to the last byte.
            call_id: of the ledger row, for the reply.
        """
        import openai

        sdk = self._sdk()
        resource = sdk.responses if self._endpoint.dialect == "responses" else sdk.chat.completions
        named = ("model", "input") if self._endpoint.dialect == "responses" else ("model", "messages")
        extra = {name: value for name, value in body.items() if name not in named}
        try:
            async with asyncio.timeout(seconds):  # the SDK's own time-out begins anew with every byte
                response = await resource.with_raw_response.create(
                    **{name: body[name] for name in named}, extra_body=extra, timeout=seconds
                )
                reply = DIALECTS[self._endpoint.dialect].read(response.http_response.content, call_id)
                return Answer(reply, rates_of(response.http_response.headers))
        except (TimeoutError, openai.APITimeoutError):
            mend = "raise request_seconds (and total_seconds) of the endpoint in endpoints.yaml if it needs longer"
            return Failure(f"no answer within {seconds:.3g} s", retried=True, mend=mend, down=True, overloaded=True)
        except openai.APIStatusError as error:
            return self._of_status(error, call_id)
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            words = f"cannot be reached: {cause or type(cause).__name__}"
            return Failure(words, retried=True, mend="is the server up?", down=True)
        except (Unreadable, openai.APIError) as error:
            return Failure(f"unreadable response: {error}", retried=True)

    async def aclose(self) -> None:
        """Close what this event loop opened."""
        sdk = self._sdks.pop(asyncio.get_running_loop(), None)
        if sdk is not None:
            await sdk.close()

    def _sdk(self) -> Any:
        loop = asyncio.get_running_loop()
        sdk = self._sdks.get(loop)
        if sdk is None:
            sdk = self._sdks[loop] = _open_sdk(self._endpoint)
        return sdk

    def _of_status(self, error: Any, call_id: str) -> Answer | Failure:
        status, code = int(error.status_code), str(getattr(error, "code", "") or "")
        if status == 400 and code in _FILTERED:
            return Answer(Reply(text=_words(error), finish="refusal", call_id=call_id))
        failure = Failure(
            f"status {status}: {_words(error)}",
            retried=is_retried(status, code),
            wait=retry_after(error.response.headers),
            status=status,
            ledger="rate_limited" if status == 429 else "error",
            mend=_MENDS.get(status),
            down=status in (401, 402, 403, 429) or status >= 500,
            overloaded=status in OVERLOADED,
            rates=rates_of(error.response.headers),
        )
        return (
            replace(failure, mend="raise the quota, or take another endpoint")
            if code == "insufficient_quota"
            else failure
        )


def _words(error: Any) -> str:
    """What a server says of an error: OpenAI's `message`, FastAPI's `detail`, or the beginning of whatever it sent."""
    body = error.body
    if isinstance(body, dict) and (said := body.get("message") or body.get("detail")):
        return said if isinstance(said, str) else json.dumps(said)[:500]
    return str(error.response.text[:500] or error.message)


_gates: dict[tuple[str, str], Gate] = {}
_lock = threading.Lock()


def gate_for(endpoint: Endpoint) -> Gate:
    """The process's one gate before a model on a server."""
    with _lock:
        key = (endpoint.base_url, endpoint.model)
        gate = _gates.get(key)
        if gate is None or gate.most != endpoint.max_concurrency:
            gate = _gates[key] = Gate(
                endpoint.max_concurrency,
                requests_per_minute=endpoint.requests_per_minute,
                tokens_per_minute=endpoint.tokens_per_minute,
                pause_seconds=endpoint.backoff_seconds,
            )
        return gate


def _open_sdk(endpoint: Endpoint) -> Any:
    import openai

    # No connection outlives its request: an event loop may end at any time, and answers take seconds anyway.
    limits = type(openai.DEFAULT_CONNECTION_LIMITS)(max_keepalive_connections=0)
    key = endpoint.key()
    headers = {**({"api-key": key} if endpoint.server == "azure" else {}), **endpoint.headers}
    return openai.AsyncOpenAI(
        base_url=endpoint.base_url, api_key=key, max_retries=0, default_headers=headers or None,
        default_query=dict(endpoint.query) or None, http_client=openai.DefaultAsyncHttpxClient(limits=limits),
    )  # fmt: skip
