"""One generation round: materialize, probe, play, until every workflow has the accepted tasks that the plan gives it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from forge.records import Channel, Task
from rounds.items import Item, Progress, Silent, Tally, run_items
from rounds.materialize import Ticket, mark_near_duplicates, materialize
from rounds.plan_check import Watch
from rounds.play import Part, play_part
from rounds.probe import Candidate, probe
from rounds.register import Plan
from rounds.topup import top_up_banks
from rounds.workshop import Workshop
from skills import Workflow

log = logging.getLogger(__name__)

WAVES = 3
"""How often a workflow draws replacements for what the gates and probes refused."""

GUI_TRIES = 3
"""On how many tasks a workflow's window solutions are tried before it counts as broken."""


@dataclass
class RoundReport:
    """What a round came to. `short` maps the skills that miss tasks to how many they lack; `budget` ended it early."""

    round: int
    accepted: int = 0
    rejected: int = 0
    faults: dict[str, str] = field(default_factory=dict)
    short: dict[str, int] = field(default_factory=dict)
    budget: str = ""

    @property
    def complete(self) -> bool:
        """Every workflow reached its number, and no fault is left."""
        return not self.short and not self.faults


async def run_round(workshop: Workshop, plan: Plan, progress: Progress | None = None) -> RoundReport:
    """Run, or take up again, the round of a plan; what is done stays done.

    What is drawn and played next follows from what the same draws came to before, whoever worked on them and whenever:
    a round that was killed and taken up again makes the rows of an undisturbed one. Hence a fault is tried again in the
    next wave, with the same draws, and is never a reason for a replacement.

    Args:
        workshop: the open resources.
        plan: from `rounds.register.register`.
        progress: told about every item.

    Returns:
        The report; it is also in the warehouse, as rows and views.
    """
    progress = progress or Silent()
    report = RoundReport(plan.round)
    workshop.run = f"round-{plan.round}"
    watch = Watch.begin(workshop, plan)
    draws = plan.draws
    for _ in range(WAVES):
        prepared = await prepare(workshop, plan.round, plan.workflows, draws, progress)
        report.faults, report.budget = prepared.faults, prepared.budget
        if report.budget:
            break
        report.faults |= (await play_round(workshop, plan.round, plan.workflows, draws, progress)).faults
        if report.faults:
            continue
        lacking = {
            w.version: plan.of(w) - len(accepted(workshop, plan.round, w, draws[w.version])) for w in plan.workflows
        }
        if all(n <= 0 for n in lacking.values()):
            break
        draws = {version: draws[version] + max(0, n) for version, n in lacking.items()}
    finish(workshop, plan, report, watch)
    return report


async def prepare(
    workshop: Workshop,
    round: int,
    workflows: Sequence[Workflow],
    draws: dict[str, int],
    progress: Progress | None = None,
) -> Tally:
    """Materialize and probe the first `draws[version]` draws of each workflow. Returns what was done and what failed.

    The banks that they draw from are filled before; while that fails nothing is drawn, for what a draw sees of a bank must not
    depend on how far it was filled.
    """
    workshop.run = f"round-{round}"
    filled = await top_up_banks(workshop, round, workflows, draws, progress)
    if filled.faults or filled.budget:
        return filled
    tickets = [Ticket(round, w, n).item for w in workflows for n in range(draws[w.version])]
    tally = await run_items(
        workshop.warehouse, "materialize", tickets, lambda ticket: materialize(workshop, ticket),
        limit=workshop.workers, progress=progress,
    )  # fmt: skip
    for workflow in workflows:
        mark_near_duplicates(workshop, round, workflow, draws[workflow.version])
    candidates = [
        Candidate(task, w).item
        for w in workflows
        for task in workshop.warehouse.tasks_of_round(round, w.version)[: draws[w.version]]
    ]
    probed = await run_items(
        workshop.warehouse, "probe", candidates, lambda candidate: probe(workshop, candidate),
        limit=workshop.workers, progress=progress,
    )  # fmt: skip
    return Tally(tally.done + probed.done, tally.skipped + probed.skipped, tally.faults | probed.faults)


