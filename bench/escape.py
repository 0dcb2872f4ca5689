"""`python -m bench.escape`: every attack of the escape suite, with its protection and without it.

Exhaustion is tried with lowered limits, and without the protection only with higher ones.
"""

from __future__ import annotations

import argparse
import json
import sys

from tests.forge.desktop.escape.attack import Outcome, outcome
from tests.forge.desktop.escape.table import ATTACKS

COLUMNS = ("area", "attack", "from", "protection", "without it", "with it")


def row(found: Outcome) -> tuple[str, ...]:
    """An outcome as a line of the table."""
    attack = found.attack
    return (
        attack.area,
        attack.name,
        attack.where,
        attack.protection,
        "succeeds" if found.bites else "FAILS TOO",
        "held" if found.held else "SUCCEEDS",
    )


def markdown(rows: list[tuple[str, ...]]) -> str:
    """The table for docs/sealed.md."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    return "\n".join([*lines, *("| " + " | ".join(each) + " |" for each in rows)])


def main() -> int:
    """Try them all; 1 when one succeeded, or one does not bite; 2 when there is none to try."""
    parser = argparse.ArgumentParser(description=__doc__)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--markdown", action="store_true", help="print a table for a page")
    parser.add_argument("--only", default="", help="attacks whose name or area contains this")
    chosen = parser.parse_args()
    wanted = [attack for attack in ATTACKS if chosen.only in attack.name or chosen.only in attack.area]
    if not wanted:
        areas = ", ".join(sorted({attack.area for attack in ATTACKS}))
        parser.error(f"no attack's name or area contains {chosen.only!r}; the areas are {areas}")
    found = []
    for attack in wanted:
        print(f"{attack.area}: {attack.name}", file=sys.stderr)
        found.append(outcome(attack))
    rows = [row(each) for each in found]
    if chosen.json:
        print(json.dumps([dict(zip(COLUMNS, each, strict=True)) for each in rows], indent=2))
    elif chosen.markdown:
        print(markdown(rows))
    else:
        from rounds.terminal import print_table

        print_table("Attacks", COLUMNS, rows)
    succeeded, harmless = sum(not each.held for each in found), sum(not each.bites for each in found)
    print(f"{len(found)} attacks, {succeeded} succeeded, {harmless} that do not bite", file=sys.stderr)
    return 1 if succeeded or harmless else 0


if __name__ == "__main__":
    sys.exit(main())
