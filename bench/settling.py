"""`python -m bench.settling`: how often a screen that was taken to be settled still changed, and how long the wait was.

Ordinary work is done in eight applications by the library's moves (`bench.doings`). Each action is recorded
(`bench.recording`): from before it until 2.5 s after it the screen is grabbed every 20 ms, and each picture that differs
from the one before it is kept. That is the truth.

While it is recorded, one of two policies waits, as it would in an episode: *with a predicate*, as the oracle waits that
knows what is to become true; *without* one, as when a model plays. Of the actions that have a predicate every third does
without. A policy settled **early** when what showed at the end of its wait differs from what showed 2.5 s after the action
in 40 pixels or more (see `bench.recording.CONTRAST`), so a flash that goes away again is not early, and neither is a caret.

Cosmetic, and left out, are the places of tooltips, which come because the pointer rests, whatever was done; the buttons of
tool bars, which LibreOffice greys or ungreys by a timer half a second later; status bars; and the icons of title bars, in
which GIMP shows the picture a second later. A figure of its own says how many ends would be early if these counted too.

What it does not cover: effects later than 2.5 s; what never rests, such as a video or the marching frame of copied cells.
"""

from __future__ import annotations

import argparse
import logging
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bench.doings import Workplace, workplaces
from bench.recording import Box, Recorder, Recording
from bench.report import Figure, show
from forge.desktop import Slot, acting
from forge.harness.describe import describe
from forge.harness.environment import KNOWN, LAST
from forge.harness.moves import MOVES, Act, MoveError
from forge.harness.moves.hands import BUTTON_ROLES, Hands, Scene
from forge.records import Action, Element

AFTER = 2.5
"""Seconds after an action for which its effect is recorded."""
_ICON = 20  # pixels: the height of a title bar
LEAST = 40
"""So many pixels that are still to change are an early end."""


@dataclass(frozen=True)
class Wait:
    """One action's wait.

    Args:
        app: where.
        what: was done.
        predicate: whether it waited with one.
        seconds: it took.
        missed: pixels that were still to change, without what is cosmetic.
        missed_anywhere: the same with the buttons of tool bars, status bars and icons of title bars.
    """

    app: str
    what: str
    predicate: bool
    seconds: float
    missed: int
    missed_anywhere: int

    @property
    def early(self) -> bool:
        """Whether it ended too early."""
        return self.missed >= LEAST


@dataclass
class Watcher:
    """Carries out the acts of moves on a slot, one action at a time, and records each.

    Args:
        slot: an open slot.
        app: what runs on it.
        keep: folder for pictures of early ends: what was taken for settled above, what showed in the end below.
    """

    slot: Slot
    app: str
    keep: Path | None = None
    waits: list[Wait] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._recorder = Recorder(self.slot._screen_server)
        self._predicates = 0

    def carry_out(self, act: Act) -> None:
        """Do what a turn of the oracle would do."""
        last = len(act.actions) - 1
        for number, (action, element) in enumerate(zip(act.actions, act.elements, strict=True)):
            until = act.until if number == last else None
            self._predicates += until is not None
            self._do(action, element, until if self._predicates % 3 else None)

    def close(self) -> None:
        """End it."""
        self._recorder.close()

    def _do(self, action: Action, element: Element | None, until: Callable[[], bool] | None) -> None:
        recording = self._recorder.start()
        try:
            acting.do(self.slot, action)
            done = time.monotonic() - recording.began
            how = LAST if until is None else KNOWN
            waited = self.slot.settle(until, first=how.first, quiet=how.quiet, timeout=how.timeout)
            time.sleep(max(0.0, AFTER - waited))
        finally:
            self._recorder.stop()
        anywhere = recording.missed(done + waited)
        missed = recording.missed(done + waited, self._bars()) if anywhere >= LEAST else anywhere
        wait = Wait(self.app, describe(action, element), until is not None, waited, missed, anywhere)
        self.waits.append(wait)
        if wait.early and self.keep is not None:
            self._keep(wait, recording, done + waited)

    def _bars(self) -> list[Box]:
        """The buttons of tool bars, status bars, and the icons of title bars."""
        scene = Scene(self.slot.tree(self.app))
        bars = [bar for bar in scene.elements if bar.role == "tool bar"]
        buttons = [e.box for bar in bars for e in scene.below(bar) if e.role in BUTTON_ROLES]
        icons = [(window.x, window.y - _ICON, _ICON, _ICON) for window in self.slot.windows()]
        return buttons + icons + [e.box for e in scene.elements if e.role == "status bar"]

    def _keep(self, wait: Wait, recording: Recording, at: float) -> None:
        import numpy
        from PIL import Image

        assert self.keep is not None
        self.keep.mkdir(parents=True, exist_ok=True)
        both = numpy.concatenate([recording.seen(at), recording.frames[-1][1]])[:, :, 2::-1]
        Image.fromarray(both).save(self.keep / f"{self.app}-{len(self.waits):03}.png")
        changes = " ".join(f"{when:.2f}" for when in recording.changes())
        print(
            f"early {self.app}-{len(self.waits):03}: {wait.what}: {'with' if wait.predicate else 'without'}, "
            f"ended {at:.2f} s, {wait.missed} pixels, changes at {changes} s",
            file=sys.stderr,
            flush=True,
        )


