"""A draft: when its rubric has to be written anew, and how criteria over lists stand in a workflow."""

from __future__ import annotations

import json

import pytest

import skills
from forge.records import InputError
from skills import Kitchen
from skills.authoring.draft import CriterionText, Draft

from .conftest import CRITERIA, SKILL, WORDING, WORKFLOW


def a_draft(workflow: str = WORKFLOW, criteria: list[dict[str, str]] | None = None) -> Draft:
    draft = Draft(SKILL, {"workflow.yaml": workflow, "wording.yaml": WORDING})
    draft.rubric = tuple(CriterionText.model_validate(c) for c in CRITERIA if criteria is None) or tuple(
        CriterionText.model_validate(c) for c in criteria or ()
    )
    draft.basis = draft.current_basis()
    return draft


def replaced(old: str, new: str) -> str:
    assert old in WORKFLOW
    return WORKFLOW.replace(old, new)


OTHER_WORDING = json.dumps({"skeletons": {"terse": ["Just {target}: {owner}."]}})


@pytest.mark.parametrize(
    "files",
    [
        {"wording.yaml": OTHER_WORDING},
        {"workflow.yaml": replaced("start:", "require:\n  - \"${owner != 'Ada Byron'}\"\nstart:")},
        {"workflow.yaml": replaced("# SECRET-OF-THE-SOLUTION", "# another way")},
        {"workflow.yaml": replaced("Karl Gauss]", "Karl Gauss, Emmy Noether]")},
        {"workflow.yaml": replaced("nodes:\n", 'nodes:\n  more: {compute: "${owner}!"}\n')},
        {"workflow.yaml": replaced("Read me.", "Read me twice.")},
        {"workflow.yaml": replaced('    owner: "${owner}"', '    owner: ["${owner}", "the owner ${owner}"]')},
        {"workflow.yaml": replaced("title: Write", "title: Put")},
    ],
)
def test_what_no_criterion_depends_on_keeps_the_rubric(files: dict[str, str]) -> None:
    draft = a_draft()
    draft.write(files)
    draft.load(graded=True)
    assert not draft.needs_rubric()


@pytest.mark.parametrize(
    "files",
    [
        {"workflow.yaml": replaced("/owner.txt", "/name.txt")},  # what ${target} is
        {"workflow.yaml": replaced("folder: {choice: [Notes, Papers, Records]}", 'folder: {choice: "${[owner]}"}')},
        {"workflow.yaml": replaced("folder: {choice: [Notes, Papers, Records]}", "folder: {int: [1, 9]}")},
        {"workflow.yaml": replaced('    owner: "${owner}"', '    owner: "${owner} of ${folder}"')},  # a span reads more
        {"workflow.yaml": replaced('  - {app: files, open: "${tree.root}"}', "  - {app: files}")},
        {"workflow.yaml": replaced("apps: [files]", "apps: [files, editor]")},
        {
            "workflow.yaml": replaced('    owner: "${owner}"\n', '    owner: "${owner}"\n    place: "${folder}"\n'),
            "wording.yaml": json.dumps({"skeletons": {"terse": ["{target} in {place}: {owner}"]}}),
        },
        {"workflow.yaml": WORKFLOW.replace("target", "goal"), "wording.yaml": WORDING.replace("{target}", "{goal}")},
    ],
)
def test_what_a_criterion_depends_on_asks_for_another(files: dict[str, str]) -> None:
    draft = a_draft()
    draft.write(files)
    draft.load(graded=False)
    assert draft.needs_rubric()


def test_a_draft_that_cannot_be_read_needs_one_and_says_why_elsewhere() -> None:
    draft = a_draft()
    draft.write({"workflow.yaml": "skill: ["})
    assert draft.needs_rubric()
    with pytest.raises(InputError):
        draft.load(graded=False)


LISTS = WORKFLOW.replace(
    "start:",
    """\
  copies: {compute: "${[{'path': folder + '/' + name, 'name': name} for name in ['a', 'b']]}"}
start:""",
    1,
)


def test_a_criterion_for_each_item_and_one_for_some_draws() -> None:
    must = {"kind": "must", "check": "files.exists", "says": "target"}
    each = {"args": '{"path": "~/${copy.path}"}', "each": "${copies}", "as": "copy", "when": "${copy.name != 'b'}"}
    some = {"args": '{"path": "${target}"}', "when": "${owner == 'Ada Byron'}"}
    draft = a_draft(LISTS, [must | each, must | some, *CRITERIA])
    workflow = draft.load(graded=True)
    drawn = {}
    for seed in range(12):
        task = skills.draw(workflow, seed, Kitchen()).task
        drawn[task.resolved["owner"]] = [c.args.get("path", "") for c in task.rubric.criteria]
        assert task.rubric.criteria[0].args == {"path": f"~/{task.resolved['folder']}/a"}
    assert {owner: len(paths) for owner, paths in drawn.items()} == {
        owner: 4 if owner == "Ada Byron" else 3 for owner in drawn
    }
    assert len(drawn) > 2
    assert Draft.from_json(SKILL, json.loads(json.dumps(draft.to_json()))) == draft


def test_a_block_that_reads_what_is_not_there_is_refused() -> None:
    one = {
        "kind": "must",
        "check": "files.exists",
        "says": "target",
        "args": '{"path": "${x.path}"}',
        "each": "${owner}",
    }
    with pytest.raises(InputError, match="needs a list"):
        a_draft(LISTS, [one | {"as": "x"}])


def test_a_draft_kept_before_there_were_notes_is_read() -> None:
    kept = a_draft().to_json()
    del kept["notes"]
    assert Draft.from_json(SKILL, kept) == a_draft()
