"""Standings: bounds, states, shares."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.feedback import allot, standings, wilson


@pytest.mark.parametrize(
    ("passes", "trials", "low", "high"),
    [(0, 0, 0, 1), (0, 10, 0, 0.2775), (10, 10, 0.7225, 1), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662)],
)
def test_wilsons_interval(passes, trials, low, high):
    # the last is the textbook example of R. Newcombe, Statistics in Medicine 17 (1998), table I
    assert wilson(passes, trials) == pytest.approx((low, high), abs=5e-5)


def test_impossible_counts_are_refused():
    with pytest.raises(ValueError, match="3 passes of 2 trials"):
        wilson(3, 2)


def test_weak_skills_get_more_and_saturated_ones_nothing():
    results = [("good", 100, 90), ("weak", 100, 20), ("new", 0, 0), ("done", 200, 200), ("dead", 200, 0), ("few", 3, 3)]
    found = {s.skill: s for s in standings(results)}
    assert [found[n].state for n in ("good", "weak", "new", "done", "dead", "few")] == [
        "active", "active", "active", "mastered", "hopeless", "active",
    ]  # fmt: skip
    assert found["new"].share > found["weak"].share > found["few"].share > found["good"].share > 0
    assert found["done"].share == found["dead"].share == 0
    assert math.isclose(sum(s.share for s in found.values()), 1)


def test_twenty_passes_are_not_yet_mastery_by_the_bound():
    (one,) = standings([("x", 20, 20)])
    assert one.state == "active"
    (one,) = standings([("x", 100, 100)])
    assert one.state == "mastered"


@given(
    st.lists(st.tuples(st.integers(0, 300), st.floats(0, 1)), max_size=12).map(
        lambda rows: [(f"s{n}", trials, int(trials * rate)) for n, (trials, rate) in enumerate(rows)]
    ),
    st.integers(0, 500),
)
def test_all_tasks_are_allotted(results, tasks):
    found = standings(results)
    counts = allot(found, tasks)
    assert sum(counts.values()) == (tasks if any(s.share for s in found) else 0)
    assert all(abs(counts[s.skill] - s.share * tasks) < 1 for s in found if s.share)
