"""The author's tools: what breaks is told, long results are shared out fairly, and nobody is told of this machine."""

from __future__ import annotations

import base64
import errno
import json
from dataclasses import replace
from typing import Any

import pytest

import skills
from forge.llm import Budget, Reply
from forge.records import DesktopError, InputError, ModelError, WarehouseError
from skills import Kitchen
from skills.authoring import catalogue
from skills.authoring.agent import author, left
from skills.authoring.brief import Brief, Limits, Outcome
from skills.authoring.draft import Draft
from skills.authoring.evidence import numbers
from skills.authoring.guest import house_of
from skills.authoring.outline import without_bytes
from skills.authoring.port import Smoke, Tried
from skills.authoring.tools import ONE_CHARACTERS, RESULT_CHARACTERS, Bag, Toolbox
from skills.nodes.prepare import Prepare

from .conftest import CRITERIA, GOOD, SKILL, WORDING, WORKFLOW, MemoryKeeper, PaperBench, Scripted, calls, write


def toolbox(bench: Any = None, model: Any = None, **brief: Any) -> Toolbox:
    return Toolbox(
        Brief(SKILL, **brief), Bag(Draft(SKILL)), bench or PaperBench(), model or Scripted([]), "author/test"
    )


async def call(tools: Toolbox, name: str, **args: Any) -> str:
    return (await tools.call(name, json.dumps(args))).text


async def written(tools: Toolbox, workflow: str = WORKFLOW, **files: str) -> str:
    name, args = write(workflow__yaml=workflow, wording__yaml=WORDING, **files)
    return await call(tools, name, **args)


class BrokenBench(PaperBench):
    """Raises an error at everything that is tried."""

    def __init__(self, error: Exception):
        super().__init__()
        self.error = error

    def fail(self) -> Any:
        raise self.error

    async def draws(self, workflow: Any, count: int, first: int = 0) -> Any:
        self.fail()

    async def picture(self, workflow: Any, seed: int) -> Any:
        self.fail()

    async def smoke(self, workflow: Any, count: int, *, play: bool) -> Any:
        self.fail()


EVERYWHERE = [("draw", {}), ("look", {}), ("try", {"count": 1}), ("ask_rubric", {"note": "anew"}), ("submit", {})]


@pytest.mark.parametrize(("name", "args"), EVERYWHERE)
@pytest.mark.parametrize(
    "error", [KeyError("brand"), ZeroDivisionError("division by zero"), RecursionError("too deep")]
)
async def test_whatever_breaks_is_a_result_that_names_the_error_and_the_place_in_our_code(name, args, error, caplog):
    tools = toolbox(BrokenBench(error))
    await written(tools)
    said = await call(tools, name, **args)
    assert said.startswith(f"This broke: {type(error).__name__}: {error}")
    assert "(in tests/skills/authoring/test_tools.py, line " in said
    assert ", fail: raise self.error)" in said
    (logged,) = caplog.records  # and for those who maintain it, with the traceback
    assert logged.getMessage() == f"author/test, {name} broke: {error}"
    assert logged.exc_info[1] is error


@pytest.mark.parametrize(("name", "args"), EVERYWHERE)
@pytest.mark.parametrize(
    "error",
    [DesktopError("no display"), ModelError("no answer"), WarehouseError("locked"), OSError(errno.ENOSPC, "full")],
)
async def test_faults_of_the_machine_and_the_endpoint_are_raised(name, args, error):
    tools = toolbox(BrokenBench(error))
    await written(tools)
    with pytest.raises(type(error)):
        await call(tools, name, **args)


async def test_what_was_raised_from_a_fault_of_the_machine_is_one():
    fault, told = DesktopError("no display"), InputError("draw 0: it broke")
    told.__cause__ = fault
    tools = toolbox(BrokenBench(told))
    await written(tools)
    with pytest.raises(DesktopError, match="no display"):
        await call(tools, "draw")


