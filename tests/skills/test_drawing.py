"""Draws: the same everywhere, made of the resolved object alone, cached by content, never cached when they fail."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import skills
from forge.records import InputError, ModelError, Role
from forge.records.task import task_id
from preparers.base import PREPARERS
from skills import Kitchen
from skills.kitchen import FolderCache, MemoryCache
from skills.nodes.base import Outcome
from skills.parcel import pack, unpack

CONFTEST = str(Path(__file__).with_name("conftest.py"))
ROOT = Path(__file__).parents[2]

# The digest of one draw, on every machine and Python. It changes when the language or the small workflow changes, and for
# no other reason.
SEED_7 = "7b1db991"


def test_a_draw_is_complete(write, kitchen):
    draw = skills.draw(skills.load(write()), 7, kitchen)
    task, values = draw.task, draw.task.resolved
    assert task.skill == "files.text.total-numbers"
    assert task.apps == ("files",)
    assert [a.path for a in task.artifacts] == [f"~/Documents/{values['names']['file']}.json"]
    assert json.loads(draw.files[0].data) == values["stats"]["numbers"]
    assert values["total"] == sum(values["stats"]["numbers"]) > 20
    assert [s.channel for s in task.solutions] == ["gui", "terminal"]
    assert task.solution("gui").steps[1].value == f"{values['total']:g}"
    assert task.solution("terminal").steps[0].move == "bash"
    assert task.start[0].path == "~/Documents"
    assert task.rubric.criteria[0].args == {"value": values["total"]}
    assert task.rubric.criteria[0].says in task.instruction
    assert f"{values['names']['file']}.json" in task.instruction
    assert set(values) == {"topic", "rows", "day", "names", "stats", "sheet", "total", "guest", "wording"}


def test_the_digest_of_a_draw_is_fixed(write, kitchen):
    own = write(("{greeting} {could_you} tell me {total} in {file}? {thanks}", "Please tell me {total} in {file}."))
    assert skills.draw(skills.load(own), 7, kitchen).task.digest()[:8] == SEED_7


def test_a_draw_is_the_same_in_another_process(write, kitchen):
    """Another hash seed, another order of imports."""
    path = write()
    code = (
        "import importlib.util as u;"
        f"s = u.spec_from_file_location('c', {CONFTEST!r}); m = u.module_from_spec(s); s.loader.exec_module(m);"
        f"import skills; print(skills.draw(skills.load({str(path)!r}), 3, skills.Kitchen(boxed=m.run_here)).task.digest())"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env={"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin"}, capture_output=True,
            text=True, check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }  # fmt: skip
    assert printed == {skills.draw(skills.load(path), 3, kitchen).task.digest()}


def test_the_cache_changes_nothing(write, kitchen):
    workflow = skills.load(write())
    assert skills.draw(workflow, 5, kitchen) == skills.draw(workflow, 5, kitchen)
    assert skills.draw(workflow, 5, kitchen) == skills.draw(workflow, 5, kitchen.without_cache())


def test_results_are_kept_across_processes(write, kitchen, tmp_path):
    workflow = skills.load(write())
    kept = replace(kitchen, cache=FolderCache(tmp_path / "cache"))
    first = skills.draw(workflow, 5, kept)
    made = list(PREPARERS.get("test.list").made)

    def no_box(argv, stdin, timeout):
        raise AssertionError("the box is not needed again")

    again = skills.draw(workflow, 5, replace(kept, boxed=no_box))
    assert again == first
    assert PREPARERS.get("test.list").made == made
    assert (
        skills.draw(workflow, 5, replace(kitchen, cache_folder=tmp_path / "cache", cache=None, boxed=no_box)) == first
    )


def test_another_stamp_makes_everything_anew(write, kitchen):
    workflow = skills.load(write())
    skills.draw(workflow, 5, kitchen)
    made = len(PREPARERS.get("test.list").made)
    skills.draw(workflow, 5, replace(kitchen, stamp="LibreOffice 8"))
    assert len(PREPARERS.get("test.list").made) == made + 1


def test_a_failure_is_never_kept(write, kitchen):
    puts = []

    class Watched(MemoryCache):
        def put(self, key, data):
            puts.append(unpack(data))
            super().put(key, data)

    workflow = skills.load(write(('numbers: "${stats.numbers}"', 'numbers: "${stats.numbers}", note: fail')))
    watched = replace(kitchen, cache=Watched())
    for _ in range(2):
        with pytest.raises(InputError, match=r"workflow\.yaml:11: sheet: test\.list: it was told to fail"):
            skills.draw(workflow, 5, watched)
    assert [type(outcome.value) for outcome in puts] == [dict]  # of the script, once


def test_without_files_the_task_is_the_same_but_for_artifacts(write, kitchen):
    workflow = skills.load(write())
    whole, outline = skills.draw(workflow, 5, kitchen), skills.draw(workflow, 5, kitchen, files=False)
    assert outline.task.id == whole.task.id
    assert outline.task == whole.task.model_copy(update={"artifacts": ()})
    assert outline.files == ()


def test_nodes_have_their_own_chance(write, kitchen):
    """A further parameter moves no other draw, were the workflow's version the same."""
    old = skills.load(write())
    new = skills.load(write(("params:\n", "params:\n  colour: {choice: [red, blue]}\n"), name="new"))
    same = replace(new, version=old.version)
    for seed in range(5):
        before = skills.draw(old, seed, kitchen).task.resolved
        after = skills.draw(same, seed, kitchen).task.resolved
        assert after.pop("colour") in ("red", "blue")
        assert after == before


