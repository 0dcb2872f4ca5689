"""Point in box, point in polygon, refusal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.records import InputError
from training.grounding import score
from training.grounding.metrics import in_box, in_polygon, is_right

BOX = {"box_type": "bbox", "box_coordinates": [10, 20, 30, 40], "style": "name"}
SPOT = {"bbox": [10, 20, 30, 40], "data_type": "icon"}
TRIANGLE = {"box_type": "polygon", "box_coordinates": [0, 0, 100, 0, 0, 100], "style": "position"}
REFUSAL = {"box_type": "refusal", "box_coordinates": [-1, -1, -1, -1], "style": "refusal"}


@pytest.mark.parametrize(
    ("row", "prediction", "right"),
    [
        (BOX, (25, 40), True), (BOX, (10, 20), True), (BOX, (40, 60), True), (BOX, (41, 40), False), (BOX, (25, 61), False),
        (SPOT, (25, 40), True), (SPOT, (39, 59, 2, 2), True), (SPOT, (40, 60, 20, 20), False),
        (TRIANGLE, (20, 20), True), (TRIANGLE, (60, 60), False), (TRIANGLE, (0, 0), True), (TRIANGLE, (-1, 20), False),
        (REFUSAL, (-1, -1), True), (REFUSAL, (-1, -1, -1, -1), True), (REFUSAL, (5, 5), False), (REFUSAL, (-1, 5), False),
        (BOX, (-1, -1), False), (TRIANGLE, (-1, -1), False), (BOX, None, False), (REFUSAL, None, False),
    ],
)  # fmt: skip
def test_single_answers(row, prediction, right):
    assert is_right(row, prediction) is right


def test_a_score_and_its_groups():
    found = score([BOX, TRIANGLE, REFUSAL, REFUSAL], [(25, 40), (60, 60), (-1, -1), None], "style")
    assert (found.rows, found.right, found.accuracy) == (4, 2, 0.5)
    assert found.groups == {"name": (1, 1), "position": (1, 0), "refusal": (2, 1)}
    assert score([{**BOX, "GUI_types": ["Menu", "Tab"]}], [(25, 40)], "GUI_types").groups == {
        "Menu": (1, 1),
        "Tab": (1, 1),
    }
    assert score([], []).accuracy == 0.0


def test_wrong_predictions_are_named():
    with pytest.raises(InputError, match="1 predictions for 2 rows"):
        score([BOX, BOX], [(1, 2)])
    with pytest.raises(InputError, match="no prediction"):
        score([BOX], [(1, 2, 3)])


def test_a_group_that_no_row_has_is_named_with_those_that_there_are():
    with pytest.raises(InputError, match=r"no row has the group 'zzz'\n.*groups are GUI_types, box_type, style"):
        score([{**BOX, "GUI_types": ["Menu"]}], [(25, 40)], "zzz")
    assert score([], [], "zzz").rows == 0


@given(
    box=st.tuples(*[st.integers(0, 500)] * 2, *[st.integers(1, 300)] * 2),
    x=st.integers(-10, 900),
    y=st.integers(-10, 900),
)
def test_a_rectangle_as_a_polygon_agrees_with_the_box_but_on_its_edge(box, x, y):
    left, top, width, height = box
    flat = [left, top, left + width, top, left + width, top + height, left, top + height]
    on_edge = x in (left, left + width) or y in (top, top + height)
    if not on_edge:
        assert in_polygon((x, y), flat) == in_box((x, y), box)
