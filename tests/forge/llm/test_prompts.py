"""Prompt templates: blocks become messages, undefined names are errors with a place, the version is the text's hash."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.llm import Prompts
from forge.records import InputError

TEMPLATE = """\
{% block system %}
You name {{ what }}.
{% endblock %}
{% block user %}
{% for name in taken %}
- {{ name | quoted }}
{% endfor %}
{% include "rules.jinja" %}
{% endblock %}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "names.jinja").write_text(TEMPLATE)
    (tmp_path / "rules.jinja").write_text("No {{ what }} twice.")
    return tmp_path


def test_blocks_become_messages_in_their_order(folder):
    prompt = Prompts(folder).render("names", what="files", taken=["a", 'b"c'])
    assert prompt.messages == (
        {"role": "system", "content": "You name files."},
        {"role": "user", "content": '- "a"\n- "b\\"c"\nNo files twice.'},
    )


def test_an_undefined_name_is_an_error_with_file_and_line(folder):
    with pytest.raises(InputError, match="'taken' is undefined") as caught:
        Prompts(folder).render("names", what="files")
    assert (caught.value.file, caught.value.line) == (str(folder / "names.jinja"), 5)


def test_the_version_changes_with_the_text_also_of_what_is_included(folder):
    first = Prompts(folder).render("names", what="files", taken=[]).version
    assert first == Prompts(folder).render("names", what="rooms", taken=["x"]).version
    (folder / "rules.jinja").write_text("No {{ what }} thrice.")
    second = Prompts(folder).render("names", what="files", taken=[]).version
    assert first != second
    assert first.startswith("names@")


def test_values_are_never_templates(folder):
    prompt = Prompts(folder).render("names", what="{{ 7 * 7 }}{% block x %}", taken=[])
    assert prompt.messages[0]["content"] == "You name {{ 7 * 7 }}{% block x %}."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{% block user %}{{ x }", "unexpected"),
        ("no block", "has no message"),
        ("{% block user %}{% include 'no.jinja' %}{% endblock %}", "no.jinja"),
    ],
)
def test_broken_templates_are_named(folder, text, words):
    (folder / "broken.jinja").write_text(text)
    with pytest.raises(InputError, match=words):
        Prompts(folder).render("broken")


def test_an_unknown_template_names_those_there_are(folder):
    with pytest.raises(InputError, match="known are names, rules"):
        Prompts(folder).render("nmaes")
