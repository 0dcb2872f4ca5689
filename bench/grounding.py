"""`python -m bench.grounding`: how many pairs the warehouse of the settings holds, and how fast screens are taken and paired."""

from __future__ import annotations

import time

from bench.report import Figure, options, show
from forge.desktop import Slot
from forge.harness.grounding.explorer import Explorer
from forge.harness.grounding.pairing import Screen, pairs_of
from forge.records import Style
from rounds.workshop import Workshop
from warehouse import grounding


def main() -> None:
    """Count, then walk the editor's menus once for the rates; run `forge grounding harvest` before for the counts."""
    chosen = options(__doc__ or "")
    with Workshop() as workshop, workshop.warehouse.read() as connection:
        counts = grounding.counts(connection)
    refused = sum(row[Style.REFUSAL.value] for row in counts)
    pairs = sum(row["pairs"] for row in counts)
    figures = [
        Figure("applications", len(counts), "", ">= 8"),
        Figure("screens", sum(row["screens"] for row in counts), ""),
        Figure("distinct targets", sum(row["targets"] for row in counts), "", ">= 5000"),
        Figure("pairs with a box", pairs - refused, "", ">= 20000"),
        Figure("refusals", refused, ""),
        Figure("most uses of one target", max((row["most"] for row in counts), default=0), "", "<= 5"),
    ]
    show([*figures, *_rates(("File",) if chosen.quick else ())], as_json=chosen.json)


def _rates(menus: tuple[str, ...]) -> list[Figure]:
    with Slot.open() as slot:
        slot.launch("editor")
        explorer = Explorer(slot, "editor")
        began = time.perf_counter()
        explorer.menus(*menus)
        walked = time.perf_counter() - began
    screens = [Screen(f"{n:04}", f"{n:064x}", found.sight) for n, found in enumerate(explorer.found)]
    began = time.perf_counter()
    pairs = pairs_of(screens)
    paired = time.perf_counter() - began
    return [
        Figure("seconds a screen, walking", walked / max(1, len(screens)), "s"),
        Figure("pairs a minute of walking", 60 * len(pairs) / walked, ""),
        Figure("pairing, a screen", 1000 * paired / max(1, len(screens)), "ms"),
    ]


if __name__ == "__main__":
    main()
