"""A small workflow over a preparer and a check that need no application, and a stand-in for the box."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from forge.desktop.box import Completed
from forge.records import PreparerError
from preparers.base import PREPARERS, Context, Params, Prepared, PreparedFile, Preparer, preparer
from skills import Kitchen
from verifiers.base import CHECKS, Args, Case, Finding, check

WORKFLOW = """\
skill: files.text.total-numbers
title: Total the numbers of a list
apps: [files]
params:
  topic: {choice: [travel, stock, donations]}
  rows: {int: [3, 9]}
  day: {date: [2026-01-01, 2026-02-27], weekdays: true}
nodes:
  names: {llm: words, about: "${topic}"}
  stats: {python: stats.py, with: {rows: "${rows}", topic: "${topic}"}, gives: {numbers: [number], label: text}}
  sheet: {prepare: test.list, path: "~/Documents/${names.file}.json", numbers: "${stats.numbers}"}
  total: {compute: "${sum(sheet.numbers)}"}
require:
  - "${total > 20}"
start:
  - {app: files, open: "~/Documents"}
instruction:
  wording: wording.yaml
  says:
    total: ["the total of the ${rows} numbers", "what the ${rows} numbers come to"]
    file: "${names.file}.json"
solution:
  gui:
    - {click: {name: "${names.file}.json"}}
    - {answer: "${total}"}
  terminal:
    - {python: solve.py, with: {path: "${sheet.path}"}}
    - {answer: "${total}"}
rubric:
  - {must: test.said, value: "${total}", says: total, weight: 2}
  - {must_not: test.changed, path: "${sheet.path}"}
"""
WORDING = """\
pieces:
  sum: {terse: ["Sum:"], "*": ["Add them up:"]}
skeletons:
  terse:
    - "{sum} {total} in {file}."
    - "{file}: {total}?"
  polite:
    - "{greeting} {could_you} tell me {total} in {file}? {day_of_week} {thanks}"
    - "{Total} in {file}, please, as of ${date_format(day)}."
"""
STATS = """\
import math


def compute(rows, topic):
    numbers = [(n * 7 + len(topic)) % 13 for n in range(rows)]
    return {"numbers": numbers, "label": topic.title()}
"""
SOLVE = """\
# ruff: noqa: F821
import json, os
print(sum(json.load(open(os.path.expanduser(facts["path"])))))
"""
BANK = """\
about: words
prompt: Invent file names.
fields:
  file:
    travel: [trips, fares, tickets]
    "*": [list, numbers, counts]
  owner: [Ada, Ben, Cleo]
"""


class ListParams(Params):
    path: str
    numbers: tuple[float, ...] = ()
    note: str = ""


class TestList(Preparer[ListParams]):
    """Numbers as JSON."""

    name = "test.list"
    params = ListParams
    gives: ClassVar[Any] = {"path": "text", "numbers": ["number"]}
    made: ClassVar[list[str]] = []

    def prepare(self, params: ListParams, context: Context) -> Prepared:
        self.made.append(params.path)
        if params.note == "fail":
            raise PreparerError("test.list: it was told to fail")
        data = json.dumps(params.numbers).encode()
        return Prepared((PreparedFile(params.path, data),), self.facts(params, context))

    def facts(self, params: ListParams, context: Context) -> dict[str, Any]:
        return {"path": params.path, "numbers": list(params.numbers)}

    def inspect(self, home: Path, params: ListParams) -> dict[str, Any]:
        numbers = json.loads((home / params.path[2:]).read_text())
        return {"path": params.path, "numbers": numbers}


class SaidArgs(Args):
    value: float


class ChangedArgs(Args):
    path: str


if "test.list" not in PREPARERS:
    preparer(TestList)
if "test.said" not in CHECKS:

    @check("test.said", SaidArgs)
    def said(case: Case, args: SaidArgs) -> Finding:
        """The answer is the value."""
        return Finding(float(case.answer == f"{args.value:g}"), f"answered {case.answer}")

    @check("test.changed", ChangedArgs)
    def changed(case: Case, args: ChangedArgs) -> Finding:
        """The file is as it was."""
        return Finding(float(case.before.read(args.path) == case.after.read(args.path)), args.path)


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write the small workflow, with texts replaced: `write(("choice: [travel", "choice: []"), wording=...)`."""

    def make(*replaced: tuple[str, str], name: str = "toy", **files: str) -> Path:
        folder = tmp_path / name
        (folder / "banks").mkdir(parents=True, exist_ok=True)
        texts = {"workflow.yaml": WORKFLOW, "wording.yaml": WORDING.replace("{day_of_week} ", ""), "stats.py": STATS}
        texts |= {"solve.py": SOLVE, "banks/words.yaml": BANK}
        texts |= {f"{key}.{'py' if key in ('stats', 'solve') else 'yaml'}": text for key, text in files.items()}
        for old, new in replaced:
            where = [key for key, text in texts.items() if old in text]
            assert where, f"{old!r} stands nowhere"
            texts[where[0]] = texts[where[0]].replace(old, new, 1)
        for key, text in texts.items():
            (folder / key).write_text(text)
        return folder / "workflow.yaml"

    return make


def run_here(argv: Sequence[str], stdin: bytes, timeout: float) -> Completed:
    """A stand-in for the box: the command runs as it is. For tests of everything but isolation."""
    began = time.monotonic()
    try:
        done = subprocess.run(list(argv), input=stdin, capture_output=True, timeout=timeout)
    except subprocess.TimeoutExpired as error:
        return Completed(None, error.stdout or b"", error.stderr or b"", True, False, time.monotonic() - began)
    return Completed(done.returncode, done.stdout, done.stderr, False, False, time.monotonic() - began)


@pytest.fixture
def kitchen() -> Kitchen:
    """A kitchen without LibreOffice and without a box."""
    return Kitchen(boxed=run_here)
