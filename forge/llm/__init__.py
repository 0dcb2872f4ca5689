"""The one door to language models: OpenAI-compatible endpoints, typed output, bounded retries, budgets, one ledger row a call.

Importing this package is cheap; the SDK is loaded at the first call. See docs/llm.md.
"""

from forge.llm.budget import Budget, Projection
from forge.llm.client import Client
from forge.llm.directory import ROLES, Directory, Role
from forge.llm.endpoint import Endpoint, Prices
from forge.llm.errors import EndpointDownError, RefusedError, TruncatedError, UnusableReplyError
from forge.llm.fake import FakeModel, MemoryLedger
from forge.llm.port import ChatModel, LedgerSink, Message, Purpose
from forge.llm.prompts import Prompt, Prompts
from forge.llm.reply import Finish, Reply, ToolCall

__all__ = [
    "ROLES",
    "Budget",
    "ChatModel",
    "Client",
    "Directory",
    "Endpoint",
    "EndpointDownError",
    "FakeModel",
    "Finish",
    "LedgerSink",
    "MemoryLedger",
    "Message",
    "Prices",
    "Projection",
    "Prompt",
    "Prompts",
    "Purpose",
    "RefusedError",
    "Reply",
    "Role",
    "ToolCall",
    "TruncatedError",
    "UnusableReplyError",
]
