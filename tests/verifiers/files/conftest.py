"""A home before and after, written from dictionaries, and the score of one check on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forge.records import Criterion, Rubric
from verifiers.base import Case, Finding, Tree
from verifiers.grading import grade

Files = dict[str, bytes | str | None]


def write_home(home: Path, files: Files) -> Path:
    """Files by relative path; None makes a folder."""
    home.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = home / name
        if content is None:
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return home


@pytest.fixture
def case(tmp_path: Path) -> Callable[..., Case]:
    """`case(before, after, gold=None)` lays out the homes; `after` holds what differs, None there removes nothing."""

    def make(before: Files, after: Files, gold: Files | None = None) -> Case:
        return Case(
            before=Tree(write_home(tmp_path / "before", before)),
            after=Tree(write_home(tmp_path / "after", after)),
            gold=None if gold is None else Tree(write_home(tmp_path / "gold", gold)),
        )

    return make


@pytest.fixture
def run() -> Callable[..., Finding]:
    """`run(case, check, **args)` grades one check; fails the test on a grader error."""

    def one(case: Case, check: str, **args: Any) -> Finding:
        verdict = grade(Rubric(criteria=(Criterion(id="it", kind="must", check=check, args=args),)), case)
        assert verdict.error is None, verdict.error
        return Finding(verdict.criteria[0].score, verdict.criteria[0].evidence)

    return one
