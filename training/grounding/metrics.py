"""The metrics of both benchmarks: a point in a box, a point in a polygon, a refusal.

A prediction is a point in pixels, or a box [x, y, width, height] of which the middle counts. It refuses when both
coordinates are negative; a refusal is right exactly where refusing is. None is no answer, wrong everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from forge.records import InputError


@dataclass(frozen=True)
class Score:
    """Right answers of all rows, and by group: name to (rows, right)."""

    rows: int
    right: int
    groups: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def accuracy(self) -> float:
        """Share of right answers, 0 to 1; 0 without rows."""
        return self.right / self.rows if self.rows else 0.0


def score(rows: Sequence[Mapping[str, Any]], predictions: Sequence[Sequence[float] | None], group: str = "") -> Score:
    """Score predictions, one a row and in the order of the rows.

    Args:
        rows: of either form, as `export_pairs` writes them or the benchmarks are published.
        predictions: (x, y) or (x, y, width, height) in pixels of the image; None for no answer.
        group: a key of the rows by whose values the score is also given apart.

    Raises:
        InputError: there are not as many predictions as rows, one has another length than 2 or 4, or no row has the group.
    """
    if len(rows) != len(predictions):
        raise InputError(
            f"{len(predictions)} predictions for {len(rows)} rows", mend="give one a row, in the same order"
        )
    if group and rows and not any(group in row for row in rows):
        raise InputError(f"no row has the group {group!r}", mend=f"groups are {', '.join(_groups(rows)) or 'none'}")
    groups: dict[str, tuple[int, int]] = {}
    right = 0
    for row, prediction in zip(rows, predictions, strict=True):
        hit = is_right(row, prediction)
        right += hit
        for name in _values(row, group):
            done, good = groups.get(name, (0, 0))
            groups[name] = (done + 1, good + hit)
    return Score(len(rows), right, dict(sorted(groups.items())))


def is_right(row: Mapping[str, Any], prediction: Sequence[float] | None) -> bool:
    """Whether a prediction hits what a row asks for."""
    if prediction is None:
        return False
    point = as_point(prediction)
    refused = point[0] < 0 and point[1] < 0
    kind = row.get("box_type", "bbox")
    if kind == "refusal" or refused:
        return kind == "refusal" and refused
    where = [float(value) for value in row["bbox" if "bbox" in row else "box_coordinates"]]
    return in_polygon(point, where) if kind == "polygon" else in_box(point, where)


def as_point(prediction: Sequence[float]) -> tuple[float, float]:
    """The point of a prediction: itself, or the middle of a box. Raises InputError for anything else."""
    if len(prediction) == 2:
        return float(prediction[0]), float(prediction[1])
    if len(prediction) == 4:
        x, y, width, height = prediction
        return (x, y) if x < 0 and y < 0 else (x + width / 2, y + height / 2)
    raise InputError(f"{prediction!r} is no prediction", mend="write [x, y] or [x, y, width, height]")


def in_box(point: tuple[float, float], box: Sequence[float]) -> bool:
    """Whether a point lies in a box (x, y, width, height), its edges included."""
    x, y, width, height = box
    return x <= point[0] <= x + width and y <= point[1] <= y + height


def in_polygon(point: tuple[float, float], flat: Sequence[float]) -> bool:
    """Whether a point lies in a polygon [x0, y0, x1, y1, ...], by the even-odd rule; a corner counts as inside."""
    px, py = point
    corners = list(zip(flat[::2], flat[1::2], strict=True))
    inside = False
    for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]], strict=True):
        if (px, py) == (x0, y0):
            return True
        if (y0 > py) != (y1 > py) and px < (x1 - x0) * (py - y0) / (y1 - y0) + x0:
            inside = not inside
    return inside


def _groups(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Keys of the rows that hold words; numbers are no groups."""
    return sorted({key for row in rows for key, value in row.items() if _words(value)})


def _words(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and any(isinstance(each, str) for each in value))


def _values(row: Mapping[str, Any], group: str) -> list[str]:
    if not group or group not in row:
        return []
    value = row[group]
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]
