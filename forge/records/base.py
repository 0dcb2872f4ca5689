"""The base of every record: a frozen pydantic model that knows its canonical JSON and its digest."""

from __future__ import annotations

from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict

from forge.records.canonical import canonical_json, digest

JSON: TypeAlias = Any
"""A JSON value: null, bool, int, float, str, list or dict with string keys. Checked when it is hashed."""


class Record(BaseModel):
    """Frozen data without behaviour. Unknown fields are refused, so that a misspelt key is an error and not a default."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values (enums and tuples resolved), ready for a column, a file or a hash."""
        return self.model_dump(mode="json")

    def canonical(self) -> str:
        """The record's one canonical JSON text; see `forge.records.canonical.canonical_json`.

        Raises:
            TypeError, ValueError: a field of free JSON holds something else, a set or NaN for instance.
        """
        return canonical_json(self.model_dump())

    def digest(self) -> str:
        """Hex SHA-256 of the canonical JSON text: the same for equal content on every machine and Python."""
        return digest(self.model_dump())
