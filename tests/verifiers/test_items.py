"""Items of a criterion, listed in two ways, and what is told of them."""

from __future__ import annotations

from typing import Any

import pytest

from verifiers.items import as_mapping, told


def test_a_list_is_the_mapping_that_it_means_and_all_else_stays() -> None:
    assert as_mapping([{"cell": "A1", "value": 1}, {"value": None, "cell": "B2"}], "cell", "value") == {
        "A1": 1,
        "B2": None,
    }
    assert as_mapping({"A1": 1}, "cell", "value") == {"A1": 1}
    assert as_mapping("A1", "cell", "value") == "A1"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([{"path": "~/a"}], "each item of the list has path and text"),
        (["~/a"], "each item of the list has path and text"),
        ([{"path": "~/a", "text": "x"}, {"path": "~/a", "text": "y"}], "~/a is listed twice"),
    ],
)
def test_items_without_the_two_fields_or_listed_twice_are_refused(value: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        as_mapping(value, "path", "text")


@pytest.mark.parametrize(
    ("right", "had", "wrong", "said"),
    [
        ("11", "00", [], "2 of 2 cells are right"),
        ("10", "10", ["B2 is off"], "1 of 2 cells are right; 1 of them were before; B2 is off"),
        ("000000", "000000", [*"abcdef"], "0 of 6 cells are right; a; b; c; d; and 2 more"),
    ],
)
def test_what_is_told(right: str, had: str, wrong: list[str], said: str) -> None:
    assert told([x == "1" for x in right], [x == "1" for x in had], wrong, "cells") == said