async def test_a_run_goes_on_after_something_broke_also_when_it_is_taken_up_again():
    keeper = MemoryKeeper()
    keeper.fail_after = 1  # killed after the answer and before the call was carried out
    turns = [
        calls(GOOD, ("draw", {})),
        calls(("give_up", {"outcome": "needs_preparer", "reason": "the preparer broke"})),
    ]
    with pytest.raises(KeyboardInterrupt):
        await author(Brief(SKILL), Scripted(turns), BrokenBench(KeyError("brand")), keeper, subject="s")
    keeper.fail_after = None
    again = Scripted(turns[1:])
    report, _ = await author(Brief(SKILL), again, BrokenBench(KeyError("brand")), keeper, subject="s")
    assert report.outcome is Outcome.NEEDS_PREPARER
    assert "KeyError: 'brand'" in json.loads(again.questions[-1][1])[-1]["content"]


async def test_a_draw_that_breaks_in_a_preparer_is_told_without_a_place_of_this_machine(monkeypatch):
    def run(self: Prepare, inputs: Any, station: Any) -> Any:
        raise self.error(f"cannot lay out {self.folder}/x and /tmp/keep")

    monkeypatch.setattr(Prepare, "run", run)
    tools = toolbox()
    await written(tools)
    said = await call(tools, "draw", count=1)
    assert said.startswith("workflow.yaml:9: tree: cannot lay out")
    assert "draft-" not in said
    assert "/tmp/keep" in said  # a path of the guest


@pytest.mark.parametrize("text", ["[" * 100_000, '"' + "x" * 10, "7", "[1]"])
async def test_arguments_that_are_none_are_told(text):
    assert (await toolbox().call("draw", text)).text.startswith("These arguments cannot be used: ")


def moves_of(text: str) -> set[str]:
    return {line.partition(":")[0] for line in text.splitlines() if not line.startswith("[")}


@pytest.mark.parametrize(
    ("args", "apps"), [({}, {"files"}), ({"apps": ["calc", "thunderbird"]}, {"calc", "thunderbird"})]
)
async def test_moves_are_listed_for_the_skills_applications_and_any_window(args, apps):
    said = await call(toolbox(), "list", kind="moves", **args)
    every = catalogue.entries("moves")
    wanted = {name for name in every if not house_of(name) or set(house_of(name)) & apps}
    assert moves_of(said) == wanted
    assert {"press", "wait"} & wanted
    assert said.endswith(
        f"\n[{len(every) - len(wanted)} moves of other applications than {', '.join(sorted(apps))} are left out]"
    )
    assert moves_of(catalogue.listing("moves")) == set(every)


async def test_an_application_that_there_is_not_is_told():
    assert "there is no application 'clac'" in await call(toolbox(), "list", kind="moves", apps=["clac"])


async def test_one_thing_is_described_whole_and_several_share_the_room():
    names = sorted(catalogue.entries("preparers"), key=lambda n: -len(catalogue.describe("preparers", n)))[:3]
    whole = {name: catalogue.describe("preparers", name) for name in names}
    assert sum(map(len, whole.values())) > RESULT_CHARACTERS
    alone = await call(toolbox(), "describe", kind="preparers", names=names[:1])
    assert alone == f"## {names[0]}\n\n{whole[names[0]]}"
    said = await call(toolbox(), "describe", kind="preparers", names=names)
    parts = said.split("## ")[1:]
    assert [part.split("\n")[0] for part in parts if part.split("\n")[0] in names] == names
    for name in names:
        text = said.split(f"## {name}\n\n")[1]
        assert text.startswith(whole[name][:2000])
    assert f"characters cut; describe {names[0]} alone for all of it]" in said
    assert len(said) < RESULT_CHARACTERS + 500


LONG = WORKFLOW.replace(
    "  target: {compute:", "  lines: {compute: \"${range(1, 900)}\"}\n  target: {compute:"
)  # fmt: skip


async def test_a_draw_is_short_and_names_come_in_full():
    tools = toolbox()
    await written(tools, LONG)
    said = await call(tools, "draw")
    assert said.startswith("Draw 0:\n")
    assert "\n\nDraw 1:\n" in said
    task = skills.draw(tools.bag.draft.load(graded=False), 4, Kitchen()).task
    number = len(task.resolved["lines"])
    assert number > 800
    assert f"  lines: [1, 2, [{number} items in all]]\n" in said
    assert "readme.txt" in said
    full = await call(tools, "draw", names=["lines", "owner"], count=1, first=4)
    assert full.startswith("Draw 4:\n## lines\n\n")
    body, owner = full.split("## lines\n\n")[1].split("\n\n## owner\n\n")
    assert (json.loads(body), json.loads(owner)) == (task.resolved["lines"], task.resolved["owner"])
    assert len(full) < ONE_CHARACTERS
    said = await call(tools, "draw", names=["ownr"])
    assert "the workflow has no name 'ownr'" in said
    assert "owner" in said


