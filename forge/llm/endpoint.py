"""Endpoints: where a model is served, what it costs and how hard we may push it. Pure data."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import Field, SecretStr

from forge.records import JSON, ModelError, Record, Settings, Usage

Server = Literal["openai", "azure", "vllm", "sglang", "llama.cpp", "other"]
Rung = Literal["json_schema", "tool", "words"]


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
    server: Server = Field("other", description="what serves it; decides how it is asked where servers differ")
    base_url: str = Field(description="up to and with the version: http://127.0.0.1:8000/v1")
    model: str = Field(description="the model's name on that server")
    dialect: Literal["chat", "responses"] = Field("chat", description="Chat Completions or Responses")
    api_key: SecretStr = Field(SecretStr(""), description="sent as a bearer token; many local servers need none")
    api_key_env: str = Field("", description="environment variable that holds the key, read at the first call")
    headers: dict[str, str] = Field(default_factory=dict, description="sent with every request, besides the key")
    query: dict[str, str] = Field(default_factory=dict, description="of the URL: Azure's api-version, for instance")
    prices: Prices | None = Field(None, description="None: by model name from prices.yaml, else nothing is charged")
    structured: Rung = Field(
        "json_schema",
        description="how an answer is held to a schema at first: by the server, as a tool's arguments, or in words; a "
        "server that refuses one is asked in the next way from then on",
    )
    parameters: dict[str, JSON] = Field(
        default_factory=dict, description="sent with every request: temperature, max_completion_tokens, ..."
    )
    limit_name: Literal["max_completion_tokens", "max_tokens"] = Field(
        "max_completion_tokens", description="how the server calls the limit of new tokens"
    )
    max_output_tokens: int = Field(8192, ge=16, description="new tokens that a budget reserves where no limit is set")
    max_concurrency: int = Field(64, ge=1, description="requests in flight at once, at most; found out below that")
    requests_per_minute: float | None = Field(None, gt=0, description="None: as the server says")
    tokens_per_minute: float | None = Field(None, gt=0, description="None: as the server says")
    max_attempts: int = Field(5, ge=1, le=20, description="requests for one answer, those refused for their rate aside")
    request_seconds: float = Field(180.0, gt=0, description="time-out of one request")
    total_seconds: float = Field(900.0, gt=0, description="time-out of one answer, retries, pauses and waits included")
    backoff_seconds: float = Field(1.0, ge=0, description="bound of the first wait; doubles with every attempt")
    backoff_limit: float = Field(60.0, ge=0)

    @classmethod
    def from_settings(cls, settings: Settings) -> Endpoint | None:
        """The endpoint that the settings name by URL and model, or None when they name none."""
        if not settings.llm_base_url or not settings.llm_model:
            return None
        return cls(base_url=settings.llm_base_url, model=settings.llm_model, api_key=settings.llm_api_key)

    @property
    def price(self) -> Prices:
        """What it costs, as stated or as prices.yaml says; nothing where neither does."""
        return self.known_prices or Prices()

    @property
    def known_prices(self) -> Prices | None:
        """What it costs, or None when nobody said so and it is somebody else's server."""
        from forge.llm.prices import price_of

        if self.prices is not None:
            return self.prices
        found = price_of(self.model) if self.server in ("openai", "azure", "other") else Prices()
        return Prices() if found is None and self.is_local else found

    @property
    def is_local(self) -> bool:
        """Whether it is served on this machine."""
        host = self.base_url.split("://")[-1].split("/")[0].rsplit(":", 1)[0]
        return host in ("127.0.0.1", "localhost", "[::1]")

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
