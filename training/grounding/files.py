"""Rows and predictions as JSON files, of whoever wrote them: what is of another shape is told with its file and row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from forge.records import InputError

ROWS = (
    'write a list of objects, each with "bbox" or "box_coordinates": [x, y, width, height], of a polygon its corners '
    '[x0, y0, x1, y1, ...], with "box_type": "refusal" none'
)
PREDICTIONS = "write a list, one a row: [x, y] or [x, y, width, height] in pixels, [-1, -1] to refuse, or null"


def read_rows(file: Path) -> list[dict[str, Any]]:
    """Rows of either form, for `score`. Raises InputError, which names the file, the row and what it should be."""
    rows = _read_list(file, ROWS)
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise InputError(f"row {number} is no object", file=file, mend=ROWS)
        if row.get("box_type") == "refusal":
            continue
        key = "bbox" if "bbox" in row else "box_coordinates"
        where = _numbers(row.get(key)) or []
        polygon = row.get("box_type") == "polygon"
        fits = (where and len(where) % 2 == 0) if polygon else len(where) == 4
        if not fits:
            raise InputError(f"row {number} has no {key} that says where: {_short(row.get(key))}", file=file, mend=ROWS)
    return rows


def read_predictions(file: Path) -> list[list[float] | None]:
    """Predictions for `score`. Raises InputError, which names the file, the row and what it should be."""
    found: list[list[float] | None] = []
    for number, given in enumerate(_read_list(file, PREDICTIONS), 1):
        prediction = _numbers(given)
        if given is not None and (prediction is None or len(prediction) not in (2, 4)):
            raise InputError(f"row {number} is no prediction: {_short(given)}", file=file, mend=PREDICTIONS)
        found.append(prediction)
    return found


def _read_list(file: Path, mend: str) -> list[Any]:
    try:
        found = json.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"no JSON: {error}", file=file, line=getattr(error, "lineno", None), mend=mend) from None
    if not isinstance(found, list):
        raise InputError("no list", file=file, mend=mend)
    return found


def _numbers(value: object) -> list[float] | None:
    """A list of numbers, or of texts of such; None for anything else."""
    try:
        return [float(each) for each in value] if isinstance(value, list) else None
    except (TypeError, ValueError, OverflowError):
        return None


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
