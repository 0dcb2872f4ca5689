"""What becomes of templates, blocks, steps and criteria."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skills
from forge.records import InputError
from skills.language.located import parse_located
from skills.language.shapes import mismatch, shape, shape_of
from skills.language.solution import heredoc
from skills.language.template import compile_template

SCOPE = {"n": 3, "half": 0.5, "whole": 4.0, "name": "a b", "xs": [{"v": 1}, {"v": 2}], "yes": True}

TEMPLATES = [
    ('"${n}"', 3),
    ('"${yes}"', True),
    ('"${xs[0]}"', {"v": 1}),
    ('"${n} of ${whole} and ${half}"', "3 of 4 and 0.5"),
    ('"${n}${n}"', "33"),
    ('"$${HOME}/${name}"', "${HOME}/a b"),
    ("\"${ {'}': n}['}'] }\"", 3),
    ("{a: [1, \"${n}\"], b: {c: text}}", {"a": [1, 3], "b": {"c": "text"}}),
    ("[{each: \"${xs}\", as: x, do: [\"${x.v}\", \"${loop}.\"]}, end]", [1, "1.", 2, "2.", "end"]),
    ("[{each: [7, 8], do: [\"${item}\"]}]", [7, 8]),
    ("[{when: \"${n > 2}\", do: [big], else: [small]}]", ["big"]),
    ("[{when: \"${n > 5}\", do: [big]}]", []),
    ("[{each: \"${xs}\", as: x, do: [{when: \"${x.v == n - 1}\", do: [\"${x.v}\"]}]}]", [2]),
    ("[{do: it, each: other, more: keys}]", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), TEMPLATES, ids=[t[0][:40] for t in TEMPLATES])
def test_templates(text, value):
    located = parse_located(f"a: {text}\n", "w.yaml").value["a"]
    if value is None:
        with pytest.raises(InputError, match=r"w\.yaml:1: a block with `each` has no 'more'"):
            compile_template(located)
        return
    template = compile_template(located)
    found = template.render(SCOPE)
    assert found == value
    assert type(found) is type(value)
    inferred = template.infer({key: shape_of(item) for key, item in SCOPE.items()})
    assert mismatch(found, inferred) is None


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
            | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("k"), inner),
            max_leaves=6,
        ),
        max_size=4,
    )
)  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_a_python_step_hands_its_facts_to_the_script_unharmed(facts):
    script = "# ruff: noqa: F821\nimport json\ntext = '''\nEOF\n'''\nprint(json.dumps(facts))\n"
    command = heredoc(script, facts)
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == facts
    assert "ruff" not in command


def test_blocks_in_solutions_and_rubrics(write, kitchen):
    path = write(
        (
            "  terminal:\n",
            '  terminal:\n    - {each: "${sheet.numbers}", as: number, do: [{bash: "echo ${number} ${loop}"}]}\n',
        ),
        (
            "- {must_not: test.changed",
            '- {each: [1, 2], as: n, do: [{must: test.said, value: "${total * n / n}", says: total}]}\n'
            '  - {when: "${false}", do: [{must: test.said, value: 0, says: file}]}\n'
            "  - {must_not: test.changed",
        ),
    )
    task = skills.draw(skills.load(path), 5, kitchen).task
    numbers = task.resolved["sheet"]["numbers"]
    steps = task.solution("terminal").steps
    assert [step.value for step in steps[: len(numbers)]] == [f"echo {n:g} {i}" for i, n in enumerate(numbers, 1)]
    assert [c.id for c in task.rubric.criteria] == ["total", "total-2", "total-3", "changed"]


def test_a_check_that_refuses_its_arguments_at_the_draw_is_named(write, kitchen):
    path = write(('value: "${total}", says', 'value: "${names.file}", says'))
    with pytest.raises(InputError, match=r"workflow\.yaml:30: check test\.said: value"):
        skills.draw(skills.load(path), 5, kitchen)


def test_a_move_that_refuses_its_argument_at_the_draw_is_named(write, kitchen):
    path = write(('{click: {name: "${names.file}.json"}}', '{key: {keys: Up, repeat: "${total * 100}"}}'))
    with pytest.raises(InputError, match=r"workflow\.yaml:24: move key: repeat"):
        skills.draw(skills.load(path), 5, kitchen)


@pytest.mark.parametrize("notation", ["float", ["text", "text"], 7, {"a": None}])
def test_a_shape_that_is_none(notation):
    with pytest.raises(ValueError, match="shape"):
        shape(notation)


@pytest.mark.parametrize(
    ("value", "notation", "problem"),
    [
        ({"a": 1}, {"a": "number"}, None),
        ({"a": 1, "b": 2}, {"a": "number", "...": "any"}, None),
        ({"a": 1, "b": 2}, {"a": "number"}, "'b', which is not declared"),
        ({"a": [1, "x"]}, {"a": ["number"]}, r"\.a\[1\] should be a number, not a text"),
        (None, "text", "nothing"),
        (True, "number", "a bool"),
    ],
)
def test_mismatches_name_the_place(value, notation, problem):
    found = mismatch(value, shape(notation))
    assert (found is None) if problem is None else re.search(problem, found)
