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
    request: str = Field(description="hash of what was asked, of whom, and which of several answers is wanted")
    status: Literal["open", "ok", "cached", "refused", "truncated", "invalid", "rate_limited", "error"] = Field(
        description="open: begun, and not ended yet or never (its process was killed)"
    )
    attempt: int = Field(1, ge=1)
    usage: Usage = Usage()
    cost_usd: float = Field(0.0, ge=0)
    seconds: float = Field(0.0, ge=0)
    error: str | None = None
    subject: str = Field("", description="what it was for: a task id, a workflow version, a trajectory")
    run: str = Field("", description="the run that it belongs to, for budgets: a round, a session of authoring")
    stage: str = Field("", description="the part of the run: author, topup, judge, ...")
    workflow: str = Field("", description="the workflow or skill that it serves")
    prompt: str = Field("", description="template and its version, as name@hash")
    reserved_tokens: int = Field(0, ge=0, description="what it might use at most; budgets count it while it is open")
    reserved_usd: float = Field(0.0, ge=0)
    started_at: str = ""
