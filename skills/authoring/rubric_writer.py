"""The rubric's writer: a conversation of its own that sees instructions and facts, and never a solution.

What it is shown is put together here from draws; the author's solutions and scripts are not among it, so that a rubric
cannot repeat a solution's mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from forge.llm.errors import UnusableReplyError
from forge.llm.port import ChatModel
from forge.records import InputError
from skills.authoring.catalogue import describe, entries
from skills.authoring.draft import CriterionText, Draft
from skills.authoring.outline import outline
from skills.authoring.prompts import PROMPTS
from skills.drawing import Draw
from skills.workflow import Workflow

ATTEMPTS = 4
VALUE_CHARACTERS = 1200
"""About how much of each value the writer is shown."""


class RubricText(BaseModel):
    """A rubric, and what the checks could not express."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    criteria: list[CriterionText]
    missing: str


async def write_rubric(
    model: ChatModel, draft: Draft, workflow: Workflow, draws: Sequence[Draw], *, note: str, subject: str
) -> str:
    """Have the draft's rubric written; the draft is changed once it loads with it.

    Args:
        model: who writes.
        draft: gets the rubric.
        workflow: the draft as read without a rubric.
        draws: a few of its draws.
        note: what the author has to say about the last rubric.
        subject: for the ledger.

    Returns:
        What the checks could not express, in the writer's words; empty when nothing.

    Raises:
        UnusableReplyError: no rubric that can be read came of it.
        ModelError: the endpoint failed.
    """
    question = PROMPTS.render("rubric", **_shown(draft, workflow, draws), note=note)
    conversation: list[dict[str, Any]] = list(question.messages)
    for _ in range(ATTEMPTS):
        answer = await model.typed(
            conversation, RubricText, purpose="author", recurring=False, subject=subject, prompt=question.version
        )
        candidate = Draft(draft.skill, draft.files, tuple(answer.criteria), draft.current_basis())
        try:
            candidate.load(graded=True)
        except InputError as error:
            wrong = f"This rubric cannot be used:\n{error}\nWrite it again, whole."
            conversation += [
                {"role": "assistant", "content": answer.model_dump_json()},
                {"role": "user", "content": wrong},
            ]
            continue
        draft.rubric, draft.basis = candidate.rubric, candidate.basis
        return answer.missing.strip()
    raise UnusableReplyError(f"no usable rubric after {ATTEMPTS} attempts; last: {wrong[:500]}")


def _shown(draft: Draft, workflow: Workflow, draws: Sequence[Draw]) -> dict[str, Any]:
    spans = sorted(workflow.wording.spans)
    first = draws[0].task
    names = {n: outline(v, VALUE_CHARACTERS) for n, v in first.resolved.items() if n != "wording"}
    return {
        "skill": draft.skill,
        "draws": [{"instruction": d.task.instruction, "spans": _spans(workflow, d)} for d in draws],
        "spans": spans,
        "names": names,
        "files": [a.path for a in first.artifacts if not a.folder],
        "start": [f"{s.app} with {s.path}" if s.path else s.app for s in first.start],
        "checks": _checks(draft),
    }


def _spans(workflow: Workflow, draw: Draw) -> dict[str, str]:
    resolved = draw.task.resolved
    return workflow.wording.say(resolved["wording"], resolved).spans


def _checks(draft: Draft) -> str:
    """The checks of the skill's applications, whole; of the others only their names."""
    prefixes = {*draft.skill.apps, "files", "answer", *(["mail"] if "thunderbird" in draft.skill.apps else [])}
    known = entries("checks")
    near = [name for name in known if name.split(".")[0] in prefixes]
    far = [f"{name}: {about}" for name, about in known.items() if name not in near]
    return "\n\n".join([*(f"## {name}\n\n{describe('checks', name)}" for name in near), "Others:", *far])
