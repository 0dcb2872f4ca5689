"""Proposals: where coverage is thin, and never the same ability twice."""

from __future__ import annotations

import pytest

from forge.llm.fake import FakeModel, MemoryLedger
from forge.records import Skill, SkillState
from skills.expand import Known, Proposals, coverage, expand, words_of

SORT = Skill(id="calc.data.sort-rows", apps=("calc",), title="Sort the rows of a table by a column")
BOLD = Skill(id="calc.format.use-bold", apps=("calc",), title="Bold", affinity="gui", state=SkillState.CANDIDATE)


def proposal(skill_id, title, apps=("calc",), **more):
    return {
        "id": skill_id, "apps": list(apps), "title": title, "description": "", "affinity": "either", "difficulty": 1,
        "parameters": [{"name": "column", "type": "column", "values": ["Net", "Tax"]}], **more,
    }  # fmt: skip


def proposals(*found):
    return Proposals.model_validate({"skills": list(found)}).model_dump_json()


def test_the_thinnest_cells_come_first():
    cells = coverage([SORT, BOLD, SORT.model_copy(update={"id": "calc.data.split-text"})])
    assert [(c.area, c.affinity, c.authored, c.candidates) for c in cells] == [
        ("format", "gui", 0, 1), ("data", "either", 2, 0),
    ]  # fmt: skip


async def test_new_abilities_are_added_and_old_ones_refused():
    model = FakeModel(
        [
            proposals(
                proposal("calc.data.order-rows", "Sort rows of the table by one column"),
                proposal("calc.data.sort-rows", "Anything at all"),
                proposal("writer.text.use-bold", "Make words bold", apps=["writer"]),
                proposal("Not an id", "Whatever you like"),
                proposal("calc.chart.draw-pie", "Draw a pie chart of shares"),
                proposal("calc.note.comment-cell", "Comment on a cell"),
            )
        ]
    )
    found = await expand(model, [SORT, BOLD], ["calc", "thunderbird"], 1, round=4, subject="expand/4")
    assert [(s.id, s.origin, s.round, s.state) for s in found.added] == [
        ("calc.chart.draw-pie", "expand", 4, "candidate")
    ]
    assert found.added[0].parameters == {"column": "column: Net, Tax"}
    why = dict(found.refused)
    assert why["calc.data.order-rows"] == "the same ability as calc.data.sort-rows"
    assert why["calc.data.sort-rows"] == "there is a skill of this id"
    assert why["writer.text.use-bold"] == "there are no preparers for writer"
    assert why["Not an id"].startswith(("no skill", "there are no preparers"))
    assert why["calc.note.comment-cell"] == "more than the 1 that were asked for"


@pytest.mark.parametrize(("same", "added"), [(True, []), (False, ["calc.data.sort-columns"])])
async def test_doubt_is_put_to_the_model(same, added):
    ledger = MemoryLedger()
    doubtful = proposal("calc.data.sort-columns", "Sort the columns of a table by a heading")
    model = FakeModel([proposals(doubtful), f'{{"same": {str(same).lower()}}}'], ledger)
    found = await expand(model, [SORT], ["calc"], 3, round=1, subject="expand/1")
    assert [s.id for s in found.added] == added
    assert [c.purpose for c in ledger.calls] == ["author", "judge"]
    assert {c.subject for c in ledger.calls} == {"expand/1"}


def test_the_same_words_in_another_application_are_another_ability():
    known = Known([SORT])
    other = SORT.model_copy(update={"id": "writer.table.sort-rows", "apps": ("writer",)})
    assert known.nearest(other) is None
    assert known.nearest(SORT.model_copy(update={"id": "calc.table.sort-rows"}))[0] == 1.0


def test_words_are_taken_without_endings_and_particles():
    assert words_of(SORT) == {"sort", "row", "table", "column"}
