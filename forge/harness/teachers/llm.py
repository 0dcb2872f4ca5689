"""The teacher that is a language model: it sees the prompt and nothing else, and answers with tool calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar

from forge.harness.dialects import Call
from forge.harness.prompt import as_data_url, build_messages
from forge.harness.teachers.base import Cast, Response, View, teacher
from forge.llm import ChatModel
from forge.records import HarnessError, ModelError, Provenance


class LlmTeacher:
    """Any model behind an OpenAI-compatible endpoint.

    Args:
        client: asks the model and writes the ledger.
        get_blob: screenshots and outlines by SHA-256.
        name: how trajectories call it.
    """

    provenance: ClassVar[Provenance] = Provenance.MODEL

    def __init__(self, client: ChatModel, get_blob: Callable[[str], bytes], *, name: str = "llm"):
        self.client = client
        self.get_blob = get_blob
        self.name = name

    async def respond(self, view: View) -> Response:
        messages, tools = await asyncio.to_thread(
            build_messages,
            view.harness,
            view.instruction,
            view.turns,
            view.actions,
            view.observation,
            as_data_url(self.get_blob),
            self.get_blob,
        )
        reply = await self.client.chat(
            messages, tools, purpose="teacher", recurring=True, subject=view.task, sample=None
        )
        if reply.finish == "refusal":
            raise ModelError(f"the model refused: {reply.text[:300]}")
        turn = len(view.turns)
        calls = tuple(
            # Servers number calls anew in every answer; within a prompt each id must be unique.
            Call(f"{turn}_{number}_{call.id}"[:64], call.name, call.arguments)
            for number, call in enumerate(reply.tool_calls)
        )
        return Response(
            text=reply.text,
            thought=reply.thought,
            calls=calls,
            usage=reply.usage,
            model=reply.model,
            call_id=reply.call_id or None,
        )


@teacher("llm")
def cast_llm(cast: Cast) -> LlmTeacher:
    """A model from `cast.llm`. Raises HarnessError without one."""
    if cast.llm is None:
        raise HarnessError("the teacher llm needs a model endpoint", mend="set FORGE_LLM_BASE_URL and FORGE_LLM_MODEL")
    return LlmTeacher(cast.llm, cast.get_blob)
