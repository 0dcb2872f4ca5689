"""Every fault of a workflow is found before anything runs, and named with file and line."""

from __future__ import annotations

import pytest

import skills
from forge.records import InputError
from skills import WorkflowError

# what is wrong; the text that is replaced; by what; a text that stands in the faulty line; part of the message; of the mend
LINES = "    - key:\n        kees:\n          ${topic}\n"
LACKS = '{rename_item: {name: "${topic}"}}'
MANY = '{key: {keys: "${topic}", repeat: often}}'
BLOCK = '{when: "${rows > 5}", do: [{key: {kees: "${topic}"}}]}'

FAULTS = [
    ("unknown key", "require:\n", "reqire:\n", "reqire", "no 'reqire'", "did you mean require?"),
    ("missing key", "rubric:\n", "description:\n", "skill:", "`rubric` is missing", "what is graded"),
    ("unknown kind of node", '{compute: "${sum', '{computed: "${sum', "computed:", "'computed'", "compute"),
    ("two kinds of nodes", "{compute:", "{llm: words, compute:", "llm: words, compute", "two kinds of nodes", None),
    ("node that is no mapping", '{compute: "${sum(sheet.numbers)}"}', "7", "total: 7", "must be a mapping", None),
    ("unknown preparer", "prepare: test.list", "prepare: test.lst", "test.lst", "'test.lst'", "test.list"),
    ("unknown check", "must: test.said", "must: test.sad", "test.sad", "unknown check 'test.sad'", "test.said"),
    ("unknown move", "{click: {name", "{clik: {name", "clik", "no move 'clik'", "click"),
    ("unknown app", "apps: [files]", "apps: [files, fils]", "fils]", "no app 'fils'", "files"),
    ("unknown bank", "llm: words", "llm: wrds", "wrds", "no bank 'wrds'", "words"),
    ("unknown field of a bank", "llm: words,", "llm: words, fields: [fil],", "[fil]", "no field 'fil'", "file"),
    ("number for a group", 'about: "${topic}"}', "about: 3}", "about: 3", "about must be a text", None),
    ("unknown kind of draw", "{int:", "{integer:", "integer", "unknown kind of draw 'integer'", "int"),
    ("no kind of draw", "{int: [3, 9]}", "{}", "rows: {}", "no kind of draw", "choice"),
    ("two kinds of draws", "{int:", "{bool: 1, int:", "bool: 1", "two kinds of draws", None),
    ("missing parameter of a preparer", 'path: "~/Doc', 'pat: "~/Doc', "pat: ", "'path' is missing", None),
    ("unknown parameter of a preparer", 'numbers: "${st', 'numbrs: "${st', "numbrs", "'numbrs'", "numbers"),
    ("wrong literal for a preparer", 'numbers: "${stats.numbers}"', "numbers: [a]", "[a]", "numbers.0", None),
    ("missing argument of a check", 'said, value: "${total}"', "said", "must: test.said", "'value' is missing", None),
    ("unknown argument of a check", 'said, value: "${total}"', "said, valve: 1", "valve", "'valve'", "value"),
    ("wrong literal for a check", 'said, value: "${total}"', "said, value: much", "much", "value", None),
    ("unknown argument of a move", '{name: "${names.file}.json"}', "{nmae: x}", "nmae", "nmae", "name"),
    ("empty choice", "[travel, stock, donations]", "[]", "choice: []", "the domain is empty", "at least one"),
    ("empty range", "[3, 9]", "[9, 3]", "[9, 3]", "no number from 9 to 3", None),
    ("range without days", "2026-01-01, 2026-02-27", "2026-01-03, 2026-01-04", "01-04", "no day from", None),
    ("no date", "2026-01-01", "2026-13-01", "2026-13-01", "day: date", None),
    ("wrong type of a range", "[3, 9]", "many", "many", "rows: int", None),
    ("unknown option of a draw", "[3, 9]", "[3, 9], steps: 2", "steps", "'steps'", "step"),
    ("text for a list", "apps: [files]", "apps: files", "apps", "must be a list, not a text", "- item"),
    ("list for a mapping", "- {app: files,", "- [app, files]\n  - {app: files,", "[app", "must be a mapping", None),
    ("number for a text", "title: Total the", "title: 7\ndescription: the", "title", "must be a text", "quotes"),
    ("bad skill id", "files.text.total-numbers", "Total", "skill: Total", "no skill id", "app.area.verb-object"),
    ("bad affinity", "params:\n", "affinity: window\nparams:\n", "affinity", "affinity", None),
    ("unknown name", "sum(sheet.numbers)", "sum(shet.numbers)", "shet", "nothing is called 'shet'", "sheet"),
    ("unknown field of a script", "sum(sheet.n", "sum(stats.nmbers+sheet.n", "nmbers", "'nmbers'", "numbers"),
    ("unknown field of a preparer", "sum(sheet.numbers)", "sum(sheet.nums)", "nums", "no field 'nums'", "numbers"),
    ("field of a list", "sum(sheet.numbers)", "sum(sheet.numbers.first)", ".first", "a list of number has no", "[0]"),
    ("unknown function", "sum(sheet.numbers)", "summ(sheet.numbers)", "summ", "no function 'summ'", "sum"),
    ("wrong type for a function", "sum(sheet.numbers)", "sum(rows)", "sum(rows)", "must be a list", None),
    ("too many arguments", "sum(sheet.numbers)", "sum(rows, 1)", "sum(rows, 1)", "too many", "sum(items)"),
    ("list in a text", "Documents/${names.file}", "Documents/${stats.numbers}", "/${stats", "no obvious spelling", "join"),
    ("brace left open", "${total > 20}", "${total > 20", "> 20", "never closed", "$${"),
    ("no expression", "${total > 20}", "${total >}", "total >}", "no expression", None),
    ("dunder", "${total > 20}", "${total.__class__}", "__class__", "underscore", None),
    ("method", "${total > 20}", "${names.file.upper()}", ".upper()", "only functions can be called", "no methods"),
    ("condition that reads nothing", "${total > 20}", "always", "always", "reads something", None),
    ("taken name", "  total: {compute", "  guest: {compute", "guest: {compute", "is taken", None),
    ("name of a parameter", "  total: {compute", "  rows: {compute", "rows: {compute", "a parameter already", None),
    ("bad name", "  total: {compute", "  the-total: {compute", "the-total", "is no name", None),
    ("unknown guest key", "start:\n", "guest: {zone: UTC}\nstart:\n", "zone", "guest has no 'zone'", "timezone"),
    ("bad clock", "start:\n", "guest: {clock: noon}\nstart:\n", "noon", "clock", None),
    ("bash in a gui solution", "  gui:\n", "  gui:\n    - {bash: ls}\n", "ls", "no step of a gui solution", None),
    ("move in a terminal solution", "  terminal:\n", "  terminal:\n    - {key: a}\n", "key: a", "no step of a terminal", None),
    ("hybrid without windows", "  gui:\n", "  hybrid:\n    - {bash: ls}\n  gui:\n", "- {bash: ls}", "has no gui", "use both"),
    ("unknown argument of a move", "- {click: {name:", "- {click: {nmae:", "nmae", "move click: there is no 'nmae'", "name"),
    ("unknown argument on a line of its own", "  gui:\n", f"  gui:\n{LINES}", "kees:", "move key: there is no 'kees'", "keys"),
    ("missing argument of a move", "  gui:\n", "  gui:\n    - {rename_item: {name: a}}\n", "{name: a}", "'to' is missing", "to"),
    ("missing beside an expression", "  gui:\n", f"  gui:\n    - {LACKS}\n", "rename", "'to' is missing", "it needs name, to"),
    ("wrong literal beside an expression", "  gui:\n", f"  gui:\n    - {MANY}\n", "{key:", "move key: repeat: ", None),
    ("wrong bare literal", "  gui:\n", "  gui:\n    - {row: [a]}\n", "{row:", "move row: name: ", "a bare value is its name"),
    ("move without its arguments", "  gui:\n", "  gui:\n    - {scale_image: {}}\n", "scale_image", "width or height", None),
    ("unknown argument in a block", "  gui:\n", f"  gui:\n    - {BLOCK}\n", "kees", "move key: there is no 'kees'", "keys"),
    ("step with two keys", "  gui:\n", "  gui:\n    - {key: Up, type: x}\n", "key: Up", "a step has one key", None),
    ("step that is a text", "  gui:\n", "  gui:\n    - save\n", "- save", "must be a mapping", None),
    ("unknown channel", "  gui:\n", "  mouse:\n", "mouse:", "no channel 'mouse'", "gui"),
    ("missing channel", "  terminal:\n", "  hybrid:\n    - {key: a}\n", "gui:", "no terminal solution", None),
    ("fact that is not given", 'with: {path: "${sheet.path}"}', "with: {file: x}", "file: x", "facts['path']", None),
    ("missing script", "python: solve.py", "python: slove.py", "slove.py", "cannot be read", "solve.py"),
    ("script elsewhere", "python: solve.py", "python: ../solve.py", "../solve.py", "must lie beside", None),
    ("argument the script lacks", "with: {rows:", "with: {row: 1, rows:", "row: 1", "takes no 'row'", "rows"),
    ("argument that is not given", 'with: {rows: "${rows}", ', "with: {", "stats.py", "needs 'rows'", None),
    ("bad shape", "gives: {numbers", "gives: {ratio: float, numbers", "float", "'float' is no shape", None),
    ("unknown span", "says: total,", "says: totals,", "totals", "no span 'totals'", "total"),
    ("must without a span", "says: total, weight", "weight", "must: test.said", "names the span", "says: one of"),
    ("bad weight", "weight: 2", "weight: 0", "weight: 0", "weight must be", None),
    ("no must", "- {must: test.said", "- {judge: test.said", "judge", "no `must`", None),
    ("must and must_not", "- {must: test.said,", "- {must: test.said, must_not: a,", "must_not: a", "one of must", None),
    ("unknown start key", "{app: files,", "{app: files, show: x,", "show: x", "no 'show'", None),
    ("start without an app", "{app: files, ", "{", "{open:", "names its app", None),
    ("no says", "  says:\n", "  said:\n", "said:", "no 'said'", "says"),
    ("missing wording", "wording: wording.yaml", "wording: words.yaml", "words.yaml", "cannot be read", "wording.yaml"),
    ("duplicate key", "  rows: {int", "  topic: {int", "topic: {int", "stands twice (first in line 5)", "remove"),
    ("tab", "  rows: {int", "\trows: {int", "rows:", "a tab", "spaces"),
    ("anchor", "choice: [travel", "choice: &all [travel", "&all", "anchors and aliases", "write the value out"),
    ("tag", "title: Total", "title: !!python/name:os.system Total", "!!python", "the tag", "remove"),
    ("colon in a plain text", "title: Total", "title: Total: all", "Total: all", "no YAML", "quotes"),
    ("bracket left open", "apps: [files]", "apps: [files", "params:", "no YAML", None),
    ("second document", "params:\n", "---\nparams:\n", "---", "second document", "---"),
    ("number as a key", "params:\n", "7: 8\nparams:\n", "7: 8", "a key must be a text", "quotes"),
]  # fmt: skip
IDS = [fault[0] for fault in FAULTS]


