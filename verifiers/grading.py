"""Grading: every criterion of a rubric on one final state -> a verdict with evidence. Pure and in this process.

Whose fault something is decides what becomes of it:

- the agent's (a file missing or corrupt, a wrong value, another done status): score 0 with evidence;
- the grader's or the machine's (any other exception): the whole verdict is `grader_error`, without a score.

What this does not do: limit time or memory, or survive a crash of the interpreter; `verifiers.pool` does. `judge`
criteria are a model's opinion and are left out here.
"""

from __future__ import annotations

import math
import traceback
from dataclasses import replace

from forge.records import Criterion, CriterionVerdict, Grading, Rubric, Verdict, VerifierError
from verifiers.base import CHECKS, AgentFault, Case, Finding

INFEASIBLE = "answer.infeasible"
"""The check that makes `infeasible` the right done status."""

EVIDENCE_LIMIT = 2000
"""Characters of evidence kept for one criterion."""

ERROR_LIMIT = 4000
"""Characters kept of a traceback's tail."""


def grade(rubric: Rubric, case: Case) -> Verdict:
    """Run every `must` and `must_not` of `rubric` on `case` and combine them.

    A rubric presupposes the done status `success`: with any other status every `must` scores 0, unless the rubric has a
    criterion `answer.infeasible`. Never raises but for KeyboardInterrupt and the like.
    """
    case = replace(case, after=replace(case.after, agents=True))
    presupposes_success = all(c.check != INFEASIBLE for c in rubric.criteria)
    verdicts: list[CriterionVerdict] = []
    errors: list[str] = []
    for criterion in rubric.criteria:
        if criterion.kind == "judge":
            continue
        try:
            finding = _find(criterion, case)
        except Exception as error:
            errors.append(f"criterion {criterion.id} ({criterion.check}): {_words(error)}\n{_tail(error)}")
            continue
        if criterion.kind == "must" and presupposes_success and case.status != "success":
            finding = Finding(0.0, f"the agent ended with status {case.status!r}; the state itself: {finding.evidence}")
        verdicts.append(
            CriterionVerdict(
                criterion=criterion.id,
                check=criterion.check,
                kind=criterion.kind,
                score=finding.score,
                evidence=_short(finding.evidence, EVIDENCE_LIMIT),
                weight=criterion.weight,
            )
        )
    if errors:
        return Verdict(grading=Grading.GRADER_ERROR, criteria=tuple(verdicts), error="\n".join(errors)[:ERROR_LIMIT])
    score = rubric.score({v.criterion: v.score for v in verdicts})
    return Verdict(grading=Grading.GRADED, score=score, criteria=tuple(verdicts))


def grader_error(message: str) -> Verdict:
    """The verdict when there can be none: no score, and why."""
    return Verdict(grading=Grading.GRADER_ERROR, error=message[-ERROR_LIMIT:])


def _find(criterion: Criterion, case: Case) -> Finding:
    check = CHECKS.get(criterion.check)
    args = check.validate(criterion.args)
    try:
        finding = check.run(case, args)
    except AgentFault as fault:
        finding = Finding(0.0, fault.message)
    score = finding.score
    if not (isinstance(score, int | float) and math.isfinite(score) and 0 <= score <= 1):
        raise VerifierError(f"check {check.name} returned {score!r}; a score is a number in [0, 1]")
    # File names may hold bytes that are no UTF-8; a verdict is JSON.
    return Finding(float(score), finding.evidence.encode(errors="backslashreplace").decode())


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 20]} ... ({len(text)} chars)"


def _words(error: Exception) -> str:
    """What was raised, first: whoever reads of many errors reads their beginnings."""
    return f"{type(error).__name__}: {_short(str(error), EVIDENCE_LIMIT // 2)}"


def _tail(error: Exception) -> str:
    return "".join(traceback.format_exception(error)[-6:])[-ERROR_LIMIT // 2 :].strip()
