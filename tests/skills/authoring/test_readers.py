"""Blind readers: what each is shown of the task and of the home, and what becomes of what they say."""

from __future__ import annotations

from typing import Any

import pytest

import skills
from skills import Draw, Kitchen
from skills.authoring.draft import CriterionText, Draft
from skills.authoring.glance import LIMIT, glance, visible_files
from skills.authoring.readers import read_blind

from .conftest import CRITERIA, SKILL, WORDING, WORKFLOW

HOME = """\
  box: {mailbox: plain, size: 12}
nodes:
  profile: {prepare: thunderbird.profile, with: "${box}"}
  book:
    prepare: calc.workbook
    path: "~/Documents/plan.xlsx"
    sheets:
      - name: Plan
        table:
          columns: [{name: Day, type: date}, {name: Room}, {name: Seats, type: integer}]
          rows: [["2026-03-02", "Blue hall", 40], ["2026-03-03", "Attic", 12]]
      - {name: Notes, cells: [{cell: B2, value: Ask Eve}]}
  more:
    prepare: files.tree
    root: "~/Papers"
    items:
      - {kind: csv, path: "in/list.csv", header: [name, age], rows: [[Eve, 30], [Bob, 41]]}
      - {kind: image, path: photo.png, width: 40, height: 30}
      - {kind: folder, path: empty}
      - {kind: archive, path: old.zip, members: [{kind: text, path: a/b.txt, text: b}]}
"""
RICH = WORKFLOW.replace("nodes:\n", HOME, 1).replace("Notes, Papers, Records", "Jotter, Records")
RICH = RICH.replace("apps: [files]", "apps: [files, calc, thunderbird]")


def a_draw(workflow: str = WORKFLOW, criteria: list[dict[str, str]] = CRITERIA) -> Draw:
    draft = Draft(SKILL, {"workflow.yaml": workflow, "wording.yaml": WORDING})
    draft.rubric = tuple(CriterionText.model_validate(c) for c in criteria)
    return skills.draw(draft.load(graded=True), 1, Kitchen())


def test_a_look_has_folders_tables_texts_and_mails_and_no_plumbing():
    draw = a_draw(RICH)
    seen = glance(draw)
    assert len(seen) <= LIMIT
    root = draw.task.resolved["tree"]["root"]
    for line in (
        "~/Documents: plan.xlsx",
        "~/Papers: empty/, old.zip, photo.png",
        "~/Papers/in: list.csv",
        f"{root}: readme.txt",
        "~/Documents/plan.xlsx:\n  sheet 'Plan', rows 1 to 3:\n    1: Day | Room | Seats\n    2: 2026-03-02 | Blue hall | 40",
        "  sheet 'Notes', rows 2 to 2:\n    2: Ask Eve",
        "~/Papers/in/list.csv:\n  name,age\n  Eve,30",
        "~/Papers/photo.png:\n  png, 40 x 30",
        "~/Papers/old.zip:\n  holds a/b.txt",
        f"{root}/readme.txt:\n  Read me.",
        "Mailbox of Thunderbird:\n  Inbox, ",
    ):
        assert line in seen
    mail = draw.task.resolved["profile"]["messages"][-1]
    assert any(m["subject"] in seen for m in draw.task.resolved["profile"]["messages"]), mail
    assert "abook.sqlite" not in seen
    assert "prefs.js" not in seen


def test_files_are_listed_without_the_profiles_own():
    paths = visible_files(a_draw(RICH).task)
    assert paths[-1] == "the mailbox of Thunderbird"
    assert not any(".thunderbird" in path for path in paths)
    assert "~/Documents/plan.xlsx" in paths
    assert visible_files(a_draw().task) == [f"{a_draw().task.resolved['tree']['root']}/readme.txt"]


@pytest.mark.parametrize("limit", [300, 800])
def test_little_room_is_kept_to_and_what_is_open_comes_first(limit: int):
    draw = a_draw(RICH.replace('open: "${tree.root}"', 'open: "${tree.root}/readme.txt"'))
    seen = glance(draw, limit)
    assert len(seen) <= limit + 10
    whole = glance(draw)
    assert whole.index("readme.txt:\n") < whole.index("plan.xlsx:\n")


class Readers:
    """Answers by the kind of question and keeps what was asked."""

    def __init__(self) -> None:
        self.asked: dict[str, str] = {}

    async def typed(self, messages: Any, model: Any, **more: Any) -> Any:
        self.asked[model.__name__] = "\n".join(message["content"] for message in messages)
        answers = {
            "Reading": {
                "must": ["It holds the name."],
                "stays": ["All other files are as they were."],
                "unclear": "Which?",
            },
            "Reconstruction": {"instruction": "Write the name into it."},
            "Comparison": {"ungraded": [], "unasked": ["the case"], "ambiguous": ["which file"]},
        }
        return model.model_validate(answers[model.__name__])


async def test_all_readers_see_the_home_and_each_only_its_side():
    draw, readers = a_draw(), Readers()
    agreement = await read_blind(readers, draw, "test")
    look = f"{draw.task.resolved['tree']['root']}: readme.txt"
    assert all(look in text and "Read me." in text for text in readers.asked.values())
    reading, again, both = (readers.asked[kind] for kind in ("Reading", "Reconstruction", "Comparison"))
    assert draw.task.instruction in reading
    assert "files.content" not in reading
    assert "must_not" not in reading
    assert draw.task.instruction not in again
    assert "must files.content" in again
    for told in (draw.task.instruction, "- It holds the name.", "- All other files are as they were.", "Which?"):
        assert told in both
    assert "- not:" not in both
    assert agreement.complaints == ["not asked for: the case", "ambiguous: which file"]
    assert not agreement.agreed


async def test_mails_that_a_criterion_names_by_their_ids_have_their_subjects_beside_them():
    allow = '{"messages": ["${profile.messages[0].id}", "${profile.messages[1].id}"]}'
    changed = {"kind": "must_not", "check": "mail.changed_elsewhere", "args": allow}
    draw, readers = a_draw(RICH, [*CRITERIA, changed]), Readers()
    await read_blind(readers, draw, "test")
    first, second, other, *_ = draw.task.resolved["profile"]["messages"]
    told = f"Mails: {first['id']} is {first['subject']!r}; {second['id']} is {second['subject']!r}."
    for kind in ("Reconstruction", "Comparison"):
        assert told in readers.asked[kind]
        assert other["id"] not in readers.asked[kind]
    assert "Mails: " not in readers.asked["Reading"]
    assert readers.asked["Reconstruction"].count("Mails: ") == 1
