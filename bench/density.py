"""`python -m bench.density [--slots 16] [--minutes 10]`: so many slots at once, each with an episode that steps every 2 s.

A step is what a step of an episode is: a look-up in the accessibility tree, an action through the harness's environment,
the wait until the screen rests, a screenshot as PNG. Cells are clicked, filled and read back; now and then the workbook is
saved. In the end every file is opened with another library and must hold what was typed.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import os
import statistics
import sys
import threading
import time
from dataclasses import dataclass, field

from bench.desktop import BOOK, proportional, workbook
from bench.report import Figure, show
from forge.desktop import Slot
from forge.desktop.health import below
from forge.harness import SlotEnvironment
from forge.records import DesktopError, Guest, Key, Point, Pointer, Type, sha256_hex

PERIOD = 2.0
"""Seconds from step to step."""
_CELLS = [f"{column}{row}" for row in range(2, 22) for column in "FG"]
_SAVE_EVERY = 30  # steps
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass
class Episode:
    """One slot at work.

    Args:
        number: of the slot, from 0.
        slot: with the workbook open.
        took: seconds of each step.
        failed: what went wrong, in words.
        typed: cell to what should be in it.
    """

    number: int
    slot: Slot
    took: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    typed: dict[str, int] = field(default_factory=dict)

    async def run(self, start: float, seconds: float) -> None:
        """Step from `start` on (by the monotonic clock) for so many seconds; then save and check the file."""
        environment = SlotEnvironment(self.slot, sha256_hex)
        try:
            step = 0
            while (due := start + step * PERIOD) < start + seconds:
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                began = time.monotonic()
                try:
                    await self._step(environment, step)
                except DesktopError as error:
                    self.failed.append(f"step {step}: {error}")
                    return  # the slot is broken
                self.took.append(time.monotonic() - began)
                step += 1
            await self._save(environment)
            self._check()
        finally:
            environment.close()

    async def _step(self, environment: SlotEnvironment, step: int) -> None:
        if step % _SAVE_EVERY == _SAVE_EVERY - 2:
            await self._save(environment)
            return
        if step % _SAVE_EVERY == _SAVE_EVERY - 1:
            if not any(element.name == "Bold" for element in await environment.run(self.slot.tree, "calc")):
                self.failed.append(f"step {step}: the tree lacks the tool bar")
            await environment.observe()
            return
        ref, value = _CELLS[step // 2 % len(_CELLS)], 1000 * self.number + step
        if step % 2 == 0:
            cell = await environment.run(self.slot.cell, ref)
            if cell is None:
                self.failed.append(f"step {step}: {ref} is not on the screen")
                return
            x, y, width, height = cell.box
            screen = self.slot.guest
            at = Point(x=(x + width / 2) / screen.width, y=(y + height / 2) / screen.height)
            result = await environment.act(Pointer(kind="left_click", at=at))
            if result.element is None or result.element.name != ref:
                self.failed.append(f"step {step}: {result.element} was hit, not {ref}")
            self._aimed = ref
        else:
            await environment.act(Type(text=f"{value}\n"))
            self.typed[self._aimed] = value
            cell = await environment.run(self.slot.cell, self._aimed)
            if cell is None or cell.text != str(value):
                self.failed.append(f"step {step}: {self._aimed} shows {cell and cell.text}, not {value}")

    async def _save(self, environment: SlotEnvironment) -> None:
        path = self.slot.home / BOOK[2:]
        before = path.stat().st_mtime_ns
        await environment.act(Key(keys="ctrl+s"))
        await environment.run(self.slot.settle, lambda: path.stat().st_mtime_ns != before)
        if path.stat().st_mtime_ns == before:
            self.failed.append("the workbook was not saved")

    def _check(self) -> None:
        import openpyxl

        sheet = openpyxl.load_workbook(io.BytesIO((self.slot.home / BOOK[2:]).read_bytes())).active
        assert sheet is not None
        for ref, value in self.typed.items():
            if sheet[ref].value != value:
                self.failed.append(f"the file has {sheet[ref].value} in {ref}, not {value}")


def used(pids: list[int]) -> float:
    """Seconds of processor time that these processes have used."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / _TICK


def fleet(count: int, seconds: float) -> list[Figure]:
    """Open the slots, let all of them step for so long, and say what came of it."""
    data = workbook()
    episodes: list[Episode] = []
    try:
        began = time.monotonic()
        for number in range(count):
            slot = Slot.open(Guest(), home_files=[(BOOK, data, 0o644, False)])
            episodes.append(Episode(number, slot))
            slot.launch("calc", BOOK)
        opened = time.monotonic() - began
        processes = [pid for episode in episodes for pid in below(episode.slot.pids)]
        before, own = used(processes), time.process_time()
        start = time.monotonic() + 0.5
        threads = [
            # spread over the period, as episodes that know nothing of each other are
            threading.Thread(target=lambda e=e: asyncio.run(e.run(start + e.number * PERIOD / count, seconds)))
            for e in episodes
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lasted = time.monotonic() - start
        spent, own = used(processes) - before, time.process_time() - own
        memory = [sum(map(proportional, episode.slot.pids)) for episode in episodes]
        for episode in episodes:
            health = episode.slot.health()
            if not health.ok:
                episode.failed.append(str(health))
    finally:
        for episode in episodes:
            episode.slot.close()
    failed = [f"slot {episode.number}: {text}" for episode in episodes for text in episode.failed]
    for text in failed:
        print(text, file=sys.stderr)
    took = sorted(second for episode in episodes for second in episode.took)

    def percentile(share: float) -> float:
        return took[min(len(took) - 1, int(share * len(took)))]

    return [
        Figure("slots", count, ""),
        Figure("seconds in which all were opened, one after another", opened, "s"),
        Figure("steps", len(took), ""),
        Figure("failed steps", len(failed), "", "<= 0"),
        Figure("a step, median", percentile(0.5), "s", "<= 2"),
        Figure("a step, 95 of 100 within", percentile(0.95), "s"),
        Figure("a step, 99 of 100 within", percentile(0.99), "s"),
        Figure("a step, the longest", took[-1], "s"),
        Figure("steps a second, all slots", len(took) / lasted, ""),
        Figure("proportional memory of a slot, mean", statistics.mean(memory), "MiB", "<= 210"),
        Figure("proportional memory of a slot, the largest", max(memory), "MiB", "<= 210"),
        Figure("processors kept busy by the slots", spent / lasted, ""),
        Figure("processors kept busy by the harness", own / lasted, ""),
    ]


def main() -> None:
    """Measure; exit code 1 when a step failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slots", type=int, default=16)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--quick", action="store_true", help="4 slots for 1 minute")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args()
    figures = fleet(4, 60.0) if chosen.quick else fleet(chosen.slots, chosen.minutes * 60)
    show(figures, as_json=chosen.json)
    sys.exit(any(figure.name == "failed steps" and figure.value for figure in figures))


if __name__ == "__main__":
    main()
