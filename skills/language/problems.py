"""Collecting complaints, so that an author sees all of a workflow's faults at once and not one a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from forge.records import InputError
from skills.language.located import Place


class WorkflowError(InputError):
    """A workflow has faults. Shows the first with the rest below it; `file`, `line` and `mend` are the first's.

    Args:
        problems: the faults, in reading order, at least one.
    """

    def __init__(self, problems: list[InputError]):
        first = problems[0]
        super().__init__(first.message, mend=first.mend)
        self.file, self.line = first.file, first.line
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(str(InputError(p.message, mend=p.mend)) for p in self.problems)


class Problems:
    """Gathers InputErrors; `raise_any` raises them together."""

    def __init__(self) -> None:
        self.found: list[InputError] = []

    def add(self, place: Place, message: str, mend: str | None = None) -> None:
        """Note a fault."""
        self.found.append(place.error(message, mend))

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note the InputErrors that the block raises and go on after it."""
        try:
            yield
        except WorkflowError as error:
            self.found.extend(error.problems)
        except InputError as error:
            self.found.append(error)

    def raise_any(self) -> None:
        """Raise WorkflowError if there is any fault: those of one file by their lines, each once."""
        if self.found:
            unique = {(p.message, p.line): p for p in self.found}
            raise WorkflowError(sorted(unique.values(), key=lambda p: (p.file or "", p.line or 0)))
