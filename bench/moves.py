"""`python -m bench.moves`: how long moves take, played as the oracle plays them, and how long a look at the tree takes.

In each application the tree is read, things are clicked by their names, and menu paths of two labels are walked, over and
over. A move's time is that of finding, acting, waiting for what was expected, settling, and the screenshot afterwards: all
that an episode spends on it. The targets are for the median application.
"""

from __future__ import annotations

import asyncio
import io
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bench.doings import Workplace, workplaces
from bench.report import Figure, options, show
from forge.desktop import Slot
from forge.harness.environment import Hint, SlotEnvironment
from forge.harness.moves import MOVES, MoveError
from forge.harness.moves.hands import Hands
from forge.records import Guest, HarnessError, sha256_hex

TALK, TUNE = "~/Documents/talk.pptx", "~/Music/tune.wav"

Step = dict[str, Any]


def _click(name: str, role: str, **more: Any) -> Step:
    return {"click": {"name": name, "role": role, **more}}


CLICKS: dict[str, tuple[Step, ...]] = {
    "calc": ({"select": "B3"}, {"select": "D9"}, {"toolbar": "Bold"}, {"toolbar": "Center Vertically"}),
    "writer": (_click("Bold", "toggle button"), _click("Italic", "toggle button"), _click("Center", "toggle button")),
    "impress": (_click("Slide 2", "panel"), _click("Slide 1", "panel"), _click("Slide 3", "panel")),
    "thunderbird": ({"folder": "Sent"}, {"folder": "Inbox"}, {"folder": "Drafts"}),
    "chromium": (_click("Reload", "push button"),),
    "gimp": (_click("Layers", "page tab"), _click("Channels", "page tab"), _click("Paths", "page tab")),
    "vlc": ({"click": {"role": "check box", "index": 0}}, {"click": {"role": "check box", "index": 1}}),
    "files": (_click("Size", "table column header"), _click("Name", "table column header")),
    "terminal": ({"click": {"role": "terminal"}},),
    "editor": ({"click": {"role": "text"}},),
}
"""Moves of one click; those of them that an application does not offer are left out."""
MENUS: dict[str, tuple[Step, ...]] = {
    **dict.fromkeys(("calc", "writer", "impress", "files", "terminal", "editor"), ({"menu": ["Edit", "Select All"]},)),
    "gimp": ({"menu": ["Select", "All"]}, {"menu": ["Select", "Invert"]}),
    "vlc": ({"menu": ["View", "Playlist"]},),
}
"""Menu paths of two labels. Thunderbird and Chromium show no menu bar."""


@dataclass
class Times:
    """Seconds by kind, of one application."""

    tree: list[float] = field(default_factory=list)
    clicks: list[float] = field(default_factory=list)
    menus: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def talk() -> bytes:
    """Three slides."""
    import pptx

    presentation = pptx.Presentation()
    for number in (1, 2, 3):
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number}"
    buffer = io.BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()


def tune() -> bytes:
    """A second of silence."""
    import wave

    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(b"\0\0" * 8000)
    return buffer.getvalue()


def places() -> list[Workplace]:
    """The ten applications."""
    return [
        *workplaces(),
        Workplace("impress", ((TALK, talk(), 0o644, False),), TALK, ()),
        Workplace("vlc", ((TUNE, tune(), 0o644, False),), None, ()),
    ]


class Player:
    """Plays moves in a slot as an episode does."""

    def __init__(self, slot: Slot):
        self.hands = Hands(slot)
        self.environment = SlotEnvironment(slot, sha256_hex)

    def play(self, step: Step) -> float:
        """Seconds that a move took. Raises MoveError."""
        ((name, value),) = step.items()
        began = time.perf_counter()
        for act in MOVES.get(name).play(self.hands, value):
            last = len(act.actions) - 1
            for number, (action, element) in enumerate(zip(act.actions, act.elements, strict=True)):
                hint = Hint(element, act.until if number == last else None, number == last)
                result = asyncio.run(self.environment.act(action, hint))
                if result.error:
                    raise MoveError(result.output)
        return time.perf_counter() - began

    def close(self) -> None:
        self.environment.close()


def measure(place: Workplace, times: int) -> Times:
    """Everything of one application; the first of each kind is not counted."""
    found = Times()
    with Slot.open(Guest(), home_files=place.files) as slot:
        slot.launch(place.app, place.path)
        for _ in range(times + 1):
            found.tree.append(_seconds(lambda: slot.tree(place.app)))
        player = Player(slot)
        try:
            for steps, kept in ((CLICKS[place.app], found.clicks), (MENUS.get(place.app, ()), found.menus)):
                for turn in range(1 + max(1, times // max(1, len(steps)))):  # in turn: a move again has nothing to do
                    for step in steps:
                        try:
                            seconds = player.play(step)
                        except HarnessError as error:
                            found.failed.append(f"{place.app}: {step}: {error.message}")
                        else:
                            kept += [seconds] if turn else []
        finally:
            player.close()
    found.tree.pop(0)
    return found


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def main() -> None:
    """Measure one application after another."""
    chosen = options(__doc__ or "")
    load = os.getloadavg()[0]
    found = {place.app: measure(place, 3 if chosen.quick else 12) for place in places()}
    figures = [
        Figure("tree, median of the applications", _middle(found, "tree") * 1000, "ms", "<= 100"),
        Figure("click-level move, median of the applications", _middle(found, "clicks"), "s", "<= 0.4"),
        Figure("menu path of two labels, median of the applications", _middle(found, "menus"), "s", "<= 0.8"),
    ]
    for app, times in found.items():
        figures.append(Figure(f"{app}: tree", statistics.median(times.tree) * 1000, "ms"))
        figures += [Figure(f"{app}: click", statistics.median(times.clicks), "s")] if times.clicks else []
        figures += [Figure(f"{app}: menu path", statistics.median(times.menus), "s")] if times.menus else []
    failed = [line for times in found.values() for line in times.failed]
    figures.append(Figure("moves that failed", len(failed), "", "<= 0"))
    figures.append(Figure("load of the machine before (1 minute)", load, ""))
    show(figures, as_json=chosen.json)
    if failed and not chosen.json:
        print("\n".join(failed))


def _middle(found: dict[str, Times], kind: str) -> float:
    values = [statistics.median(getattr(times, kind)) for times in found.values() if getattr(times, kind)]
    return statistics.median(values) if values else float("nan")


if __name__ == "__main__":
    main()