def measure(place: Workplace, actions: int, keep: Path | None = None) -> list[Wait]:
    """Work in one application until so many actions are recorded."""
    dice = random.Random(place.app)
    lost: Counter[str] = Counter()
    with Slot.open(home_files=place.files) as slot:
        slot.launch(place.app, place.path)
        hands, watcher = Hands(slot), Watcher(slot, place.app, keep)
        for steps in place.errand(dice):
            if len(watcher.waits) >= actions or sum(lost.values()) > actions:
                break
            try:
                for step in steps:
                    ((name, value),) = step.items()
                    move = MOVES.get(name)
                    for act in move.run(hands, move.validate(value)):
                        watcher.carry_out(act)
            except MoveError as error:  # the work is not what is measured: go on from a clean state
                lost[f"{name}: {error}"] += 1
                slot.input.key("Escape")
                slot.input.key("Escape")
                slot.settle()
        watcher.close()
    for what, times in lost.items():
        logging.warning("%s: %d times %s", place.app, times, what.partition("\n")[0])
    return watcher.waits


def figures(waits: list[Wait]) -> list[Figure]:
    """Shares that were early, and how long the waits were."""
    shown = [
        Figure("actions recorded", len(waits), "actions"),
        Figure("applications", len({wait.app for wait in waits}), "applications"),
    ]
    for predicate, name, early, median in ((True, "with a predicate", 0.01, ""), (False, "without", 0.03, "<= 0.6")):
        some = [wait for wait in waits if wait.predicate == predicate]
        if not some:
            continue
        seconds = sorted(wait.seconds for wait in some)
        anywhere = sum(wait.missed_anywhere >= LEAST for wait in some) / len(some)
        shown += [
            Figure(f"{name}: actions", len(some), "actions"),
            Figure(f"{name}: early", sum(wait.early for wait in some) / len(some), "of all", f"<= {early}"),
            Figure(f"{name}: early, with bars and icons", anywhere, "of all"),
            Figure(f"{name}: wait, median", statistics.median(seconds), "s", median),
            Figure(f"{name}: wait, 90th percentile", seconds[int(0.9 * len(seconds))], "s"),
        ]
    for app in dict.fromkeys(wait.app for wait in waits):
        some = [wait for wait in waits if wait.app == app]
        shown.append(Figure(f"{app}: early, of {len(some)}", sum(wait.early for wait in some), "actions"))
    return shown


def main() -> None:
    """Measure 70 actions an application; 10 with --quick."""
    parser = argparse.ArgumentParser(prog="python -m bench.settling", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--quick", action="store_true", help="10 actions an application")
    parser.add_argument("--actions", type=int, default=70, help="actions an application (70)")
    parser.add_argument("--app", nargs="*", default=[], help="only these applications")
    parser.add_argument("--keep", type=Path, help="folder for pictures of early ends")
    chosen = parser.parse_args()
    waits: list[Wait] = []
    for place in workplaces():
        if not chosen.app or place.app in chosen.app:
            waits += measure(place, 10 if chosen.quick else chosen.actions, chosen.keep)
    show(figures(waits), as_json=chosen.json)


if __name__ == "__main__":
    main()