def of_size(name: str, characters: int) -> str:
    """The workflow with a node whose value is a text of that length."""
    node = f"  {name}: {{compute: \"${{repeat('0123456789', {characters // 10})}}\"}}\n"
    return WORKFLOW.replace("  target: {compute:", f"{node}  target: {{compute:")


@pytest.mark.parametrize(
    ("args", "more"),
    [
        ({"names": ["long"], "count": 1}, "that is all that is shown of it"),
        ({"names": ["long"], "count": 2}, "draw long alone, with count 1"),
        ({"names": ["long", "owner"], "count": 1}, "draw long alone, with count 1"),
    ],
)
async def test_a_long_value_is_cut_once_with_its_own_size_and_what_can_be_done(args, more):
    tools = toolbox()
    await written(tools, of_size("long", 90_000))
    said = await call(tools, "draw", **args)
    assert said.count(f" of 90002 characters cut; {more}]") == args["count"]
    assert said.count("characters cut") == args["count"]
    body, _, rest = said.partition("## long\n\n")[2].partition("\n[")
    assert rest.startswith(f"{90_002 - len(body)} of ")


async def test_a_long_description_that_was_asked_for_alone_is_cut_once(monkeypatch):
    monkeypatch.setattr(catalogue, "describe", lambda kind, name: "word " * 10_000)
    said = await call(toolbox(), "describe", kind="banks", names=["x"])
    assert said.endswith("\n[10001 of 50000 characters cut; that is all that is shown of it]")


@pytest.mark.parametrize(("count", "more"), [(1, "that is all that is shown of it"), (3, "draw fewer at once")])
async def test_files_of_a_draw_that_are_cut_say_what_can_be_done(count, more):
    items = ", ".join(f"{{kind: text, path: {'x' * 100}{n}.txt, text: a}}" for n in range(60))
    tools = toolbox()
    await written(tools, WORKFLOW.replace("items: [", f"items: [{items}, "))
    said = await call(tools, "draw", count=count)
    assert said.count(f"characters cut; {more}]") == count


async def test_bytes_of_a_value_that_is_shown_in_full_are_told_by_their_size():
    data = base64.b64encode(bytes(range(256)) * 20).decode()
    node = f'  sent: {{compute: [{{name: logo.png, data: "{data}", about: "${{repeat(owner, 40)}}"}}]}}\n'
    tools = toolbox()
    await written(tools, WORKFLOW.replace("  target: {compute:", f"{node}  target: {{compute:"))
    said = await call(tools, "draw", names=["sent"], count=1)
    (shown,) = json.loads(said.partition("## sent\n\n")[2])
    owner = skills.draw(tools.bag.draft.load(graded=False), 0, Kitchen()).task.resolved["owner"]
    assert shown == {"name": "logo.png", "data": f"{data[:24]}... [base64 of 5120 bytes]", "about": owner * 40}


@pytest.mark.parametrize(
    "text",
    ["0123456789" * 40, "word " * 80, "Abc1" * 20, "Row1\n" * 80, "One longer Sentence 7\n" * 20, "Ab/1" * 50 + "Q"],
)
def test_texts_that_are_no_bytes_stay(text):
    assert without_bytes({"a": [text]}) == {"a": [text]}


async def test_every_draw_and_every_value_has_its_share():
    names = "".join(f'  n{k}: {{compute: "${{range({k}, {k} + 300)}}"}}\n' for k in range(40))
    tools = toolbox()
    await written(tools, WORKFLOW.replace("  target: {compute:", f"{names}  target: {{compute:"))
    said = await call(tools, "draw", count=5)
    assert all(f"Draw {n}:\n" in said for n in range(5))
    assert said.count("  n39: ") == 5
    assert "characters cut" not in said


async def test_names_for_the_rubric_are_no_fault_of_a_draft_that_has_none_yet():
    tools = toolbox()
    said = await written(tools, WORKFLOW.replace("  target: {", '  upper: {compute: "${owner}!"}\n  target: {'))
    assert said == "Written. The workflow reads well. Only a rubric could still read upper."
    refused = await call(tools, "submit")
    assert "Not yet: Below the library's standard: nothing reads 'upper'." in refused
    assert "The rubric's writer has written:" in refused


