"""The rubric's writer: what it is shown and what not, what is held against it, and what it is told of earlier ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

import skills
from forge.llm.errors import UnusableReplyError
from skills import Draw, Kitchen
from skills.authoring.draft import Draft
from skills.authoring.rubric_writer import ATTEMPTS, RubricText, faults, hidden, write_rubric

from .conftest import CRITERIA, SKILL, WORDING, WORKFLOW

KITCHEN = """\
  opened: {compute: "${tree.root}"}
  window: {compute: "${upper(opened)}"}
  proof: {compute: "${repeat(owner, 2)}"}
  basis: {compute: "${lower(owner)}"}
  expected: {compute: "${basis}"}
start:"""
FULL = WORKFLOW.replace("start:", KITCHEN, 1).replace("printf %s", "printf '' ${quote(window)}; printf %s")


class Writer:
    """Gives rubrics one after another, the last one again and again."""

    def __init__(self, *answers: list[dict[str, Any]], missing: str = ""):
        self.answers = list(answers)
        self.missing = missing
        self.asked: list[list[dict[str, Any]]] = []

    async def typed(self, messages: Any, model: Any, **more: Any) -> RubricText:
        self.asked.append([dict(message) for message in messages])
        criteria = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return RubricText.model_validate({"criteria": criteria, "missing": self.missing})


def a_draft(workflow: str = WORKFLOW) -> tuple[Draft, list[Draw]]:
    draft = Draft(SKILL, {"workflow.yaml": workflow, "wording.yaml": WORDING})
    loaded = draft.load(graded=False)
    return draft, [skills.draw(loaded, seed, Kitchen()) for seed in range(2)]


async def written(writer: Writer, draft: Draft, draws: list[Draw], note: str = "") -> str:
    return await write_rubric(writer, draft, draft.load(graded=False), draws, note=note, subject="test")


async def test_the_writer_is_told_what_a_rubric_has_to_stand_and_how_arguments_are_written():
    draft, draws = a_draft()
    writer = Writer(CRITERIA)
    assert await written(writer, draft, draws) == ""
    question = writer.asked[0][0]["content"]
    for told in ("untouched state scores exactly 0", "One `must` for each object", "Nothing literal", "no gold files"):
        assert told in question
    for told in ("`each` makes one criterion", "## files.contents", "below(", "owner, target"):
        assert told in question
    assert "SECRET-OF-THE-SOLUTION" not in question
    assert "Your last rubric" not in question
    assert not draft.needs_rubric()


async def test_names_that_only_solutions_read_are_not_shown_and_names_that_nothing_reads_are():
    draft, draws = a_draft(FULL)
    assert hidden(draft.load(graded=False)) == ("opened", "window")
    writer = Writer(CRITERIA, missing="how often it is said")
    said = await written(writer, draft, draws)
    shown = writer.asked[0][0]["content"]
    seen = {"opened": False, "window": False, "proof": True, "basis": True, "expected": True, "tree": True}
    for name, is_seen in seen.items():
        assert (f"- `{name}` = " in shown) is is_seen, name
    assert "@banks" not in shown
    assert said.splitlines() == [
        "It misses a check for: how often it is said",
        "Not shown to it, because only solutions read them: opened, window. A node that nothing reads is shown.",
    ]


async def test_every_note_and_the_last_rubric_reach_the_next_writer():
    draft, draws = a_draft()
    await written(Writer(CRITERIA), draft, draws, "only the name")
    writer = Writer(CRITERIA)
    await written(writer, draft, draws, "case matters")
    await written(writer, draft, draws)
    for asked in writer.asked:
        question = asked[0]["content"]
        assert "- only the name" in question
        assert "- case matters" in question
        assert "# Your last rubric" in question
        assert '"check":"files.content"' in question
    assert draft.notes == ["only the name", "case matters"]


async def test_a_rubric_that_does_not_load_is_asked_for_again_with_its_faults():
    draft, draws = a_draft()
    wrong = [CRITERIA[0] | {"check": "files.contnt"}]
    writer = Writer(wrong, CRITERIA)
    await written(writer, draft, draws)
    assert len(writer.asked) == 2
    assert "files.contnt" in writer.asked[1][1]["content"]
    assert "unknown check 'files.contnt'" in writer.asked[1][2]["content"]
    with pytest.raises(UnusableReplyError, match=f"after {ATTEMPTS} attempts"):
        await written(Writer(wrong), a_draft()[0], draws)


LITERAL = {
    "kind": "must",
    "check": "files.content",
    "args": '{"path": "~/Notes/own.txt", "text": "x"}',
    "says": "owner",
}
THERE = {"kind": "must", "check": "files.exists", "args": '{"path": "${tree.root}/readme.txt"}', "says": "target"}
GOLD = {
    "kind": "must", "check": "files.content", "says": "owner",
    "args": '{"path": "${target}", "same_as": "${target}", "side": "gold"}',
}  # fmt: skip
TWICE = {**CRITERIA[0], "says": "target"}


@pytest.mark.parametrize(
    ("criteria", "said"),
    [
        ([LITERAL, CRITERIA[1]], "the path '~/Notes/own.txt'"),
        ([CRITERIA[0]], "there is no must_not against damage elsewhere"),
        ([CRITERIA[0], THERE, CRITERIA[1]], "the must target (files.exists) scores 1 on the untouched state, not 0"),
        ([GOLD, CRITERIA[1]], "owner compares with gold artifacts, and there are none"),
        ([TWICE, *CRITERIA], "is the same check of the same thing as"),
    ],
)
async def test_what_gates_and_the_untouched_state_show_is_held_against_it_at_once(
    criteria: list[dict[str, str]], said: str
) -> None:
    draft, draws = a_draft()
    writer = Writer(criteria, CRITERIA)
    assert await written(writer, draft, draws) == ""
    assert said in writer.asked[1][2]["content"]
    assert [c.check for c in draft.rubric] == ["files.content", "files.changed_elsewhere"]


async def test_what_the_writer_cannot_mend_is_told_to_the_author():
    draft, draws = a_draft()
    writer = Writer([CRITERIA[0], THERE, CRITERIA[1]])
    said = await written(writer, draft, draws)
    assert len(writer.asked) == 2
    assert said.startswith("Still wrong with it: the must target (files.exists) scores 1 on the untouched state")
    assert len(draft.rubric) == 3


def test_faults_of_the_instruction_or_of_solutions_are_not_the_rubrics():
    wording = json.dumps({"skeletons": {"terse": ["{target}: {owner}, before 12 May 2031"]}})
    draft = Draft(SKILL, {"workflow.yaml": WORKFLOW, "wording.yaml": wording})
    loaded = draft.load(graded=False)
    draws = [skills.draw(loaded, seed, Kitchen()) for seed in range(2)]
    draft.rubric = tuple(RubricText.model_validate({"criteria": CRITERIA, "missing": ""}).criteria)
    assert faults(draft.load(graded=True), draws) == []


async def test_a_must_not_that_only_the_goal_holds_is_no_fault():
    goal = {"kind": "must_not", "check": "files.exists", "args": '{"path": "${target}"}'}
    draft, draws = a_draft()
    writer = Writer([*CRITERIA, goal])
    assert await written(writer, draft, draws) == ""
    assert len(writer.asked) == 1
