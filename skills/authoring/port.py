"""What the authoring agent needs from the rooms above it: a bench on which drafts are tried for real."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from forge.records import Channel
from skills.drawing import Draw
from skills.workflow import Workflow

ACCEPTANCE = 0.8
"""The share of a smoke batch that must be accepted before a workflow is promoted."""


@dataclass(frozen=True)
class Tried:
    """What became of one draw.

    Attributes:
        seed: of the draw.
        instruction: what it asks for.
        accepted: whether gates and probes on files accept it.
        reasons: why not.
        evidence: of each red probe and gate, what was expected and what came.
        number: the how-manieth draw it is, counted from 0; the tools `draw` and `look` know it by that.
        script: how the terminal solution's script failed: exit code and the end of what it said.
    """

    seed: int
    instruction: str
    accepted: bool
    reasons: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    number: int = 0
    script: str = ""


@dataclass(frozen=True)
class Performed:
    """One solution played on the real desktop.

    Attributes:
        channel: whose solution.
        harness: under which.
        reward: what it earned; None when it could not be graded.
        error: the step that failed, what its move expected and what there was instead.
        evidence: what each criterion came to.
        png: the desktop when it failed.
    """

    channel: Channel
    harness: str
    reward: float | None
    error: str = ""
    evidence: str = ""
    png: bytes | None = None

    @property
    def failed(self) -> bool:
        """Whether it should have earned reward 1 and did not; with a channel taken away it should not."""
        return self.harness == self.channel and self.reward != 1.0


@dataclass(frozen=True)
class Smoke:
    """A smoke batch: draws across the corners of the parameter domain, probed, and solutions played.

    `sound` is what promotion asks for: enough accepted draws, no probe red (a near-miss that survives, an oracle that
    fails, an untouched state that scores) on any draw, and every declared channel played with reward 1. `broken` has what
    raised an error in our code on some draw, `faults` what the machine failed at.
    """

    tried: tuple[Tried, ...]
    performed: tuple[Performed, ...] = ()
    red: tuple[str, ...] = ()
    channels: tuple[Channel, ...] = ()
    faults: tuple[str, ...] = field(default=())
    broken: tuple[str, ...] = field(default=())

    @property
    def share(self) -> float:
        """The accepted share."""
        return sum(t.accepted for t in self.tried) / len(self.tried) if self.tried else 0.0

    @property
    def unplayed(self) -> tuple[Channel, ...]:
        """Declared channels that have not earned reward 1 under their own harness."""
        won = {p.channel for p in self.performed if p.harness == p.channel and not p.failed}
        return tuple(c for c in self.channels if c not in won)

    @property
    def sound(self) -> bool:
        """Whether the workflow may be promoted on this evidence."""
        clean = not (self.red or self.unplayed or self.faults or self.broken)
        return bool(self.tried) and self.share >= ACCEPTANCE and clean


class Bench(Protocol):
    """Tries drafts. Raises DesktopError when the machine failed; the agent then tries again, and nothing counts."""

    async def draws(self, workflow: Workflow, count: int, first: int = 0) -> list[Draw]:
        """`count` draws from the `first`-th on, with their files. Raises InputError naming the draw that breaks."""
        ...

    async def picture(self, workflow: Workflow, seed: int) -> bytes:
        """A PNG of the desktop as the agent of that draw finds it."""
        ...

    async def smoke(self, workflow: Workflow, count: int, *, play: bool) -> Smoke:
        """Gates and probes over `count` draws that reach into the corners of the domain; with `play`, episodes too."""
        ...
