"""`python -m bench.oracle`: every skill that can be done in windows, done in windows: many draws each, one slot and four at once.

For every skill of the library with a `gui` or `hybrid` solution so many different tasks are drawn. The oracle plays each on a
real slot through the real loop, and the real grader says what came of it: first with one slot, then all again with several
slots at once. A fault of the infrastructure is tried again as in a round; it is counted, but it is no failure of the move.

What is kept of a failure, below FOLDER/failures: a film strip (PNG) and the trajectory (JSON). The folder also holds the
warehouse of the run: the same command with the same `--folder` goes on where it stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.report import Figure, show
from forge.harness.filmstrip import render
from forge.records import Channel, DesktopError, Grading, Settings, Task, Trajectory
from rounds.items import Item, Progress, Writes, run_items
from rounds.materialize import Ticket, materialize
from rounds.play import Part, play_part
from rounds.register import Wish, choose, register
from rounds.terminal import print_table
from rounds.workshop import Workshop
from skills import Workflow
from verifiers.gates import NearDuplicates

WINDOWS: tuple[Channel, ...] = ("gui", "hybrid")


@dataclass
class Outcome:
    """What one solution came to over its draws.

    Args:
        skill: whose.
        channel: of the solution.
        slots: how many ran at once.
        wanted: how many draws were to be played.
    """

    skill: str
    channel: str
    slots: int
    wanted: int
    rewards: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    faults: int = 0

    @property
    def name(self) -> str:
        """As it is printed."""
        return f"{self.skill} ({self.channel}), {self.slots} at once"

    @property
    def good(self) -> int:
        """How many episodes ended with reward 1."""
        return sum(reward == 1 for reward in self.rewards)


class Lines:
    """Progress as lines on the standard error: what is at work, every ten items."""

    def __init__(self) -> None:
        self._total: Counter[str] = Counter()
        self._done: Counter[str] = Counter()

    def start(self, stage: str, total: int) -> None:
        """A stage begins."""
        self._total[stage] += total

    def advance(self, stage: str, note: str = "") -> None:
        """One more is through."""
        self._done[stage] += 1
        if self._done[stage] % 10 == 0 or self._done[stage] == self._total[stage]:
            print(f"{stage}: {self._done[stage]} of {self._total[stage]}", file=sys.stderr, flush=True)


def measure(
    folder: Path, patterns: Sequence[str], *, draws: int, slots: Sequence[int], progress: Progress | None = None
) -> list[Outcome]:
    """Draw, play and grade.

    Args:
        folder: where the warehouse of the run and its failures are kept.
        patterns: skill ids or shell patterns; none: the whole library.
        draws: different tasks a skill.
        slots: how many slots at once; every task is played once for each of these numbers.
        progress: told about every item.

    Returns:
        One outcome for each solution and number of slots.
    """
    workflows = [w for w in choose(patterns) if set(WINDOWS) & set(w.channels)]
    outcomes: list[Outcome] = []
    for count in slots:
        with Workshop(Settings(home=folder, slots=count)) as workshop:
            plan = register(workshop.warehouse, Wish(workflows, tasks=draws, round=1))
            tasks = {w.version: draw_tasks(workshop, plan.round, w, draws, progress) for w in plan.workflows}
            outcomes += _play(workshop, plan.workflows, tasks, draws, progress)
    return outcomes


def draw_tasks(
    workshop: Workshop, round: int, workflow: Workflow, wanted: int, progress: Progress | None
) -> list[Task]:
    """The first `wanted` tasks of a workflow that are not nearly the same as one before; fewer when three times as many
    draws do not give them.
    """
    for made in (wanted, 2 * wanted, 3 * wanted):
        tickets: list[Item[Ticket]] = [Ticket(round, workflow, n).item for n in range(made)]
        asyncio.run(
            run_items(
                workshop.warehouse, "materialize", tickets, lambda ticket: materialize(workshop, ticket),
                limit=workshop.workers, progress=progress,
            )
        )  # fmt: skip
        seen = NearDuplicates()
        drawn = workshop.warehouse.tasks_of_round(round, workflow.version)[:made]
        tasks = [task for task in drawn if seen.add(task) is None][:wanted]
        if len(tasks) == wanted:
            break
    return tasks


def _play(
    workshop: Workshop,
    workflows: Sequence[Workflow],
    tasks: dict[str, list[Task]],
    wanted: int,
    progress: Progress | None,
) -> list[Outcome]:
    """Play all solutions of all tasks, different skills side by side, and read what they came to."""
    count = workshop.settings.slots  # also the attempt: what was played at other numbers at once stays apart
    chosen = {
        (w.skill.id, channel): [Part(task, channel, attempt=count) for task in tasks[w.version]]
        for w in workflows
        for channel in WINDOWS
        if channel in w.channels
    }
    faults: Counter[str] = Counter()

    async def work(part: Part) -> Writes:
        try:
            return await play_part(workshop, part)
        except DesktopError:
            faults[part.item.key] += 1
            raise

    # one of each in turn, so that a bad neighbour of another application is met too
    longest = max((len(parts) for parts in chosen.values()), default=0)
    order = [parts[n].item for n in range(longest) for parts in chosen.values() if n < len(parts)]
    stage = f"{count} at once"
    asyncio.run(run_items(workshop.warehouse, "play", order, work, limit=count, progress=progress, stage=stage))
    found = {}
    for row in workshop.warehouse.list_trajectories():
        found[row["task"], row["harness"], row["attempt"]] = row["id"]
    outcomes = []
    for (skill, channel), parts in chosen.items():
        outcome = Outcome(skill, channel, count, wanted, faults=sum(faults[part.item.key] for part in parts))
        harness = workshop.harness(channel).digest()
        for part in parts:
            name = found.get((part.task.id, harness, count))
            if name is None:
                outcome.failures.append(f"{part.task.id[:12]}: never played for faults of the desktop")
            else:
                _count(workshop, outcome, part.task, workshop.warehouse.trajectory(name))
        outcomes.append(outcome)
    return outcomes


def _count(workshop: Workshop, outcome: Outcome, task: Task, trajectory: Trajectory) -> None:
    reward = trajectory.reward if trajectory.grading is Grading.GRADED else None
    outcome.rewards.append(reward or 0.0)
    outcome.seconds.append(trajectory.seconds)
    if reward == 1:
        return
    verdict = trajectory.verdict
    lost = [] if verdict is None else [f"{c.criterion}: {c.evidence}" for c in verdict.criteria if c.score < 1]
    why = trajectory.error or "; ".join(lost) or f"{trajectory.ended_by}, {trajectory.grading}"
    outcome.failures.append(f"{task.id[:12]}: {why}")
    folder = workshop.settings.home / "failures"
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{outcome.skill}-{outcome.channel}-{task.id[:12]}-{outcome.slots}"
    (folder / f"{stem}.png").write_bytes(render(trajectory, task, verdict, workshop.warehouse.blobs.get))
    (folder / f"{stem}.json").write_text(trajectory.model_dump_json(indent=1))


def figures(outcomes: Sequence[Outcome]) -> list[Figure]:
    """The outcomes as figures: the share with reward 1 for each and for all, faults, and how long an episode takes."""
    shown = []
    for outcome in outcomes:
        played = len(outcome.rewards)
        shown.append(Figure(f"{outcome.name}: played", played, "tasks", f">= {outcome.wanted}"))
        shown.append(Figure(f"{outcome.name}: reward 1", outcome.good / max(1, played), "of all", ">= 0.98"))
        shown.append(Figure(f"{outcome.name}: faults", outcome.faults, "episodes"))
        if outcome.seconds:
            shown.append(Figure(f"{outcome.name}: episode, median", statistics.median(outcome.seconds), "s"))
    for count in dict.fromkeys(outcome.slots for outcome in outcomes):
        same = [outcome for outcome in outcomes if outcome.slots == count]
        played = sum(len(outcome.rewards) for outcome in same)
        share = sum(outcome.good for outcome in same) / max(1, played)
        shown.append(Figure(f"all, {count} at once: reward 1", share, f"of {played}", ">= 0.98"))
    return shown


def print_outcomes(outcomes: Sequence[Outcome]) -> None:
    """A table with a line for each solution and number of slots, and the shares over all."""
    rows = [
        (o.skill, o.channel, o.slots, len(o.rewards), o.good, o.faults, round(statistics.median(o.seconds or [0]), 1))
        for o in outcomes
    ]
    print_table("", ["skill", "channel", "at once", "played", "reward 1", "faults", "median s"], rows)
    show([figure for figure in figures(outcomes) if figure.name.startswith("all")], as_json=False)


def main() -> None:
    """Play the library; with --quick two draws a skill, one slot and two at once."""
    parser = argparse.ArgumentParser(prog="python -m bench.oracle", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--quick", action="store_true", help="two draws a skill")
    parser.add_argument("--draws", type=int, default=20, help="different tasks a skill (20)")
    parser.add_argument("--slots", type=int, nargs="+", default=[1, 4], help="slots at once, one pass for each (1 4)")
    parser.add_argument("--skill", nargs="*", default=[], help="skill ids or patterns; default: the library")
    parser.add_argument("--folder", type=Path, help="keep the warehouse and the failures here, and go on from there")
    chosen = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="forge-oracle-"))
    draws, slots = (2, [1, 2]) if chosen.quick else (chosen.draws, chosen.slots)
    outcomes = measure(folder, chosen.skill, draws=draws, slots=slots, progress=Lines())
    if chosen.json:
        show(figures(outcomes), as_json=True)
    else:
        print_outcomes(outcomes)
    for outcome in outcomes:
        for failure in outcome.failures:
            print(f"{outcome.name}: {failure}", file=sys.stderr)
    if any(outcome.failures for outcome in outcomes):
        print(f"film strips: {folder / 'failures'}", file=sys.stderr)


if __name__ == "__main__":
    main()
