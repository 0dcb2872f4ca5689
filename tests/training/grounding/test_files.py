"""Rows and predictions as files: what is of another shape is told with file and row."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.records import InputError
from training.grounding import read_predictions, read_rows


def test_rows_of_both_forms_and_predictions_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    rows = '[{"bbox": [1, 2, 3, 4]}, {"box_type": "polygon", "box_coordinates": [0, 0, 9, 0, 0, 9]}, {"box_type": "refusal"}]'
    file.write_text(rows)
    assert [row.get("box_type") for row in read_rows(file)] == [None, "polygon", "refusal"]
    file.write_text("[[1, 2.5], null, [1, 2, 3, 4], [-1, -1]]")
    assert read_predictions(file) == [[1, 2.5], None, [1, 2, 3, 4], [-1, -1]]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", ":1: no JSON"),
        ("[\n{]", ":2: no JSON"),
        ("\udcff", ": no JSON: 'utf-8' codec"),
        ("[" * 100_000, ": no JSON"),
        ('{"bbox": [1, 2, 3, 4]}', ": no list"),
        ('[{"bbox": [1, 2, 3, 4]}, 3]', ": row 2 is no object"),
        ("[{}]", ": row 1 has no box_coordinates that says where: null"),
        ('[{"bbox": [1, 2, 3]}]', ": row 1 has no bbox that says where: [1, 2, 3]"),
        ('[{"bbox": [1, 2, 3, "four"]}]', ": row 1 has no bbox"),
        ('[{"box_type": "polygon", "box_coordinates": [1, 2, 3]}]', ": row 1 has no box_coordinates"),
        ('[{"box_type": "polygon", "box_coordinates": []}]', ": row 1 has no box_coordinates"),
    ],
)
def test_rows_that_are_none(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "rows.json"
    file.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(InputError) as fault:
        read_rows(file)
    assert str(fault.value).startswith(f"{file}{says}")
    assert "\n  mend: write a list of objects, each with" in str(fault.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"0": [1, 2]}', ": no list"),
        ("[[1, 2], 3]", ": row 2 is no prediction: 3"),
        ("[[1, 2, 3]]", ": row 1 is no prediction: [1, 2, 3]"),
        ('[{"x": 1, "y": 2}]', ': row 1 is no prediction: {"x": 1, "y": 2}'),
        ('["12"]', ': row 1 is no prediction: "12"'),
        ("[[null, 2]]", ": row 1 is no prediction: [null, 2]"),
    ],
)
def test_predictions_that_are_none(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "predictions.json"
    file.write_text(text)
    with pytest.raises(InputError) as fault:
        read_predictions(file)
    assert str(fault.value).startswith(f"{file}{says}\n  mend: write a list, one a row: [x, y] or")