async def test_files_that_nothing_uses_are_noted_and_keep_a_draft_from_being_promoted():
    bank = "about: words\nvalues: [one, two]\n"
    name, args = write(workflow__yaml=WORKFLOW, wording__yaml=WORDING, left__py="def compute():\n    return 1\n")
    args["files"].append({"name": "banks/words.yaml", "text": bank})
    tools = toolbox()
    said = await call(tools, name, **args)
    assert "nothing uses the file banks/words.yaml; nothing uses the file left.py." in said
    assert "nothing uses the file left.py" in await call(tools, "submit")
    used = WORKFLOW.replace("  target: {", "  word: {llm: words}\n  target: {").replace(
        'owner: "${owner}"', 'owner: "${word}"'
    )
    await call(tools, "write", files=[{"name": "workflow.yaml", "text": used}, {"name": "left.py", "text": ""}])
    said = await call(tools, "write", files=[{"name": "workflow.yaml", "text": used}])
    assert "nothing uses" not in said


PAGES = """\
  pages: {compute: "${[owner] if folder == 'Notes' else []}"}
  target: {compute:"""
EACH = {
    "kind": "must", "check": "files.exists", "args": '{"path": "${target}-${page}"}', "says": "target",
    "each": "${pages}", "as": "page",
}  # fmt: skip


async def test_a_criterion_without_items_in_some_draws_is_told_as_a_warning():
    model, bench = Scripted([]), PaperBench()
    model.criteria = [*CRITERIA, EACH]
    tools = toolbox(bench, model)
    await written(tools, WORKFLOW.replace("  target: {compute:", PAGES, 1))
    assert "Warning" not in await call(tools, "draw", count=5)  # there is no rubric yet
    drawn = await bench.draws(tools.bag.draft.load(graded=False), 5)
    without = [n for n, draw in enumerate(drawn) if not draw.task.resolved["pages"]]
    assert len({n < 3 for n in without}) == 2
    assert len(without) < 5
    told = "Warning: must files.exists of target, for each item of a list made of pages, has no items in "
    asked = await call(tools, "ask_rubric", note="anew")
    assert asked.endswith(f"{told}{numbers(n for n in without if n < 3)}; there it grades nothing.")
    said = await call(tools, "draw", count=5)
    assert said.endswith(f"\n{told}{numbers(without)}; there it grades nothing.")
    full = next(n for n in range(5) if n not in without)
    assert "Warning" not in await call(tools, "draw", count=1, first=full)


async def test_what_the_rubrics_writer_misses_stands_until_it_misses_it_no_more():
    model, bench = Scripted([]), PaperBench()
    model.missing = ["how the name is set", "how the name is set", "None."]
    tools = toolbox(bench, model)
    await written(tools)
    refused = await call(tools, "submit")
    assert "Not yet: the rubric's writer misses a check for: how the name is set\nChange the draft" in refused
    for way in ("`ask_rubric`", "`give_up` as needs_check"):
        assert way in refused
    other = await written(tools, WORKFLOW.replace("owner's name into", "name of its owner into", 1))
    assert other.startswith("Written.")
    tools.bag = Bag.from_json(SKILL, json.loads(json.dumps(tools.bag.to_json())))  # kept, and taken up again
    assert "misses a check for: how the name is set" in await call(tools, "submit")
    assert "It misses a check for: how the name is set" in await call(tools, "ask_rubric", note="as plain text")
    assert (await tools.call("submit", "{}")).outcome is None
    assert bench.smokes == []
    assert "misses" not in await call(tools, "ask_rubric", note="any form will do")
    assert (await tools.call("submit", "{}")).outcome is Outcome.AUTHORED


class PartlyBench(PaperBench):
    """Every batch is sound, but the draw number 2 of it is rejected."""

    async def smoke(self, workflow: Any, count: int, *, play: bool) -> Smoke:
        found = await super().smoke(workflow, count, play=play)
        tried = [replace(t, number=n) for n, t in enumerate(found.tried)]
        tried[2] = Tried(2, "do it", False, ("near-duplicate",), number=2)
        return replace(found, tried=tuple(tried))


