"""The one door to language models: OpenAI-compatible endpoints, typed output, bounded retries, one ledger row a call.

Importing this package is cheap; the SDK is loaded at the first call. See docs/llm.md.
"""

from forge.llm.client import Client
from forge.llm.endpoint import Endpoint, Prices
from forge.llm.errors import RefusedError, TruncatedError, UnusableReplyError
from forge.llm.fake import FakeModel, MemoryLedger
from forge.llm.port import Budget, ChatModel, LedgerSink
from forge.llm.reply import Finish, Reply, ToolCall

__all__ = [
    "Budget",
    "ChatModel",
    "Client",
    "Endpoint",
    "FakeModel",
    "Finish",
    "LedgerSink",
    "MemoryLedger",
    "Prices",
    "RefusedError",
    "Reply",
    "ToolCall",
    "TruncatedError",
    "UnusableReplyError",
]
