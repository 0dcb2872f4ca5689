"""Near-misses: every way in which a solved state of a task is spoiled on purpose, to see whether its rubric notices.

They come from two sources: the mutants that each criterion's check declares, and a few that hold for any task whatever
its checks are (a file deleted, an edit taken back, another done status). Nothing here runs a grader; who does compares
the two verdicts with `killed`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from forge.records import JSON, Grading, NearMiss, ProbeKind, Rubric, Verdict, VerifierError
from verifiers.base import CHECKS, Case, Mutant
from verifiers.entries import differs, entry_at, put_back, remove
from verifiers.grading import INFEASIBLE

ANY = "*"
"""Stands for the criterion in the names of spoiled states that are not made for one."""


@dataclass(frozen=True)
class Spoiled:
    """One spoiled state.

    Args:
        near_miss: its name, `criterion:mutant`, and what it must break.
        kind: NEAR_MISS (of a `must`), OVER_EDIT (of a `must_not`) or AUDIT (never used for acceptance).
        apply: changes a copy of the solved home in place; None when the files stay.
        answer: the answer to grade with; None keeps the solution's.
        status: the done status to grade with; None keeps `success`.
    """

    near_miss: NearMiss
    kind: ProbeKind
    apply: Callable[[Path], None] | None = None
    answer: str | None = None
    status: str | None = None

    def spoil(self, home: Path) -> None:
        """Spoil the copy of the solved home at `home`. Raises VerifierError naming the near-miss when that fails."""
        if self.apply is None:
            return
        try:
            self.apply(home)
        except Exception as error:
            name = type(error).__name__
            raise VerifierError(f"near-miss {self.near_miss.name} cannot be made: {name}: {error}") from error


def near_misses(rubric: Rubric, case: Case, seed: int) -> list[Spoiled]:
    """All spoiled states of a solved case, in the order of the rubric, those for any task last.

    Args:
        rubric: the task's.
        case: the solved case: `after` is the home after a solution, `answer` what it answered.
        seed: of the mutants' own choices; the same seed gives the same states.

    Raises:
        VerifierError: two mutants of a criterion share a name, or a check's mutants cannot be listed.
    """
    found: list[Spoiled] = []
    for criterion in rubric.criteria:
        if criterion.kind == "judge":
            continue
        check = CHECKS.get(criterion.check)
        if check.mutants is None:
            continue
        over = criterion.kind == "must_not"
        rng = random.Random(f"{seed}:{criterion.id}")
        try:
            mutants = list(check.mutants(case, check.validate(criterion.args), rng))
        except Exception as error:
            name = type(error).__name__
            raise VerifierError(f"criterion {criterion.id} ({check.name}): no mutants: {name}: {error}") from error
        for mutant in mutants:
            kind = ProbeKind.AUDIT if mutant.audit else ProbeKind.OVER_EDIT if over else ProbeKind.NEAR_MISS
            found.append(_spoiled(criterion.id, mutant, kind, (criterion.id,)))
    found += [_spoiled(ANY, mutant, ProbeKind.NEAR_MISS, ()) for mutant in _for_any_task(rubric, case)]
    names = [s.near_miss.name for s in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise VerifierError(f"mutants share a name: {', '.join(twice)}", mend="number them within their criterion")
    return found


def without_own_mutant(rubric: Rubric, spoiled: list[Spoiled]) -> list[str]:
    """Ids of the criteria (`must` and `must_not`) that no near-miss breaks alone; audit mutants do not count."""
    guarded = {s.near_miss.breaks for s in spoiled if s.near_miss.only and s.kind is not ProbeKind.AUDIT}
    return [c.id for c in rubric.criteria if c.kind != "judge" and (c.id,) not in guarded]


def killed(near_miss: NearMiss, solved: Verdict, spoiled: Verdict) -> tuple[bool, str]:
    """Whether a rubric noticed: what the near-miss is meant to break lost, and the rest kept its score if it had to.

    Args:
        near_miss: what was spoiled.
        solved: the verdict on the solved state.
        spoiled: the verdict on the spoiled one.

    Returns:
        (passed, evidence).
    """
    if spoiled.grading is not Grading.GRADED or spoiled.score is None:
        return False, f"no verdict on the spoiled state: {spoiled.error}"
    if solved.grading is not Grading.GRADED or solved.score is None:
        return False, f"no verdict on the solved state: {solved.error}"
    before = {v.criterion: v.score for v in solved.criteria}
    after = {v.criterion: v for v in spoiled.criteria}
    for name in near_miss.breaks:
        if after[name].score >= before[name]:
            return False, f"{name} kept its score {before[name]:g}: {after[name].evidence}"
    if not near_miss.breaks and spoiled.score >= solved.score:
        return False, f"the score stayed {solved.score:g}"
    if near_miss.only:
        for name, verdict in after.items():
            if name not in near_miss.breaks and verdict.score != before[name]:
                return False, f"{name} lost too ({before[name]:g} to {verdict.score:g}): {verdict.evidence}"
    lost = [f"{name}: {v.evidence}" for name, v in after.items() if v.score < before[name]]
    return True, "; ".join(lost)


def _spoiled(owner: str, mutant: Mutant, kind: ProbeKind, breaks: tuple[str, ...]) -> Spoiled:
    near_miss = NearMiss(
        name=f"{owner}:{mutant.name}", breaks=breaks, only=mutant.only and bool(breaks), note=mutant.note
    )
    return Spoiled(near_miss, kind, mutant.apply, mutant.answer, mutant.status)


def _for_any_task(rubric: Rubric, case: Case) -> Iterator[Mutant]:
    musts = [c for c in rubric.criteria if c.kind == "must"]
    paths = sorted({path for c in musts for path in _paths(c.args)})
    for path in paths:
        if not differs(case.before, case.after, path):
            continue
        if entry_at(case.after, path) is not None:
            yield Mutant(f"deleted {path}", _delete(path), note="a file that a criterion is about is not there")
        if entry_at(case.before, path) is not None:
            yield Mutant(f"reverted {path}", _revert(case, path), note="the file as it was before")
    if any(not c.check.startswith("answer.") for c in musts):
        yield Mutant("reverted", _revert_all(case), note="every file as it was before; answer and status stay")
    if all(c.check != INFEASIBLE for c in musts):
        yield Mutant("status failure", status="failure")
        yield Mutant("status infeasible", status="infeasible")


def _paths(value: JSON) -> Iterator[str]:
    """The files that a criterion is about: arguments called `path`. Those under other names are only compared with."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "path" and isinstance(item, str) and item.startswith("~/"):
                yield item.rstrip("/")
            else:
                yield from _paths(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _paths(item)


def _delete(path: str) -> Callable[[Path], None]:
    return lambda home: remove(home / path[2:])


def _revert(case: Case, path: str) -> Callable[[Path], None]:
    return lambda home: put_back(case.before.root / path[2:], home / path[2:])


def _revert_all(case: Case) -> Callable[[Path], None]:
    def apply(home: Path) -> None:
        for child in home.iterdir():
            remove(child)
        for child in case.before.root.iterdir():
            put_back(child, home / child.name)

    return apply