@pytest.mark.parametrize("complaints", [[], ["the color"]])
async def test_draws_that_a_sound_batch_rejected_are_named(complaints):
    tools = toolbox(PartlyBench(), Scripted([], {"ungraded": complaints, "unasked": [], "ambiguous": []}))
    await written(tools)
    result = await tools.call("submit", "{}")
    assert "1 of 10 draws were rejected: draw 2: near-duplicate." in result.text
    assert (result.outcome is Outcome.AUTHORED) == (not complaints)


@pytest.mark.parametrize(
    ("turns", "spent", "seconds", "said"),
    [
        (10, 0, 0, ""),
        (9, 0, 0, "\n[Left: 9 turns, about 100 % of the tokens.]"),
        (30, 740, 0, ""),
        (30, 760, 0, "\n[Left: 30 turns, about 25 % of the tokens.]"),
        (1, 980, 0, "\n[Left: 1 turns, about 0 % of the tokens.]"),
        (30, 0, 1499, ""),
        (30, 0, 1600, "\n[Left: 30 turns, about 100 % of the tokens, 400 seconds.]"),
        (30, 0, 2100, "\n[Left: 30 turns, about 100 % of the tokens, 0 seconds.]"),
    ],
)
async def test_what_is_left_is_said_when_it_is_little(turns, spent, seconds, said):
    budget = Budget(tokens=1000, source=lambda: (spent, 0.0))
    limits = Limits(steps=40, seconds=2000)
    assert left(Scripted([]).within(budget=budget), limits, 40 - turns, seconds) == said


async def test_the_limits_that_are_told_are_those_that_hold(keeper):
    looking = calls(("list", {"kind": "nodes"}))
    first = Scripted([looking, ModelError("down")])
    await author(Brief(SKILL, limits=Limits(12, 5000, 1800.0)), first, PaperBench(), keeper, subject="s")
    told = json.loads(first.questions[0][1])[0]["content"]
    assert "You have 12 turns, and 5,000 tokens" in told
    assert "and all that it sets off, and 1,800 seconds;" in told
    more = Scripted([looking, ModelError("down")])
    await author(Brief(SKILL, limits=Limits(steps=11)), more, PaperBench(), keeper, subject="s")
    sent = json.loads(more.questions[0][1])
    assert "You have 11 turns, and 600,000 tokens" in sent[0]["content"]
    assert [m["role"] for m in sent] == ["system", "user", "assistant", "tool"]
    assert json.loads(more.questions[1][1])[-1]["content"].endswith("[Left: 9 turns, about 100 % of the tokens.]")


async def test_every_turn_and_call_is_told_to_whoever_watches(keeper):
    lines: list[str] = []
    model = Scripted([calls(GOOD), Reply(text="hm"), calls(("draw", {"count": 1})), calls(("submit", {}))])
    await author(Brief(SKILL), model, PaperBench(), keeper, subject="s", tell=lines.append)
    assert lines[:4] == [
        "turn 1 of 40, 0 tokens so far", "write workflow.yaml, wording.yaml", "write: Written. The workflow reads well.",
        "turn 2 of 40, 0 tokens so far",
    ]  # fmt: skip
    assert lines[5] == "draw count=1"
    assert lines[6].startswith("draw: Draw 0: ")
    assert lines[-2:] == ["submit: Promoted.", "authored"]
    assert all(len(line) < 200 for line in lines)


async def test_a_fresh_start_asks_for_other_answers(keeper):
    asked: list[int] = []

    class Counting(Scripted):
        async def chat(self, messages: Any, tools: Any = None, **more: Any) -> Reply:
            asked.append(more["sample"])
            return await super().chat(messages, tools, **more)

    end = calls(("give_up", {"outcome": "gave_up", "reason": "enough of this"}))
    await author(Brief(SKILL), Counting([end]), PaperBench(), keeper, subject="s")
    keeper.text = json.dumps({"begun": 2})
    await author(Brief(SKILL), Counting([end]), PaperBench(), keeper, subject="s")
    assert asked == [0, 2]
    assert keeper.load()["begun"] == 2


async def test_a_fault_of_a_draw_is_told_as_it_is():
    tools = toolbox(BrokenBench(InputError("draw 3: KeyError: 'x'", mend="take another layout")))
    await written(tools)
    assert await call(tools, "draw") == "draw 3: KeyError: 'x'\n  mend: take another layout"
