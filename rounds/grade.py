"""Grade stored final states: on a copy, in a fresh process, after the agent has stopped; and again when a check is mended."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from forge.desktop import restore
from forge.records import Grading, Role, Snapshot, Task, Verdict
from rounds.workshop import Workshop


def grade_snapshot(
    workshop: Workshop, task: Task, final_state: str | None, *, answer: str | None, status: str | None
) -> Verdict:
    """The verdict on a final state.

    Args:
        workshop: gives blobs, graders and LibreOffice.
        task: what was to be done.
        final_state: the blob that holds the snapshot's JSON; None: nothing was kept.
        answer: the agent's last answer.
        status: its done status; None when it did not say done, which is graded like `success` on the state it left.

    Returns:
        A verdict; `not_gradable` without a final state.
    """
    if final_state is None:
        return Verdict(grading=Grading.NOT_GRADABLE, error="no final state was kept")
    snapshot = Snapshot.model_validate(json.loads(workshop.warehouse.blobs.get(final_state)))
    folder = Path(tempfile.mkdtemp(prefix="grade-", dir=workshop.scratch))
    try:
        after = folder / "after"
        after.mkdir()
        restore(snapshot, after, workshop.warehouse.blobs.get)
        with workshop.new_home(task) as before, workshop.new_home(task, (Role.GOLD,)) as gold:
            return workshop.graders.grade(
                task.rubric, before=before, after=after, gold=gold, answer=answer, status=status or "success",
                guest=task.guest, office_address=workshop.office().address,
            )  # fmt: skip
    finally:
        shutil.rmtree(folder, ignore_errors=True)
