"""Markdown from pydantic models: one table a model, nested models below it, types in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel

JsonSchema = dict[str, Any]

_WORDS = {
    "string": "text",
    "integer": "int",
    "number": "number",
    "boolean": "bool",
    "null": "null",
    "object": "mapping",
}
_BOUNDS = {
    "minimum": ">= {}",
    "maximum": "<= {}",
    "exclusiveMinimum": "> {}",
    "exclusiveMaximum": "< {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {}",
    "maxItems": "at most {}",
    "pattern": "matches `{}`",
}


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; cells may hold anything, bars and line breaks are made safe."""
    lines = [list(head), ["---"] * len(head), *([_cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def model_tables(model: type[BaseModel], level: int = 3) -> str:
    """The fields of a model, then those of the models that its fields name, as tables; headings begin at `level`."""
    return schema_tables(model.model_json_schema(by_alias=True), level)


def schema_tables(schema: JsonSchema, level: int = 3, *, known: Sequence[str] = ()) -> str:
    """The same from a JSON Schema. Definitions in `known` are described elsewhere and left out."""
    parts = [_fields(schema)]
    for name, part in schema.get("$defs", {}).items():
        if name not in known:
            about = paragraphs(part.get("description", ""))
            parts += [f"{'#' * level} {name}", *([about] if about else []), _fields(part)]
    return "\n\n".join(part for part in parts if part)


def type_words(schema: JsonSchema) -> str:
    """A schema's type in words: `list of text`, `int or null`, `"gui" or "terminal"`, `Guest`."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(type_words(option) for option in schema[key]))
    kind = schema.get("type")
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(type_words(item) for item in schema['prefixItems'])}]"
        return f"list of {_grouped(type_words(schema.get('items', {})))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"mapping of text to {_grouped(type_words(schema['additionalProperties']))}"
    return _WORDS.get(str(kind), "any")


def paragraphs(docstring: str | None) -> str:
    """A docstring as Markdown: its indentation taken off."""
    import inspect

    return inspect.cleandoc(docstring or "")


def first_line(docstring: str | None) -> str:
    """The first line of a docstring."""
    return paragraphs(docstring).split("\n")[0]


def _fields(schema: JsonSchema) -> str:
    if "enum" in schema:
        return "One of " + ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"]) + "."
    properties = schema.get("properties", {})
    if not properties:
        return "No fields." if schema.get("type") == "object" else f"Is {type_words(schema)}."
    needed = schema.get("required", [])
    rows = [
        (f"`{name}`", type_words(field), _default(name, field, needed), _about(field))
        for name, field in properties.items()
    ]
    return table(("field", "type", "default", "meaning"), rows)


def _default(name: str, field: JsonSchema, needed: Sequence[str]) -> str:
    if name in needed:
        return "needed"
    if "default" not in field:
        return ""
    value = field["default"]
    text = f"0o{value:o}" if name == "mode" and isinstance(value, int) else json.dumps(value, ensure_ascii=False)
    return f"`{text}`" if len(text) <= 60 else "…"


def _grouped(words: str) -> str:
    return f"({words})" if " or " in words else words


def _about(field: JsonSchema) -> str:
    limits = [text.format(schema[key]) for schema in _branches(field) for key, text in _BOUNDS.items() if key in schema]
    about = field.get("description", "")
    return "; ".join([*([about] if about else []), *dict.fromkeys(limits)])


def _branches(field: JsonSchema) -> list[JsonSchema]:
    return [field, *field.get("anyOf", [])]


def _cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")
