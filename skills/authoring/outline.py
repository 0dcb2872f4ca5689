"""A JSON value in little room: every key, the first items of lists, long texts cut."""

from __future__ import annotations

import json
from typing import Any

_TEXT, _ITEMS, _KEYS = 160, 2, 24


def outline(value: Any, limit: int = 1500) -> str:
    """The value as one line of near-JSON of at most about `limit` characters; what is left out is said in brackets."""
    for depth in (6, 4, 3, 2, 1, 0):
        text = _outline(value, depth)
        if len(text) <= limit:
            return text
    return f"{text[:limit]} [...]"


def _outline(value: Any, depth: int, deeper: bool = True) -> str:
    if isinstance(value, dict | list) and value and not deeper:
        return f"[{'record' if isinstance(value, dict) else 'list'} of {len(value)}]"
    if isinstance(value, str):
        shown = json.dumps(value[:_TEXT], ensure_ascii=False)
        return shown if len(value) <= _TEXT else f"{shown} [{len(value)} characters]"
    if isinstance(value, dict):
        parts = [f"{key}: {_outline(item, max(depth - 1, 0), depth > 0)}" for key, item in list(value.items())[:_KEYS]]
        more = [f"[{len(value) - _KEYS} more]"] if len(value) > _KEYS else []
        return f"{{{', '.join([*parts, *more])}}}"
    if isinstance(value, list):
        parts = [_outline(item, max(depth - 1, 0), depth > 0) for item in value[:_ITEMS]]
        more = [f"[{len(value)} items in all]"] if len(value) > _ITEMS else []
        return f"[{', '.join([*parts, *more])}]"
    return json.dumps(value)
