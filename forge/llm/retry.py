"""When to ask again, how long to wait before, and what a response's headers say about the rates."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses that another try may cure. Others (a bad request, a wrong key, an unknown model) it does not."""

OVERLOADED = frozenset({408, 503, 504, 529})
"""Statuses, besides 429, that ask for fewer requests at once."""

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def is_retried(status: int, code: str = "") -> bool:
    """Whether a response with this status is worth another try; a used-up quota (its `code`) is not."""
    return code != "insufficient_quota" and (status in RETRIED or status >= 500)


def backoff(attempt: int, first: float, limit: float, generator: random.Random) -> float:
    """Seconds to wait after the `attempt`-th failure, counted from 1.

    Full jitter (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/): uniform up to a bound that
    doubles, so that clients which failed together do not come back together.
    """
    return generator.uniform(0, min(limit, first * 2 ** min(attempt - 1, 30)))


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds that a response asks to wait, from `retry-after-ms` or `retry-after` (seconds or a date); None: nothing."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            return max(0.0, float(value) / unit)
        except ValueError:
            pass
        try:
            moment = parsedate_to_datetime(value).timestamp()
        except ValueError:
            continue
        return max(0.0, moment - (time.time() if now is None else now))
    return None


@dataclass(frozen=True)
class Rates:
    """What is left of the rates, and the seconds until they are whole again; None where a server does not say."""

    requests: int | None = None
    tokens: int | None = None
    requests_reset: float | None = None
    tokens_reset: float | None = None


def rates_of(headers: Mapping[str, str]) -> Rates:
    """Read OpenAI's `x-ratelimit-*` headers (https://platform.openai.com/docs/guides/rate-limits), which many servers send."""

    def number(name: str) -> int | None:
        value = headers.get(f"x-ratelimit-remaining-{name}", "")
        return int(value) if re.fullmatch(r"\d+", value) else None

    return Rates(
        requests=number("requests"),
        tokens=number("tokens"),
        requests_reset=_duration(headers.get("x-ratelimit-reset-requests", "")),
        tokens_reset=_duration(headers.get("x-ratelimit-reset-tokens", "")),
    )


def _duration(text: str) -> float | None:
    """Seconds of `6m0s`, `20ms`, or a plain number."""
    text = text.strip()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = _PART.findall(text)
    if not parts or "".join(a + b for a, b in parts) != text:
        return None
    return sum(float(value) * _UNITS[unit] for value, unit in parts)
