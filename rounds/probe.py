"""Probe a task on files: the evidence of Law 1 that needs no window.

The untouched state must score 0; the terminal solution must score 1, k times, each from a fresh state; every way to
spoil the solved state must lose what it breaks. What runs, runs in a box; what grades, grades in a fresh process.
Solutions through windows are played by `rounds.play`.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import skills
from forge.desktop import Completed, run_boxed
from forge.records import DesktopError, Grading, NearMiss, Probe, ProbeKind, Solution, Task, Verdict
from rounds.items import Item, Writes
from rounds.workshop import Workshop, dating
from skills import Workflow
from verifiers import Case, Tree
from verifiers.same import same_answer, same_state
from verifiers.spoil import killed, near_misses

SOLUTION_RUNS = 3
NEIGHBOURS = 3
"""How many solutions with one parameter changed are run against a task."""

STEP_SECONDS = 60.0

SCRIPT = "\n-- the script: "
"""What stands between a solution's verdict and how its script failed, in the evidence of a red probe."""

SAID = "; the last that it said:\n"
"""What stands before a script's last lines there."""

LAST_LINES = 15
"""Lines of a failing script's errors that are kept: the last ones say what it was."""


@dataclass(frozen=True)
class Candidate:
    """A task to probe, with the workflow it was drawn from."""

    task: Task
    workflow: Workflow

    @property
    def item(self) -> Item[Candidate]:
        """The candidate under its natural key."""
        return Item(self.task.id, self)


@dataclass(frozen=True)
class Played:
    """What a file-level solution left behind; `failure` says which step failed and how, or what was printed."""

    home: Path
    answer: str | None
    failure: str


def probe(workshop: Workshop, candidate: Candidate) -> Writes:
    """Gather all file-level evidence about one task.

    Raises:
        DesktopError: the box, LibreOffice or the grader's process failed; try again.
    """
    version = workshop.fingerprint.digest()
    probes = [p.model_copy(update={"fingerprint": version}) for p in _Probing(workshop, candidate).all()]

    def writes(session: Any) -> None:
        workshop.warehouse.register_fingerprint(session, workshop.fingerprint)
        workshop.warehouse.add_probes(session, probes)

    return writes


def script_end(evidence: str) -> str:
    """How the script of a red probe ended, in a line: its exit code and the last that it said. Empty when none is told of."""
    told, _, said = evidence.partition(SCRIPT)[2].partition(SAID)
    return ": ".join(part for part in (told, said.rpartition("\n")[2]) if part)


