"""Artifacts and snapshots: files by content, with the place they have in the guest's home."""

from __future__ import annotations

import itertools
import posixpath
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, Field, SerializerFunctionWrapHandler, field_validator, model_serializer

from forge.records.base import Record


def _guest_path(value: str) -> str:
    """A path below the guest's home, `~/...`, normalised; absolute paths and `..` are refused."""
    if not value.startswith("~/") or value == "~/" or ".." in value.split("/") or "\0" in value:
        raise ValueError(f"{value!r} is no path below the guest's home; write ~/...")
    if posixpath.normpath(value) != value:
        raise ValueError(f"{value!r} is not a normal path; write {posixpath.normpath(value)!r}")
    return value


GuestPath = Annotated[str, AfterValidator(_guest_path)]
"""A path in the guest, always written `~/...`."""


class Role(StrEnum):
    """Who may see an artifact."""

    VISIBLE = "visible"
    """part of the desktop that the agent works on"""
    HIDDEN = "hidden"
    """used by set-up only, gone when the agent starts"""
    GOLD = "gold"
    """for graders only; never inside the guest before the agent has stopped"""


class Artifact(Record):
    """One file of a task's initial state, by content."""

    path: GuestPath
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="content; of the empty string for a folder")
    size: int = Field(ge=0, description="bytes")
    role: Role = Role.VISIBLE
    mode: int = Field(0o644, description="permission bits")
    folder: bool = Field(False, description="an (empty) folder instead of a file")
    preparer: str = Field("", description="the preparer that wrote it")
    mtime: int | None = Field(
        None,
        description="when it was last changed, seconds since 1970 by the guest's clock; None: when the guest's began",
    )

    @model_serializer(mode="wrap")
    def _without_no_time(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without a time that is not there: the records, and digests, of tasks whose files have none stay what they are."""
        values: dict[str, Any] = dump(self)
        if values.get("mtime") is None:
            values.pop("mtime", None)
        return values


class FileEntry(Record):
    """One entry of a snapshot: a file, a folder or a symbolic link (never followed)."""

    path: GuestPath
    kind: str = Field("file", pattern="^(file|folder|link)$")
    sha256: str | None = None
    size: int = 0
    mode: int = 0o644
    target: str | None = Field(None, description="where a link points to, as written")


class Snapshot(Record):
    """The guest's home at one moment, sorted by path whatever order it is given in. Its digest names a final state."""

    entries: tuple[FileEntry, ...] = ()

    @field_validator("entries")
    @classmethod
    def _sorted_and_apart(cls, value: tuple[FileEntry, ...]) -> tuple[FileEntry, ...]:
        ordered = tuple(sorted(value, key=lambda entry: entry.path))
        for one, two in itertools.pairwise(ordered):
            if one.path == two.path:
                raise ValueError(f"a snapshot holds {one.path!r} once, not twice")
        return ordered
