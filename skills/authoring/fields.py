"""Models and shapes in little room: what an author needs to know of parameters, arguments and facts, a line a field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel

from forge.records.tables import JsonSchema, paragraphs
from skills.language.shapes import Shape

_RANGES = (("minimum", "maximum", ""), ("minLength", "maxLength", " long"), ("minItems", "maxItems", ""))
_WORDS = {"string": "text", "integer": "int", "boolean": "bool", "object": "{any}"}
LEGEND = "`?`: may be left out"
"""For readers of `fields_text`."""

_SHARED = 4
"""In how many records a field must be alike to be told only once for all of them."""


def fields_text(model: type[BaseModel], leave: Sequence[str] = ()) -> str:
    """The fields of a model and of the models that they name, one line each.

    A field is written `name: type = default, bounds; meaning`. `?` marks those that may be left out and then are empty, null
    or false; others without a default are needed. Types are written as shapes are: `[text]` is a list, `{text: int}` a
    mapping. Fields in `leave` are not shown.
    """
    schema = model.model_json_schema(by_alias=True)
    schema["properties"] = {k: v for k, v in schema.get("properties", {}).items() if k not in leave}
    named = json.dumps([schema["properties"], schema.get("$defs", {})])
    parts = {name: part for name, part in schema.get("$defs", {}).items() if f'"#/$defs/{name}"' in named}
    lines = [_fields(schema)]
    for owners, shared in _shared(parts):
        lines.append(f"**In {', '.join(owners)}**\n{shared}")
    for name, part in parts.items():
        about = " ".join(paragraphs(part.get("description", "")).split())
        lines.append(f"**{name}**{': ' + about if about else ''}\n{_fields(part)}".rstrip())
    return "\n\n".join(line for line in lines if line)


def _shared(parts: dict[str, JsonSchema]) -> list[tuple[list[str], str]]:
    """Fields that are alike in many records, taken out of these: (the records, the fields)."""
    alike: dict[str, list[str]] = {}
    for name, part in parts.items():
        for field, told in part.get("properties", {}).items():
            alike.setdefault(json.dumps([field, told, field in part.get("required", [])]), []).append(name)
    found: dict[tuple[str, ...], JsonSchema] = {}
    for text, owners in alike.items():
        field, told, needed = json.loads(text)
        if len(owners) < _SHARED or "const" in told:
            continue
        group = found.setdefault(tuple(owners), {"properties": {}, "required": []})
        group["properties"][field] = told
        group["required"] += [field] if needed else []
        for owner in owners:
            rest = {key: value for key, value in parts[owner]["properties"].items() if key != field}
            parts[owner] = {**parts[owner], "properties": rest}
    return [(list(owners), _fields(group)) for owners, group in found.items()]


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
        told += [place[len(at) : -1] for _, place in below]
        more = ["others by the parameters"] if inner.open else []
        lines.append(f"{f'{at[:-1]}: ' if at else ''}{'; '.join([*told, *more])}")
        for element, place in below:
            walk(element, place)

    walk(shape, "")
    return "\n".join(lines)


def _kind(shape: Shape) -> str:
    if shape.kind == "list":
        return f"[{_kind(shape.item or Shape('any'))}]"
    return "record by name" if shape.kind == "record" and shape.open else str(shape)


def _fields(schema: JsonSchema) -> str:
    if "properties" not in schema:
        return f"Is {_type(schema)}."
    needed = schema.get("required", [])
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name, field in schema["properties"].items():
        mark, words = _words(name, field, name in needed)
        about = " ".join(str(field.get("description", "")).split())
        groups.setdefault((mark, words, about), []).append(name)
    lines = [
        f"{', '.join(f'{name}{mark}' for name in names)}: {words}{'; ' + about if about else ''}"
        for (mark, words, about), names in groups.items()
    ]
    return "\n".join(lines) or "No fields."


def _words(name: str, field: JsonSchema, needed: bool) -> tuple[str, str]:
    """(`?` where it may be left out, type with default and bounds)."""
    default = field.get("default")
    if isinstance(default, dict):
        default = {key: value for key, value in default.items() if value not in (None, "")}
    empty = default is False or default in (None, "", [], {})
    told = "" if needed or empty or "const" in field else f" = {_default(name, default)}"
    bounds = [bound for part in [field, *field.get("anyOf", [])] for bound in _bounds(name, part)]
    return "" if needed or not empty else "?", ", ".join([_type(field) + told, *dict.fromkeys(bounds)])


def _bounds(name: str, field: JsonSchema) -> Iterator[str]:
    shown = (lambda value: f"0o{value:o}") if name == "mode" else str
    for low, high, what in _RANGES:
        if low in field and high in field and not ("prefixItems" in field and low == "minItems"):
            yield f"{shown(field[low])}..{shown(field[high])}{what}"
        elif low in field and high not in field and (field[low], what) != (1, " long"):
            yield f">= {field[low]}{what}"
        elif high in field and low not in field:
            yield f"<= {field[high]}{what}"
    if "exclusiveMinimum" in field:
        yield f"> {field['exclusiveMinimum']}"
    if "exclusiveMaximum" in field:
        yield f"< {field['exclusiveMaximum']}"
    if "pattern" in field:
        yield f"matches {field['pattern']}"


def _type(schema: JsonSchema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "const" in schema:
        return _value(schema["const"])
    if "enum" in schema:
        return "|".join(_value(value) for value in schema["enum"] if value != "")
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            kinds = dict.fromkeys(_type(option) for option in schema[key] if option.get("type") != "null")
            return "|".join(kind for kind in kinds if kind != '""')
    kind = schema.get("type")
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(_type(item) for item in schema['prefixItems'])}]"
        return f"[{_type(schema.get('items', {}))}]"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"{{text: {_type(schema['additionalProperties'])}}}"
    return _WORDS.get(str(kind), str(kind or "any"))


def _value(value: Any) -> str:
    """A text as YAML would have it bare, anything else as JSON."""
    bare = isinstance(value, str) and re.fullmatch(r"[\w$./-][\w $./'-]*", value)
    return str(value) if bare else json.dumps(value, ensure_ascii=False)


def _default(name: str, value: Any) -> str:
    if name == "mode" and isinstance(value, int):
        return f"0o{value:o}"
    if isinstance(value, str):
        return _value(value)
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else "..."
