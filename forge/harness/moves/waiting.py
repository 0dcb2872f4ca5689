"""Moves that wait for something to become true, and look only."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from forge.harness.moves.base import Acts, move
from forge.harness.moves.general import Target
from forge.harness.moves.hands import Hands

State = Literal[
    "focused", "checked", "selected", "active", "expanded", "expandable", "editable", "modal", "pressed", "disabled"
]


class WaitForArgs(Target):
    state: State | None = Field(None, description="a state that it must have")
    text: str | None = Field(None, description="text that it must contain")
    gone: bool = Field(False, description="wait until nothing fits instead")
    seconds: float = Field(20, gt=0, le=120)


@move("wait_for", WaitForArgs)
def wait_for(hands: Hands, args: WaitForArgs) -> Acts:
    """Wait until a thing shows, has a state or a text, or is gone."""

    def ready() -> bool:
        found = hands.scene().select(args.name, args.role, args.within)
        fits = [
            e
            for e in found
            if (args.state is None or args.state in e.states) and (args.text is None or args.text in (e.text or e.name))
        ]
        return not fits if args.gone else bool(fits)

    if not hands.becomes(ready, 0):
        yield hands.pause(0.5, until=ready)
    what = args.name or args.role or "anything"
    asked = " ".join(part for part in (args.state or "", f"with {args.text!r}" if args.text else "") if part)
    hands.wait(ready, f"{what!r} is {'still there' if args.gone else 'not ' + (asked or 'there')}", args.seconds)
