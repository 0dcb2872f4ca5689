"""One error tree. An error names the thing, what was wrong and how to mend it; its class says whose fault it is."""

from __future__ import annotations

from pathlib import Path


class ForgeError(Exception):
    """The root of all errors that Forge raises on purpose.

    Args:
        message: what went wrong, naming the thing.
        mend: how to put it right, if that is known.
    """

    def __init__(self, message: str, *, mend: str | None = None):
        super().__init__(message)
        self.message = message
        self.mend = mend

    def __str__(self) -> str:
        return f"{self.message}\n  mend: {self.mend}" if self.mend else self.message


class InputError(ForgeError):
    """Bad input by a person: a workflow, a preset, an option. Carries the file and the line where they are known.

    Args:
        message: what is wrong.
        file: the file it stands in.
        line: the line, counted from 1.
        mend: how to put it right.
    """

    def __init__(
        self, message: str, *, file: str | Path | None = None, line: int | None = None, mend: str | None = None
    ):
        place = "" if file is None else f"{file}:{line}: " if line is not None else f"{file}: "
        super().__init__(place + message, mend=mend)
        self.file = None if file is None else str(file)
        self.line = line


class ModelError(ForgeError):
    """A language-model endpoint failed or answered something unusable."""


class BudgetError(ModelError):
    """A budget in tokens or money is used up; finished work is kept."""


class DesktopError(ForgeError):
    """A slot, box, display or application failed: an infrastructure fault, never a failure of the agent."""


class ExhaustedError(DesktopError):
    """A slot ended because the guest used up what it may use of the host, or broke it: the agent's doing, not a fault."""


class PreparerError(ForgeError):
    """A preparer could not materialize its artifacts, or an artifact is not what it should be."""


class VerifierError(ForgeError):
    """A grader could not reach a verdict; recorded as `grader_error`, never as score 0."""


class HarnessError(ForgeError):
    """A harness is broken: an unknown tool, a prompt that does not render, a dialect that cannot carry an action."""


class WarehouseError(ForgeError):
    """The warehouse or its blob store cannot be read or written, or a claim was lost."""