@pytest.mark.parametrize(("old", "new", "at", "message", "mend"), [fault[1:] for fault in FAULTS], ids=IDS)
def test_a_fault_is_named_with_its_line(write, old, new, at, message, mend):
    path = write((old, new))
    expected = [number for number, text in enumerate(path.read_text().splitlines(), 1) if at in text]
    with pytest.raises(InputError) as caught:
        skills.load(path)
    problems = getattr(caught.value, "problems", (caught.value,))
    found = next((p for p in problems if message in p.message), None)
    assert found is not None, str(caught.value)
    assert found.line in expected, str(caught.value)
    assert found.message.startswith(f"{path}:{found.line}: ")
    assert mend is None or mend in f"{found.message} {found.mend}"


def test_the_small_workflow_has_no_fault(write):
    assert skills.load(write()).skill.id == "files.text.total-numbers"


def test_all_faults_are_shown_at_once(write):
    path = write(
        ("[3, 9]", "[9, 3]"),
        ("must: test.said", "must: test.sad"),
        ("sum(sheet", "sum(shet"),
        ('{name: "${names.file}.json"}', '{nmae: "${names.file}.json"}'),
    )
    with pytest.raises(WorkflowError) as caught:
        skills.load(path)
    assert [p.line for p in caught.value.problems] == sorted(p.line for p in caught.value.problems)
    assert len(caught.value.problems) == 4
    assert str(caught.value).count(f"{path}:") == 4


