"""Endpoints: where a model is served, what it costs and how hard we may push it. Pure data."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import Field, SecretStr

from forge.records import JSON, ModelError, Record, Settings, Usage


class Prices(Record):
    """US dollars per million tokens; 0 for a model of one's own."""

    prompt: float = Field(0.0, ge=0)
    completion: float = Field(0.0, ge=0)
    cached: float | None = Field(None, ge=0, description="prompt tokens that the server had cached; None: as `prompt`")

    def cost(self, usage: Usage) -> float:
        """US dollars for one call."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        price = self.prompt if self.cached is None else self.cached
        fresh = usage.prompt_tokens - cached
        return (fresh * self.prompt + cached * price + usage.completion_tokens * self.completion) / 1e6


class Endpoint(Record):
    """One model behind one OpenAI-compatible server."""

    name: str = "default"
    base_url: str = Field(description="up to and with the version: http://127.0.0.1:8000/v1")
    model: str = Field(description="the model's name on that server")
    api_key: SecretStr = Field(SecretStr(""), description="sent as a bearer token; many local servers need none")
    api_key_env: str = Field("", description="environment variable that holds the key, read at the first call")
    prices: Prices = Prices()
    structured: Literal["json_schema", "none"] = Field(
        "json_schema", description="whether the server can hold the model to a schema; if it refuses, none is assumed"
    )
    parameters: dict[str, JSON] = Field(
        default_factory=dict, description="sent with every request: temperature, max_completion_tokens, ..."
    )
    max_concurrency: int = Field(8, ge=1, description="requests in flight at once, per client and event loop")
    max_attempts: int = Field(5, ge=1, le=20, description="requests for one answer: the first and its retries")
    request_seconds: float = Field(180.0, gt=0, description="time-out of one request")
    total_seconds: float = Field(600.0, gt=0, description="time-out of one answer, retries and waits included")
    backoff_seconds: float = Field(0.5, ge=0, description="longest first wait; doubles with every retry")
    backoff_limit: float = Field(30.0, ge=0, description="longest wait; a server's Retry-After may ask for more")

    @classmethod
    def from_settings(cls, settings: Settings) -> Endpoint | None:
        """The endpoint that the settings name, or None when they name none."""
        if not settings.llm_base_url or not settings.llm_model:
            return None
        return cls(base_url=settings.llm_base_url, model=settings.llm_model, api_key=settings.llm_api_key)

    def key(self) -> str:
        """The key to send. Raises ModelError when the environment variable that should hold it is not set."""
        if not self.api_key_env:
            return self.api_key.get_secret_value() or "none"
        found = os.environ.get(self.api_key_env, "")
        if not found:
            raise ModelError(
                f"endpoint {self.name}: the environment variable {self.api_key_env} is not set",
                mend=f"export {self.api_key_env}=... with the endpoint's key",
            )
        return found
