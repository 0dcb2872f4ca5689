"""Blind readers: whether instruction and rubric say the same, asked of models that each see only one of them.

This is the second, model-made predicate of acceptance: it is kept apart from what probes show and never replaces it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from forge.llm.port import ChatModel, M, Purpose
from forge.records import Task
from skills.authoring.glance import glance
from skills.authoring.prompts import PROMPTS
from skills.drawing import Draw

ARGUMENTS = 1500
"""Characters of a criterion's arguments that are shown."""

MAILS = 20
"""Mails of a criterion whose subjects are told."""


class Reading(BaseModel):
    """What the first reader makes of an instruction."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    must: list[str] = Field(description="what must be true at the end that is not true now")
    stays: list[str] = Field(description="what is true now and must still be true: 'All other mails are as they were.'")
    unclear: str = Field(description="what a careful person could understand in two ways; empty where there is nothing")


class Reconstruction(BaseModel):
    """What the second reader takes the request to have been."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    instruction: str


class Comparison(BaseModel):
    """Where instruction and rubric part."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ungraded: list[str]
    unasked: list[str]
    ambiguous: list[str]


@dataclass(frozen=True)
class Agreement:
    """What the readers found about one task; `agreed` when they found nothing."""

    task: str
    reading: Reading
    reconstruction: str
    comparison: Comparison

    @property
    def complaints(self) -> list[str]:
        """Every disagreement in a line."""
        found = self.comparison
        parts = (("not graded", found.ungraded), ("not asked for", found.unasked), ("ambiguous", found.ambiguous))
        return [f"{what}: {line}" for what, lines in parts for line in lines]

    @property
    def agreed(self) -> bool:
        """Whether there is no disagreement."""
        return not self.complaints


async def read_blind(model: ChatModel, draw: Draw, subject: str) -> Agreement:
    """Have one task read by three: instruction alone, rubric alone, and a comparison.

    All three are told what lies in the home, in short, so that what is plain on the desktop is plain to them.

    Args:
        model: who reads; each question is a conversation of its own.
        draw: a drawn task with its rubric, and its files.
        subject: for the ledger.

    Raises:
        ModelError: an answer could not be had or used.
    """
    task = draw.task
    look, start, criteria = await asyncio.to_thread(glance, draw), _start(task), _criteria(task)
    ask = partial(_ask, model, subject)
    reading, again = await asyncio.gather(
        ask("reader", Reading, "reader_task", instruction=task.instruction, look=look, start=start),
        ask("reader", Reconstruction, "reader_rubric", criteria=criteria, look=look),
    )
    comparison = await ask(
        "judge", Comparison, "compare", instruction=task.instruction, criteria=criteria, look=look,
        statements=[*reading.must, *reading.stays], unclear=reading.unclear, reconstructed=again.instruction,
    )  # fmt: skip
    return Agreement(task.id, reading, again.instruction, comparison)


async def _ask(model: ChatModel, subject: str, purpose: Purpose, answer: type[M], template: str, **values: Any) -> M:
    question = PROMPTS.render(template, **values)
    return await model.typed(
        question.messages, answer, purpose=purpose, recurring=False, subject=subject, prompt=question.version
    )


def _start(task: Task) -> list[str]:
    return [f"{s.app} with {s.path}" if s.path else s.app for s in task.start]


def _criteria(task: Task) -> list[str]:
    from verifiers.base import CHECKS

    subjects = dict(_subjects(task.resolved))
    found = []
    for c in task.rubric.criteria:
        about = (CHECKS.get(c.check).run.__doc__ or "").strip().split("\n")[0]
        args = json.dumps(c.args, ensure_ascii=False)[:ARGUMENTS]
        found.append(f"{c.kind} {c.check}: {about} Here: {args}{_mails(args, subjects)}")
    return found


def _mails(args: str, subjects: dict[str, str]) -> str:
    """The subjects of the mails that arguments name by their ids, which say nothing to who reads them."""
    named = [f"{key} is {subject!r}" for key, subject in subjects.items() if f'"{key}"' in args]
    more = f" and {len(named) - MAILS} more" if len(named) > MAILS else ""
    return f" Mails: {'; '.join(named[:MAILS])}{more}." if named else ""


def _subjects(value: Any) -> Iterator[tuple[str, str]]:
    """(id, subject) of every mail among a task's values."""
    if isinstance(value, dict):
        key, subject = value.get("id"), value.get("subject")
        if key and isinstance(key, str) and isinstance(subject, str):
            yield key, subject
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _subjects(part)
