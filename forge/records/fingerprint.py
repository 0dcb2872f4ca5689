"""Fingerprints: what a result depends on outside the task, so that one query says what to probe again."""

from __future__ import annotations

from pydantic import Field

from forge.records.base import Record


class Fingerprint(Record):
    """Versions of everything under a result; its digest stands on every probe and trajectory."""

    applications: dict[str, str] = Field(default_factory=dict, description="package to version")
    fonts: str = Field("", description="hash of the installed fonts' list")
    locale: str = ""
    layers: dict[str, str] = Field(default_factory=dict, description="box layer to content hash")
    checks: dict[str, int] = Field(default_factory=dict, description="check to version")
