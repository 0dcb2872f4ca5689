"""Gates: spans, facts, rubric, leakage, determinism, near-duplicates."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.records import Artifact, Criterion, Guest, InputError, Rubric, Solution, Start, Step, Task
from preparers.base import PreparedFile
from verifiers.gates import COMPARING, GATES, SHIPPED, Benchmarks, NearDuplicates, determinism, leakage, task_features
from warehouse.views import REQUIRED_GATES

RESOLVED = {
    "tree": {"root": "~/Documents/Accounts", "file": "~/Documents/Accounts/march.csv"},
    "target": "~/Archive/march-2026.zip",
    "count": 14,
    "who": "Ada Lovelace",
    "wording": {"skeleton": "Pack {file} as {target} for {who}", "slots": {}},
}


_spec = importlib.util.spec_from_file_location("many_tasks", Path(__file__).with_name("many_tasks.py"))
assert _spec is not None
assert _spec.loader is not None
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
many = _module.many


def task(**changes: Any) -> Task:
    base: dict[str, Any] = {
        "skill": "files.archive.pack-file",
        "workflow": "0" * 64,
        "seed": 1,
        "apps": ("files",),
        "guest": Guest(),
        "resolved": RESOLVED,
        "instruction": "Please pack march.csv into ~/Archive/march-2026.zip. Ada Lovelace needs all 14 rows of it.",
        "start": (Start(app="files", path="~/Documents/Accounts"),),
        "rubric": Rubric(
            criteria=(
                Criterion(
                    id="packed",
                    kind="must",
                    check="files.archive",
                    args={"path": "~/Archive/march-2026.zip", "files": {"march.csv": "~/Documents/Accounts/march.csv"}},
                    says="pack march.csv into ~/Archive/march-2026.zip",
                ),
                Criterion(
                    id="rest",
                    kind="must_not",
                    check="files.changed_elsewhere",
                    args={"allow": ["~/Archive/march-2026.zip"]},
                ),
            )
        ),
        "solutions": (
            Solution(
                channel="terminal", steps=(Step(move="bash", value="cd ~/Documents/Accounts && zip -j x march.csv"),)
            ),
            Solution(
                channel="gui",
                steps=(Step(move="open", value={"path": "~/Documents/Accounts"}), Step(move="key", value="F2")),
            ),
        ),
    }
    return Task(**{**base, **changes})


def criteria(*changed: Criterion) -> Rubric:
    return Rubric(criteria=changed)


def test_a_sound_task_passes_all_gates() -> None:
    assert {name: gate(task()).passed for name, gate in GATES.items()} == dict.fromkeys(GATES, True)
    assert all((gate.__doc__ or "").split("\n")[0].endswith(".") for gate in GATES.values())


def test_the_predicate_asks_for_gates_that_there_are() -> None:
    assert set(REQUIRED_GATES) <= {*GATES, *COMPARING}
    assert set(COMPARING).isdisjoint(GATES)


def test_a_span_that_nobody_says_is_named() -> None:
    packed = task().rubric.criteria[0].model_copy(update={"says": "pack april.csv"})
    result = GATES["spans"](task(rubric=criteria(packed)))
    assert (result.passed, result.evidence) == (False, "not in the instruction: packed: 'pack april.csv'")
    wrapped = task(instruction=task().instruction.replace("pack march.csv into", "pack march.csv\n  into"))
    assert GATES["spans"](wrapped).passed, "line breaks do not count"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"instruction": "Pack april.csv into ~/Archive/march-2026.zip"},
            "the file name 'april.csv' (near it is 'march.csv')",
        ),
        ({"instruction": "Pack it for “Eve Adams”, all 14 rows"}, "instruction: the quoted text 'Eve Adams'"),
        ({"instruction": "Keep all 15 rows"}, "instruction: the number '15'"),
        ({"instruction": "Write to eve@mail.example"}, "instruction: the address 'eve@mail.example'"),
        ({"instruction": "Fill B7"}, "instruction: the cell 'B7'"),
        ({"instruction": "Be done by 2 April 2027"}, "instruction: the date '2 April 2027'"),
        ({"start": (Start(app="files", path="~/Pictures"),)}, "start: the path '~/Pictures'"),
        (
            {
                "solutions": (
                    Solution(channel="terminal", steps=(Step(move="bash", value="rm ~/Documents/other.csv"),)),
                )
            },
            "terminal solution, step 1 (bash): the path",
        ),
        (
            {"solutions": (Solution(channel="gui", steps=(Step(move="select", value="B7"),)),)},
            "gui solution, step 1 (select): the cell 'B7'",
        ),
        (
            {"solutions": (Solution(channel="gui", steps=(Step(move="answer", value="17"),)),)},
            "step 1 (answer): the number '17'",
        ),
        (
            {
                "rubric": criteria(
                    Criterion(id="n", kind="must", check="answer.equals", args={"kind": "number", "expected": 99})
                )
            },
            "criterion n: the number '99'",
        ),
        (
            {
                "rubric": criteria(
                    Criterion(id="n", kind="must", check="files.exists", args={"path": "~/Archive/march.zip"})
                )
            },
            "criterion n: the path '~/Archive/march.zip'",
        ),
    ],
)
def test_a_literal_that_is_no_fact_is_named(changes: dict[str, Any], said: str) -> None:
    result = GATES["facts"](task(**changes))
    assert not result.passed
    assert said in result.evidence


@pytest.mark.parametrize(
    "changes",
    [
        {"instruction": "Pack march.csv before 9:30 on 16 March 2026"},
        {"instruction": "Pack the 14 rows, alex"},
        {
            "rubric": criteria(
                Criterion(
                    id="n",
                    kind="must",
                    check="answer.equals",
                    args={"kind": "number", "expected": 14, "tolerance": 0.55, "decimals": 2},
                )
            )
        },
        {
            "solutions": (
                Solution(
                    channel="terminal",
                    steps=(
                        Step(move="bash", value="python3 - <<'EOF'\nimport json\nprint(json.loads('[99]'), 4096)\nEOF"),
                    ),
                ),
            )
        },
    ],
)
def test_the_guests_facts_options_and_code_are_no_faults(changes: dict[str, Any]) -> None:
    result = GATES["facts"](task(**changes))
    assert result.passed, result.evidence


@pytest.mark.parametrize(
    ("rubric", "said"),
    [
        (
            criteria(
                Criterion(id="a", kind="must", check="files.exists", args={"path": "~/x"}),
                Criterion(id="r", kind="must_not", check="files.changed_elsewhere"),
            ),
            "a does not say which words",
        ),
        (
            criteria(Criterion(id="a", kind="must", check="files.exists", args={"path": "~/x"}, says="x")),
            "there is no must_not",
        ),
        (
            criteria(Criterion(id="a", kind="must", check="files.exist", args={}, says="x")),
            "a: unknown check 'files.exist'",
        ),
        (
            criteria(Criterion(id="a", kind="must", check="files.exists", args={"pth": "~/x"}, says="x")),
            "a: check files.exists: path",
        ),
    ],
)
def test_a_weak_rubric_is_named(rubric: Rubric, said: str) -> None:
    result = GATES["rubric"](task(rubric=rubric))
    assert not result.passed
    assert said in result.evidence


def test_gold_that_is_not_there_and_a_criterion_that_stands_twice_are_named() -> None:
    packed, rest = task().rubric.criteria
    gold = Criterion(
        id="same", kind="must", check="files.content", says="Ada Lovelace",
        args={"path": "~/Archive/march-2026.zip", "same_as": "~/g.zip", "side": "gold"},
    )  # fmt: skip
    result = GATES["rubric"](task(rubric=criteria(packed, gold, rest)))
    assert (result.passed, result.evidence) == (False, "same compares with gold artifacts, and there are none")
    artifact = Artifact(path="~/g.zip", sha256="0" * 64, size=1, role="gold")
    assert GATES["rubric"](task(rubric=criteria(packed, gold, rest), artifacts=(artifact,))).passed
    again = packed.model_copy(update={"id": "again"})
    result = GATES["rubric"](task(rubric=criteria(packed, again, rest)))
    assert (result.passed, result.evidence) == (False, "again is the same check of the same thing as packed")


def test_an_instruction_that_reads_badly_is_refused_with_its_skeleton() -> None:
    bad = task(instruction="Pack march.csv,. Thanks  a lot.")
    result = GATES["wording"](bad)
    assert not result.passed
    assert result.evidence == (
        "two marks where one belongs: 'Pack march.csv,. Thanks  a lot.'; two spaces: 'k march.csv,. Thanks  a lot.'; "
        "the skeleton is 'Pack {file} as {target} for {who}'"
    )


def test_an_answer_alone_needs_no_must_not() -> None:
    args = {"kind": "number", "expected": 14}
    only = criteria(Criterion(id="a", kind="must", check="answer.equals", args=args, says="how many"))
    assert GATES["rubric"](task(rubric=only)).passed


def test_determinism_compares_bytes_modes_and_times() -> None:
    file = PreparedFile("~/a.txt", b"a")
    assert determinism([file], [file]).passed
    for other in (
        PreparedFile("~/a.txt", b"b"),
        PreparedFile("~/a.txt", b"a", mode=0o600),
        PreparedFile("~/a.txt", b"a", mtime=1),
    ):
        result = determinism([file], [other])
        assert (result.passed, result.evidence) == (False, "differ between two draws: ~/a.txt")
    assert not determinism([file], [file, PreparedFile("~/b.txt")]).passed


# leakage

KNOWN = "Rename the sheet Placeholder to Archive and move it behind the sheet Summary in every workbook of the folder."


@pytest.mark.parametrize(
    ("instruction", "passed"),
    [
        (KNOWN, False),
        (f"Hi there! {KNOWN.upper()} Thanks a lot for your help with this one.", False),
        (KNOWN.replace("Placeholder", "Data"), False),
        ("Rename the sheet Placeholder and leave the rest alone, will you?", True),
        ("Pack march.csv into an archive.", True),
        ("", True),
    ],
)
def test_leakage_of_benchmark_instructions(instruction: str, passed: bool) -> None:
    benchmarks = Benchmarks([KNOWN, "Say hello."])
    result = leakage(task(instruction=instruction or "x"), benchmarks)
    assert result.passed is passed, result.evidence


def test_a_persons_own_list_is_read_besides_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "mine.txt").write_text(f"# a comment\n\n{task().instruction}\n")
    assert leakage(task()).passed
    monkeypatch.setenv("FORGE_HOME", str(tmp_path))
    result = leakage(task())
    assert (result.passed, result.evidence.startswith("nearest of 4 benchmark instructions (100%)")) == (False, True)
    (folder / "bad.txt").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"bad\.txt: no UTF-8"):
        Benchmarks.load(folder)


def test_our_own_placeholders_are_three_and_found() -> None:
    shipped = Benchmarks.load(SHIPPED)
    assert len(shipped.instructions) == 3
    assert shipped.nearest(shipped.instructions[0]) == (1.0, shipped.instructions[0])


# near-duplicates


def test_draws_of_one_workflow_are_no_duplicates() -> None:
    seen = NearDuplicates()
    assert [seen.add(one) for one in many(200)] == [None] * 200
    assert len(seen) == 200


def test_the_same_request_about_other_data_is_a_duplicate() -> None:
    first, second, *_ = many(2)
    seen = NearDuplicates()
    assert seen.add(first) is None
    assert seen.add(second) is None
    assert seen.add(first) is None, "a task is no duplicate of itself"
    again = first.model_copy(update={"resolved": {**first.resolved, "rows": [[9.5] * 4] * 30}})
    assert again.id != first.id
    assert seen.add(again) == first.id
    assert len(seen) == 2, "a duplicate is not remembered"
    other_words = first.model_copy(
        update={"instruction": first.instruction.replace("Could you", "Would you"), "seed": 9}
    )
    near = other_words.model_copy(update={"resolved": {**first.resolved, "voice": "polite"}})
    assert seen.add(near) == first.id


def test_the_nearest_earlier_task_is_named_in_any_process() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from many_tasks import many\nfrom verifiers.gates import NearDuplicates\n"
        "tasks = many(30); seen = NearDuplicates(threshold=0.3)\n"
        "print([seen.add(t) for t in tasks])\n"
    )
    outputs = set()
    for salt in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).parent)],
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": salt, "PATH": "/usr/bin:/bin"},
        )
        assert done.returncode == 0, done.stderr
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert "'" in outputs.pop(), "at so low a threshold some are duplicates"


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 14), max_size=20))
def test_a_task_is_a_duplicate_exactly_when_it_is_like_one_that_was_kept(order: list[int]) -> None:
    pool = many(15, seed=4)
    seen = NearDuplicates(threshold=0.35)
    kept: list[Task] = []
    for index in order:
        twin = seen.add(pool[index])
        features = task_features(pool[index])
        similarities = {one.id: len(features & task_features(one)) / len(features | task_features(one)) for one in kept}
        if pool[index].id in similarities:
            assert twin is None
        elif twin is None:
            # The search is approximate; what it finds is exact.
            kept.append(pool[index])
        else:
            assert similarities[twin] >= 0.35
