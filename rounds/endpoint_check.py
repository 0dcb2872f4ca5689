"""Does an endpoint do what the jobs ask of it: four small questions, each a row of the ledger."""

from __future__ import annotations

import base64
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from io import BytesIO

from pydantic import BaseModel, Field

from forge.llm import Client
from forge.records import BudgetError, ModelError


@dataclass(frozen=True)
class Finding:
    """One question and what came of it."""

    question: str
    ok: bool
    found: str
    seconds: float


class Colour(BaseModel):
    """A colour by name."""

    name: str = Field(description="in lower case")
    warm: bool


async def check_endpoint(client: Client) -> list[Finding]:
    """Ask for words, about a picture, for a tool call and for a typed answer.

    Raises:
        BudgetError: nothing is left to spend.
    """
    return [
        await _ask("words", lambda: _words(client)),
        await _ask("a picture", lambda: _picture(client)),
        await _ask("a tool call", lambda: _tool(client)),
        await _ask("a typed answer", lambda: _typed(client)),
    ]


async def _ask(question: str, ask: Callable[[], Awaitable[tuple[bool, str]]]) -> Finding:
    began = time.perf_counter()
    try:
        ok, found = await ask()
    except BudgetError:
        raise
    except ModelError as error:
        ok, found = False, str(error)
    return Finding(question, ok, found, time.perf_counter() - began)


async def _words(client: Client) -> tuple[bool, str]:
    reply = await client.chat([{"role": "user", "content": "Say the word ready."}], sample=None)
    return "ready" in reply.text.lower(), f"{reply.finish}: {reply.text[:60]!r}"


async def _picture(client: Client) -> tuple[bool, str]:
    from PIL import Image

    data = BytesIO()
    Image.new("RGB", (64, 64), (255, 0, 0)).save(data, "PNG")
    url = f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}"
    content = [{"type": "text", "text": "Which colour is this?"}, {"type": "image_url", "image_url": {"url": url}}]
    reply = await client.chat([{"role": "user", "content": content}], sample=None)
    return "red" in reply.text.lower(), f"{reply.finish}: {reply.text[:60]!r}"


async def _tool(client: Client) -> tuple[bool, str]:
    parameters = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
    tool = {"type": "function", "function": {"name": "bash", "description": "Run a command.", "parameters": parameters}}
    question = [{"role": "user", "content": "List the files of this folder, with the tool."}]
    reply = await client.chat(question, [tool], sample=None)
    called = [f"{call.name}({call.arguments[:40]})" for call in reply.tool_calls]
    return any(call.name == "bash" for call in reply.tool_calls), ", ".join(called) or f"none: {reply.text[:60]!r}"


async def _typed(client: Client) -> tuple[bool, str]:
    colour = await client.typed([{"role": "user", "content": "Name one warm colour."}], Colour, sample=None)
    return True, f"{colour.name}, by {client.way}"
