"""The authoring conversation: how it ends, what it keeps, and who gets to see what."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from forge.llm import Reply
from forge.llm.reply import ToolCall
from forge.records import BudgetError, ModelError
from skills.authoring.agent import WHOLE, author
from skills.authoring.brief import Brief, Limits, Outcome

from .conftest import GOOD, SKILL, MemoryKeeper, PaperBench, Scripted, calls, write


async def run(model, keeper, bench=None, **more):
    return await author(Brief(SKILL, **more), model, bench or PaperBench(), keeper, subject="author/test")


def give_up(reason="enough of this", outcome="gave_up"):
    return calls(("give_up", {"outcome": outcome, "reason": reason}))


def renumbered(reply, number):
    """The same calls under other ids, as a later answer would have them."""
    made = tuple(type(c)(f"{c.id}-{number}", c.name, c.arguments) for c in reply.tool_calls)
    return replace(reply, tool_calls=made)


async def test_a_skill_becomes_a_workflow(keeper):
    bench = PaperBench()
    model = Scripted([calls(("list", {"kind": "checks"})), calls(GOOD), calls(("submit", {}))])
    report, draft = await run(model, keeper, bench, smoke=7)
    assert (report.outcome, report.steps, report.acceptance) == (Outcome.AUTHORED, 3, 1.0)
    assert report.version == draft.load(graded=True).version
    assert bench.smokes == [(7, True)]
    assert [r["agreed"] for r in report.readers] == [True, True]


async def test_the_rubrics_writer_and_the_readers_never_see_a_solution(keeper):
    model = Scripted([calls(GOOD), calls(("submit", {}))])
    await run(model, keeper)
    kinds = {kind for kind, _ in model.questions}
    assert kinds == {"author", "RubricText", "Reading", "Reconstruction", "Comparison"}
    for kind, text in model.questions:
        assert ("SECRET-OF-THE-SOLUTION" in text) == (kind == "author" and "printf" in text)
    reading = next(text for kind, text in model.questions if kind == "Reading")
    assert "files.content" not in reading
    reconstruction = next(text for kind, text in model.questions if kind == "Reconstruction")
    assert "Kindly" not in reconstruction
    assert "would you" not in reconstruction


async def test_readers_that_disagree_send_it_back_once(keeper):
    odd = {"ungraded": ["that nothing else stands in the file"], "unasked": [], "ambiguous": []}
    model = Scripted(
        [calls(GOOD), calls(("submit", {})), calls(("submit", {"despite_readers": "the check is for equality"}))], odd
    )
    report, _ = await run(model, keeper)
    assert report.outcome is Outcome.AUTHORED
    assert [(r["agreed"], r["despite"]) for r in report.readers] == [
        (False, ""), (False, ""), (False, "the check is for equality"), (False, "the check is for equality"),
    ]  # fmt: skip
    assert "that nothing else stands in the file" in model.questions[-4][1] or any(
        "not graded: that nothing else" in text for kind, text in model.questions if kind == "author"
    )


async def test_a_failed_smoke_batch_promotes_nothing(keeper):
    model = Scripted(
        [
            calls(GOOD),
            calls(("submit", {})),
            give_up("it scores untouched"),
        ]
    )
    report, _ = await run(model, keeper, PaperBench(sound=False))
    assert (report.outcome, report.reason, report.version) == (Outcome.GAVE_UP, "it scores untouched", None)
    assert "noop untouched: scored 1" in model.questions[-1][1]


async def test_faults_of_a_draft_come_with_file_and_line(keeper):
    workflow, wording = (file["text"] for file in GOOD[1]["files"])
    broken = workflow.replace("${quote(owner)}", "${quote(ownr)}")
    model = Scripted(
        [
            calls(write(workflow__yaml=broken, wording__yaml=wording)),
            give_up(),
        ]
    )
    await run(model, keeper)
    said = json.loads(model.questions[-1][1])[-1]["content"]
    assert said.startswith("workflow.yaml:")
    assert "ownr" in said
    assert "/tmp" not in said


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("write", {"files": [{"name": "../../etc/passwd", "text": "x"}]}), "a workflow has no file"),
        (("write", {"files": [{"name": "workflow.yaml", "text": "rubric: []\nskill: a.b.c-d"}]}), "has a `rubric`"),
        (("write", {"files": []}), "cannot be used"),
        (("shell", {"command": "curl example.com"}), "There is no tool 'shell'"),
        (("describe", {"kind": "secrets", "names": ["x"]}), "the catalogue has no 'secrets'"),
        (("describe", {"kind": "workflows", "names": ["../../../etc"]}), "there is no"),
        (("draw", {"count": 500}), "cannot be used"),
        (("submit", {}), "there is no workflow.yaml yet"),
    ],
)
async def test_what_a_tool_refuses_is_said_and_nothing_happens(keeper, call, said):
    model = Scripted([calls(call), give_up()])
    report, draft = await run(model, keeper)
    assert said in json.loads(model.questions[-1][1])[-1]["content"]
    assert report.outcome is Outcome.GAVE_UP
    assert set(draft.files) <= {"workflow.yaml"}


@pytest.mark.parametrize("arguments", ["[1]", '"abc"', "7", "null", '{"files": ["abc"]}', '{"files": 3}'])
async def test_arguments_that_are_no_mapping_are_told_and_the_run_goes_on(keeper, arguments):
    odd = Reply(tool_calls=(ToolCall("c1", "write", arguments),), finish="tool_calls")
    model = Scripted([odd, give_up()])
    report, _ = await run(model, keeper)
    assert report.outcome is Outcome.GAVE_UP
    assert json.loads(model.questions[-1][1])[-1]["content"].startswith("These arguments cannot be used: ")


async def test_turns_tokens_and_time_are_limits(keeper):
    model = Scripted([calls(("list", {"kind": "nodes"}))] * 3)
    report, _ = await run(model, keeper, limits=Limits(steps=2))
    assert (report.outcome, report.steps) == (Outcome.BUDGET, 2)
    used_up = Scripted([calls(("list", {"kind": "nodes"})), BudgetError("the budget of authoring x is used up")])
    report, _ = await run(used_up, MemoryKeeper())
    assert (report.outcome, report.steps, report.reason) == (Outcome.BUDGET, 1, "the budget of authoring x is used up")
    report, _ = await run(Scripted([]), MemoryKeeper(), limits=Limits(seconds=-1))
    assert (report.outcome, report.steps) == (Outcome.BUDGET, 0)


async def test_an_endpoint_that_is_down_keeps_the_conversation(keeper):
    first = Scripted([calls(GOOD), ModelError("connection refused")])
    report, _ = await run(first, keeper)
    assert (report.outcome, report.steps) == (Outcome.ENDPOINT_DOWN, 1)
    report, _ = await run(Scripted([calls(("submit", {}))]), keeper)
    assert (report.outcome, report.steps) == (Outcome.AUTHORED, 2)


@pytest.mark.parametrize("saves", range(7))
async def test_a_run_killed_after_any_step_ends_as_an_undisturbed_one(saves):
    turns = [calls(("list", {"kind": "checks"})), calls(GOOD, ("draw", {"count": 1})), calls(("submit", {}))]
    calm = MemoryKeeper()
    want, wanted = await run(Scripted(turns), calm)
    keeper = MemoryKeeper()
    keeper.fail_after = saves
    first = Scripted(turns)
    with pytest.raises(KeyboardInterrupt):
        await run(first, keeper)
    keeper.fail_after = None
    answered = (keeper.load() or {}).get("steps", 0)  # what was answered and kept is not asked again
    report, draft = await run(Scripted(turns[answered:]), keeper)
    assert (report.outcome, report.version, report.steps) == (want.outcome, want.version, want.steps)
    assert draft.to_json() == wanted.to_json()
    assert len(keeper.load()["messages"]) == len(calm.load()["messages"])
    assert calm.saves > saves


async def test_a_run_that_had_ended_is_not_asked_again(keeper):
    await run(Scripted([calls(GOOD), calls(("submit", {}))]), keeper)
    report, _ = await run(Scripted([]), keeper)
    assert report.outcome is Outcome.AUTHORED


async def test_talk_without_tools_is_answered(keeper):
    model = Scripted(
        [
            Reply(text="Let me think."),
            Reply(text="{", finish="length"),
            give_up("leaves nothing behind", "not_verifiable"),
        ]
    )
    report, _ = await run(model, keeper)
    assert (report.outcome, report.steps) == (Outcome.NOT_VERIFIABLE, 3)
    sent = json.loads(model.questions[-1][1])
    assert "calling tools" in sent[3]["content"]
    assert "cut off" in sent[5]["content"]


async def test_old_results_are_cut_and_only_the_latest_picture_is_sent(keeper):
    tree = calls(("describe", {"kind": "preparers", "names": ["files.tree"]}))
    many = [renumbered(tree, n) for n in range(WHOLE + 1)]
    look = [renumbered(calls(("look", {})), n) for n in range(2)]
    end = give_up()
    model = Scripted([calls(GOOD), *look, *many, end])
    await run(model, keeper)
    sent = json.loads(model.questions[-1][1])
    results = [m["content"] for m in sent if m["role"] == "tool"]
    assert sum("[cut; call again" in text for text in results) == 1  # the first description; the rest is short or late
    assert sum(isinstance(m["content"], list) for m in sent) == 1
    order = [m["role"] for m in sent]
    assert order[:3] == ["system", "user", "assistant"]


async def test_the_baseline_makes_one_task(keeper):
    bench = PaperBench()
    few = 'skeletons:\n  terse: ["{target}: {owner}"]\n'
    model = Scripted(
        [calls(write(workflow__yaml=GOOD[1]["files"][0]["text"], wording__yaml=few)), calls(("submit", {}))]
    )
    report, _ = await run(model, keeper, bench, mode="task")
    assert report.outcome is Outcome.AUTHORED
    assert bench.smokes == [(1, True)]
    told = json.loads(model.questions[0][1])[0]["content"]
    assert "ONE single task" in told
    assert "One skeleton in one voice is enough." in told
    assert "20 skeletons" not in told.partition("# An example from the library")[0]
    workflows = Scripted([give_up()])
    await run(workflows, MemoryKeeper())
    assert "At least 20 skeletons in at least 3 voices" in workflows.questions[0][1]


async def test_lessons_are_left_and_handed_on(keeper):
    model = Scripted(
        [
            calls(("lesson", {"text": "files.tree wants text, not content"})),
            give_up("there is no check for it", "needs_check"),
        ]
    )
    report, _ = await run(model, keeper, lessons=("quote paths in bash",))
    assert report.outcome is Outcome.NEEDS_CHECK
    assert report.lessons == ["files.tree wants text, not content"]
    told = json.loads(model.questions[0][1])[0]["content"]
    assert "quote paths in bash" in told
    assert "Where one contradicts what `describe` says, `describe` is right" in told


async def test_the_author_is_told_what_day_it_is_in_the_guest(keeper):
    model = Scripted([calls(GOOD), give_up()])
    _, draft = await run(model, keeper)
    told = json.loads(model.questions[0][1])[0]["content"]
    (draw,) = await PaperBench().draws(draft.load(graded=False), 1)
    assert (draw.task.guest.clock, draw.task.guest.timezone) == ("2026-03-16T09:30:00", "Europe/Berlin")
    assert "it is Monday, 2026-03-16, 09:30 in the guest, in Europe/Berlin" in told
