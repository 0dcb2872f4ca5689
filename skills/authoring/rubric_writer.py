"""The rubric's writer: a conversation of its own that sees instructions and facts, and never a solution.

What it is shown is put together here from draws; the author's solutions and scripts are not among it, nor values that
only solutions read, so that a rubric cannot repeat a solution's mistake. What it writes is held against the gates and
against the untouched state of these draws at once, so that it mends what needs no solution to be seen.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from forge.desktop import lay
from forge.llm.errors import UnusableReplyError
from forge.llm.port import ChatModel
from forge.records import InputError, Role, Rubric
from skills.authoring.catalogue import describe, entries
from skills.authoring.draft import CriterionText, Draft
from skills.authoring.evidence import numbers
from skills.authoring.glance import visible_files
from skills.authoring.outline import outline
from skills.authoring.prompts import PROMPTS
from skills.banks.pins import KEY
from skills.drawing import Draw
from skills.language.functions import FUNCTIONS
from skills.language.rubric import CriterionTemplate, render_rubric
from skills.language.template import Each
from skills.workflow import Workflow

ATTEMPTS = 4
VALUE_CHARACTERS = 1200
"""About how much of each value the writer is shown."""

FAULTS = 8
"""Faults that are told at once."""

_NOTHING = ("", "-", "n/a", "no", "none", "nothing", "nothing is missing")

_OWN_GATES = ("facts", "rubric")
"""Gates that a rubric alone can fail."""


class RubricText(BaseModel):
    """A rubric, and what the checks could not express."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    criteria: list[CriterionText]
    missing: str = Field(description="what must be true and no check can express, for the author; empty when nothing")


async def write_rubric(
    model: ChatModel, draft: Draft, workflow: Workflow, draws: Sequence[Draw], *, note: str, subject: str
) -> str:
    """Have the draft's rubric written; the draft is changed once it loads with it.

    Args:
        model: who writes.
        draft: gets the rubric; its last rubric and all notes so far are shown to the writer.
        workflow: the draft as read without a rubric.
        draws: a few of its draws.
        note: what the author has to say about the last rubric; kept in the draft.
        subject: for the ledger.

    Returns:
        Remarks for the author: what the checks could not express, what is still wrong. Empty when there is nothing.

    Raises:
        UnusableReplyError: no rubric that can be read came of it.
        ModelError: the endpoint failed.
    """
    if note and note not in draft.notes:
        draft.notes.append(note)
    question = PROMPTS.render("rubric", **_shown(draft, workflow, draws))
    conversation: list[dict[str, Any]] = list(question.messages)
    best: tuple[RubricText, list[str]] | None = None
    wrong: list[str] = []
    before: list[str] = []
    for _ in range(ATTEMPTS):
        answer = await model.typed(
            conversation, RubricText, purpose="author", recurring=False, subject=subject, prompt=question.version
        )
        candidate = Draft(draft.skill, draft.files, tuple(answer.criteria))
        try:
            wrong = await asyncio.to_thread(faults, candidate.load(graded=True), draws)
            if best is None or len(wrong) <= len(best[1]):
                best = answer, wrong
        except InputError as error:
            wrong = [str(error)]
        if not wrong or (best is not None and wrong == before):  # what it cannot mend is for the author
            break
        before = wrong
        told = "This rubric cannot be used:\n" + "\n".join(wrong[:FAULTS]) + "\nWrite it again, whole."
        conversation += [
            {"role": "assistant", "content": answer.model_dump_json(by_alias=True)},
            {"role": "user", "content": told},
        ]
    if best is None:
        raise UnusableReplyError(f"no usable rubric after {ATTEMPTS} attempts; last: {wrong[0][:500]}")
    draft.rubric = tuple(best[0].criteria)
    draft.basis = draft.current_basis()
    draft.missing = _stated(best[0].missing)
    return _remarks(draft.missing, best[1], hidden(workflow))


def faults(workflow: Workflow, draws: Sequence[Draw]) -> list[str]:
    """What is wrong with a rubric as far as some draws show it without any solution, each fault once.

    Args:
        workflow: with the rubric.
        draws: of the same workflow with any rubric, with their files.
    """
    from verifiers.gates import GATES

    found: dict[str, None] = {}
    for draw in draws:
        resolved = draw.task.resolved
        said = workflow.wording.say(resolved["wording"], resolved)
        try:
            rubric = render_rubric(workflow.rubric, resolved, said.spans)
        except InputError as error:
            found[f"{error.message}{'; ' + error.mend if error.mend else ''}"] = None
            continue
        bare = {"rubric": rubric, "instruction": "", "solutions": (), "start": ()}
        task = draw.task.model_copy(update=bare)
        results = [GATES[name](task) for name in _OWN_GATES]
        found |= {result.evidence: None for result in results if not result.passed}
        found |= dict.fromkeys(_untouched(draw, rubric))
    return list(found)


