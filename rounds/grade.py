"""Grade stored final states: on a copy, in a fresh process, after the agent has stopped; and again when a check is mended."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from forge.desktop import restore
from forge.records import CriterionVerdict, EndedBy, Grading, Role, Snapshot, Task, Trajectory, Verdict
from rounds.workshop import Workshop


def grade_trajectory(workshop: Workshop, task: Task, trajectory: Trajectory) -> Verdict:
    """The verdict on an episode.

    Where the agent used up its home so that no final state could be kept, every criterion has 0: a reward of none would be
    a way out for a policy that has failed. Without a final state for another reason it is `not_gradable`.
    """
    if trajectory.final_state is None and trajectory.ended_by is EndedBy.EXHAUSTED:
        evidence = f"no final state could be kept: {trajectory.error}"
        criteria = tuple(
            CriterionVerdict(criterion=c.id, check=c.check, kind=c.kind, score=0.0, evidence=evidence, weight=c.weight)
            for c in task.rubric.criteria
        )
        return Verdict(grading=Grading.GRADED, score=0.0, criteria=criteria)
    if trajectory.final_state is None:
        return Verdict(grading=Grading.NOT_GRADABLE, error="no final state was kept")
    snapshot = Snapshot.model_validate(json.loads(workshop.warehouse.blobs.get(trajectory.final_state)))
    folder = Path(tempfile.mkdtemp(prefix="grade-", dir=workshop.scratch))
    try:
        after = folder / "after"
        after.mkdir()
        restore(snapshot, after, workshop.warehouse.blobs.get)
        with workshop.new_home(task) as before, workshop.new_home(task, (Role.GOLD,)) as gold:
            return workshop.graders.grade(
                task.rubric, before=before, after=after, gold=gold, answer=trajectory.answer,
                status=trajectory.done_status or "success",  # without a status the state that it left counts
                guest=task.guest, office_address=workshop.office().address,
            )  # fmt: skip
    finally:
        shutil.rmtree(folder, ignore_errors=True)
