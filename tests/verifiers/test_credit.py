"""Partial credit: nothing for the untouched state, one for the goal, the share of what was gained between."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers.credit import credit


@pytest.mark.parametrize(
    ("before", "after", "score"),
    [
        ("0000", "0000", 0),
        ("0000", "1000", 1 / 4),
        ("1100", "1100", 0),
        ("1100", "1110", 1 / 2),
        ("1100", "1111", 1),
        ("1100", "0111", 1 / 2),
        ("1100", "0000", 0),
        ("1111", "1111", 1),
        ("1111", "1110", 0),
        ("0", "1", 1),
    ],
)
def test_the_score_is_what_was_gained(before: str, after: str, score: float) -> None:
    assert credit([x == "1" for x in before], [x == "1" for x in after]) == pytest.approx(score)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=8))
def test_it_is_one_only_for_the_goal_and_zero_for_what_was(pairs: list[tuple[bool, bool]]) -> None:
    before, after = [a for a, _ in pairs], [b for _, b in pairs]
    score = credit(before, after)
    assert 0 <= score <= 1
    assert (score == 1) == all(after)
    assert all(before) or credit(before, before) == 0
