"""Authoring over a real workshop: a smoke batch with boxes, graders and a desktop, promotion, rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import skills
from forge.records import InputError, ModelError
from rounds.author import Commission, FileKeeper, author_all, promote, skill_of
from rounds.workshop import Workshop
from skills.authoring.draft import CriterionText, Draft
from tests.skills.authoring.conftest import CRITERIA, GOOD, SKILL, Scripted, calls
from warehouse.authorings import lessons_for, list_authorings


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    monkeypatch.setenv("FORGE_HOME", str(tmp_path / "home"))
    with Workshop() as opened:
        yield opened


def commission(tmp_path: Path) -> Commission:
    return Commission(SKILL, 1, tmp_path / "library", smoke=3)


def draft() -> Draft:
    made = Draft(SKILL, rubric=tuple(CriterionText(**c) for c in CRITERIA))
    made.write({file["name"]: file["text"] for file in GOOD[1]["files"]})
    return made


@pytest.mark.desktop
async def test_a_workflow_is_tried_for_real_and_promoted(workshop, tmp_path):
    lesson = ("lesson", {"text": "printf %s leaves no newline behind"})
    model = Scripted([calls(GOOD, ("try", {"count": 2})), calls(("look", {}), lesson), calls(("submit", {}))])
    job = commission(tmp_path)
    tally = await author_all(workshop, [job], model)
    assert (tally.done, tally.faults) == (1, {})
    said = "\n".join(text for kind, text in model.questions if kind == "author")
    assert "2 of 2 draws pass all gates and probes on files" in said
    assert "RED" not in said
    workflow = skills.load(job.into / SKILL.id)
    with workshop.warehouse.read() as connection:
        (row,) = list_authorings(connection)
        assert lessons_for(connection, ["files", "calc"]) == ("printf %s leaves no newline behind",)
        assert lessons_for(connection, ["calc"]) == ()
    assert (row["outcome"], row["version"], row["acceptance"], row["readers_agreed"]) == (
        "authored", workflow.version, 1.0, True,
    )  # fmt: skip
    assert workshop.warehouse.workflow_source(workflow.version).keys() == {"workflow.yaml", "wording.yaml"}
    assert [s.state for s in workshop.warehouse.skills()] == ["authored"]
    again = await author_all(workshop, [job], Scripted([]))
    assert (again.done, again.skipped) == (0, 1)


@pytest.mark.desktop
async def test_a_solution_that_does_nothing_is_found_out(workshop, tmp_path):
    files = {file["name"]: file["text"] for file in GOOD[1]["files"]}
    lazy = files["workflow.yaml"].replace(
        "printf %s ${quote(owner)} > ${quote(target)}", "echo ${quote(target)} >/dev/null"
    )
    wrote = ("write", {"files": [{"name": "workflow.yaml", "text": lazy}, GOOD[1]["files"][1]]})
    give_up = ("give_up", {"outcome": "gave_up", "reason": "it never scores"})
    model = Scripted([calls(wrote, ("submit", {})), calls(give_up)])
    await author_all(workshop, [commission(tmp_path)], model)
    said = json.loads(model.questions[-1][1])[-1]["content"]
    assert "Not promoted: the smoke batch failed." in said
    assert "solution terminal#1: expected the solution scores 1" in said
    assert not (tmp_path / "library").exists()
    with workshop.warehouse.read() as connection:
        assert [row["outcome"] for row in list_authorings(connection)] == ["gave_up"]
    assert workshop.warehouse.skills() == []


async def test_an_endpoint_that_is_down_is_a_fault_and_goes_on_later(workshop, tmp_path):
    job = commission(tmp_path)
    down = Scripted([calls(("list", {"kind": "checks"})), *[ModelError("connection refused")] * 3])
    tally = await author_all(workshop, [job], down)
    assert tally.done == 0
    assert "connection refused" in tally.faults[job.key]
    give_up = calls(("give_up", {"outcome": "needs_check", "reason": "there is no such check"}))
    later = Scripted([give_up])
    assert (await author_all(workshop, [job], later)).done == 1
    assert "answer.equals" in later.questions[0][1]  # the conversation went on with what had been looked up
    with workshop.warehouse.read() as connection:
        assert [(row["outcome"], row["steps"]) for row in list_authorings(connection)] == [("needs_check", 2)]


def test_promotion_replaces_an_older_workflow_whole(tmp_path):
    library = tmp_path / "library"
    first = promote(draft(), library)
    (first.parent / "old.py").write_text("left over")
    second = promote(draft(), library)
    assert sorted(path.name for path in second.parent.iterdir()) == ["wording.yaml", "workflow.yaml"]
    assert [path.name for path in library.iterdir()] == [SKILL.id]
    assert skills.load(second).skill.id == SKILL.id


def test_a_draft_that_does_not_load_is_not_promoted(tmp_path):
    broken = draft()
    broken.files.pop("workflow.yaml")
    with pytest.raises(InputError, match=r"no workflow\.yaml"):
        promote(broken, tmp_path / "library")
    assert list((tmp_path / "library").iterdir()) == []


def test_the_state_is_replaced_whole(tmp_path):
    keeper = FileKeeper(tmp_path / "deep" / "state.json")
    assert keeper.load() is None
    keeper.save({"steps": 1})
    with pytest.raises(TypeError):
        keeper.save({"steps": object()})
    assert keeper.load() == {"steps": 1}
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["state.json"]


def test_a_skill_is_taken_from_the_taxonomy_or_described(monkeypatch, tmp_path):
    monkeypatch.setenv("FORGE_HOME", str(tmp_path))
    assert skill_of("calc.formula.running-total").apps == ("calc",)
    made = skill_of("files.csv.merge-exports", ["files", "calc"], "Merge CSV exports")
    assert (made.apps, made.title, made.origin) == (("files", "calc"), "Merge CSV exports", "person")
    with pytest.raises(InputError, match="describe it with --title"):
        skill_of("files.csv.merge-exports")
    with pytest.raises(InputError, match="is no skill"):
        skill_of("Merge", title="Merge")
