"""The catalogue: everything is described, in little room, and what it says is so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import preparers  # noqa: F401 - registers
from forge.desktop.apps import APPS
from forge.harness.moves import MOVES
from forge.records import Guest, InputError
from preparers.base import PREPARERS, Context
from preparers.calc.layouts import layouts
from preparers.calc.tables import topics
from preparers.files.drawing import tree_kinds
from preparers.files.params import KINDS as FILE_KINDS
from preparers.thunderbird.mails import kinds, matters
from skills import Kitchen
from skills.authoring import catalogue
from skills.authoring.fields import fields_text
from skills.authoring.tools import RESULT_CHARACTERS
from skills.draws import DRAWS
from skills.language.expression import Expression
from skills.language.functions import FUNCTIONS
from skills.language.located import Place, parse_located
from skills.language.problems import Problems
from skills.nodes import NODE_KINDS
from skills.nodes.base import Reading, Source, Station
from skills.nodes.sample import read_sample

PLACE = Place("test", 1)
OURS = [name for name in PREPARERS.names() if not name.startswith("test.")]


@pytest.mark.parametrize("kind", catalogue.KINDS)
def test_every_description_fits(kind: str) -> None:
    """Two of them fit into one answer of the tool, and so does every list."""
    sizes = {name: len(catalogue.describe(kind, name)) for name in catalogue.entries(kind)}
    assert {name: size for name, size in sizes.items() if size > catalogue.LONGEST} == {}
    assert len(catalogue.listing(kind)) <= RESULT_CHARACTERS


@pytest.mark.parametrize(
    ("kind", "name", "values"),
    [
        ("draws", "table", topics()),
        ("draws", "layout", layouts()),
        ("draws", "mailbox", [*kinds(), *matters()]),
        ("draws", "tree", [*tree_kinds(), *(layout for found in tree_kinds().values() for layout in found)]),
        ("preparers", "files.tree", [*FILE_KINDS, *FILE_KINDS.values()]),
        ("preparers", "calc.workbook", ["currency", "percent", "datetime", "doughnut", "color_scale"]),
        ("preparers", "thunderbird.profile", ["mark-unread", "ends with", "vertical", "$label1"]),
    ],
)
def test_descriptions_list_the_values_that_there_are(kind: str, name: str, values: list[str]) -> None:
    text = catalogue.describe(kind, name)
    assert [value for value in values if value not in text] == []


def test_a_topic_is_listed_with_its_columns() -> None:
    assert "- `expenses`: Date (date date), Category (text category)" in catalogue.describe("draws", "table")


def test_the_moves_of_an_application_are_found_by_its_name() -> None:
    found = [line.partition(":")[0] for line in catalogue.listing("moves", "[vlc]").splitlines()]
    assert found == ["media_setting", "open_media", "queue_media", "save_playlist", "tag_media"]
    assert "In calc, writer, impress." in catalogue.describe("moves", "save")
    assert "In any window." in catalogue.describe("moves", "switch_window")


@pytest.mark.parametrize("app", APPS)
def test_an_application_is_told_with_window_files_commands_and_moves(app: str) -> None:
    text = catalogue.describe("apps", app)
    for part in ("At the start of a task:", "- Window:", "- In the guest:", "- Saves:", "- Moves:"):
        assert part in text
    (own,) = re.findall(r"^- Moves: (.+); and those of any window: check, ", text, re.M)
    houses = {
        move: re.findall(r"^In ([\w, ]+)\.", catalogue.describe("moves", move), re.M)[0] for move in MOVES.names()
    }
    assert own.split(", ") == [move for move, of in houses.items() if app in of.split(", ")]


@pytest.mark.parametrize("name", FUNCTIONS.names())
def test_every_function_shows_a_call_and_its_result(name: str) -> None:
    function = FUNCTIONS.get(name)
    assert f"{name}(" in function.example
    value = Expression(function.example, PLACE).evaluate({})
    assert catalogue.describe("functions", function.usage).endswith(f"is `{json.dumps(value, ensure_ascii=False)}`.")


@pytest.mark.parametrize("name", [name for name in OURS if PREPARERS.get(name).example_facts])
def test_the_example_of_a_preparer_makes_what_it_says(name: str) -> None:
    preparer = PREPARERS.get(name)
    values = parse_located(preparer.example, "example").plain()
    made = preparer.prepare(preparer.validate(values), Context())
    for at, wanted in preparer.example_facts.items():
        assert Expression(f"made.{at}", PLACE).evaluate({"made": made.facts}) == wanted


@pytest.mark.parametrize("name", ["compute", "sample", "llm", "prepare", "python"])
def test_the_example_of_a_node_gives_what_it_says(name: str, tmp_path: Path, kitchen: Kitchen) -> None:
    kind = NODE_KINDS.get(name)
    for file, text in kind.files.items():
        (tmp_path / file).write_text(text)
    station = Station(kitchen, Guest(), ("example",))
    scope: dict[str, Any] = {"guest": Guest().to_json()}
    used = set()
    for called, spec in parse_located(kind.example, "example").mapping("the example").items():
        fields = spec.mapping("a node")
        used |= set(fields)
        problems = Problems()
        node_kind = next(NODE_KINDS.get(key) for key in fields if key in NODE_KINDS)
        node = node_kind.read(called, fields, spec.place, Reading(Source(tmp_path), problems))
        assert problems.found == []
        scope[called] = node.run(node.render(scope), station).value
        value = scope[called]
    assert name in used
    if name == "llm":
        assert set(value) == {"file", "owner"}
        assert all(isinstance(text, str) and text for text in value.values())
    else:
        assert value == json.loads(kind.gives)


@pytest.mark.parametrize("name", DRAWS.names())
def test_every_draw_has_an_example_that_draws(name: str) -> None:
    text = catalogue.describe("draws", name)
    assert f"- `{{{name}: " in text
    assert "gives for instance `" in text
    assert yaml.safe_load(f"x: {DRAWS.get(name).examples[0]}")


def test_a_tree_is_drawn_in_the_layout_that_is_named() -> None:
    problems = Problems()
    spec = parse_located("d: {tree: course, layout: submissions, root: ~/Downloads/course}", "test").mapping("it")["d"]
    sample = read_sample("d", spec, problems)
    tree = sample.run(sample.render({}), Station(Kitchen(), Guest(), (1,))).value
    assert (problems.found, tree["root"]) == ([], "~/Downloads/course")
    assert [item["path"].endswith("/essay.txt") for item in tree["items"]].count(True) >= 4
    other = parse_located("d: {tree: course, layout: by-hand}", "test").mapping("it")["d"]
    read_sample("d", other, problems)
    assert "unknown layout 'by-hand' of course" in problems.found[0].message


def test_a_long_workflow_is_shown_in_part_and_its_files_whole() -> None:
    name = "files.json.change-setting"
    text = catalogue.describe("workflows", name)
    assert f"describe `{name}/docs.py` for all of it" in text
    assert "def compute(" in catalogue.describe("workflows", f"{name}/docs.py")
    with pytest.raises(InputError, match=r"has no file 'dogs\.py'"):
        catalogue.describe("workflows", f"{name}/dogs.py")


def test_fields_are_written_in_little_room() -> None:
    from tests.skills.authoring.shapes import Outer

    assert (
        fields_text(Outer)
        == """\
name: text, 1..9 long; what it is called
kind: x|"a,b" = x
inner?: [Inner]
size: int = 0, >= 0
pair?: [text, int]
on?, off?: bool

**Inner**: Part of it.
at: [number], <= 3
more: {text: int}"""
    )
