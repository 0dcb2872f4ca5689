"""`python -m bench.round`: what the warehouse of the settings says of its rounds: rates, and where an episode's time goes."""

from __future__ import annotations

import statistics

from bench.report import Figure, options, show
from rounds.workshop import Workshop


def main() -> None:
    """Read the figures; run `make round` before."""
    chosen = options(__doc__ or "")
    with Workshop() as workshop:
        stats = workshop.warehouse.stats()
        timings = [workshop.warehouse.trajectory(i).timings for i in workshop.warehouse.trajectory_ids()]
    probes = stats["probes"]
    figures = [
        Figure("accepted tasks", stats["tasks"]["accepted"], "tasks"),
        Figure("rejected tasks", stats["tasks"]["rejected"], "tasks"),
    ]
    for name, key, target in (
        ("no-op false positives", "noop_false_positives", "<= 0"),
        ("oracle pass rate", "oracle_pass_rate", ">= 1"),
        ("near-misses killed", "near_miss_kill_rate", ">= 0.99"),
        ("audit mutants killed", "audit_kill_rate", ">= 0.97"),
        ("over-edits caught", "over_edit_recall", ">= 1"),
    ):
        if probes[key] is not None:
            figures.append(Figure(name, probes[key], "of all candidates", target))
    whole = [t for t in timings if "total" in t]
    if whole:
        figures.append(Figure("episode, median", statistics.median(t["total"] for t in whole), "s"))
        figures.append(Figure("dead time of an episode, median", statistics.median(map(dead_time, whole)), "s", "<= 2"))
    show(figures, as_json=chosen.json)


def dead_time(timings: dict[str, float]) -> float:
    """Seconds of an episode that neither an application, nor settling, nor the teacher needed."""
    return timings["total"] - sum(timings.get(part, 0.0) for part in ("open", "act", "settle", "model"))


if __name__ == "__main__":
    main()
