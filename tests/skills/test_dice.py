"""Seeded chance: fixed values, fair enough, and every helper built on random() alone."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.dice import Dice, pick, pick_many, seed_of
from skills.draws import DRAWS


def test_the_numbers_are_fixed():
    assert seed_of("a", 1) == seed_of("a", 1.0) == 1395860404624038653
    dice = Dice("version", 7, "node")
    assert [dice.randint(1, 100) for _ in range(6)] == [13, 3, 45, 88, 65, 21]
    assert dice.sample("abcdef", 6) == ["e", "c", "d", "f", "b", "a"]


def test_every_helper_uses_random_alone(monkeypatch):
    """Were getrandbits used, whose users changed between Pythons, this would raise."""

    def forbidden(self, bits):
        raise AssertionError("getrandbits")

    monkeypatch.setattr(Dice, "getrandbits", forbidden, raising=False)
    dice = Dice("x")
    assert dice.choice([5]) == 5
    assert dice.randrange(0, 10, 5) in (0, 5)
    assert sorted(dice.sample(range(5), 5)) == list(range(5))
    assert dice.sample(["a"], 2, counts=[2]) == ["a", "a"]
    assert dice.choices(["a", "b"], [0, 1], k=3) == ["b"] * 3
    assert dice.choices(["a", "b"], cum_weights=[1, 1]) == ["a"]
    assert 2 <= dice.uniform(2, 3) <= 3
    assert isinstance(dice.gauss(), float)
    assert isinstance(dice, random.Random)
    items = list(range(20))
    dice.shuffle(items)
    assert sorted(items) == list(range(20)) != items


def test_names_keep_generators_apart():
    assert Dice("v", 1, "a").random() != Dice("v", 1, "b").random() != Dice("v", 2, "b").random()
    assert Dice("v", 1, "a").random() == Dice("v", 1, "a").random()


@given(st.lists(st.text(max_size=5), min_size=1, max_size=20, unique=True), st.integers(0, 1000))
def test_a_new_item_only_takes_what_it_wins(items, seed):
    before = pick(items, seed)
    after = pick([*items, "a new item"], seed)
    assert after in (before, "a new item")
    assert pick(list(reversed(items)), seed) == before


def test_picks_are_spread():
    counts = Counter(pick(["a", "b", "c", "d"], seed) for seed in range(2000))
    assert all(400 < count < 600 for count in counts.values())


def test_many_picks_are_different():
    assert len(set(pick_many(["a", "b", "b", "c"], 3, 1))) == 3
    with pytest.raises(ValueError, match="4 different ones are wanted, there are 3"):
        pick_many(["a", "b", "b", "c"], 4, 1)


DOMAINS = [
    ("choice", {"of": [1, "a", None]}, lambda v: v in (1, "a", None)),
    ("choice", {"of": ["a", "b"], "weights": [0, 1]}, lambda v: v == "b"),
    ("choice", {"of": [1, 2, 3], "count": 2}, lambda v: len(set(v)) == 2),
    ("choice", {"of": [1, 2, 3], "count": [0, 3]}, lambda v: len(v) <= 3),
    ("choice", {"of": [1, 2, 3], "count": "all"}, lambda v: sorted(v) == [1, 2, 3]),
    ("int", {"of": [-2, 2]}, lambda v: v in range(-2, 3)),
    ("int", {"of": [0, 10], "step": 5}, lambda v: v in (0, 5, 10)),
    ("number", {"of": [0.5, 1], "digits": 1}, lambda v: v in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)),
    ("date", {"of": ["2028-02-28", "2028-03-01"]}, lambda v: v in ("2028-02-28", "2028-02-29", "2028-03-01")),
    ("date", {"of": ["2026-03-13", "2026-03-16"], "weekdays": True}, lambda v: v in ("2026-03-13", "2026-03-16")),
    ("time", {"of": ["23:00", "23:59"], "step": 30}, lambda v: v in ("23:00", "23:30")),
    ("bool", {"of": 1}, lambda v: v is True),
]


@pytest.mark.parametrize(("kind", "given", "inside"), DOMAINS)
def test_a_draw_stays_in_its_domain(kind, given, inside):
    draw = DRAWS.get(kind)
    args = draw.args.model_validate(given)
    seen = [draw.draw(args, Dice(seed)) for seed in range(60)]
    assert all(map(inside, seen))
    for value in seen[:5]:
        others = draw.others(args, value)
        assert all(map(inside, others))
        assert value not in others
