"""What a preparer is: typed parameters in, real files out, and facts that anybody can read back from the bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from forge.desktop.office import OfficeClient
from forge.records import JSON, Guest, PreparerError, Registry, Role


class Params(BaseModel):
    """Base of a preparer's parameters: frozen, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


P = TypeVar("P", bound=Params)


@dataclass(frozen=True)
class PreparedFile:
    """One file (or empty folder) for the guest's home; `path` is written `~/...`.

    `mtime` is when it was last changed, seconds since 1970; None: the guest's clock at the start.
    """

    path: str
    data: bytes = b""
    role: Role = Role.VISIBLE
    mode: int = 0o644
    folder: bool = False
    mtime: int | None = None


@dataclass(frozen=True)
class Prepared:
    """What a preparer made: files, and the facts that hold of them (JSON values, referred to as `${node.key}`)."""

    files: tuple[PreparedFile, ...]
    facts: dict[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True)
class Context:
    """What a preparer may know besides its parameters.

    `office` computes what real LibreOffice computes; it may be None where no formula is involved.
    """

    guest: Guest = field(default_factory=Guest)
    office: OfficeClient | None = None


class Preparer(ABC, Generic[P]):
    """One kind of artifact. Laws, shown by property tests for every preparer:

    - `inspect(lay(prepare(params).files), params) == facts(params)`, where `inspect` reads only the bytes, with another
      library than the writer's;
    - the same parameters give the same bytes, time stamps inside containers included.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    params: ClassVar[type[Params]]
    example: ClassVar[str] = ""
    """Its parameters as they stand in a workflow, YAML; short, and such that it can be prepared without an office."""
    example_facts: ClassVar[dict[str, JSON]] = {}
    """Some facts of what the example makes, as `${...}` refers to them below the node's name."""

    @abstractmethod
    def prepare(self, params: P, context: Context) -> Prepared:
        """Make the files. Raises PreparerError when the parameters cannot be materialized."""

    @abstractmethod
    def facts(self, params: P, context: Context) -> dict[str, JSON]:
        """What must be true of the files, computed from the parameters alone (formula values by LibreOffice)."""

    @abstractmethod
    def inspect(self, home: Path, params: P) -> dict[str, JSON]:
        """Read the facts back from the files below `home`; `params` says only where they are.

        Raises PreparerError, naming the file and what is wrong with it, when a file is missing or corrupt.
        """

    def values(self) -> str:
        """What can stand in its parameters where their types do not say it, as Markdown; empty where they do."""
        return ""

    def validate(self, values: dict[str, Any]) -> P:
        """Check raw parameters. Raises PreparerError naming the preparer, the parameter and what it should be."""
        if (odd := _no_text(values, "")) is not None:
            raise PreparerError(
                f"preparer {self.name}: {odd} holds half of a character pair (a lone surrogate), which no file can hold",
                mend="cut texts between characters, not inside an emoji",
            )
        try:
            return self.params.model_validate(values)  # type: ignore[return-value]
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "parameters"
            raise PreparerError(
                f"preparer {self.name}: {where}: {first['msg']} (got {str(first.get('input'))[:80]!r})",
                mend=f"its parameters are {', '.join(self.params.model_fields)}",
            ) from None


def _no_text(value: Any, at: str) -> str | None:
    """Where there is a text that cannot be encoded; None where there is none."""
    if isinstance(value, dict):
        found = (_no_text(inner, f"{at}.{key}".lstrip(".")) for key, inner in value.items())
        return next((place for place in found if place), None)
    if isinstance(value, list | tuple):
        found = (_no_text(inner, f"{at}.{place}".lstrip(".")) for place, inner in enumerate(value))
        return next((place for place in found if place), None)
    return at or "a text" if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value) else None


PREPARERS: Registry[Preparer[Any]] = Registry("preparer", "forge.preparers")
"""All preparers by name, `application.artifact`: `calc.workbook`, `thunderbird.profile`, `files.tree`."""


def preparer(cls: type[Preparer[Any]]) -> type[Preparer[Any]]:
    """Class decorator: make one instance and register it under its name."""
    PREPARERS.add(cls.name, cls())
    return cls
