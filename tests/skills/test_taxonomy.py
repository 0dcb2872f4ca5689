"""The taxonomy, the library against its standard, starting points, and the generated reference."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import skills
from forge.records import InputError, SkillState
from skills import starter, taxonomy
from skills.reference import filled
from verifiers import gates

PAGE = Path(__file__).parents[2] / "docs" / "workflow-language.md"
LIBRARY = skills.library()


def test_every_skill_lies_in_an_area():
    areas = {area.id for area in taxonomy.taxonomy().areas}
    every = taxonomy.all_skills()
    assert {".".join(skill.id.split(".")[:2]) for skill in every} <= areas
    assert len({skill.id for skill in every}) == len(every)
    assert {skill.state for skill in every} == {SkillState.AUTHORED, SkillState.CANDIDATE}


def test_the_listing_is_json_with_the_workflow():
    rows = taxonomy.listing()
    assert [row["id"] for row in rows] == [path.parent.name for path in skills.library()]
    row = next(row for row in rows if row["id"] == "calc.formula.total-below-column")
    assert row["area"] == "calc.formula"
    assert row["state"] == "authored"
    assert row["channels"] == ["gui", "terminal"]
    assert len(row["workflow"]) == 64
    assert row["parameters"]["rows"] == "int"
    json.dumps(taxonomy.listing(candidates=True))
    assert len(taxonomy.listing(candidates=True)) > len(rows)


@pytest.mark.parametrize("path", LIBRARY, ids=[path.parent.name for path in LIBRARY])
def test_a_library_workflow_meets_the_standard(path):
    workflow = skills.load(path)
    assert workflow.skill.id == path.parent.name
    assert workflow.remarks == ()
    apps = set(workflow.skill.apps)
    assert not apps & {"calc", "thunderbird"} or {"gui", "hybrid"} & set(workflow.channels)


def test_a_broken_taxonomy_is_named_with_its_lines(tmp_path):
    path = tmp_path / "taxonomy.yaml"
    path.write_text("calc:\n  formula:\n    candidates: {Total: x}\n  sheet:\n    about: a\n    todo: {}\n")
    with pytest.raises(InputError) as caught:
        taxonomy.read_taxonomy(path)
    assert [p.line for p in caught.value.problems] == [3, 6]
    path.write_text("calc:\n  formula:\n    about: a\n    candidates:\n      Total: x\n")
    with pytest.raises(InputError, match=r"taxonomy\.yaml:5: calc\.formula\.'Total' is no skill id"):
        taxonomy.read_taxonomy(path)


OTHERS = ("writer", "impress", "chromium", "gimp", "vlc", "editor")
"""Applications without a starting point of their own."""


@pytest.mark.parametrize(
    "skill",
    [
        "files.text.copy-note",
        "terminal.process.copy-note",
        "thunderbird.mail.star-mail",
        *(f"{app}.text.replace-term" for app in OTHERS),
    ],
)
def test_a_starting_point_validates_draws_and_passes_the_gates(skill, tmp_path, kitchen):
    path = starter.new(skill, tmp_path)
    workflow = skills.load(path)
    assert path == tmp_path / skill / "workflow.yaml"
    assert workflow.skill.id == skill
    assert workflow.skill.apps == (skill.split(".")[0],)
    assert all("skeletons" in remark for remark in workflow.remarks)
    for seed in range(4):
        task = skills.draw(workflow, seed, kitchen).task
        for name in ("spans", "facts", "rubric"):
            result = gates.GATES[name](task)
            assert result.passed, f"{name}: {result.evidence}"
    assert skills.neighbours(workflow, skills.draw(workflow, 1, kitchen), kitchen)


@pytest.mark.parametrize(("app", "shown"), [("files", True), ("terminal", True), *((app, False) for app in OTHERS)])
def test_what_is_open_at_the_start_is_the_app_and_a_folder_where_it_shows_one(app, shown, tmp_path, kitchen):
    task = skills.draw(skills.load(starter.new(f"{app}.text.replace-term", tmp_path)), 1, kitchen).task
    root = task.resolved["tree"]["root"]
    assert [(start.app, start.path) for start in task.start] == [(app, root if shown else None)]


def test_a_starting_point_asks_for_no_entry_in_the_taxonomy(tmp_path):
    assert "taxonomy" not in starter.new("calc.brandnew.do-things", tmp_path).read_text()


def test_a_starting_point_is_never_overwritten(tmp_path):
    starter.new("files.text.copy-note", tmp_path)
    with pytest.raises(InputError, match="is there already"):
        starter.new("files.text.copy-note", tmp_path)


@pytest.mark.parametrize(("skill", "mend"), [("Total", "app.area.verb-object"), ("clac.text.copy-note", "calc")])
def test_a_starting_point_needs_a_skill_id_of_a_known_app(skill, mend, tmp_path):
    with pytest.raises(InputError) as caught:
        starter.new(skill, tmp_path)
    assert mend in caught.value.mend
    assert list(tmp_path.iterdir()) == []


def test_a_person_s_own_document_is_a_preparer_s_input(tmp_path, kitchen):
    path = starter.new("files.text.copy-note", tmp_path)
    (path.parent / "my-report.txt").write_text("Figures of May.\n")
    line = '  doc: {prepare: files.document, source: my-report.txt, path: "~/Documents/my-report.txt"}\n'
    path.write_text(path.read_text().replace("nodes:\n", "nodes:\n" + line))
    workflow = skills.load(path)
    draw = skills.draw(workflow, 1, kitchen)
    assert draw.task.resolved["doc"]["kind"] == "text"
    assert next(f.data for f in draw.files if f.path == "~/Documents/my-report.txt") == b"Figures of May.\n"
    (path.parent / "my-report.txt").write_text("Figures of June.\n")
    changed = skills.load(path)
    assert changed.version != workflow.version
    assert next(f for f in skills.draw(changed, 1, kitchen).files if f.path.endswith("t.txt")).data.endswith(b"June.\n")
    (path.parent / "my-report.txt").unlink()
    with pytest.raises(InputError, match=r"workflow\.yaml:\d+: the document 'my-report\.txt' cannot be read"):
        skills.load(path)


def test_the_reference_is_fresh():
    """`python -m skills.reference docs/workflow-language.md` writes it."""
    page = PAGE.read_text("utf-8")
    assert filled(page) == page
