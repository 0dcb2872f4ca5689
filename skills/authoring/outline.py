"""A JSON value in little room: every key, the first items of lists, long texts cut."""

from __future__ import annotations

import json
from typing import Any

_TEXT, _ITEMS, _KEYS = 160, 2, 24


def outline(value: Any, limit: int = 1500) -> str:
    """The value as one line of near-JSON of at most about `limit` characters; what is left out is said in brackets."""
    for depth in (6, 4, 3, 2, 1):
        text = _outline(value, depth)
        if len(text) <= limit:
            return text
    return f"{text[:limit]} [...]"


def _outline(value: Any, depth: int) -> str:
    if isinstance(value, str):
        shown = json.dumps(value[:_TEXT], ensure_ascii=False)
        return shown if len(value) <= _TEXT else f"{shown} [{len(value)} characters]"
    if isinstance(value, dict):
        if depth == 0:
            return f"{{{', '.join(list(value)[:_KEYS])}}} [record]"
        parts = [f"{key}: {_outline(item, depth - 1)}" for key, item in list(value.items())[:_KEYS]]
        more = [f"[{len(value) - _KEYS} more]"] if len(value) > _KEYS else []
        return f"{{{', '.join([*parts, *more])}}}"
    if isinstance(value, list):
        if depth == 0:
            return f"[{len(value)} items]"
        parts = [_outline(item, depth - 1) for item in value[:_ITEMS]]
        more = [f"[{len(value)} items in all]"] if len(value) > _ITEMS else []
        return f"[{', '.join([*parts, *more])}]"
    return json.dumps(value)
