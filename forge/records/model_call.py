"""Model calls: one row of the ledger each, also for the failed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from forge.records.base import Record


class Usage(Record):
    """Tokens of one call."""

    prompt_tokens: int = Field(0, ge=0)
    completion_tokens: int = Field(0, ge=0)
    cached_tokens: int = Field(0, ge=0)

    @property
    def total(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens


class ModelCall(Record):
    """One call of a language model, as the ledger keeps it."""

    id: str = Field(description="unique, chosen before the call is made")
    purpose: Literal["author", "teacher", "judge", "writer", "reader", "other"]
    recurring: bool = Field(description="paid for every task (True) or once per workflow (False)")
    endpoint: str
    model: str
    request: str = Field(description="hash of the request")
    status: Literal["ok", "cached", "refused", "truncated", "invalid", "rate_limited", "error"]
    attempt: int = Field(1, ge=1)
    usage: Usage = Usage()
    cost_usd: float = Field(0.0, ge=0)
    seconds: float = Field(0.0, ge=0)
    error: str | None = None
    subject: str = Field("", description="what it was for: a task id, a workflow version, a trajectory")
    started_at: str = ""
