"""Canonical JSON and hashing: equal content, equal text, equal hash, on every machine and Python version.

The form follows RFC 8785 (JSON Canonicalization Scheme) in spirit: keys sorted by code point, no white space, UTF-8,
shortest round-trip floats. It differs in two places, on purpose: a float with an integral value is written as the
integer (2.0 and 2 are the same content), and strings are normalised to Unicode NFC first. NaN and infinities, keys that
are no strings, and values that are no JSON are refused with the path to the value.
"""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from collections.abc import Mapping
from typing import Any

_EXACT_INTEGER = 2**53


def canonical_json(value: Any) -> str:
    """Return the one canonical JSON text of `value`.

    Args:
        value: JSON data: None, bool, int, float, str, list or tuple, and mappings with string keys.

    Raises:
        TypeError: a value or key is no JSON; the message names the path to it.
        ValueError: a number is NaN or infinite, or two keys become equal after normalisation.
    """
    return json.dumps(_plain(value, "$"), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """Hex SHA-256 (64 characters) of the canonical JSON text of `value`.

    Raises:
        TypeError, ValueError: as `canonical_json`; ValueError also for a text that holds half a surrogate pair, which has
            no bytes.
    """
    text = canonical_json(value)
    try:
        return sha256_hex(text.encode())
    except UnicodeEncodeError as error:
        near = text[max(0, error.start - 40) : error.end]
        raise ValueError(f"no Unicode text, it holds half a surrogate pair: {near!a}") from None


def sha256_hex(data: bytes) -> str:
    """Hex SHA-256 of bytes: the name of a blob."""
    return hashlib.sha256(data).hexdigest()


def _plain(value: Any, path: str) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{path}: {value} has no canonical form; use a finite number or null")
        return int(value) if value.is_integer() and abs(value) <= _EXACT_INTEGER else value
    if isinstance(value, Mapping):
        result: dict[str, Any] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"{path}: key {key!r} is {type(key).__name__}; JSON keys are strings")
            name = unicodedata.normalize("NFC", key)
            if name in result:
                raise ValueError(f"{path}: two keys are {name!r} after Unicode normalisation")
            result[name] = _plain(item, f"{path}.{name}")
        return result
    if isinstance(value, list | tuple):
        return [_plain(item, f"{path}[{index}]") for index, item in enumerate(value)]
    raise TypeError(f"{path}: {type(value).__name__} is no JSON value; convert it first (dates as ISO 8601 strings)")
