"""Which criteria no near-miss broke alone, and what was tried: the evidence behind `criterion_uncovered`."""

from __future__ import annotations

from collections.abc import Iterable

from forge.records import Probe, ProbeKind, Rubric

SHOWN = 8
"""Near-misses that are listed for one criterion."""


def uncovered(rubric: Rubric, probes: Iterable[Probe]) -> dict[str, str]:
    """Every `must` that no near-miss broke alone, with all that was tried and what each scored.

    Args:
        rubric: the task's.
        probes: the task's file-level probes. Without a solution that passed nothing was spoiled, and nothing is told.

    Returns:
        Criterion id to a sentence; empty when all are covered.
    """
    found = list(probes)
    if not any(p.kind is ProbeKind.SOLUTION and p.passed for p in found):
        return {}
    tried: dict[str, list[Probe]] = {c.id: [] for c in rubric.criteria if c.kind == "must"}
    for probe in found:
        if probe.kind is ProbeKind.NEAR_MISS and probe.near_miss is not None:
            for name in set(probe.near_miss.breaks) & tried.keys():
                tried[name].append(probe)
    checks = {c.id: c.check for c in rubric.criteria}
    return {
        name: f"no near-miss broke {name} ({checks[name]}) alone; tried: {_listed(name, those)}"
        for name, those in tried.items()
        if not any(_broke_alone(probe) for probe in those)
    }


def _broke_alone(probe: Probe) -> bool:
    miss = probe.near_miss
    alone = miss is not None and miss.only and len(miss.breaks) == 1
    return alone and probe.passed and not probe.dropped and probe.score is not None and probe.score < 1


def _listed(name: str, probes: list[Probe]) -> str:
    if not probes:
        return "none, its check found nothing to spoil in the solved state"
    told = [f"{p.name.removeprefix(f'{name}:')} ({_came_to(name, p)})" for p in probes[:SHOWN]]
    return "; ".join(told) + (f" and {len(probes) - SHOWN} more" if len(probes) > SHOWN else "")


def _came_to(name: str, probe: Probe) -> str:
    """What a near-miss scored, and why it does not count."""
    if probe.dropped:
        return "by chance the solved state"
    score = "no score" if probe.score is None else f"score {probe.score:g}"
    own = next((c.score for c in probe.verdict.criteria if c.criterion == name), None) if probe.verdict else None
    if own is not None:
        score += f", {name} itself {own:g}"
    if probe.passed:
        return f"{score}; it may break others too and does not count"
    return f"{score}: {probe.evidence[:200]}"