class _Probing:
    """One task under probe: its initial state laid out once, and copies of it."""

    def __init__(self, workshop: Workshop, candidate: Candidate):
        self.workshop = workshop
        self.task = candidate.task
        self.workflow = candidate.workflow
        self.office = workshop.office()

    def all(self) -> list[Probe]:
        """Every probe of the task, in a fixed order."""
        with self.workshop.new_home(self.task) as before:
            found = [self._noop(before)]
            solution = self.task.solution("terminal")
            if solution is None:
                return found
            with self._run(solution, before) as solved:
                first, self.solved_verdict = self._solution(before, solved, 1)
                found.append(first)
                for number in range(2, SOLUTION_RUNS + 1):
                    with self._run(solution, before) as again:
                        found.append(self._solution(before, again, number)[0])
                if first.passed:
                    found += self._spoiled(before, solved)
                    found += self._neighbours(before, solved)
            return found

    def _noop(self, before: Path) -> Probe:
        began = time.perf_counter()
        verdict = self._grade(before, before, None)
        return self._row(
            ProbeKind.NOOP, "untouched", "the untouched state scores 0", verdict, verdict.score == 0.0, began
        )

    def _solution(self, before: Path, solved: Played, number: int) -> tuple[Probe, Verdict]:
        began = time.perf_counter()
        verdict = self._grade(before, solved.home, solved.answer)
        probe = self._row(
            ProbeKind.SOLUTION, f"terminal#{number}", "the solution scores 1", verdict, verdict.passed, began
        )
        if not verdict.passed:
            probe = probe.model_copy(update={"evidence": probe.evidence + SCRIPT + solved.failure})
        return probe, verdict

    def _spoiled(self, before: Path, solved: Played) -> Iterator[Probe]:
        case = Case(Tree(before), Tree(solved.home), answer=solved.answer, guest=self.task.guest, office=self.office)
        for spoiled in near_misses(self.task.rubric, case, self.task.seed):
            with self._copy(solved.home) as home:
                began = time.perf_counter()
                spoiled.spoil(home)
                answer = solved.answer if spoiled.answer is None else spoiled.answer
                yield self._judge_near_miss(
                    spoiled.kind, spoiled.near_miss, before, solved, Played(home, answer, ""),
                    spoiled.status or "success", began,
                )  # fmt: skip

    def _neighbours(self, before: Path, solved: Played) -> Iterator[Probe]:
        """The solution of the same draw with one parameter changed, run on this task's files."""
        kitchen = self.workshop.kitchen()
        draw = skills.draw(self.workflow, self.task.seed, kitchen, again=self.task)
        for name, solution in skills.neighbours(self.workflow, draw, kitchen, NEIGHBOURS):
            began = time.perf_counter()
            with self._run(solution, before) as other:
                miss = NearMiss(name=f"parameter:{name}", note="the solution with one parameter changed")
                yield self._judge_near_miss(ProbeKind.NEAR_MISS, miss, before, solved, other, "success", began)

    def _judge_near_miss(
        self, kind: ProbeKind, miss: NearMiss, before: Path, solved: Played, spoiled: Played, status: str, began: float
    ) -> Probe:
        verdict = self._grade(before, spoiled.home, spoiled.answer, status)
        passed, evidence = killed(miss, self.solved_verdict, verdict)
        right = status == "success" and self._is_right(solved, spoiled)
        expected = f"loses {', '.join(miss.breaks) or 'something'}{' and nothing else' if miss.only else ''}"
        probe = self._row(kind, miss.name, expected, verdict, passed, began)
        return probe.model_copy(update={"near_miss": miss, "dropped": right, "evidence": evidence[:4000]})

    def _is_right(self, solved: Played, spoiled: Played) -> bool:
        """Whether the spoiled state is by chance the solved one; decided without a grader."""
        return same_answer(solved.answer, spoiled.answer) and same_state(
            Tree(solved.home), Tree(spoiled.home), self.office
        )

    def _grade(self, before: Path, after: Path, answer: str | None, status: str = "success") -> Verdict:
        return self.workshop.graders.grade(
            self.task.rubric, before=before, after=after, answer=answer, status=status, guest=self.task.guest,
            office_address=self.office.address,
        )  # fmt: skip

    def _row(self, kind: ProbeKind, name: str, expected: str, verdict: Verdict, passed: bool, began: float) -> Probe:
        if verdict.grading is not Grading.GRADED:
            evidence = f"{verdict.grading}: {verdict.error}"
        else:
            evidence = "; ".join(f"{c.criterion} {c.score:g}: {c.evidence}" for c in verdict.criteria)
        return Probe(
            task=self.task.id, kind=kind, name=name, expected=expected, passed=passed, score=verdict.score,
            verdict=verdict, evidence=evidence[:4000], seconds=time.perf_counter() - began,
        )  # fmt: skip

    @contextmanager
    def _run(self, solution: Solution, before: Path) -> Iterator[Played]:
        """Play a terminal solution in a box on a fresh copy of the initial state."""
        with self._copy(before) as home:
            answer, failure, printed = None, "", b""
            dates = dating(self.task)
            for number, step in enumerate(solution.steps, 1):
                if step.move == "answer":
                    answer = str(step.value)
                    continue
                done = run_boxed(
                    ["bash", "-c", dates + str(step.value)], home=home, guest=self.task.guest, timeout=STEP_SECONDS,
                    layers=self.workshop.layers(self.workshop.harness("terminal")),
                )  # fmt: skip
                dates = ""
                printed += done.stdout + done.stderr
                failure = failure or _failure(done, f"step {number} of {len(solution.steps)}")
            yield Played(home, answer, failure or f"every step ended with exit code 0{_ending(printed)}")

    @contextmanager
    def _copy(self, home: Path) -> Iterator[Path]:
        """A copy of a home with its owners and modes, removed afterwards."""
        folder = Path(tempfile.mkdtemp(prefix="copy-", dir=self.workshop.scratch))
        copy = folder / "home"
        try:
            copy_home(home, copy)
            yield copy
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _failure(done: Completed, step: str) -> str:
    """How a step failed, with the end of what it said; empty when it did not."""
    if done.timed_out:
        return f"{step} did not end within {STEP_SECONDS:g} s{_ending(done.stderr or done.stdout)}"
    if done.exit_code != 0:
        return f"{step} ended with exit code {done.exit_code}{_ending(done.stderr or done.stdout)}"
    return ""


def _ending(data: bytes) -> str:
    lines = data[-8000:].decode(errors="replace").rstrip().splitlines()[-LAST_LINES:]
    return SAID + "\n".join(line[:300] for line in lines) if lines else ""


def copy_home(source: Path, target: Path) -> None:
    """Copy a home with links as links, and modes, times and owners kept. Raises DesktopError when it cannot be copied."""
    done = subprocess.run(
        ["cp", "--archive", "--reflink=auto", str(source), str(target)],
        check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()[-300:]
        raise DesktopError(f"a home cannot be copied: {said}", mend="free some disk space below FORGE_HOME")
