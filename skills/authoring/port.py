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
    """What became of one draw. `evidence` says of each red probe and gate what was expected and what came."""

    seed: int
    instruction: str
    accepted: bool
    reasons: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Performed:
    """One solution played on the real desktop."""

    channel: Channel
    harness: str
    reward: float | None
    error: str = ""
    evidence: str = ""


@dataclass(frozen=True)
class Smoke:
    """A smoke batch: draws across the corners of the parameter domain, probed, and solutions played.

    `sound` is what promotion asks for: enough accepted draws, no probe red (a near-miss that survives, an oracle that
    fails, an untouched state that scores) on any draw, and every declared channel played with reward 1.
    """

    tried: tuple[Tried, ...]
    performed: tuple[Performed, ...] = ()
    red: tuple[str, ...] = ()
    channels: tuple[Channel, ...] = ()
    faults: tuple[str, ...] = field(default=())

    @property
    def share(self) -> float:
        """The accepted share."""
        return sum(t.accepted for t in self.tried) / len(self.tried) if self.tried else 0.0

    @property
    def unplayed(self) -> tuple[Channel, ...]:
        """Declared channels that have not earned reward 1 under their own harness."""
        won = {p.channel for p in self.performed if p.harness == p.channel and p.reward == 1.0}
        return tuple(c for c in self.channels if c not in won)

    @property
    def sound(self) -> bool:
        """Whether the workflow may be promoted on this evidence."""
        return bool(self.tried) and self.share >= ACCEPTANCE and not self.red and not self.unplayed and not self.faults


class Bench(Protocol):
    """Tries drafts. Raises DesktopError when the machine failed; the agent then tries again, and nothing counts."""

    async def draws(self, workflow: Workflow, count: int) -> list[Draw]:
        """The first draws, with their files."""
        ...

    async def picture(self, workflow: Workflow, seed: int) -> bytes:
        """A PNG of the desktop as the agent of that draw finds it."""
        ...

    async def smoke(self, workflow: Workflow, count: int, *, play: bool) -> Smoke:
        """Gates and probes over `count` draws that reach into the corners of the domain; with `play`, episodes too."""
        ...
