"""Materialize tasks: draw, prepare the artifacts, pass the gates, store everything."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import skills
from forge.records import Probe, ProbeKind, Task, digest
from rounds.items import Item, Writes
from rounds.workshop import Workshop
from skills import Draw, Workflow
from verifiers import gates

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Ticket:
    """One draw to make: the workflow, the round, and the how-manieth draw of them it is."""

    round: int
    workflow: Workflow
    ordinal: int

    @property
    def seed(self) -> int:
        """The draw's seed: a function of the round, the skill and the ordinal, so that a rerun draws the same."""
        return int(digest([self.round, self.workflow.version, self.ordinal])[:12], 16)

    @property
    def item(self) -> Item[Ticket]:
        """The ticket under its natural key."""
        return Item(f"{self.round}:{self.workflow.version}:{self.ordinal}", self)


def materialize(workshop: Workshop, ticket: Ticket) -> Writes:
    """Make one task: draw it twice (the second time without a cache), compare, run the gates, store the blobs.

    Raises:
        DesktopError: LibreOffice or the box failed; try again.
    """
    kitchen = workshop.kitchen()
    draw = skills.draw(ticket.workflow, ticket.seed, kitchen)
    again = skills.draw(ticket.workflow, ticket.seed, kitchen.without_cache(), again=draw.task)
    for file in draw.files:
        workshop.warehouse.blobs.put(file.data)
    probes = [*gate_rows(draw), _determinism(draw, again)]
    stamp = workshop.fingerprint
    version = stamp.digest()

    def writes(session: Any) -> None:
        warehouse = workshop.warehouse
        warehouse.register_fingerprint(session, stamp)
        warehouse.add_task(session, draw.task, ticket.round, ticket.ordinal)
        warehouse.add_probes(session, [p.model_copy(update={"fingerprint": version}) for p in probes])

    return writes


def mark_near_duplicates(workshop: Workshop, round: int, workflow: Workflow, count: int) -> int:
    """Give the first `count` draws of a workflow their near-duplicate gate, in the order of drawing.

    Runs after they are all materialized, so that the outcome does not depend on which worker was faster. Returns the
    number of duplicates.
    """
    warehouse = workshop.warehouse
    seen = gates.NearDuplicates()
    for task in warehouse.tasks_of_workflow(workflow.skill.id, before_round=round):
        seen.add(task)
    version = workshop.fingerprint.digest()
    probes: list[Probe] = []
    for task in warehouse.tasks_of_round(round, workflow.version)[:count]:
        twin = seen.add(task)
        evidence = "no task before it is nearly the same" if twin is None else f"nearly the same as task {twin[:12]}"
        probes.append(
            Probe(
                task=task.id, kind=ProbeKind.GATE, name="near-duplicate", expected="unlike every task before it",
                passed=twin is None, evidence=evidence, fingerprint=version,
            )
        )  # fmt: skip
    with warehouse.begin() as session:
        warehouse.add_probes(session, probes)
    return sum(not p.passed for p in probes)


def gate_rows(draw: Draw) -> list[Probe]:
    """What each gate says of a drawn task."""
    return [
        Probe(
            task=draw.task.id, kind=ProbeKind.GATE, name=name, expected=(gate.__doc__ or name).split("\n")[0],
            passed=result.passed, evidence=result.evidence,
        )
        for name, gate in gates.GATES.items()
        for result in [gate(draw.task)]
    ]  # fmt: skip


def _determinism(draw: Draw, again: Draw) -> Probe:
    """The same draw materializes the same bytes."""
    first, second = (_digests(d.task) for d in (draw, again))
    differing = sorted(p for p in first | second if first.get(p) != second.get(p))
    passed = not differing and draw.task == again.task
    if passed:
        evidence = f"{len(first)} artifacts, twice the same bytes"
    else:
        evidence = f"differ between two draws: {', '.join(differing[:5]) or 'the task itself'}"
    return Probe(
        task=draw.task.id, kind=ProbeKind.GATE, name="determinism", expected="the same draw makes the same bytes",
        passed=passed, evidence=evidence,
    )  # fmt: skip


def _digests(task: Task) -> dict[str, str]:
    return {a.path: a.sha256 for a in task.artifacts}
