"""What trying a draft came to, in words for its author: each fault once, with the draws that have it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from skills.authoring.port import Performed, Smoke, Tried

FAULTS = 8
"""Kinds of faults that are told at once; they are rarely independent."""
LINE = 900
"""Characters of one fault."""

_VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|~?/[^\s;,]+|[\d.,:-]*\d")


def report(smoke: Smoke) -> str:
    """A smoke batch in words."""
    accepted = sum(t.accepted for t in smoke.tried)
    lines = [f"{accepted} of {len(smoke.tried)} draws pass all gates and probes on files."]
    lines += [f"BROKEN: {line[:LINE]}" for line in smoke.broken[:FAULTS]]
    lines += _scripts(smoke.tried)
    lines += _faults(smoke)
    lines += _wordings(smoke.tried)
    lines += [_played(p) for p in smoke.performed]
    if smoke.unplayed:
        lines.append(f"Not yet won on the desktop: {', '.join(smoke.unplayed)}")
    return "\n".join([*lines, *(f"Fault of the machine, not yours: {fault[:LINE]}" for fault in smoke.faults)])


def rejected(tried: Sequence[Tried]) -> str:
    """The draws that were not accepted, in a line; empty when all were."""
    lost = [t for t in tried if not t.accepted]
    why = "; ".join(f"draw {t.number}: {_short(', '.join(t.reasons), 200)}" for t in lost)
    return f"{len(lost)} of {len(tried)} draws were rejected: {why}." if lost else ""


def picture(smoke: Smoke) -> bytes | None:
    """The desktop when a solution failed, the latest."""
    return next((p.png for p in reversed(smoke.performed) if p.failed and p.png is not None), None)


def numbers(found: Iterable[int]) -> str:
    """`draw 3`, `draws 0, 2 and 5`."""
    listed = [str(n) for n in sorted(set(found))]
    return f"draw {listed[0]}" if len(listed) == 1 else f"draws {', '.join(listed[:-1])} and {listed[-1]}"


def _scripts(tried: Sequence[Tried]) -> list[str]:
    """How the terminal solution fails, each way once."""
    ways: dict[str, list[Tried]] = {}
    for each in tried:
        if each.script:
            ways.setdefault(_same(each.script), []).append(each)
    return [
        f"The terminal solution fails on {numbers(t.number for t in group)}: {group[0].script}"
        for group in list(ways.values())[:3]
    ]


def _faults(smoke: Smoke) -> list[str]:
    """Red probes and gates: kind, expectation and evidence of the first draw that has it; on which others it is alike."""
    kinds: dict[str, list[tuple[Tried, str]]] = {}
    for tried in smoke.tried:
        for line in tried.evidence:
            kinds.setdefault(_same(line), []).append((tried, line))
    found = []
    for group in list(kinds.values())[:FAULTS]:
        line = group[0][1]
        red = "RED" if any(line in smoke.red for _, line in group) else "Not accepted"
        found.append(f"{red} on {numbers(t.number for t, _ in group)}: {_short(line, LINE)}")
    told = {line for tried in smoke.tried for line in tried.evidence}
    found += [f"RED: {_short(line, LINE)}" for line in smoke.red if line not in told][:FAULTS]
    found += [f"Not accepted: {rejected([t])}" for t in smoke.tried if not (t.accepted or t.evidence or smoke.red)]
    more = len(kinds) - FAULTS
    return [*found, f"[{more} further kinds of faults]"] if more > 0 else found


def _wordings(tried: Sequence[Tried]) -> list[str]:
    """What the first rejected draws ask for."""
    return [f"Draw {t.number} reads: {_short(t.instruction, 200)!r}" for t in tried if not t.accepted][:3]


def _played(played: Performed) -> str:
    what = f"Played: the {played.channel} solution under the harness {played.harness}: reward {played.reward}."
    said = [_short(played.error, 1500), _short(played.evidence, 700)]
    seen = "The picture shows the desktop when it failed." if played.failed and played.png is not None else ""
    return " ".join(part for part in (what, *said, seen) if part)


def _same(line: str) -> str:
    """A line without what differs from draw to draw and from run to run."""
    return _VARYING.sub("*", line)[:400]


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]} [...]"
