"""Models and shapes in little room: what an author needs to know of parameters, arguments and facts, a line a field."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from forge.records.tables import JsonSchema, paragraphs, type_words
from skills.language.shapes import Shape

_BOUNDS = {
    "minimum": ">= {}", "maximum": "<= {}", "exclusiveMinimum": "> {}", "exclusiveMaximum": "< {}",
    "minLength": ">= {} characters", "maxLength": "<= {} characters", "minItems": ">= {} items",
    "maxItems": "<= {} items", "pattern": "matches {}",
}  # fmt: skip


def fields_text(model: type[BaseModel]) -> str:
    """The fields of a model and of the models that they name, one line each.

    A field is written `name: type = default, bounds; meaning`. Without a default it is needed; `?` marks those that may be
    left out and then are empty, null or false.
    """
    schema = model.model_json_schema(by_alias=True)
    parts = [_fields(schema)]
    for name, part in schema.get("$defs", {}).items():
        about = " ".join(paragraphs(part.get("description", "")).split())
        parts.append(f"**{name}**{': ' + about if about else ''}\n{_fields(part)}")
    return "\n\n".join(part for part in parts if part)


def facts_text(shape: Shape) -> str:
    """The names below a record's shape: one line for each record in it, its fields by what they hold."""
    if not shape.fields:
        return "Any value."
    lines: list[str] = []
    known: list[tuple[Shape, str]] = []

    def walk(inner: Shape, at: str) -> None:
        groups: dict[str, list[str]] = {}
        below: list[tuple[Shape, str]] = []
        for name, field in inner.fields.items():
            element, mark = (field.item, "[]") if field.kind == "list" else (field, "")
            twin = next((place for other, place in known if element == other), "")
            if twin:
                groups.setdefault(f"as {twin}", []).append(f"{name}{mark}")
            elif element is not None and element.kind == "record" and element.fields:
                known.append((element, f"{at}{name}{mark}"))
                below.append((element, f"{at}{name}{mark}."))
            else:
                groups.setdefault(_kind(field), []).append(name)
        told = [f"{', '.join(names)} ({kind})" for kind, names in groups.items()]
        told += [f"{place[len(at) : -1]} (below)" for _, place in below]
        more = ["others by the parameters"] if inner.open else []
        lines.append(f"- {f'`{at[:-1]}`: ' if at else ''}{'; '.join([*told, *more])}")
        for element, place in below:
            walk(element, place)

    walk(shape, "")
    return "\n".join(lines)


def value_words(values: Sequence[str]) -> str:
    """Values as an author would write them, between commas."""
    return ", ".join(f"`{value}`" for value in values)


def _kind(shape: Shape) -> str:
    return "record by name" if shape.kind == "record" and shape.open else str(shape)


def _fields(schema: JsonSchema) -> str:
    if "enum" in schema:
        return f"One of {type_words(schema).replace(' or ', ', ')}."
    properties = schema.get("properties", {})
    if not properties:
        return "No fields." if schema.get("type") == "object" else f"Is {type_words(schema)}."
    needed = schema.get("required", [])
    return "\n".join(f"- {_field(name, field, name in needed)}" for name, field in properties.items())


def _field(name: str, field: JsonSchema, needed: bool) -> str:
    default, mark = field.get("default"), ""
    told = ""
    if not needed:
        empty = default is False or default in (None, "", [], {})
        mark = "?" if empty else ""
        told = "" if empty else f" = {_default(name, default)}"
    words = type_words(field).replace("`", "").replace(" or null", "").replace('" or "', '"|"')
    bounds = [
        text.format(part[key])
        for part in [field, *field.get("anyOf", [])]
        for key, text in _BOUNDS.items()
        if key in part
    ]
    about = " ".join(str(field.get("description", "")).split())
    head = f"`{name}`{mark}: {', '.join([words + told, *dict.fromkeys(bounds)])}"
    return f"{head}; {about}" if about else head


def _default(name: str, value: Any) -> str:
    if name == "mode" and isinstance(value, int):
        return f"0o{value:o}"
    if isinstance(value, dict):
        value = {key: inner for key, inner in value.items() if inner not in (None, "")}
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else "..."
