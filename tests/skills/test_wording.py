"""Instructions: every span is said, in words that stand there literally, whatever is drawn."""

from __future__ import annotations

import pytest

import skills
from forge.records import InputError


def _instructions(path, kitchen, seeds=range(40)):
    workflow = skills.load(path)
    return [skills.draw(workflow, seed, kitchen, files=False).task for seed in seeds]


def test_every_span_stands_in_the_instruction_literally(write, kitchen):
    for task in _instructions(write(), kitchen):
        says = task.rubric.criteria[0].says
        assert says in task.instruction
        assert says.lower().startswith(("the total of the", "what the"))
        assert "{" not in task.instruction
        assert "  " not in task.instruction
        assert task.instruction == task.instruction.strip()


def test_all_skeletons_and_variants_are_drawn(write, kitchen):
    tasks = _instructions(write(), kitchen, range(80))
    assert {task.resolved["wording"]["voice"] for task in tasks} == {"terse", "polite"}
    assert len({task.resolved["wording"]["skeleton"] for task in tasks}) == 4
    assert len({task.resolved["wording"]["slots"]["total"] for task in tasks}) == 2


def test_a_capital_slot_changes_the_words_only(write, kitchen):
    path = write(wording="skeletons:\n  terse:\n    - '{Total} in {file}: how much?'\n")
    for task in _instructions(path, kitchen, range(6)):
        assert task.instruction.startswith(("The total of the", "What the"))
        assert task.rubric.criteria[0].says == task.instruction.partition(" in ")[0]


def test_a_capital_slot_leaves_a_value_alone(write, kitchen):
    path = write(wording="skeletons:\n  terse:\n    - '{File} holds {total}.'\n")
    for task in _instructions(path, kitchen, range(4)):
        assert task.instruction.startswith(f"{task.resolved['names']['file']}.json holds ")


def test_an_empty_piece_takes_its_space_along(write, kitchen):
    wording = """\
pieces: {nothing: [""], hm: ["Hm."]}
skeletons:
  terse:
    - "{nothing} {total} in {file} {nothing}, {hm} {nothing} now {nothing}"
"""
    for task in _instructions(write(wording=wording), kitchen, range(3)):
        says, file = task.rubric.criteria[0].says, task.resolved["names"]["file"]
        assert task.instruction == f"{says} in {file}.json, Hm. now"


def test_the_voice_may_be_a_parameter(write, kitchen):
    path = write(
        ("params:\n", "params:\n  voice: {choice: [terse, polite]}\n"), ("  says:\n", '  voice: "${voice}"\n  says:\n')
    )
    for task in _instructions(path, kitchen, range(10)):
        assert task.resolved["wording"]["voice"] == task.resolved["voice"]
    other = write(
        ("params:\n", "params:\n  voice: {choice: [rude]}\n"), ("  says:\n", '  voice: "${voice}"\n  says:\n'), name="o"
    )
    with pytest.raises(InputError, match=r"yaml:20: there are no skeletons for the voice 'rude'"):
        _instructions(other, kitchen)


def test_a_piece_may_say_a_span(write, kitchen):
    wording = """\
pieces:
  ask: ["give me {total}", "find {total}"]
skeletons: {terse: ["From {file}, {ask}."]}
"""
    for task in _instructions(write(wording=wording), kitchen, range(4)):
        assert task.rubric.criteria[0].says in task.instruction


def test_values_with_braces_stay_as_they_are(write, kitchen):
    path = write(("[trips, fares, tickets]", "['{total}  x']"), ("[list, numbers, counts]", "['{total}  x']"))
    for task in _instructions(path, kitchen, range(4)):
        assert "{total}  x.json" in task.instruction