def test_a_cycle_is_named(write):
    path = write(('numbers: "${stats.numbers}"', 'numbers: "${[total]}"'))
    with pytest.raises(InputError, match=r":\d+: sheet: it needs itself: sheet -> total -> sheet") as caught:
        skills.load(path)
    assert (
        caught.value.line
        == path.read_text()
        .splitlines()
        .index('  sheet: {prepare: test.list, path: "~/Documents/${names.file}.json", numbers: "${[total]}"}')
        + 1
    )


def test_a_parameter_cannot_need_itself(write):
    path = write(("{int: [3, 9]}", '{int: [3, "${rows}"]}'))
    with pytest.raises(InputError, match="rows -> rows"):
        skills.load(path)


def test_an_alias_bomb_is_refused_at_once(write):
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{b}: &{b} [{', '.join(f'*{a}' for _ in range(9))}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    path = write()
    path.write_text("\n".join(lines))
    with pytest.raises(InputError, match=":1: anchors and aliases"):
        skills.load(path)


@pytest.mark.parametrize("content", [b"", b"- a\n", b"\xff\xfe", b"x: " + b"[" * 100, b"a: \x00"])
def test_a_file_that_is_no_workflow(write, content):
    path = write()
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        skills.load(path)
    assert caught.value.line == 1


def test_no_such_workflow(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        skills.load(tmp_path / "none.yaml")
    with pytest.raises(InputError, match=r"there is no skill 'calc\.none'"):
        skills.load("calc.none")


SCRIPTS = [
    ("def compute(rows, topic)\n    return 1\n", 1, "no Python"),
    ("def reckon(rows, topic):\n    return 1\n", 1, "no function compute()"),
    ("\ndef compute(*rows):\n    return 1\n", 2, "named arguments only"),
]


@pytest.mark.parametrize(("script", "line", "message"), SCRIPTS)
def test_a_script_that_cannot_work(write, script, line, message):
    path = write(stats=script)
    with pytest.raises(InputError, match=message) as caught:
        skills.load(path)
    assert str(caught.value).startswith(f"{path.parent / 'stats.py'}:{line}: ")


def test_a_solution_script_that_is_no_python(write):
    path = write(solve="print(facts['path']\n")
    with pytest.raises(InputError, match=r"solve\.py:1: no Python"):
        skills.load(path)


def test_a_broken_bank_is_named_in_its_own_file(write):
    path = write(("owner: [Ada, Ben, Cleo]", "owner: []"))
    with pytest.raises(InputError, match=r"words\.yaml:7: owner is empty"):
        skills.load(path)