def empty(workflow: Workflow, draws: Mapping[int, Draw]) -> list[str]:
    """Criteria of an `each` that has no items in some draws, where they grade nothing, a line each.

    Args:
        workflow: with the rubric.
        draws: by their numbers, of the same workflow with any rubric.
    """
    found = []
    for block in workflow.rubric.items:
        if not isinstance(block, Each):
            continue
        without = [number for number, draw in draws.items() if _has_no_items(block, draw.task.resolved)]
        leaves = [leaf for leaf in block.do.leaves() if isinstance(leaf, CriterionTemplate)]
        if without and leaves:
            names = " and ".join(f"{c.kind} {c.check.name}{f' of {c.says}' if c.says else ''}" for c in leaves)
            over = ", ".join(sorted(block.each.names))
            found.append(f"{names}, for each item of a list made of {over}, has no items in {numbers(without)}")
    return found


def _has_no_items(block: Each, resolved: Mapping[str, Any]) -> bool:
    try:
        return not block.each.render(resolved)
    except InputError:  # a fault of its own
        return False


def hidden(workflow: Workflow) -> tuple[str, ...]:
    """The nodes that only solutions read, directly or through other such nodes; one that nothing reads is none of them."""
    readers: dict[str, set[str]] = {name: set() for name in workflow.nodes}
    wanted: list[tuple[str, frozenset[str]]] = [(name, step.names) for name, step in workflow.steps.items()]
    wanted += [("solution", solution.names) for solution in workflow.solutions.values()]
    others = [workflow.wording.names, workflow.start.names, workflow.guest.names]
    others += [requirement.condition.names for requirement in workflow.requires]
    wanted += [("", names) for names in others]
    for reader, names in wanted:
        for name in names & readers.keys():
            readers[name].add(reader)
    found = {"solution"}
    while more := {name for name, by in readers.items() if by and by <= found} - found:
        found |= more
    return tuple(sorted(found & workflow.nodes.keys()))


def _stated(missing: str) -> str:
    """What is missing; empty where the writer only says in words that nothing is."""
    said = missing.strip()
    return "" if said.casefold().rstrip(".!") in _NOTHING else said


def _remarks(missing: str, wrong: Sequence[str], unseen: Sequence[str]) -> str:
    lines = [f"It misses a check for: {missing}"] if missing else []
    lines += [f"Still wrong with it: {line}" for line in wrong[:FAULTS]]
    if lines and unseen:
        names = ", ".join(unseen)
        lines.append(f"Not shown to it, because only solutions read them: {names}. A node that nothing reads is shown.")
    return "\n".join(lines)


def _untouched(draw: Draw, rubric: Rubric) -> list[str]:
    """Every `must` that the untouched state earns something for; what LibreOffice has to compute is left to probes."""
    from verifiers.base import Case, Tree
    from verifiers.grading import grade

    with tempfile.TemporaryDirectory(prefix="untouched-") as folder:
        lay(Path(folder), [(f.path, f.data, f.mode, f.folder) for f in draw.files if f.role != Role.GOLD])
        home = Tree(Path(folder))
        verdict = grade(rubric, Case(before=home, after=home, guest=draw.task.guest))
    if any(c.kind == "must_not" and c.score < 1 for c in verdict.criteria):
        return []  # it scores 0 whatever the others say
    return [
        f"the must {c.criterion} ({c.check}) scores {c.score:g} on the untouched state, not 0: {c.evidence}"
        for c in verdict.criteria
        if c.kind == "must" and c.score > 0
    ]


def _shown(draft: Draft, workflow: Workflow, draws: Sequence[Draw]) -> dict[str, Any]:
    first = draws[0].task
    unseen = {*hidden(workflow), "wording", KEY}
    return {
        "skill": draft.skill,
        "draws": [{"instruction": d.task.instruction, "spans": _spans(workflow, d)} for d in draws],
        "spans": sorted(workflow.wording.spans),
        "names": {n: outline(v, VALUE_CHARACTERS) for n, v in first.resolved.items() if n not in unseen},
        "files": visible_files(first),
        "start": [f"{s.app} with {s.path}" if s.path else s.app for s in first.start],
        "checks": _checks(draft),
        "functions": [function.usage for _, function in FUNCTIONS],
        "last": [c.model_dump_json(by_alias=True, exclude_defaults=True) for c in draft.rubric],
        "notes": draft.notes,
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
