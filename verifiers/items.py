"""Criteria over several items of one kind: how an author lists them, how the evidence tells which are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SHOWN = 4
"""Wrong items that the evidence names."""


def as_mapping(value: Any, key: str, item: str) -> Any:
    """A list of `{key: ..., item: ...}` as the mapping it means; anything else as it is, for the model to judge.

    Raises:
        ValueError: an item has other fields, or two have the same key.
    """
    if not isinstance(value, list | tuple):
        return value
    found: dict[Any, Any] = {}
    for one in value:
        if not isinstance(one, dict) or set(one) != {key, item}:
            raise ValueError(f"each item of the list has {key} and {item}")
        if one[key] in found:
            raise ValueError(f"{one[key]} is listed twice")
        found[one[key]] = one[item]
    return found


def told(right: Sequence[bool], had: Sequence[bool], wrong: Sequence[str], noun: str) -> str:
    """How many items are right, how many were before, and what is wrong with the first of the others.

    Args:
        right: whether each item is right now.
        had: whether each was before.
        wrong: what is wrong with those that are not right, in words.
        noun: what they are: "cells".
    """
    parts = [f"{sum(right)} of {len(right)} {noun} are right"]
    parts += [f"{sum(had)} of them were before"] if any(had) else []
    parts += [*wrong[:SHOWN], *([f"and {len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else [])]
    return "; ".join(parts)
