"""What models cost, by name, from prices.yaml: what endpoints charge that do not state their own prices."""

from __future__ import annotations

import fnmatch
from functools import cache
from pathlib import Path

import yaml

from forge.llm.endpoint import Prices

FILE = Path(__file__).parent / "prices.yaml"


def price_of(model: str) -> Prices | None:
    """The price of a model, or None when it is not listed. The longest pattern that matches counts."""
    name = model.rsplit("/", 1)[-1].lower()
    patterns = [pattern for pattern in _table() if fnmatch.fnmatchcase(name, pattern)]
    return _table()[max(patterns, key=len)] if patterns else None


@cache
def _table() -> dict[str, Prices]:
    listed = yaml.safe_load(FILE.read_text("utf-8"))["models"]
    return {name: Prices.model_validate(prices) for name, prices in listed.items()}
