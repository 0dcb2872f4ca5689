"""Topped-up banks: what a model wrote is checked and drawn from; what was drawn before stays as it was."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

import skills
from forge.llm import FakeModel, MemoryLedger, RefusedError, Reply
from forge.records import ModelError
from skills.banks.bank import find_bank
from skills.banks.pins import KEY
from skills.language.located import Place
from skills.topup import LiveValues, Need, needs, top_up


class Shelf:
    """A pool in memory."""

    def __init__(self):
        self.held = {}

    def size(self, bank, about):
        return len(self.held.get((bank, about), []))

    def values(self, bank, about, size):
        return self.held.get((bank, about), [])[:size]

    def add(self, bank, about, *files):
        self.held.setdefault((bank, about), []).extend({"file": f, "owner": f"Owner {f}"} for f in files)


def batch(*files: str) -> str:
    return json.dumps({"values": [{"file": file, "owner": f"Owner {file}"} for file in files]})


@pytest.fixture
def need(write):
    path = write()
    return Need(find_bank("words", Place(str(path), 1), path.parent), "travel")


async def keep_in(values, new):
    values.extend(new)


async def filled(model, need, have=(), **more):
    kept: list = []
    written = await top_up(model, need, list(have), lambda new: keep_in(kept, new), **more)
    return kept, written


async def test_one_call_writes_many_values_and_each_batch_is_kept(need):
    ledger = MemoryLedger()
    model = FakeModel([batch("alpha", "beta", "gamma"), batch("delta", "epsilon", "zeta")], ledger)
    kept, written = await filled(model, need, wanted=5, batch=3)
    assert [v["file"] for v in kept] == ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
    assert written.values == kept
    first, second = (request[0][-1]["content"] for request in model.requests)
    assert "Write 3 different values" in first
    assert 'Topic: "travel"' in first
    assert '- file: a short text; for example "trips", "fares", "tickets"' in first
    assert "Write 3 different values" in second
    assert 'write others: "alpha", "beta", "gamma"' in second
    [call, _] = ledger.calls
    assert (call.purpose, call.recurring, call.subject) == ("writer", True, f"bank/{need.name}")
    assert call.prompt.startswith("topup@")


async def test_bad_values_are_thrown_away_and_counted_and_good_ones_stay(need):
    bad = ["../etc/passwd", "", " blank", "a\nb", "{{ 7 }}", "x" * 121, "trips", "ALPHA"]
    kept, written = await filled(FakeModel([batch("alpha", *bad, "beta")]), need, wanted=2)
    assert [v["file"] for v in kept] == ["alpha", "beta"]
    assert written.rejected == Counter(
        {
            "file: it holds a slash or a brace": 2,
            "file: empty, or with blanks around it": 2,
            "file: more than one line, or characters that cannot be printed": 1,
            "file: longer than 120 characters": 1,
            "it is there already": 2,
        }
    )


async def test_what_is_there_is_not_asked_for_again(need):
    have = [{"file": "alpha", "owner": "A"}, {"file": "beta", "owner": "B"}]
    kept, _ = await filled(FakeModel([batch("alpha", "gamma")]), need, have, wanted=3)
    assert [v["file"] for v in kept] == ["gamma"]
    kept, _ = await filled(FakeModel([]), need, have, wanted=2)  # a model without answers: it is not asked
    assert kept == []


async def test_a_bank_that_gives_nothing_new_is_left_as_it_is(need):
    model = FakeModel([batch("alpha")] * 6)
    kept, _ = await filled(model, need, wanted=5)
    assert [v["file"] for v in kept] == ["alpha"]
    assert len(model.requests) == 5  # one that gave a value, four that gave none


async def test_an_answer_that_is_cut_off_is_asked_again_then_for_less(need):
    cut = Reply(text='{"values": [', finish="length")
    model = FakeModel([cut, batch("alpha", "beta"), cut, cut, batch("gamma")])
    kept, _ = await filled(model, need, wanted=3, batch=2)
    assert [v["file"] for v in kept] == ["alpha", "beta", "gamma"]
    model = FakeModel([cut, cut, batch("alpha", "beta"), batch("gamma", "delta")])
    kept, _ = await filled(model, need, wanted=4, batch=4)
    assert [v["file"] for v in kept] == ["alpha", "beta", "gamma", "delta"]
    asked = [request[0][-1]["content"].split("Write ")[1].split(" ")[0] for request in model.requests]
    assert asked == ["4", "4", "2", "2"]


async def test_a_refusal_ends_it_and_what_was_kept_stays(need):
    kept: list = []
    model = FakeModel([batch("alpha"), Reply(text="no", finish="refusal")])
    with pytest.raises(RefusedError):
        await top_up(model, need, [], lambda new: keep_in(kept, new), wanted=3, batch=1)
    assert [v["file"] for v in kept] == ["alpha"]


def test_draws_take_from_written_values_without_a_call(write, kitchen):
    shelf = Shelf()
    workflow = skills.load(write())
    [need] = [n for n in needs([(workflow, range(50))]) if n.about == "travel"]
    shelf.add(need.bank.pool, "travel", *[f"written-{n}" for n in range(30)])
    kitchen = replace(kitchen, pool=shelf)
    files = {skills.draw(workflow, seed, kitchen).task.resolved["names"]["file"] for seed in range(60)}
    assert len([f for f in files if f.startswith("written-")]) >= 8


def test_a_growing_bank_never_changes_a_task_that_is_drawn_again(write, kitchen):
    shelf = Shelf()
    workflow = skills.load(write())
    pool = needs([(workflow, range(9))])[0].bank.pool
    for about in ("travel", "stock", "donations"):
        shelf.add(pool, about, "one", "two", "three")
    kitchen = replace(kitchen, pool=shelf)
    before = [skills.draw(workflow, seed, kitchen) for seed in range(20)]
    assert {size for draw in before for size in draw.task.resolved[KEY].values()} == {3}
    for about in ("travel", "stock", "donations"):
        shelf.add(pool, about, *[f"later-{n}" for n in range(50)])
    anew = [skills.draw(workflow, seed, kitchen).task.id for seed in range(20)]
    again = [skills.draw(workflow, draw.task.seed, kitchen, again=draw.task) for draw in before]
    assert [d.task for d in again] == [d.task for d in before]
    assert [[f.data for f in d.files] for d in again] == [[f.data for f in d.files] for d in before]
    assert anew != [d.task.id for d in before]
    names = skills.neighbours(workflow, before[0], kitchen)
    assert names == skills.neighbours(workflow, before[0], kitchen)


def test_without_written_values_a_task_is_what_it_was(write, kitchen):
    workflow = skills.load(write())
    plain = skills.draw(workflow, 5, kitchen).task
    assert skills.draw(workflow, 5, replace(kitchen, pool=Shelf())).task == plain
    assert KEY not in plain.resolved


def test_a_task_whose_values_are_gone_is_an_error_and_no_other_task(write, kitchen):
    shelf = Shelf()
    workflow = skills.load(write())
    pool = needs([(workflow, range(9))])[0].bank.pool
    for about in ("travel", "stock", "donations"):
        shelf.add(pool, about, "one", "two", "three")
    task = skills.draw(workflow, 5, replace(kitchen, pool=shelf)).task
    with pytest.raises(Exception, match=r"3 written values about .* are needed, there are 0"):
        skills.draw(workflow, 5, replace(kitchen, pool=Shelf()), again=task)


def test_the_mode_bank_takes_the_committed_values_alone(write, kitchen):
    shelf = Shelf()
    workflow = skills.load(write(('{llm: words, about: "${topic}"}', '{llm: words, about: "${topic}", mode: bank}')))
    for about in ("travel", "stock", "donations"):
        shelf.add("toy:words", about, *[f"written-{n}" for n in range(50)])
    files = {skills.draw(workflow, s, replace(kitchen, pool=shelf)).task.resolved["names"]["file"] for s in range(20)}
    assert files <= {"trips", "fares", "tickets", "list", "numbers", "counts"}
    assert needs([(workflow, range(9))]) == []


def test_needs_are_the_topics_that_will_be_drawn(write):
    workflow = skills.load(write())
    assert {need.about for need in needs([(workflow, range(40))])} == {"travel", "stock", "donations"}
    assert len(needs([(workflow, range(1))])) == 1


def test_live_values_are_shown_what_is_wrong_and_the_same_draw_gets_the_same(need):
    model = FakeModel([batch("a/b"), batch("fine")])
    assert LiveValues(model).values(need.bank, "travel", 1, seed=3) == [{"file": "fine", "owner": "Owner fine"}]
    assert "it holds a slash" in model.requests[1][0][-1]["content"]
    with pytest.raises(ModelError, match="no valid Values"):
        LiveValues(FakeModel([batch("a/b")] * 3)).values(need.bank, "travel", 1, seed=3)


@pytest.mark.parametrize(
    ("rules", "line", "words"),
    [
        ("rules:\n  flie: {max: 3}", 9, "there is no field 'flie'"),
        ("rules:\n  file: {maxi: 3}", 9, "a rule has no 'maxi'"),
        ("rules:\n  file: {pattern: '['}", 9, "no regular expression"),
        ("rules:\n  file: {max: 3}", 9, "'trips' of travel breaks its own rule"),
    ],
)
def test_faults_in_rules_are_told_with_file_and_line(write, rules, line, words):
    path = write(("  owner: [Ada, Ben, Cleo]\n", f"  owner: [Ada, Ben, Cleo]\n{rules}\n"))
    with pytest.raises(Exception, match=words) as caught:
        find_bank("words", Place(str(path), 1), path.parent)
    assert f"words.yaml:{line}" in str(caught.value)
