"""The guest: what the desktop believes about time, place and screen. Fixed by the task, so that a task never ages."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field, field_validator

from forge.records.base import Record

USER = "alex"
"""The guest's user name. Its home is `/home/alex`; paths in tasks are written `~/...`."""


class Guest(Record):
    """The guest's clock, time zone, locale and screen size.

    The clock is the local wall time at which the episode begins; it runs on from there.
    """

    clock: str = Field("2026-03-16T09:30:00", description="local wall time at the start, ISO 8601 without offset")
    timezone: str = Field("Europe/Berlin", description="IANA time zone")
    locale: str = Field(
        "en_US.UTF-8", description="POSIX locale of the session; C.UTF-8 and en_US.UTF-8 are always there"
    )
    width: int = Field(1280, ge=640, le=7680, description="screen width in pixels")
    height: int = Field(800, ge=480, le=4320, description="screen height in pixels")

    @field_validator("clock")
    @classmethod
    def _clock_is_local(cls, value: str) -> str:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is not None:
            raise ValueError("the clock is local wall time without an offset, e.g. 2026-03-16T09:30:00")
        return moment.isoformat(timespec="seconds")

    @property
    def now(self) -> datetime:
        """The clock as a naive datetime."""
        return datetime.fromisoformat(self.clock)
