"""When to ask again and how long to wait."""

from __future__ import annotations

import random

import pytest

from forge.llm.retry import Rates, backoff, is_retried, rates_of, retry_after


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 60.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, 0.0),
    ],
)
def test_retry_after_in_seconds_milliseconds_and_as_a_date(headers, seconds):
    assert retry_after(headers, now=40.0) == seconds


def test_waits_double_up_to_the_limit_with_full_jitter():
    generator = random.Random(1)
    waits = [[backoff(attempt, 1.0, 5.0, generator) for _ in range(300)] for attempt in (1, 2, 3, 9)]
    for found, bound in zip(waits, (1.0, 2.0, 4.0, 5.0), strict=True):
        assert 0 <= min(found) < 0.1 * bound
        assert 0.9 * bound < max(found) <= bound


def test_only_passing_faults_are_asked_again():
    assert {s for s in range(400, 600) if is_retried(s)} == {408, 409, 425, 429, *range(500, 600)}
    assert not is_retried(429, "insufficient_quota")


@pytest.mark.parametrize(
    ("headers", "rates"),
    [
        ({}, Rates()),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-remaining-tokens": "149984",
                "x-ratelimit-reset-requests": "1m0.5s",
                "x-ratelimit-reset-tokens": "6ms",
            },
            Rates(0, 149984, 60.5, 0.006),
        ),
        ({"x-ratelimit-remaining-requests": "many", "x-ratelimit-reset-requests": "30"}, Rates(None, None, 30.0)),
        ({"x-ratelimit-reset-tokens": "2h1m soon"}, Rates()),
    ],
)
def test_rates_are_read_from_headers(headers, rates):
    assert rates_of(headers) == rates