WORDINGS = [
    ("a slot that nothing fills", "skeletons:\n  terse:\n    - '{total} {file} {when}'\n", 3, "{when} is neither", None),
    ("a misspelt slot", "skeletons:\n  terse:\n    - '{totl} {file}'\n", 3, "{totl} is neither", "total"),
    ("an unsaid span", "skeletons:\n  terse:\n    - '{total} {file}'\n    - '{total}'\n", 4, "does not say 'file'", "{file}"),
    ("a span said by some pieces", "pieces: {a: ['{file}', x]}\nskeletons: {b: ['{total} {a}']}\n", 2, "does not say", None),
    ("a piece without it", "pieces: {a: {polite: [x]}}\nskeletons:\n  b: ['{a} {total} {file}']\n", 3, "nothing for the", None),
    ("a lone brace", "skeletons:\n  terse:\n    - '{total} {file} { '\n", 3, "a single '{'", "{{"),
    ("an unknown name", "skeletons:\n  terse:\n    - '{total} {file} ${topc}'\n", 3, "nothing is called 'topc'", "topic"),
    ("an expression that is none", "skeletons:\n  terse:\n    - '{total} {file} ${1 +}'\n", 3, "no expression", None),
    ("a piece in itself", "pieces: {a: ['{a}']}\nskeletons: {terse: ['{a} {total} {file}']}\n", 1, "nested", None),
    ("no skeletons", "pieces: {a: [x]}\n", 1, "`skeletons` is missing", None),
    ("an empty voice", "skeletons:\n  terse: []\n", 2, "is empty", None),
    ("a list without voices", "skeletons:\n  - '{total} {file}'\n", 2, "must be a mapping", None),
    ("a number for a text", "skeletons:\n  terse:\n    - 7\n", 3, "a text is wanted, not number", None),
    ("the same twice", "skeletons:\n  a: ['{total} {file}']\n  b: ['{total} {file}']\n", 3, "stands in line 2", None),
    ("an unknown key", "skeleton:\n  a: ['{total} {file}']\nskeletons: {a: ['{total} {file}']}\n", 1, "no 'skeleton'", None),
    ("a piece called like a span", "pieces:\n  total: [x]\nskeletons: {a: ['{total} {file}']}\n", 2, "is a span", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("wording", "line", "message", "mend"), [w[1:] for w in WORDINGS], ids=[w[0] for w in WORDINGS]
)
def test_a_fault_of_the_wording_has_its_own_line(write, wording, line, message, mend):
    path = write(wording=wording)
    with pytest.raises(InputError) as caught:
        skills.load(path)
    found = next((p for p in caught.value.problems if message in p.message), None)
    assert found is not None, str(caught.value)
    assert found.message.startswith(f"{path.parent / 'wording.yaml'}:{line}: ")
    assert mend is None or mend in found.mend


def test_a_span_that_comes_out_empty_is_an_error(write, kitchen):
    path = write(('file: "${names.file}.json"', "file: \"${replace(names.owner, names.owner, '')}\""))
    with pytest.raises(InputError, match="does not say 'file'"):
        skills.draw(skills.load(path), 1, kitchen)


def test_remarks_name_what_is_below_the_standard(write):
    remarks = skills.load(write()).remarks
    assert "4 skeletons; the library wants at least 20" in remarks
    assert "2 voices; the library wants at least 3" in remarks
    near = write(wording="skeletons:\n  a:\n    - 'sum {total} of {file} now'\n    - 'now, sum {total} of {file}'\n")
    assert "the skeletons of lines 3 and 4 are nearly the same" in skills.load(near).remarks


@pytest.mark.parametrize(
    ("wording", "said"),
    [
        ('pieces: {end: ["now.", "soon"]}|"{total} in {file}, {end}."', r"wording\.yaml:4: .* has two marks"),
        ('pieces: {end: ["soon", "now."]}|"{total} in {file}, {end}."', r"with \{end\} of line 1 two marks"),
        ('|"{total},, in {file}"', "two marks where one belongs: '.*,, in x"),
        ('|"{total} in  {file}"', "two spaces"),
        ("|'{total} in \"{file}'", "a quote that is never closed"),
    ],
)
def test_a_skeleton_that_reads_badly_whatever_is_drawn_is_refused_with_its_line(write, wording, said):
    with pytest.raises(InputError, match=said):
        skills.load(write(wording=wording.replace("|", "\nskeletons:\n  terse:\n    - ", 1) + "\n"))
