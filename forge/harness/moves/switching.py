"""Going from one window to another."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, MoveError, move
from forge.harness.moves.hands import Hands, same_name

if TYPE_CHECKING:
    from forge.desktop.windows import Window


class SwitchArgs(MoveArgs):
    main: ClassVar[str] = "title"
    title: str = Field(description="title of the window; * stands for anything")


@move("switch_window", SwitchArgs)
def switch_window(hands: Hands, args: SwitchArgs) -> Acts:
    """Bring a window to the front with alt+Tab, as often as it takes."""
    active = _active(hands)
    for _ in range(2 * len(hands.slot.windows()) + 1):
        if active is not None and same_name(active.title, args.title):
            return
        other = partial(_has_changed, hands, active)
        yield hands.key("alt+Tab", until=other)
        hands.becomes(other, 2.0)
        active = _active(hands)
    titles = ", ".join(repr(window.title) for window in hands.slot.windows())
    raise MoveError(
        f"the window {args.title!r} does not come to the front", mend=f"there were {titles or 'no windows'}"
    )


def _active(hands: Hands) -> Window | None:
    return next((window for window in hands.slot.windows() if window.active), None)


def _has_changed(hands: Hands, before: Window | None) -> bool:
    """Whether another window is active now."""
    now = _active(hands)
    return now is not None and (before is None or now.id != before.id)