def test_the_version_is_the_content(write):
    version = skills.load(write()).version
    assert skills.load(write(("params:\n", "# a remark\nparams:\n"), name="b")).version == version
    assert skills.load(write(("Total the numbers", "Sum the numbers"), name="c")).version == version  # the title
    assert skills.load(write(("[3, 9]", "[3, 8]"), name="d")).version != version
    assert skills.load(write(("% 13", "% 11"), name="e")).version != version
    assert skills.load(write(("sum(json", "1 * sum(json"), name="f")).version != version


def test_a_growing_bank_changes_no_task(write, kitchen):
    """Neither values nor wording are part of the version; a task keeps what it drew."""
    old = skills.load(write())
    new = skills.load(write(("[trips, fares, tickets]", "[trips, fares, tickets, hotels]"), name="new"))
    more = skills.load(write(("  polite:\n", "  polite:\n    - '{total}, {file}!'\n"), name="more"))
    assert old.version == new.version == more.version
    tasks = [skills.draw(old, seed, kitchen).task for seed in range(30)]
    for grown in (new, more):
        again = [skills.draw(grown, seed, kitchen).task for seed in range(30)]
        assert all(task.id == task_id(grown.version, task.resolved) for task in tasks)
        same = sum(a.id == b.id for a, b in zip(tasks, again, strict=True))
        assert 15 <= same < 30  # only the draws that the new entry wins are others


def test_change_replaces_one_parameter(write, kitchen):
    workflow = skills.load(write())
    before = skills.draw(workflow, 5, kitchen).task.resolved
    value = next(n for n in range(5, 10) if n != before["rows"])
    after = skills.draw(workflow, 5, kitchen, change={"rows": value}).task.resolved
    assert after["rows"] == value
    assert after["topic"] == before["topic"]
    assert after["day"] == before["day"]
    with pytest.raises(InputError, match="no parameter 'row'") as caught:
        skills.draw(workflow, 5, kitchen, change={"row": 1})
    assert "rows" in caught.value.mend


def test_conditions_are_met_or_named(write, kitchen):
    workflow = skills.load(write())
    draws = [skills.draw(workflow, seed, kitchen) for seed in range(12)]
    assert all(draw.task.resolved["total"] > 20 for draw in draws)
    assert any(draw.attempt > 0 for draw in draws)
    never = write(("${total > 20}", "${total > 2000}"), name="never")
    with pytest.raises(InputError, match=r"workflow\.yaml:14: 60 draws in a row did not meet .*total > 2000"):
        skills.draw(skills.load(never), 5, kitchen)


def test_an_empty_domain_at_draw_time_is_named(write, kitchen):
    path = write(("[travel, stock, donations]", "\"${[t for t in ['a'] if rows > 100]}\""))
    with pytest.raises(InputError, match=r"workflow\.yaml:5: topic: choice: .*the domain is empty"):
        skills.draw(skills.load(path), 5, kitchen)


def test_the_guest_may_depend_on_parameters(write, kitchen):
    path = write(("start:\n", 'guest: {clock: "${day}T08:00:00", timezone: Asia/Tokyo}\nstart:\n'))
    task = skills.draw(skills.load(path), 5, kitchen).task
    assert task.guest.clock == f"{task.resolved['day']}T08:00:00"
    assert task.guest.timezone == "Asia/Tokyo"
    assert task.resolved["guest"] == task.guest.to_json()


