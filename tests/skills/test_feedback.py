"""Standings: bounds, states, shares."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.feedback import apportion, standings, wilson


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


def test_a_retired_skill_that_is_named_weighs_as_any_other():
    results = [("done", 200, 200), ("dead", 200, 0), ("new", 0, 0)]
    assert apportion(standings(results), 9) == {"dead": 0, "done": 0, "new": 9}
    named = {s.skill: s for s in standings(results, named={"done", "dead"})}
    assert (named["done"].state, named["dead"].state) == ("mastered", "hopeless")
    assert named["dead"].share == named["new"].share == pytest.approx(1 / 2.1)
    assert apportion(named.values(), 21) == {"dead": 10, "done": 1, "new": 10}


@pytest.mark.parametrize("count", [1, 3, 7, 12, 49])
def test_without_results_all_get_the_same(count):
    skills = [f"s{n}" for n in range(count)]
    assert apportion(standings([(s, 0, 0) for s in skills]), 2 * count) == dict.fromkeys(skills, 2)


def test_largest_remainders_come_first_and_a_small_share_is_one_task():
    results = [("a", 0, 0), ("b", 0, 0), ("good", 400, 368)]  # weights 1, 1, 0.11
    assert apportion(standings(results), 6) == {"a": 3, "b": 2, "good": 1}
    assert apportion(standings(results), 2) == {"a": 1, "b": 1, "good": 1}
    assert apportion([], 5) == {}


@given(
    st.lists(st.tuples(st.integers(0, 300), st.floats(0, 1)), max_size=12).map(
        lambda rows: [(f"s{n}", trials, int(trials * rate)) for n, (trials, rate) in enumerate(rows)]
    ),
    st.integers(0, 500),
)
def test_all_tasks_are_apportioned(results, tasks):
    found = standings(results)
    counts = apportion(found, tasks)
    live = [s for s in found if s.share]
    assert sum(counts.values()) == (max(tasks, len(live)) if live else 0)
    assert all((counts[s.skill] > 0) == (s.share > 0) for s in found)
    for one in live:  # never more than a rounding above its share; below it only for those that are raised to one
        assert counts[one.skill] < one.share * tasks + 1 or counts[one.skill] == 1
    assert [counts[s.skill] for s in sorted(live, key=lambda s: (s.share, counts[s.skill]))] == sorted(
        counts[s.skill] for s in live
    )
