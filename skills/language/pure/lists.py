"""Functions on lists and records."""

from __future__ import annotations

import json
from typing import Any

from skills.language.functions import MAX_ITEMS, function
from skills.language.located import nearest
from skills.language.shapes import ANY, BOOL, NUMBER, TEXT, Shape, list_of

_GROUP = "Lists and records"


def _same(items: Shape, *_: Shape) -> Shape:
    return items if items.kind == "list" else list_of()


def _item(items: Shape, *_: Shape) -> Shape:
    return items.item or ANY if items.kind == "list" else ANY


def _field(record: Any, path: str) -> Any:
    for part in path.split("."):
        if not isinstance(record, dict):
            raise ValueError(f"an item is no record, so it has no {part!r}")
        if part not in record:
            raise ValueError(f"an item has no {part!r}; {nearest(part, record)}")
        record = record[part]
    return record


@function(_GROUP, NUMBER, name="len", example="len([4, 5, 6])")
def length(value: list[Any] | str | dict[str, Any]) -> int:
    """How many items, characters or keys."""
    return len(value)


@function(_GROUP, _same, name="sorted", example="sorted([{'n': 2}, {'n': 1}], by='n')")
def in_order(items: list[Any], by: str = "", reverse: bool = False) -> list[Any]:
    """Sorted, equal ones in their old order; `by` names the field of records (`"a.b"` goes deeper)."""
    try:
        return sorted(items, key=lambda item: _field(item, by) if by else item, reverse=reverse)
    except TypeError:
        raise ValueError("the items are of different kinds and have no order; sort by a field") from None


@function(_GROUP, _same, name="reversed", example="reversed([1, 2, 3])")
def backwards(items: list[Any]) -> list[Any]:
    """From last to first."""
    return list(items)[::-1]


@function(_GROUP, _same, example="unique(['a', 'b', 'a'])")
def unique(items: list[Any]) -> list[Any]:
    """Each value once, in the order of first appearance."""
    seen: dict[str, Any] = {}
    for item in items:
        seen.setdefault(json.dumps(item, sort_keys=True), item)
    return list(seen.values())


@function(_GROUP, _item, example="first([4, 5, 6])")
def first(items: list[Any]) -> Any:
    """The first item. An empty list is an error."""
    if not items:
        raise ValueError("the list is empty")
    return items[0]


@function(_GROUP, _item, example="last([4, 5, 6])")
def last(items: list[Any]) -> Any:
    """The last item. An empty list is an error."""
    if not items:
        raise ValueError("the list is empty")
    return items[-1]


@function(_GROUP, _item, example="find([{'id': 1, 'who': 'Ann'}, {'id': 2, 'who': 'Bo'}], 'id', 2)")
def find(items: list[Any], field: str, value: Any) -> Any:
    """The first record whose `field` is `value`. None is an error."""
    for item in items:
        if _field(item, field) == value:
            return item
    raise ValueError(f"no item has {field} = {value!r}")


@function(_GROUP, _same, example="where([{'read': true, 'n': 1}, {'read': false, 'n': 2}], 'read', false)")
def where(items: list[Any], field: str, value: Any) -> list[Any]:
    """The records whose `field` is `value`."""
    return [item for item in items if _field(item, field) == value]


@function(_GROUP, list_of(), example="pluck([{'n': 2}, {'n': 1}], 'n')")
def pluck(items: list[Any], field: str) -> list[Any]:
    """That field of each record."""
    return [_field(item, field) for item in items]


@function(_GROUP, NUMBER, example="index(['a', 'b'], 'b')")
def index(items: list[Any], value: Any) -> int:
    """The place of a value, counted from 0. Absent is an error."""
    if value not in items:
        raise ValueError(f"the list does not hold {value!r}")
    return list(items).index(value)


@function(_GROUP, NUMBER, example="count(['a', 'b', 'a'], 'a')")
def count(items: list[Any] | str, value: Any) -> int:
    """How often a value stands in the list."""
    return items.count(value)


@function(_GROUP, BOOL, name="all", example="all([n > 1 for n in [2, 3]])")
def every(items: list[Any]) -> bool:
    """Whether every item is true."""
    return all(items)


@function(_GROUP, BOOL, name="any", example="any([n > 2 for n in [2, 3]])")
def some(items: list[Any]) -> bool:
    """Whether some item is true."""
    return any(items)


@function(_GROUP, list_of(NUMBER), name="range", example="range(1, 3)")
def numbers_from(start: int, end: int) -> list[Any]:
    """The whole numbers from `start` to `end`, both included."""
    if end - start > MAX_ITEMS:
        raise ValueError(f"a list has at most {MAX_ITEMS} items")
    return list(range(start, end + 1))


@function(_GROUP, list_of(list_of()), name="zip", example="zip(['a', 'b'], [1, 2])")
def pairs(one: list[Any], other: list[Any]) -> list[Any]:
    """Pairs [a, b] of two lists of equal length."""
    if len(one) != len(other):
        raise ValueError(f"the lists have {len(one)} and {len(other)} items")
    return [[a, b] for a, b in zip(one, other, strict=True)]


@function(_GROUP, list_of(list_of()), name="enumerate", example="enumerate(['a', 'b'], 1)")
def numbered(items: list[Any], start: int = 0) -> list[Any]:
    """Pairs [number, item]."""
    return [[start + place, item] for place, item in enumerate(items)]


@function(_GROUP, list_of(), example="flatten([[1, 2], [3]])")
def flatten(items: list[Any]) -> list[Any]:
    """The items of a list of lists, in one list."""
    return [item for inner in items for item in (inner if isinstance(inner, list | tuple) else [inner])]


@function(_GROUP, list_of(TEXT), example="keys({'b': 1, 'a': 2})")
def keys(record: dict[str, Any]) -> list[Any]:
    """The names of a record's fields, in their order."""
    return list(record)


@function(_GROUP, list_of(), example="values({'b': 1, 'a': 2})")
def values(record: dict[str, Any]) -> list[Any]:
    """The values of a record's fields, in their order."""
    return list(record.values())


@function(_GROUP, example="get({'a': 1}, 'b', 0)")
def get(record: dict[str, Any], field: str, default: Any = None) -> Any:
    """A field, or the default where the record lacks it."""
    return record.get(field, default)


@function(_GROUP, Shape("record", open=True), example="merge({'a': 1, 'b': 2}, {'b': 3})")
def merge(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The fields of both; the second wins."""
    return {**one, **other}


@function(
    _GROUP,
    lambda record, *_: record if record.kind == "record" else ANY,
    name="only",
    example="only({'a': 1, 'b': 2}, ['a'])",
)
def only_fields(record: dict[str, Any], fields: list[Any]) -> dict[str, Any]:
    """The record with these fields only."""
    return {field: _field(record, field) for field in fields}
