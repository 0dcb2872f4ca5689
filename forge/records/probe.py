"""Probes: the evidence on which a task is accepted. Rows, never opinions."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from forge.records.base import Record
from forge.records.verdict import Verdict


class ProbeKind(StrEnum):
    NOOP = "noop"
    """the untouched state, answered with `done success`: must score 0"""
    SOLUTION = "solution"
    """a declared solution from a fresh state: must score 1"""
    NEAR_MISS = "near_miss"
    """the solved state, spoiled in one place: must lose what it breaks"""
    AUDIT = "audit"
    """a near-miss of a kind that acceptance never uses; only for reported rates"""
    OVER_EDIT = "over_edit"
    """the solved state with something else changed as well: must trip a `must_not`"""
    GATE = "gate"
    """a property of the task itself: determinism, consistent facts, no near-duplicate, no leakage"""


class NearMiss(Record):
    """A spoiled state: which criterion it is meant to break (empty: any), and how it came about."""

    name: str
    breaks: tuple[str, ...] = Field((), description="criterion ids that must lose; empty: the score must be below 1")
    only: bool = Field(False, description="every other criterion must keep its score")
    note: str = ""


class Probe(Record):
    """One piece of evidence about one task, under one fingerprint."""

    task: str
    kind: ProbeKind
    name: str = Field(description="unique within the task and kind, e.g. terminal#2 or total:hard-coded-value")
    expected: str = Field(description="what had to be true, in words")
    passed: bool
    dropped: bool = Field(False, description="a near-miss that is by chance a right state; listed, never counted")
    score: float | None = None
    verdict: Verdict | None = None
    near_miss: NearMiss | None = None
    evidence: str = ""
    fingerprint: str = ""
    seconds: float = 0.0
