"""A JSON value in little room: every key, the first items of lists, long texts cut."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

_TEXT, _ITEMS, _KEYS = 160, 2, 24
_ENCODED = re.compile(r"[A-Za-z0-9+/\s]{161,}={0,2}\s*")
_SHOWN = 24


def outline(value: Any, limit: int = 1500) -> str:
    """The value as one line of near-JSON of at most about `limit` characters; what is left out is said in brackets."""
    for depth in (6, 4, 3, 2, 1, 0):
        text = _outline(value, depth)
        if len(text) <= limit:
            return text
    return f"{text[:limit]} [...]"


def without_bytes(value: Any) -> Any:
    """The value with bytes, and texts that are base64 and longer than an outline shows, by their beginning and size."""
    if isinstance(value, dict):
        return {key: without_bytes(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_bytes(item) for item in value]
    if isinstance(value, bytes):
        return f"[{len(value)} bytes]"
    size = _encoded(value) if isinstance(value, str) else None
    return value if size is None else f"{value[:_SHOWN]}... [base64 of {size} bytes]"


def _encoded(text: str) -> int | None:
    """How many bytes a long text in base64 has; None for any other text.

    Words and numbers lack one of three kinds of signs.
    """
    if not _ENCODED.fullmatch(text) or not all(re.search(kind, text) for kind in ("[A-Z]", "[a-z]", "[0-9]")):
        return None
    if max(map(len, text.split("\n"))) < 60 or " " in text:  # it comes in one line, or in long ones
        return None
    try:
        return len(base64.b64decode("".join(text.split()), validate=True))
    except ValueError:
        return None


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
