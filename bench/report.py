"""How a bench prints: a table of figures with their targets, or JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One measured figure. `target` is a bound that a person set: "<= 2.5", ">= 0.5", or empty."""

    name: str
    value: float
    unit: str
    target: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one."""
        if not self.target:
            return None
        relation, bound = self.target.split()
        return self.value <= float(bound) if relation == "<=" else self.value >= float(bound)


def options(description: str) -> argparse.Namespace:
    """The options that every bench takes: --json, --quick."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    return parser.parse_args()


def show(figures: Sequence[Figure], *, as_json: bool, more: Mapping[str, Any] | None = None) -> None:
    """Print the figures, which have different names; in JSON with `more` beside them."""
    if as_json:
        json.dump({f.name: {**asdict(f), "met": f.met} for f in figures} | dict(more or {}), sys.stdout, indent=2)
        print()
        return
    from rounds.terminal import print_table

    rows = [
        (f.name, round(f.value, 3), f.unit, f.target, {None: "", True: "met", False: "MISSED"}[f.met]) for f in figures
    ]
    print_table("", ["figure", "value", "unit", "target", ""], rows)
