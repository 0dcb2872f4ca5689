"""Typed output: hold the model to a JSON schema, or ask in words, and show it what was wrong until it fits."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from forge.llm.dialects import Form
from forge.llm.errors import RefusedError, TruncatedError, UnusableReplyError
from forge.llm.port import Message
from forge.llm.reply import Reply

M = TypeVar("M", bound=BaseModel)

Check = Callable[[Reply], str | None]
"""Says what is wrong with a reply, in words for the model, or None."""

Ask = Callable[[Sequence[Message], Check], Awaitable[Reply]]
"""Gets one reply; the check decides whether the ledger calls it ok or invalid."""

_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)\n?```", re.DOTALL)
_UNSTRICT = ("allOf", "not", "dependentRequired", "if", "patternProperties", "prefixItems", "oneOf", "uniqueItems")


async def ask_typed(ask: Ask, messages: Sequence[Message], model: type[M], repairs: int, *, in_words: bool) -> M:
    """Ask until the reply is a valid `model`.

    Args:
        ask: gets one reply.
        messages: the question.
        model: what the answer has to be.
        repairs: how often the model is shown what was wrong and asked again.
        in_words: put the schema into the question, for servers that cannot hold the model to it.

    Raises:
        RefusedError: the model refused.
        TruncatedError: the answer did not fit the token limit.
        UnusableReplyError: it still did not fit after `repairs` repairs.
    """
    conversation = [*messages, {"role": "user", "content": _schema_in_words(model)}] if in_words else list(messages)
    problem = ""
    for _ in range(repairs + 1):
        reply = await ask(conversation, lambda r: problem_of(r, model))
        if reply.finish == "refusal":
            raise RefusedError(f"the model refused: {reply.text[:300]}")
        if reply.finish == "length":
            raise TruncatedError(
                f"the answer for {model.__name__} was cut off after {reply.usage.completion_tokens} tokens",
                mend="raise max_completion_tokens in the endpoint's parameters",
            )
        found = problem_of(reply, model)
        if found is None:
            return parse(said(reply), model)
        problem = found
        conversation = [
            *conversation,
            {"role": "assistant", "content": said(reply)},
            {"role": "user", "content": f"That cannot be used: {problem}\nAnswer again, with the corrected JSON only."},
        ]
    raise UnusableReplyError(f"no valid {model.__name__} after {repairs + 1} answers; last: {problem}")


def judge(reply: Reply, check: Check) -> tuple[Literal["ok", "invalid", "truncated", "refused"], str | None]:
    """What the ledger says of a reply: its status, and what is wrong with it."""
    if reply.finish == "length":
        return "truncated", None
    if reply.finish == "refusal":
        return "refused", reply.text[:2000]
    problem = check(reply)
    return ("invalid", problem) if problem else ("ok", None)


def said(reply: Reply) -> str:
    """The answer's text: the arguments of the tool that it was asked through, else its words."""
    return reply.tool_calls[0].arguments if reply.tool_calls else reply.text


def problem_of(reply: Reply, model: type[BaseModel]) -> str | None:
    """What is wrong with a reply as a `model`, in words for the model; None when nothing is."""
    try:
        parse(said(reply), model)
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, e['loc'])) or 'the answer'}: {e['msg']}" for e in error.errors()[:8]]
        return "; ".join(lines)
    except ValueError as error:
        return str(error)
    return None


def parse(text: str, model: type[M]) -> M:
    """Read a `model` from a reply's text, with or without fences or words around it.

    Raises:
        ValueError: there is no JSON in it.
        pydantic.ValidationError: there is, but of another form.
    """
    return model.model_validate(find_json(text))


def find_json(text: str) -> Any:
    """The JSON value in a text: the whole of it, inside a fence, or the first object or list that can be read.

    Raises:
        ValueError: there is none; the message says where reading stopped.
    """
    stripped = text.strip()
    candidates = [stripped, *(match.strip() for match in _FENCE.findall(text))]
    problem: json.JSONDecodeError | None = None
    for candidate in candidates:
        try:
            return json.loads(candidate)
        except json.JSONDecodeError as error:
            problem = problem or error
    decoder = json.JSONDecoder()
    for match in re.finditer(r"[\[{]", text):
        try:
            return decoder.raw_decode(text, match.start())[0]
        except json.JSONDecodeError:
            continue
    raise ValueError(f"there is no complete JSON in the answer ({problem})")


def form_of(model: type[BaseModel], rung: str, *, strict: bool) -> Form:
    """The form that holds a server to the model's JSON schema.

    Args:
        model: what the answer has to be.
        rung: "json_schema" or "tool".
        strict: use OpenAI's strict mode where the schema allows it; without it the schema is a wish.
    """
    name = re.sub(r"[^A-Za-z0-9_-]", "_", model.__name__)[:64]
    schema = model.model_json_schema()
    narrowed = strict_schema(schema) if strict and rung == "json_schema" else None
    return Form(name, narrowed or schema, rung, strict=narrowed is not None)


def strict_schema(schema: Any) -> Any:
    """The schema as strict mode wants it: every key required, no others allowed; None where it says more than strict mode takes.

    https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
    """
    if isinstance(schema, list):
        items = [strict_schema(item) for item in schema]
        return None if any(item is None for item in items) else items
    if not isinstance(schema, dict):
        return schema
    if any(key in schema for key in _UNSTRICT):
        return None
    made = {k: v for k, v in schema.items() if k not in ("default", "properties", "$defs", "enum", "const", "required")}
    made |= {key: schema[key] for key in ("enum", "const") if key in schema}
    for key in ("items", "anyOf"):
        if key in made and (narrowed := strict_schema(made[key])) is not None:
            made[key] = narrowed
        elif key in made:
            return None
    for key in ("properties", "$defs"):
        if key in schema:
            inner = {name: strict_schema(value) for name, value in schema[key].items()}
            if any(value is None for value in inner.values()):
                return None
            made[key] = inner
    if schema.get("type") == "object":
        if "properties" not in schema or schema.get("additionalProperties") not in (None, False):
            return None
        made |= {"additionalProperties": False, "required": list(schema["properties"])}
    elif not schema.keys() & {"type", "anyOf", "$ref", "enum", "const"}:
        return None  # anything at all
    return made


def _schema_in_words(model: type[BaseModel]) -> str:
    schema = json.dumps(model.model_json_schema(), ensure_ascii=False)
    return f"Answer with one JSON value and nothing else. It must fit this JSON Schema:\n{schema}"
