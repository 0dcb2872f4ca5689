"""What a node is: it reads other values, and makes one JSON value and perhaps files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from forge.records import JSON, Guest, InputError, Registry, digest
from preparers.base import PreparedFile
from skills.banks.pins import Pins
from skills.dice import Dice, seed_of
from skills.kitchen import Kitchen
from skills.language.located import Located, Place
from skills.language.problems import Problems
from skills.language.shapes import Shape


@dataclass(frozen=True)
class Station:
    """Where a node works: the draw it belongs to, and the kitchen.

    Args:
        kitchen: caches, office, box.
        guest: the task's guest.
        parts: what the draw's chance depends on: workflow version, seed, attempt.
        files: whether files are wanted; without them a `prepare` node only states its facts.
        pins: how many written values of each bank the draw may see.
    """

    kitchen: Kitchen
    guest: Guest
    parts: tuple[JSON, ...]
    files: bool = True
    pins: Pins = field(default_factory=Pins)

    def dice(self, node: str) -> Dice:
        """The node's own generator; no other node's draws move it."""
        return Dice(*self.parts, node)

    def seed(self, node: str) -> int:
        """A number that stands for the node in this draw."""
        return seed_of(*self.parts, node)


@dataclass(frozen=True)
class Outcome:
    """What a node made. `preparer` names the writer of the files."""

    value: JSON
    files: tuple[PreparedFile, ...] = ()
    preparer: str = ""


@dataclass(frozen=True)
class Source:
    """Where a workflow is read from: its folder, and the files that became part of it (name to content)."""

    folder: Path
    used: dict[str, bytes] = field(default_factory=dict)

    def read(self, name: str, place: Place, what: str) -> bytes:
        """The bytes of a file beside the workflow. Raises InputError at `place` when it cannot be read."""
        path = self.folder / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise place.error(f"{what} {name!r} must lie beside the workflow", "write its name, without folders above")
        try:
            data = path.read_bytes()
        except OSError as error:
            there = sorted(p.name for p in self.folder.glob(f"*{path.suffix}")) if self.folder.is_dir() else []
            hint = f"beside the workflow lie {', '.join(there)}" if there else "write the file beside the workflow"
            raise place.error(f"{what} {name!r} cannot be read: {error.strerror}", hint) from None
        self.used[name] = data
        return data


class Node(ABC):
    """One parameter or node of a workflow, read and checked.

    Attributes:
        name: as it is referred to.
        place: where it is defined.
        names: the names it reads.
    """

    def __init__(self, name: str, place: Place, names: frozenset[str]):
        self.name = name
        self.place = place
        self.names = names

    @abstractmethod
    def infer(self, scope: Mapping[str, Shape]) -> Shape:
        """The shape of its value. Raises InputError for what can never work."""

    @abstractmethod
    def render(self, scope: Mapping[str, Any]) -> JSON:
        """Its inputs, complete, as JSON. Raises InputError."""

    @abstractmethod
    def run(self, inputs: JSON, station: Station) -> Outcome:
        """Make the value. Raises InputError at its place for bad input; other ForgeErrors for faults around it."""

    def keeps(self, station: Station) -> bool:
        """Whether its results are worth keeping in the cache."""
        return False

    def key(self, inputs: JSON, station: Station) -> str:
        """The hash of all that its result depends on."""
        return digest([type(self).__name__, self.identity, inputs, station.kitchen.stamp])

    @property
    @abstractmethod
    def identity(self) -> JSON:
        """What the node is besides its inputs: versions, code. Part of the workflow's version."""

    @property
    def type(self) -> str:
        """In a word, for listings."""
        return type(self).__name__.lower()

    def error(self, message: str, mend: str | None = None) -> InputError:
        """An InputError at its place that names it."""
        return self.place.error(f"{self.name}: {message}", mend)


@dataclass(frozen=True)
class Reading:
    """What reading a node may use."""

    source: Source
    problems: Problems


class NodeKind(ABC):
    """Reads one kind of node.

    Attributes:
        keys: what its mapping can hold, key to meaning; the catalogue lists them.
        example: `nodes` of a workflow in which it is used, as YAML.
        files: the scripts that the example names.
        gives: the value of the example's last node, as JSON or, where it is long, its beginning.
    """

    name: ClassVar[str]
    keys: ClassVar[dict[str, str]] = {}
    example: ClassVar[str] = ""
    files: ClassVar[dict[str, str]] = {}
    gives: ClassVar[str] = ""

    @abstractmethod
    def read(self, name: str, spec: dict[str, Located], place: Place, reading: Reading) -> Node:
        """The node, from its mapping (which has the key `self.name`). Raises InputError, or notes several problems."""


NODE_KINDS: Registry[NodeKind] = Registry("kind of node", "forge.nodes")
"""All kinds of nodes by the key that names them in `nodes`."""


def node_kind(cls: type[NodeKind]) -> type[NodeKind]:
    """Class decorator: make one instance and register it under its name."""
    NODE_KINDS.add(cls.name, cls())
    return cls


def only_keys(spec: dict[str, Located], known: tuple[str, ...], what: str, problems: Problems) -> None:
    """Note every key that is not known."""
    from skills.language.located import nearest

    for key, value in spec.items():
        if key not in known:
            problems.add(value.place, f"{what} has no {key!r}", nearest(key, known))
