"""Texts that share a room: who gets how much of it, and what is said of the rest."""

from __future__ import annotations

import pytest

from skills.authoring.room import cut, fitting, level, shared


@pytest.mark.parametrize(
    ("sizes", "room", "limit"),
    [([10, 20], 100, 20), ([100, 100], 100, 50), ([10, 100, 100], 110, 50), ([], 10, 0), ([5], 0, 0)],
)
def test_shares_of_a_room(sizes, room, limit):
    assert level(sizes, room) == limit
    assert sum(min(size, limit) for size in sizes) <= max(room, 0)


def test_a_cut_text_ends_with_a_line_and_says_what_is_missing():
    text = "\n".join(["one line of twenty ch"] * 20)
    assert cut(text, 1000, "more") == text
    short = cut(text, 100, "ask again")
    assert short.startswith("one line of twenty ch\n" * 3)
    assert short.endswith("[352 of 439 characters cut; ask again]")
    assert (
        shared([("a", "x"), ("b", "y" * 50)], 11, "see {}")
        == f"## a\n\nx\n\n## b\n\n{'y' * 10}\n[40 of 50 characters cut; see b]"
    )


@pytest.mark.parametrize(
    ("room", "shown"),
    [
        (100, "first\nsecond\nthird\na\nb\nc"),
        (12, "first\nsecond\n  ..."),
        (3, ""),
    ],
)
def test_the_first_parts_come_first_in_whole_lines(room, shown):
    assert fitting(["first\nsecond\nthird", "a\nb\nc"], room) == shown


def test_a_long_first_part_leaves_half_of_the_room_to_the_others():
    first, second = "\n".join(["x" * 99] * 20), "\n".join(["y" * 99] * 20)
    said = fitting([first, second], 2000)
    assert [said.count(f"{letter}\n") for letter in "xy"] == [10, 9]
    assert len(said) <= 2010
