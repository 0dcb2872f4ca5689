"""Drawn trees: every kind and layout can be prepared, draws repeat and differ, faults in a kind's file have their line."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.records import InputError, digest
from preparers.base import PREPARERS, Context
from preparers.files.drawing import draw_tree, tree_kinds
from preparers.files.recipes import KINDS, load_kind, parse_kind

TREE = PREPARERS.get("files.tree")
EVERY = [(kind, layout) for kind, layouts in tree_kinds().items() for layout in layouts]


class OnlyRandom(random.Random):
    """A generator that refuses whatever is not promised to stay the same between Python versions."""

    def getrandbits(self, k: int) -> int:
        raise AssertionError("only random() may be used")

    def randrange(self, *args: int) -> int:  # type: ignore[override]
        raise AssertionError("only random() may be used")


def test_there_are_kinds_enough() -> None:
    assert len(tree_kinds()) >= 6
    assert len(EVERY) >= 15
    assert all(len(layouts) >= 2 for layouts in tree_kinds().values())


@pytest.mark.parametrize(("kind", "layout"), EVERY)
def test_every_layout_makes_a_real_tree(kind: str, layout: str) -> None:
    drawn = draw_tree(kind, "small", OnlyRandom(1), layout=layout)
    facts = TREE.prepare(TREE.validate(drawn), Context()).facts
    assert 6 <= facts["count"] <= 25
    assert len(facts["suffixes"]) >= 3
    assert drawn == json.loads(json.dumps(drawn)), "plain JSON"
    texts = json.dumps(drawn)
    assert "__line__" not in texts
    assert "{pick" not in texts
    assert "{date" not in texts


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(EVERY), st.sampled_from(["small", "medium"]), st.integers(0, 10**6))
def test_any_draw_is_valid_and_repeats(which: tuple[str, str], size: str, seed: int) -> None:
    kind, layout = which
    drawn = draw_tree(kind, size, OnlyRandom(seed), layout=layout)  # type: ignore[arg-type]
    assert drawn == draw_tree(kind, size, OnlyRandom(seed), layout=layout)  # type: ignore[arg-type]
    TREE.validate(drawn)


def test_sizes_grow_and_draws_differ() -> None:
    counts = [
        len(draw_tree("photos", size, random.Random(3), layout="trip")["items"])
        for size in ("small", "medium", "large")
    ]
    assert counts == sorted(counts)
    assert counts[2] > 2 * counts[0]
    for kind in tree_kinds():
        drawn = [draw_tree(kind, "small", random.Random(seed)) for seed in range(60)]
        assert len({digest(one) for one in drawn}) == 60
        assert len({one["root"] for one in drawn}) >= 4


def test_a_draw_is_the_same_on_every_machine() -> None:
    drawn = draw_tree("household", "small", random.Random(42))
    assert digest(drawn) == DIGEST


DIGEST = "43a371b7d7aaec2081340e136c89abc26de41147f073addab3c348fd2d48db3f"


def test_root_and_layout_can_be_given() -> None:
    drawn = draw_tree("club", "small", random.Random(0), layout="minutes", root="~/Elsewhere/Club")
    assert drawn["root"] == "~/Elsewhere/Club"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("photo", "small"), r"unknown kind of tree 'photo'\n.*known are club, course"),
        (("photos", "tiny"), r"unknown size of tree 'tiny'\n.*small, medium, large"),
        (("photos", "small", "by-year"), r"unknown layout 'by-year' of photos\n.*by-month"),
    ],
)
def test_what_is_unknown_is_named(call: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        draw_tree(call[0], call[1], random.Random(0), layout=call[2] if len(call) > 2 else None)  # type: ignore[arg-type]


GOOD = """about: x
words:
  animal: [cat, dog]
layouts:
  plain:
    root: ["~/Zoo"]
    items:
      - path: "{pick:animal}.txt"
        text: hello
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", r"x\.yaml:1: no YAML"),
        ("[]", r"x\.yaml:1: a kind of tree is a mapping"),
        (GOOD.replace('root: ["~/Zoo"]', "root: 3"), r"x\.yaml:6: the layout 'plain' needs a list of roots"),
        (GOOD.replace("text: hello", "txt: hello"), r"x\.yaml:8: unknown key 'txt'; known are archive"),
        (GOOD.replace('path: "{pick:animal}.txt"', "each: {n: {count: 2}}"), r"x\.yaml:8: an item has a path"),
    ],
)
def test_a_fault_in_a_file_has_its_line(text: str, said: str) -> None:
    parse_kind(GOOD, Path("x.yaml"))
    with pytest.raises(InputError, match=said):
        parse_kind(text, Path("x.yaml"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("{pick:animal}", "{beast}"), r"zoo\.yaml:8: nothing is called 'beast' in \{beast\}; known are date, hex"),
        (("{pick:animal}", "{pick:beast}"), r"zoo\.yaml:8: \{pick:beast\} cannot be filled"),
        (("{pick:animal}", "{int:5}"), r"zoo\.yaml:8: \{int:5\} cannot be filled"),
        (("text: hello", "text: hello\n        each: {a: [1, 2]}"), r"zoo\.yaml:8: `each` names a variable"),
        (
            ("text: hello", "text: hello\n        each: {a: {of: beasts}}"),
            r"zoo\.yaml:8: there is no list called 'beasts'",
        ),
        (("    items:", "    let: {a: {colour: 3}}\n    items:"), r"zoo\.yaml:6: .* is no source of a value"),
    ],
)
def test_a_fault_that_shows_in_the_draw_has_its_line(
    change: tuple[str, str], said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "zoo.yaml").write_text(GOOD.replace(*change))
    for module in ("drawing", "recipes"):
        monkeypatch.setattr(f"preparers.files.{module}.KINDS", tmp_path)
    load_kind.cache_clear()
    with pytest.raises(InputError, match=said):
        draw_tree("zoo", "small", random.Random(0))
    load_kind.cache_clear()


def test_the_files_of_kinds_say_what_they_are_about() -> None:
    for path in KINDS.glob("*.yaml"):
        assert len(parse_kind(path.read_text(), path)["about"]) > 20
