"""Grade stored final states again with the checks as they are now, and say which rewards changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from forge.records import Grading
from rounds.grade import grade_trajectory
from rounds.items import Progress, Silent
from rounds.workshop import Workshop


@dataclass(frozen=True)
class Change:
    """One trajectory whose reward is not what it was."""

    trajectory: str
    task: str
    before: float | None
    after: float | None
    evidence: str


def regrade(
    workshop: Workshop,
    *,
    skill: str | None = None,
    check: str | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> list[Change]:
    """Regrade trajectories from their kept final states; old verdicts stay in the warehouse beside the new.

    Args:
        workshop: the open warehouse, graders and LibreOffice.
        skill: only trajectories of this skill.
        check: only tasks whose rubric uses this check.
        dry_run: compare only, write nothing.
        progress: told about every trajectory.

    Returns:
        The trajectories whose reward changed.
    """
    progress = progress or Silent()
    warehouse = workshop.warehouse
    ids = warehouse.trajectory_ids(skill=skill)
    progress.start("regrade", len(ids))
    changes: list[Change] = []
    for trajectory_id in ids:
        trajectory = warehouse.trajectory(trajectory_id)
        task = warehouse.task(trajectory.task)
        if check is None or any(c.check == check for c in task.rubric.criteria):
            verdict = grade_trajectory(workshop, task, trajectory)
            reward = verdict.score if verdict.grading is Grading.GRADED else None
            if reward != trajectory.reward:
                evidence = verdict.error or "; ".join(
                    f"{c.criterion} {c.score:g}: {c.evidence}" for c in verdict.criteria
                )
                changes.append(Change(trajectory_id, task.id, trajectory.reward, reward, evidence))
            if not dry_run:
                _write(workshop, trajectory_id, verdict)
        progress.advance("regrade")
    return changes


def _write(workshop: Workshop, trajectory_id: str, verdict: Any) -> None:
    with workshop.warehouse.begin() as session:
        workshop.warehouse.register_fingerprint(session, workshop.fingerprint)
        workshop.warehouse.add_verdict(session, trajectory_id, verdict, workshop.fingerprint.digest())
