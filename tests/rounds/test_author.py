"""Authoring over a real workshop: a smoke batch with boxes, graders and a desktop, promotion, rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import rounds.author
import skills
from forge.llm import EndpointDownError
from forge.records import InputError, ModelCall, ModelError, Usage
from rounds.author import Commission, FileKeeper, author_all, keeper_of, promote, skill_of, start_afresh
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


GIVE_UP = calls(("give_up", {"outcome": "needs_check", "reason": "there is no such check"}))


async def test_an_endpoint_that_failed_is_asked_once_and_what_happened_is_said(workshop, tmp_path):
    job = commission(tmp_path)
    slow = EndpointDownError(
        "endpoint tiny (tiny): no answer within 180 s", mend="raise request_seconds in endpoints.yaml"
    )
    model = Scripted([slow])  # asked a second time it would raise AssertionError
    (fault,) = (await author_all(workshop, [job], model)).faults.values()
    assert fault == (
        f"authoring {SKILL.id}: endpoint tiny (tiny): no answer within 180 s\n"
        "  mend: raise request_seconds in endpoints.yaml; the same command goes on with the conversation"
    )


async def test_answered_and_failed_calls_are_told_apart(workshop, tmp_path):
    job = commission(tmp_path)
    common = {
        "purpose": "author",
        "recurring": False,
        "endpoint": "e",
        "model": "m",
        "request": "r",
        "subject": job.subject,
    }
    for number, status in enumerate(["ok", "ok", "truncated", "error", "rate_limited", "open", "cached"]):
        usage = Usage(prompt_tokens=10) if status in ("ok", "truncated") else Usage()
        workshop.warehouse.ledger.record(ModelCall(id=str(number), status=status, usage=usage, **common))
    await author_all(workshop, [job], Scripted([GIVE_UP]))
    with workshop.warehouse.read() as connection:
        (row,) = list_authorings(connection)
    assert (row["calls"], row["failed"], row["prompt_tokens"]) == (3, 3, 30)


async def test_a_skill_is_begun_afresh(workshop, tmp_path):
    job = commission(tmp_path)
    lines: list[str] = []
    stuck = Scripted([calls(("list", {"kind": "checks"})), ModelError("down")])
    await author_all(workshop, [job], stuck, tell=lines.append)
    assert lines[0] == f"{SKILL.id}: turn 1 of 40, 0 tokens so far"
    ledger = workshop.warehouse.ledger
    common = {
        "purpose": "author",
        "recurring": False,
        "endpoint": "e",
        "model": "m",
        "request": "r",
        "subject": job.subject,
    }
    ledger.record(ModelCall(id="spent", status="ok", usage=Usage(prompt_tokens=599_999), **common))
    aside = start_afresh(workshop, job)
    assert [m["role"] for m in json.loads(aside.read_text())["messages"]] == ["system", "user", "assistant", "tool"]
    anew = Scripted([GIVE_UP])
    assert (await author_all(workshop, [job], anew)).done == 1
    assert [m["role"] for m in json.loads(anew.questions[0][1])] == ["system", "user"]
    assert anew.budget.spent_tokens == 0  # what the other conversation used is not held against this one
    assert anew.budget.share_left() == 1.0
    assert (await author_all(workshop, [job], Scripted([]))).skipped == 1
    start_afresh(workshop, job)  # what had ended can be begun anew too
    assert keeper_of(workshop, job).load()["begun"] == 2
    assert (await author_all(workshop, [job], Scripted([GIVE_UP]))).done == 1
    with workshop.warehouse.read() as connection:
        assert [(row["steps"], row["prompt_tokens"]) for row in list_authorings(connection)] == [(1, 599_999)]


async def test_what_is_being_authored_is_not_begun_afresh(workshop, tmp_path):
    job = commission(tmp_path)
    lease = workshop.warehouse.claims.acquire("author", job.key, "somebody")
    assert lease is not None
    with pytest.raises(InputError, match="is being authored now"):
        start_afresh(workshop, job)
    assert keeper_of(workshop, job).load() is None


@pytest.mark.desktop
async def test_killed_between_folder_and_rows_it_registers_on_the_next_run(workshop, tmp_path, monkeypatch):
    class Killed(BaseException):
        """As if the process had died there."""

    def killed(*_: object) -> None:
        raise Killed

    job = commission(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(rounds.author, "_writes", killed)
        with pytest.raises(Killed):
            await author_all(workshop, [job], Scripted([calls(GOOD), calls(("submit", {}))]))
    (job.into / f".promoting-{SKILL.id}-x").mkdir()
    made = {path.name: path.read_bytes() for path in (job.into / SKILL.id).iterdir()}
    assert workshop.warehouse.skills() == []
    workshop.warehouse.claims.acquire("author", job.key, "x", 0.0)
    assert (await author_all(workshop, [job], Scripted([]))).done == 1
    assert {path.name: path.read_bytes() for path in (job.into / SKILL.id).iterdir()} == made
    assert [path.name for path in job.into.iterdir()] == [SKILL.id]
    assert [s.state for s in workshop.warehouse.skills()] == ["authored"]


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