def test_two_nodes_cannot_write_one_file(write, kitchen):
    path = write(("  total: {", '  twin: {prepare: test.list, path: "${sheet.path}"}\n  total: {'))
    with pytest.raises(InputError, match=r"workflow\.yaml:12: twin: ~/Documents/\w+\.json is written by another node"):
        skills.draw(skills.load(path), 5, kitchen)


def test_start_opens_what_is_there(write, kitchen):
    path = write(('open: "~/Documents"', 'open: "~/Document"'))
    with pytest.raises(InputError, match=r"workflow\.yaml:16: start opens '~/Document', which no node prepares"):
        skills.draw(skills.load(path), 5, kitchen)


class Inventive:
    """A model that invents names, or fails."""

    def __init__(self, answer=None):
        self.answer = answer
        self.asked = []

    def values(self, bank, about, count, seed):
        self.asked.append((bank.prompt, about, tuple(bank.fields), count))
        return [{"file": f"invented-{seed % 7}", "owner": "Zoe"}] * count if self.answer is None else self.answer


LIVE = ('{llm: words, about: "${topic}"}', '{llm: words, about: "${topic}", mode: live}')


def test_a_model_fills_values_while_a_task_is_drawn_where_the_workflow_says_so(write, kitchen):
    workflow = skills.load(write(LIVE))
    assert skills.draw(workflow, 5, kitchen).task.resolved["names"]["owner"] in ("Ada", "Ben", "Cleo")  # nobody to ask
    model = Inventive()
    task = skills.draw(workflow, 5, replace(kitchen, llm=model)).task
    assert task.resolved["names"]["owner"] == "Zoe"
    assert model.asked == [("Invent file names.", task.resolved["topic"], ("file", "owner"), 1)]
    with pytest.raises(ModelError, match="lacks 'owner'"):
        skills.draw(workflow, 5, replace(kitchen, llm=Inventive([{"file": "x"}]), cache=MemoryCache()))
    climbing = Inventive([{"file": "../x", "owner": "Zoe"}])
    with pytest.raises(ModelError, match="file: it holds a slash"):
        skills.draw(workflow, 5, replace(kitchen, llm=climbing, cache=MemoryCache()))


def test_neighbours_change_one_parameter_and_keep_the_files(write, kitchen):
    path = write(
        ("${total > 20}", "${total > -1}"),
        ("  day: {", "  wanted: {choice: [largest, smallest, first]}\n  day: {"),
        (
            '"${sum(sheet.numbers)}"',
            "\"${{'largest': max(sheet.numbers), 'smallest': min(sheet.numbers), 'first': 99}[wanted]}\"",
        ),
    )
    workflow = skills.load(path)
    draw = skills.draw(workflow, 4, kitchen)
    made = len(PREPARERS.get("test.list").made)
    found = skills.neighbours(workflow, draw, kitchen, 5)
    now = draw.task.resolved["wanted"]
    assert {name for name, _ in found} <= {f"wanted={v}" for v in ("largest", "smallest", "first") if v != now}
    assert found
    own = draw.task.solution("terminal")
    assert all(s.channel == "terminal" and s != own and s.steps[0] == own.steps[0] for _, s in found)
    assert len(PREPARERS.get("test.list").made) == made
    assert len(skills.neighbours(workflow, draw, kitchen, 1)) == 1


def test_parcels_keep_everything():
    from preparers.base import PreparedFile

    files = (PreparedFile("~/a", b"\0\xff", Role.GOLD, 0o600), PreparedFile("~/b", folder=True, mtime=7))
    outcome = Outcome({"a": [1, 2.5, None, "ü"]}, files, "test.list")
    assert unpack(pack(outcome)) == outcome
    assert pack(unpack(pack(outcome))) == pack(outcome)


def test_kitchens_are_plain():
    assert isinstance(Kitchen().cache, MemoryCache)
    assert Kitchen().without_cache().cache.get("x") is None


def test_a_file_keeps_the_time_that_its_preparer_gave_it(write, kitchen, monkeypatch):
    preparer = PREPARERS.get("test.list")
    prepare = preparer.prepare

    def dated(params, context):
        made = prepare(params, context)
        return replace(made, files=tuple(replace(file, mtime=1_700_000_000) for file in made.files))

    workflow = skills.load(write())
    plain = skills.draw(workflow, 7, kitchen).task
    monkeypatch.setattr(preparer, "prepare", dated)
    task = skills.draw(workflow, 7, replace(kitchen, cache=MemoryCache())).task
    assert [artifact.mtime for artifact in plain.artifacts] == [None]
    assert [artifact.mtime for artifact in task.artifacts] == [1_700_000_000]
    assert task.id == plain.id
