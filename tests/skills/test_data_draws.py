"""Draws of data are what their preparers take: tables, workbooks, mailboxes, people, trees."""

from __future__ import annotations

import pytest

from forge.records import Guest
from preparers.base import PREPARERS
from skills.dice import Dice
from skills.draws import DRAWS
from skills.language.shapes import mismatch, shape
from skills.nodes.facts import FACTS
from skills.nodes.sample import Sample


def _draw(kind: str, **args):
    draw = DRAWS.get(kind)
    return draw.draw(draw.args.model_validate(args), Dice("data", kind, sorted(args)))


def _fits(kind: str, value) -> None:
    assert mismatch(value, DRAWS.get(kind).shape({"of": shape("any")})) is None


def test_a_table_and_a_workbook_around_it():
    table = _draw("table", of="expenses", rows=12)
    _fits("table", table)
    assert len(table["rows"]) == 12
    layout = _draw("layout", of=table, suffixes=[".ods"], layouts=["several-sheets"])
    _fits("layout", layout)
    assert (layout["layout"], layout["suffix"]) == ("several-sheets", ".ods")
    parts = {key: layout[key] for key in ("sheets", "charts", "names", "main")}
    PREPARERS.get("calc.workbook").validate({"path": "~/Documents/a.ods", **parts})


def test_a_mailbox_no_newer_than_the_guest():
    guest = Guest(clock="2025-06-02T12:00:00")
    box = _draw("mailbox", of="plain", size=20, guest=guest)
    _fits("mailbox", box)
    assert max(mail["date"] for folder in box["folders"] for mail in folder["messages"]) <= guest.clock
    PREPARERS.get("thunderbird.profile").validate(box)


def test_people_of_a_company():
    [company] = _draw("companies", of=1)
    people = _draw("people", of=3, company={key: company[key] for key in ("name", "domain")})
    _fits("people", people)
    assert {person["domain"] for person in people} == {company["domain"]}


def test_a_tree():
    tree = _draw("tree", of="photos", size="small", root="~/Pictures/Trip")
    _fits("tree", tree)
    assert tree["root"] == "~/Pictures/Trip"
    PREPARERS.get("files.tree").validate(tree)


@pytest.mark.parametrize(
    ("kind", "args", "named"),
    [
        ("table", {"of": "expences"}, "expenses"),
        ("mailbox", {"of": "huge"}, "plain"),
        ("tree", {"of": "photo"}, "photos"),
    ],
)
def test_an_unknown_topic_is_named_with_the_known_ones(kind, args, named):
    with pytest.raises(ValueError, match=named):
        _draw(kind, **args)


def test_a_mailbox_reads_the_guest_unless_told_otherwise():
    from skills.language.located import parse_located
    from skills.language.problems import Problems
    from skills.nodes.sample import read_sample

    sample: Sample = read_sample("box", parse_located("{mailbox: plain, size: 10}", "w.yaml"), Problems())
    assert sample.names == {"guest"}
    assert sample.render({"guest": Guest().to_json()})["guest"] == Guest().to_json()


def test_facts_have_the_shapes_that_are_declared(tmp_path):
    """For preparers that need no office; workbooks with formulas are checked where one runs."""
    from preparers.base import Context

    table = _draw("table", of="stock", rows=5)
    (tmp_path / "a.txt").write_text("x\n")
    given = {
        "calc.workbook": {"path": "~/a.xlsx", "sheets": _draw("layout", of=table, layouts=["plain"])["sheets"]},
        "thunderbird.profile": _draw("mailbox", of="two-accounts", size=20),
        "files.tree": _draw("tree", of="project"),
        "files.document": {"source": str(tmp_path / "a.txt"), "path": "~/a.txt"},
    }
    assert set(given) == set(FACTS)
    for name, params in given.items():
        preparer = PREPARERS.get(name)
        facts = preparer.facts(preparer.validate(params), Context())
        assert mismatch(facts, shape(FACTS[name]), name) is None
