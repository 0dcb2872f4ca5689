"""For the tests of all checks: run every near-miss of a rubric on copies of a solved home and say which survived."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from forge.records import Rubric
from verifiers.base import Case, Tree
from verifiers.grading import grade
from verifiers.spoil import Spoiled, killed, near_misses, without_own_mutant

Survivors = Callable[..., list[str]]


def case_of(spoiled: Spoiled, solved: Case, folder: Path) -> Case:
    """The case that a near-miss makes of a solved one, in a copy at `folder`."""
    after = solved.after
    if spoiled.apply is not None:
        shutil.copytree(solved.after.root, folder, symlinks=True)
        spoiled.spoil(folder)
        after = Tree(folder)
    answer = solved.answer if spoiled.answer is None else spoiled.answer
    return replace(solved, after=after, answer=answer, status=spoiled.status or solved.status)


@pytest.fixture
def survivors(tmp_path_factory: pytest.TempPathFactory) -> Survivors:
    """`survivors(rubric, case, seed=0)`: what is wrong with a rubric's near-misses on a solved case; empty when all is well."""

    def run(rubric: Rubric, case: Case, seed: int = 0) -> list[str]:
        solved = grade(rubric, case)
        if not solved.passed:
            return [f"the solved state itself scores {solved.score}: {solved}"]
        folder = tmp_path_factory.mktemp("near-misses")
        found = near_misses(rubric, case, seed)
        wrong = [f"{name}: no mutant breaks it alone" for name in without_own_mutant(rubric, found)]
        for index, spoiled in enumerate(found):
            passed, why = killed(spoiled.near_miss, solved, grade(rubric, case_of(spoiled, case, folder / str(index))))
            if not passed:
                wrong.append(f"{spoiled.near_miss.name} ({spoiled.kind}): {why}")
        return wrong

    return run
