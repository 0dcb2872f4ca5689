"""What a teacher is: it sees an episode so far and says what to call next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from forge.harness.dialects import Call
from forge.harness.environment import NO_HINT, Environment, Hint
from forge.records import ActionRecord, Harness, Observation, Provenance, Registry, Task, Turn, Usage


@dataclass(frozen=True)
class View:
    """An episode as it stands before the next turn. `task` is the task's id."""

    harness: Harness
    task: str
    instruction: str
    turns: tuple[Turn, ...]
    actions: tuple[ActionRecord, ...]
    observation: Observation


@dataclass(frozen=True)
class Response:
    """What a teacher answers: text and tool calls on the wire, and what is known of how they came about.

    Args:
        text: the raw response; of an oracle the step it plays.
        calls: in the order in which they are to run.
        hints: one a call, or none at all; see `Hint`. Models give none.
        tokens: token ids and log-probabilities, where the server gave them; stored as a blob.
        error: why a teacher that ends the episode gives up; kept with the trajectory.
    """

    text: str = ""
    thought: str = ""
    calls: tuple[Call, ...] = ()
    hints: tuple[Hint, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    call_id: str | None = None
    tokens: bytes | None = None
    error: str | None = None

    def hint(self, position: int) -> Hint:
        """The hint of the call at `position`; the last call of a turn always settles fully."""
        hint = self.hints[position] if position < len(self.hints) else NO_HINT
        return hint if position < len(self.calls) - 1 else Hint(hint.element, hint.until)


class Teacher(Protocol):
    """Whoever acts: a model, the oracle, a person."""

    name: str
    provenance: ClassVar[Provenance]

    async def respond(self, view: View) -> Response:
        """The next turn.

        Raises:
            ModelError: the model failed for good.
            DesktopError: the desktop failed while the teacher looked at it.
        """
        ...


@dataclass(frozen=True)
class Cast:
    """All that a teacher may be made from; each takes what it needs.

    Args:
        task: the oracle knows its solutions; a model sees the instruction alone.
        environment: the oracle looks behind the screen through it.
        get_blob: screenshots by SHA-256.
        llm: a `forge.llm.Client`, for teachers that are models.
        options: more, by the teacher's own names.
    """

    task: Task
    harness: Harness
    environment: Environment
    get_blob: Callable[[str], bytes]
    llm: Any = None
    options: dict[str, Any] = field(default_factory=dict)


TEACHERS: Registry[Callable[[Cast], Teacher]] = Registry("teacher", "forge.teachers")
"""How to make each teacher, by name: `TEACHERS.get("oracle")(cast)`. One instance plays one episode."""


def teacher(name: str) -> Callable[[Callable[[Cast], Teacher]], Callable[[Cast], Teacher]]:
    """Register a function that makes a teacher."""
    return lambda make: TEACHERS.add(name, make)