async def play_round(
    workshop: Workshop,
    round: int,
    workflows: Sequence[Workflow],
    draws: dict[str, int],
    progress: Progress | None = None,
) -> Tally:
    """Play what the acceptance still needs: every window solution once a workflow, then one episode a task."""
    total = Tally()

    async def play(parts: list[Part], stage: str) -> None:
        items: list[Item[Part]] = [part.item for part in parts]
        tally = await run_items(
            workshop.warehouse, "play", items, partial(play_part, workshop),
            limit=workshop.slot_count, progress=progress, stage=stage,
        )  # fmt: skip
        total.done += tally.done
        total.skipped += tally.skipped
        total.faults |= tally.faults

    good = {w.version: _sound_on_files(workshop, round, w, draws[w.version]) for w in workflows}
    for trial in range(GUI_TRIES):
        parts = [part for w in workflows for part in _evidence_parts(workshop, w, good[w.version], trial)]
        if parts:
            await play(parts, "window solutions")
    await play([part for w in workflows for part in _task_parts(workshop, w, good[w.version])], "episodes")
    return total


def accepted(workshop: Workshop, round: int, workflow: Workflow, count: int | None = None) -> list[Task]:
    """The accepted ones of the first `count` (default: all) tasks of a workflow in a round, in the order of drawing."""
    warehouse = workshop.warehouse
    return [t for t in warehouse.tasks_of_round(round, workflow.version)[:count] if warehouse.acceptance(t.id)[0]]


def finish(workshop: Workshop, plan: Plan, report: RoundReport, watch: Watch) -> None:
    """Count what the round came to, note what it took, and mark it finished in the warehouse when it is complete."""
    for workflow in plan.workflows:
        good = len(accepted(workshop, plan.round, workflow))
        report.accepted += good
        report.rejected += len(workshop.warehouse.tasks_of_round(plan.round, workflow.version)) - good
        if good < plan.of(workflow):
            report.short[workflow.skill.id] = plan.of(workflow) - good
    if report.short and report.rejected:
        log.warning(
            "round %d is short of tasks of %s: `forge tasks list --rejected --skill %s` lists what was not accepted, and "
            "`forge tasks show ID` says why", plan.round, ", ".join(report.short), next(iter(report.short)),
        )  # fmt: skip
    watch.note()
    if report.complete:
        with workshop.warehouse.begin() as session:
            workshop.warehouse.finish_round(session, plan.round)


def _sound_on_files(workshop: Workshop, round: int, workflow: Workflow, count: int) -> list[Task]:
    """Tasks of which files alone say nothing bad. What they came to on a desktop does not matter: their order counts."""
    warehouse = workshop.warehouse
    return [
        task
        for task in warehouse.tasks_of_round(round, workflow.version)[:count]
        if all(is_of_desktop(reason) for reason in warehouse.acceptance(task.id)[1])
    ]


def is_of_desktop(reason: str) -> bool:
    """Whether a reason against a task is evidence from a desktop (see `rounds.play`), missing or bad."""
    return reason.startswith("desktop") or "-desktop#" in reason or "-needs-more-than-" in reason


def causes_first(reasons: Sequence[str]) -> list[str]:
    """Reasons against a task; those of a desktop, where nothing was played for want of the others, come last."""
    return sorted(reasons, key=is_of_desktop)


def _window_channels(workflow: Workflow) -> list[Channel]:
    return [c for c in ("gui", "hybrid") if c in workflow.channels]


def _evidence_parts(workshop: Workshop, workflow: Workflow, tasks: list[Task], trial: int) -> list[Part]:
    """What to play so that each window solution of the workflow has worked once; nothing where it has on another task.
    On this very task the parts are listed again, for some of them may not have been played yet.
    """
    if trial >= len(tasks):
        return []
    task = tasks[trial]
    parts = []
    for channel in _window_channels(workflow):
        if not workshop.warehouse.has_window_evidence(workflow.version, channel, besides=task.id):
            parts.append(Part(task, channel))
            if channel == "hybrid":  # it must fail when either channel is taken away
                parts += [Part(task, "gui", "oracle/hybrid"), Part(task, "terminal", "oracle/hybrid")]
    return parts


def _task_parts(workshop: Workshop, workflow: Workflow, tasks: list[Task]) -> list[Part]:
    """One episode for every task that has no oracle's success yet; channels take turns over the tasks.

    Where Thunderbird is open, only windows: it holds its address book locked, and does not look at files changed beside it.
    """
    parts = []
    for ordinal, task in enumerate(tasks):
        if workshop.warehouse.has_oracle_success(task.id):
            continue
        channels = sorted(s.channel for s in task.solutions)
        if any(start.app == "thunderbird" for start in task.start) and channels != ["terminal"]:
            channels.remove("terminal")
        parts.append(Part(task, channels[ordinal % len(channels)]))
    return parts
