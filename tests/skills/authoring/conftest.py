"""A small workflow as an author would write it, a model that answers by the kind of question, and a bench without machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import skills
from forge.llm import Budget, Reply
from forge.llm.reply import ToolCall
from forge.records import Skill, Usage
from skills import Draw, Kitchen, Workflow
from skills.authoring.port import Performed, Smoke, Tried

SKILL = Skill(
    id="files.text.note-owner", apps=("files",), title="Write the owner's name into a file", affinity="terminal"
)

WORKFLOW = """\
skill: files.text.note-owner
title: Write the owner's name into a file
apps: [files]
affinity: terminal
params:
  owner: {choice: [Ada Byron, Grace Hopper, Alan Turing, Mary Shelley, Karl Gauss]}
  folder: {choice: [Notes, Papers, Records]}
nodes:
  tree: {prepare: files.tree, with: {root: "~/${folder}", items: [{kind: text, path: readme.txt, text: "Read me."}]}}
  target: {compute: "~/${folder}/owner.txt"}
start:
  - {app: files, open: "${tree.root}"}
instruction:
  wording: wording.yaml
  says:
    owner: "${owner}"
    target: "${target}"
solution:
  terminal:
    - {bash: "printf %s ${quote(owner)} > ${quote(target)} # SECRET-OF-THE-SOLUTION"}
"""

SKELETONS: dict[str, list[str]] = {
    "terse": [
        "{target}: {owner}, nothing more.",
        "Owner file: put {owner} in {target}.",
        "Create {target} with {owner} as its only text.",
        "{owner}. That is what {target} has to say.",
        "Need {target} to read {owner}.",
        "Text of {target} = {owner}",
        "Fill {target}: just {owner}.",
    ],
    "polite": [
        "Could you please make a file {target} that holds the name {owner}?",
        "I would be grateful for a note of the owner, {owner}, under {target}.",
        "Be so kind and write {owner} where it belongs, in {target}; thank you.",
        "When it suits you, a short text file {target} saying {owner} would help us a lot.",
        "May I ask for one more thing: the name {owner}, alone, in {target}?",
        "Thanks for recording that the folder is owned by {owner}; use {target} for it.",
        "Please see to it that whoever opens {target} finds {owner} there.",
    ],
    "rambling": [
        "So many people asked me whose papers these are that I gave up; {owner} is the answer, and it should stand in {target}.",
        "My aunt always said that things without a name get lost, so let us name this: {owner}, in a new file {target}.",
        "The auditors come on Monday, they love their paperwork, and all they lack here is {target} with the words {owner}.",
        "Yesterday I nearly threw the folder away. To stop that, put {owner} into {target}, would you.",
        "There used to be a sticker with {owner} on the cabinet; the folder is digital now, hence {target}, same words.",
        "It is a small matter and I am almost ashamed to bother you, but {target} does not exist and ought to contain {owner}.",
        "Funny how nobody noticed: no owner anywhere! It is {owner}, by the way; {target} is to tell everybody.",
    ],
}

WORDING = json.dumps({"skeletons": SKELETONS}, indent=1)

CRITERIA = [
    {"kind": "must", "check": "files.content", "args": '{"path": "${target}", "text": "${owner}"}', "says": "owner"},
    {"kind": "must_not", "check": "files.changed_elsewhere", "args": '{"allow": ["${target}"]}'},
]


def calls(*wanted: tuple[str, dict[str, Any]]) -> Reply:
    """An answer that calls tools."""
    made = tuple(ToolCall(f"c{n}-{name}", name, json.dumps(args)) for n, (name, args) in enumerate(wanted))
    return Reply(tool_calls=made, finish="tool_calls", usage=Usage(prompt_tokens=1000, completion_tokens=100))


def write(**files: str) -> tuple[str, dict[str, Any]]:
    """A `write` call; names with `__` for the dot."""
    return "write", {"files": [{"name": name.replace("__", "."), "text": text} for name, text in files.items()]}


GOOD = write(workflow__yaml=WORKFLOW, wording__yaml=WORDING)


class Scripted:
    """Answers the author's turns from a list, and all other questions by their kind.

    `questions` holds every question as text; `criteria` is the rubric that is given, `missing` what
    the next ones say that they miss.
    """

    def __init__(self, turns: Sequence[Reply | Exception], comparison: dict[str, list[str]] | None = None):
        self.turns = list(turns)
        self.comparison = comparison or {"ungraded": [], "unasked": [], "ambiguous": []}
        self.questions: list[tuple[str, str]] = []
        self.missing: list[str] = []
        self.criteria: list[dict[str, str]] = CRITERIA
        self.budget = Budget()

    def within(self, **more: Any) -> Scripted:
        self.budget = more.get("budget") or self.budget
        return self

    async def chat(self, messages: Sequence[Mapping[str, Any]], tools: Any = None, **more: Any) -> Reply:
        self.questions.append(("author", json.dumps(list(messages))))
        if not self.turns:
            raise AssertionError("the author was asked once too often")
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        return turn

    async def typed(self, messages: Sequence[Mapping[str, Any]], model: Any, **more: Any) -> Any:
        self.questions.append((model.__name__, json.dumps(list(messages))))
        answers = {
            "RubricText": {"criteria": self.criteria, "missing": self.missing.pop(0) if self.missing else ""},
            "Reading": {"must": ["The file holds the name."], "stays": [], "unclear": ""},
            "Reconstruction": {"instruction": "Write the name into the file."},
            "Comparison": self.comparison,
        }
        return model.model_validate(answers[model.__name__])


class PaperBench:
    """A bench that draws for real and says that everything passes, or what it is told to say."""

    def __init__(self, sound: bool = True):
        self.sound = sound
        self.smokes: list[tuple[int, bool]] = []

    async def draws(self, workflow: Workflow, count: int, first: int = 0) -> list[Draw]:
        return [skills.draw(workflow, seed, Kitchen()) for seed in range(first, first + count)]

    async def picture(self, workflow: Workflow, seed: int) -> bytes:
        return b"\x89PNG picture"

    async def smoke(self, workflow: Workflow, count: int, *, play: bool) -> Smoke:
        self.smokes.append((count, play))
        tried = tuple(Tried(n, "do it", self.sound, () if self.sound else ("no-op scores",)) for n in range(count))
        played = tuple(Performed(c, c, 1.0 if self.sound else 0.0) for c in workflow.channels) if play else ()
        return Smoke(
            tried, played, () if self.sound else ("noop untouched: scored 1",), workflow.channels if play else ()
        )


class MemoryKeeper:
    """Keeps the state in memory, as JSON; `fail_after` saves raise as a killed process would stop."""

    def __init__(self) -> None:
        self.text: str | None = None
        self.saves = 0
        self.fail_after: int | None = None

    def load(self) -> dict[str, Any] | None:
        return None if self.text is None else json.loads(self.text)

    def save(self, state: dict[str, Any]) -> None:
        if self.fail_after is not None and self.saves >= self.fail_after:
            raise KeyboardInterrupt
        self.saves += 1
        self.text = json.dumps(state)


@pytest.fixture
def keeper() -> MemoryKeeper:
    return MemoryKeeper()
