"""What a check is: (final state, answer, done status) -> a score with evidence; and how it can be spoiled on purpose."""

from __future__ import annotations

import os
import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from forge.desktop.office import OfficeClient
from forge.records import ForgeError, Guest, InputError, PreparerError, Registry, VerifierError
from forge.records.guest import USER

GUEST_HOME = f"/home/{USER}"
"""The home as the guest itself writes it, in links for instance."""


class Args(BaseModel):
    """Base of a check's arguments: frozen, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class AgentFault(ForgeError):
    """What the agent left behind cannot be read (missing, corrupt, a link out of the home): evidence of failure, score 0.

    The opposite of VerifierError, PreparerError and DesktopError, which are the grader's or the machine's fault and
    become `grader_error`. Raised on the agent's side of a case only, by `Tree.path`, `Tree.read` and `Tree.reading`.
    """


@dataclass(frozen=True)
class Tree:
    """A guest's home laid out in a folder of the host, read without following symbolic links out of it.

    Args:
        root: the folder of the host that holds the home.
        agents: whether an agent wrote it. `grade` sets this on `Case.after`: there an unreadable file is the agent's
            failure (AgentFault), anywhere else it is ours (PreparerError).
    """

    root: Path
    agents: bool = False

    def path(self, guest_path: str) -> Path:
        """The host path of `~/...`, links inside the home followed (also those written `/home/alex/...`).

        Raises:
            VerifierError: `guest_path` itself is no path below the home.
            AgentFault, PreparerError: a symbolic link leads out of the home or in a circle.
        """
        if not guest_path.startswith("~/") or ".." in guest_path.split("/"):
            raise VerifierError(f"{guest_path!r} is no path below the guest's home; write ~/...")
        here, hops = self.root, 0
        pending = deque(guest_path[2:].split("/"))
        while pending:
            part = pending.popleft()
            if part in ("", "."):
                continue
            if part == "..":
                if here == self.root:
                    raise self.fault(f"{guest_path!r} leads out of the guest's home through a symbolic link")
                here = here.parent
                continue
            step = here / part
            if not step.is_symlink():
                here = step
                continue
            hops += 1
            target = os.readlink(step)
            if target == GUEST_HOME or target.startswith(f"{GUEST_HOME}/"):
                here, target = self.root, target[len(GUEST_HOME) + 1 :]
            elif target.startswith("/"):
                raise self.fault(f"{guest_path!r} leads out of the guest's home through a symbolic link")
            if hops > 40:
                raise self.fault(f"{guest_path!r} goes through symbolic links in a circle")
            pending.extendleft(reversed(target.split("/")))
        return here

    def exists(self, guest_path: str) -> bool:
        """Whether a file or folder is there."""
        return self.path(guest_path).exists()

    def read(self, guest_path: str, limit: int = 64 * 2**20) -> bytes | None:
        """The bytes of a file, or None when there is none.

        Raises:
            AgentFault, PreparerError: it has more than `limit` bytes, or may not be read.
        """
        path = self.path(guest_path)
        if not path.is_file():
            return None
        if path.stat().st_size > limit:
            raise self.fault(f"{guest_path} has {path.stat().st_size} bytes, more than the {limit} a grader reads")
        try:
            return path.read_bytes()
        except PermissionError:
            raise self.fault(f"{guest_path} may not be read (mode {path.stat().st_mode & 0o777:03o})") from None

    @contextmanager
    def reading(self, guest_path: str) -> Iterator[Path]:
        """Read a file (or a folder such as a mail profile) with whatever raises PreparerError on a bad one.

            with case.after.reading("~/Documents/a.xlsx") as path:
                values = case.office.values(path.read_bytes(), ".xlsx")

        Yields the host path. On the agent's side a PreparerError inside, and a file that is not there, become
        AgentFault; on every other side they stay PreparerErrors. All other exceptions pass: they are the grader's fault.
        """
        path = self.path(guest_path)
        if not path.exists():
            raise self.fault(f"{guest_path} does not exist")
        try:
            yield path
        except PreparerError as error:
            if not self.agents:
                raise
            raise AgentFault(f"{guest_path} cannot be read: {error.message}") from error

    def fault(self, message: str) -> ForgeError:
        """The error to raise for something unreadable in this home: AgentFault on the agent's side, else PreparerError."""
        return AgentFault(message) if self.agents else PreparerError(message)


@dataclass(frozen=True)
class Case:
    """All that a grader may read: the home before and after, gold artifacts, the answer, the done status."""

    before: Tree
    after: Tree
    gold: Tree | None = None
    answer: str | None = None
    status: str = "success"
    guest: Guest = field(default_factory=Guest)
    office: OfficeClient | None = None


@dataclass(frozen=True)
class Finding:
    """What a check found: a score in [0, 1] and a sentence or two of evidence, with the values compared."""

    score: float
    evidence: str


@dataclass(frozen=True)
class Mutant:
    """One way to spoil a solved state.

    Args:
        name: short and unique within the criterion: "hard-coded-value".
        apply: changes the files below the given home folder in place; None when only the answer changes.
        answer: the answer to give instead; None keeps the solution's.
        status: the done status to give instead.
        only: every other criterion must keep its score.
        audit: of a kind that acceptance never uses; counted in the audit rate only.
    """

    name: str
    apply: Callable[[Path], None] | None = None
    answer: str | None = None
    status: str | None = None
    only: bool = True
    audit: bool = False
    note: str = ""


CheckFunction = Callable[[Case, Any], Finding]
MutantFunction = Callable[[Case, Any, random.Random], Iterable[Mutant]]


@dataclass
class Check:
    """A registered check: its function, its arguments' model, its version, and its mutants.

    The mutants of a `must` are near-misses; those of a `must_not` are over-edits. A change of what a check says of any
    state raises its version, so that a fingerprint tells old verdicts from new ones.
    """

    name: str
    run: CheckFunction
    args: type[Args]
    version: int
    summary: str
    mutants: MutantFunction | None = None

    def validate(self, values: dict[str, Any]) -> Any:
        """Check raw arguments. Raises InputError naming the check and the argument."""
        try:
            return self.args.model_validate(values)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "arguments"
            raise InputError(
                f"check {self.name}: {where}: {first['msg']} (got {str(first.get('input'))[:80]!r})",
                mend=f"its arguments are {', '.join(self.args.model_fields)}",
            ) from None


CHECKS: Registry[Check] = Registry("check", "forge.checks")
"""All checks by name, `application.property`: `calc.cell_value`, `mail.in_folder`, `files.content`."""


def check(name: str, args: type[Args], *, version: int = 1) -> Callable[[CheckFunction], CheckFunction]:
    """Register a check. The function's docstring says what it compares; its first line is shown in listings."""

    def register(function: CheckFunction) -> CheckFunction:
        summary = (function.__doc__ or "").strip().split("\n")[0]
        CHECKS.add(name, Check(name, function, args, version, summary))
        return function

    return register


def mutants(name: str) -> Callable[[MutantFunction], MutantFunction]:
    """Register how states are spoiled for the check `name`.

    The function gets the solved case (`case.after` is the solved home), the arguments, and a seeded generator; it yields
    mutants that differ from the solved state in one place each. At least one has `only=True`, at least one `audit=True`.
    """

    def register(function: MutantFunction) -> MutantFunction:
        CHECKS.get(name).mutants = function
        return function

    return register
