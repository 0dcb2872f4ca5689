"""Shapes: what is known of a value before it exists, so that `${table.colums}` is refused before anything is drawn.

Written as data, in `gives:` of a workflow and in Python alike: `text`, `number`, `bool`, `any`, a list `[shape]`, a
record `{key: shape}`; a record with the key `...` may hold other keys too. A date is a text (ISO 8601).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from skills.language.located import nearest


@dataclass(frozen=True)
class Shape:
    """One shape. `item` belongs to lists, `fields` and `open` to records."""

    kind: str
    item: Shape | None = None
    fields: dict[str, Shape] = field(default_factory=dict)
    open: bool = False

    def __str__(self) -> str:
        if self.kind == "list":
            return f"list of {self.item}" if self.item and self.item.kind != "any" else "list"
        if self.kind == "record":
            return "record {" + ", ".join([*self.fields, *(["..."] if self.open else [])]) + "}"
        return self.kind


ANY = Shape("any")
TEXT = Shape("text")
NUMBER = Shape("number")
BOOL = Shape("bool")
SCALARS = {shape.kind: shape for shape in (ANY, TEXT, NUMBER, BOOL)}


def list_of(item: Shape = ANY) -> Shape:
    """The shape of a list."""
    return Shape("list", item=item)


def record(open: bool = False, **fields: Shape) -> Shape:
    """The shape of a record; `open` ones may hold more than is named."""
    return Shape("record", fields=fields, open=open)


def shape(notation: Any) -> Shape:
    """Read the notation of the module's docstring. Raises ValueError for anything else."""
    if isinstance(notation, Shape):
        return notation
    if isinstance(notation, str):
        if notation not in SCALARS:
            raise ValueError(f"{notation!r} is no shape; write text, number, bool, any, [shape] or {{key: shape}}")
        return SCALARS[notation]
    if isinstance(notation, list):
        if len(notation) != 1:
            raise ValueError(f"a list's shape names one item, as in [text]; got {notation!r}")
        return list_of(shape(notation[0]))
    if isinstance(notation, dict):
        fields = {key: shape(value) for key, value in notation.items() if key != "..."}
        return Shape("record", fields=fields, open="..." in notation)
    raise ValueError(f"{notation!r} is no shape; write text, number, bool, any, [shape] or {{key: shape}}")


def shape_of(value: Any) -> Shape:
    """The shape of a value that is there."""
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int | float):
        return NUMBER
    if isinstance(value, str):
        return TEXT
    if isinstance(value, list | tuple):
        return list_of(join(shape_of(item) for item in value))
    if isinstance(value, dict):
        return Shape("record", fields={key: shape_of(item) for key, item in value.items()})
    return ANY


def join(shapes: Iterable[Shape]) -> Shape:
    """The shape of a value that may have any of these shapes. Of records, only fields that all have are surely there."""
    found: Shape | None = None
    for other in shapes:
        found = other if found is None else _join(found, other)
    return found or ANY


def _join(one: Shape, other: Shape) -> Shape:
    if one == other:
        return one
    if one.kind == other.kind == "list":
        return list_of(join([one.item or ANY, other.item or ANY]))
    if one.kind == other.kind == "record":
        common = {key: _join(one.fields[key], other.fields[key]) for key in one.fields if key in other.fields}
        only = len(common) < max(len(one.fields), len(other.fields))
        return Shape("record", fields=common, open=one.open or other.open or only)
    return ANY


def attribute(of: Shape, name: str) -> Shape:
    """The shape of `value.name`. Raises ValueError, with the names that are there, when there can be no such field."""
    if of.kind == "any":
        return ANY
    if of.kind != "record":
        hint = f"; take an item first, as in [0], or write [x.{name} for x in ...]" if of.kind == "list" else ""
        raise ValueError(f"a {of} has no fields, so no .{name}{hint}")
    if name in of.fields:
        return of.fields[name]
    if of.open:
        return ANY
    raise ValueError(f"there is no field {name!r}; {nearest(name, of.fields)}")


def mismatch(value: Any, wanted: Shape, path: str = "the value") -> str | None:
    """Why `value` has not the shape `wanted`, or None when it has."""
    kind = wanted.kind
    if kind == "any":
        return None
    found = shape_of(value)
    if found.kind != kind:
        what = "nothing (null)" if value is None else f"a {found.kind}"
        return f"{path} should be a {kind}, not {what}"
    if kind == "list":
        for index, item in enumerate(value):
            if problem := mismatch(item, wanted.item or ANY, f"{path}[{index}]"):
                return problem
    if kind == "record":
        for key, inner in wanted.fields.items():
            if key not in value:
                return f"{path} lacks {key!r}"
            if problem := mismatch(value[key], inner, f"{path}.{key}"):
                return problem
        extra = [key for key in value if key not in wanted.fields]
        if extra and not wanted.open:
            return f"{path} has {extra[0]!r}, which is not declared; declared are {', '.join(wanted.fields)}"
    return None


def fits(found: Shape, wanted: Shape) -> bool:
    """Whether a value of shape `found` can be one of shape `wanted`, as far as both are known."""
    return found.kind == "any" or wanted.kind == "any" or found.kind == wanted.kind
