"""When to ask again, and how long to wait before: bounded, with jitter, and as the server wishes where it says so."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses that another try may cure. Others (a bad request, a wrong key, an unknown model) it does not."""


def is_retried(status: int, code: str = "") -> bool:
    """Whether a response with this status is worth another try; a used-up quota (its `code`) is not."""
    return code != "insufficient_quota" and (status in RETRIED or status >= 500)


def backoff(attempt: int, first: float, limit: float, generator: random.Random) -> float:
    """Seconds to wait after the `attempt`-th failure, counted from 1.

    Full jitter (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/): uniform up to a bound that
    doubles, so that clients which failed together do not come back together.
    """
    return generator.uniform(0, min(limit, first * 2 ** (attempt - 1)))


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
