"""Dialects: how a request is written on the wire and its answer read, one file each."""

from collections.abc import Mapping

from forge.llm.dialects.base import Dialect, Form
from forge.llm.dialects.chat import Chat
from forge.llm.dialects.responses import Responses

DIALECTS: Mapping[str, Dialect] = {"chat": Chat(), "responses": Responses()}

__all__ = ["DIALECTS", "Chat", "Dialect", "Form", "Responses"]
