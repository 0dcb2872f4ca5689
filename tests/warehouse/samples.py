"""Small whole records for the tests: a skill, tasks, their evidence, harnesses and trajectories."""

from __future__ import annotations

from sqlalchemy.engine import Connection

from forge.records import (
    Action,
    ActionRecord,
    Artifact,
    Bash,
    Channel,
    Criterion,
    Done,
    Element,
    Fingerprint,
    Guest,
    Harness,
    Key,
    ModelCall,
    NearMiss,
    Observation,
    Point,
    Pointer,
    Probe,
    ProbeKind,
    Provenance,
    Rubric,
    Skill,
    Solution,
    Step,
    Task,
    Trajectory,
    Turn,
    Usage,
    Verdict,
    sha256_hex,
)
from warehouse import Warehouse
from warehouse.views import REQUIRED_GATES

SKILL = Skill(id="calc.formula.total-below", apps=("calc",), title="Total below a column")
WORKFLOW = "a" * 64
PRINT = Fingerprint(applications={"libreoffice-calc": "7.4.7"}, checks={"calc.formula": 1, "calc.changed_elsewhere": 1})
HARNESS = Harness(
    name="hybrid", channel="hybrid", tools=("computer", "bash", "done"), system_prompt="You see a desktop."
)

RUBRIC = Rubric(
    criteria=(
        Criterion(id="total", kind="must", check="calc.formula", args={"cell": "B7"}, weight=3, says="the total"),
        Criterion(id="format", kind="must", check="calc.number_format", args={"cell": "B7"}),
        Criterion(id="elsewhere", kind="must_not", check="calc.changed_elsewhere", args={"allow": ["B7"]}),
    )
)


def make_task(
    number: int = 0, *, channels: tuple[Channel, ...] = ("terminal", "gui"), rubric: Rubric = RUBRIC, seed: int = 7
) -> Task:
    """The `number`-th task of the one workflow."""
    return Task(
        skill=SKILL.id, workflow=WORKFLOW, seed=seed, apps=("calc",), guest=Guest(),
        resolved={"zebra": [1, 2.5, None], "apple": {"cell": "B7", "number": number}},
        instruction=f"Put the total of column B into B7 of budget-{number}.xlsx.",
        artifacts=(
            Artifact(path=f"~/Documents/budget-{number}.xlsx", sha256=sha256_hex(b"book"), size=4, preparer="calc.workbook"),
            Artifact(path="~/Downloads", sha256=sha256_hex(b""), size=0, folder=True, mode=0o755),
        ),
        rubric=rubric,
        solutions=tuple(Solution(channel=c, steps=(Step(move="bash", value="true"),)) for c in channels),
    )  # fmt: skip


def probe(task: Task, kind: str, name: str, passed: bool, score: float | None, **more: object) -> Probe:
    """One piece of evidence under the usual fingerprint."""
    values = {"fingerprint": PRINT.digest(), "expected": "what had to be true", "seconds": 0.5, **more}
    return Probe.model_validate(
        {"task": task.id, "kind": ProbeKind(kind), "name": name, "passed": passed, "score": score, **values}
    )


def near_miss(task: Task, name: str, *breaks: str, kind: str = "near_miss", only: bool = True, **more: object) -> Probe:
    """A near-miss that was killed, unless `more` says otherwise."""
    values = {"passed": True, "score": 0.0 if kind == "over_edit" else 0.25, **more}
    miss = NearMiss(name=name, breaks=breaks, only=only)
    return probe(task, kind, name, bool(values.pop("passed")), values.pop("score"), near_miss=miss, **values)  # type: ignore[arg-type]


def good_evidence(task: Task) -> list[Probe]:
    """Everything that version 1 of the predicate asks for."""
    return [
        *[probe(task, "gate", name, True, None) for name in REQUIRED_GATES],
        probe(task, "gate", "hybrid-needs-more-than-gui", True, None),
        probe(task, "noop", "untouched", True, 0.0),
        *[probe(task, "solution", f"terminal#{n}", True, 1.0) for n in (1, 2, 3)],
        probe(task, "solution", "gui-desktop#1", True, 1.0),
        near_miss(task, "total:hard-coded-value", "total"),
        near_miss(task, "format:reverted", "format", score=0.75),
        near_miss(task, "parameter:column", only=False),
        near_miss(task, "elsewhere:other-cell", "elsewhere", kind="over_edit"),
        near_miss(task, "total:off-by-one", "total", kind="audit"),
    ]


SCREEN = Observation(screenshot=sha256_hex(b"png"), width=1280, height=800, window="budget.xlsx")


def make_trajectory(
    task: Task, *, teacher: str = "oracle", attempt: int = 0, reward: float | None = 1.0, harness: Harness = HARNESS
) -> Trajectory:
    """Two turns: two pointer actions, a command, a key, `done`."""
    actions: tuple[Action, ...] = (
        Pointer(kind="left_click", at=Point(x=0.25, y=0.5)),
        Pointer(kind="double_click", at=Point(x=0.3, y=0.5), modifiers=("ctrl",)),
        Bash(command="printf 'a\\0b'"),
        Key(keys="ctrl+s"),
        Done(),
    )
    element = Element(role="table cell", name="B7", box=(10, 20, 80, 24), app="soffice", path=(0, 3, 1))
    return Trajectory(
        task=task.id, harness=harness.digest(), channel="hybrid", teacher=teacher, attempt=attempt,
        provenance=Provenance.ORACLE if teacher == "oracle" else Provenance.MODEL,
        turns=(
            Turn(index=0, text="select", tool_calls=({"id": "1", "name": "computer", "arguments": '{"y":1,"a":2}'},)),
            Turn(index=1, text="bash", usage=Usage(prompt_tokens=900, completion_tokens=30), call_id="call-1", model="m"),
        ),
        actions=tuple(
            ActionRecord(
                turn=n // 3, index=n, action=action, before=SCREEN, after=SCREEN, latency_ms=12.5, settle_ms=300.0,
                result="a\0b\ud800" if action.kind == "bash" else "", exit_code=0 if action.kind == "bash" else None,
                error=action.kind == "key", element=element if n == 0 else None,
            )
            for n, action in enumerate(actions)
        ),
        ended_by="done", done_status="success", answer="12", fingerprint=PRINT.digest(),
        verdict=None if reward is None else Verdict(grading="graded", score=reward),
        grading="not_gradable" if reward is None else "graded", reward=reward,
        final_state=sha256_hex(b"snapshot"), started_at="2026-11-29T10:00:00+00:00", seconds=8.5, timings={"act": 3.0},
    )  # fmt: skip


def make_call(call_id: str, **more: object) -> ModelCall:
    """One successful call of a teacher."""
    values = {
        "purpose": "teacher",
        "recurring": True,
        "endpoint": "default",
        "model": "m",
        "request": "r",
        "status": "ok",
    }
    usage = Usage(prompt_tokens=900, completion_tokens=100)
    return ModelCall.model_validate({"id": call_id, **values, "usage": usage, "cost_usd": 0.01, "seconds": 2.0, **more})


def register(warehouse: Warehouse, session: Connection, number: int | None = None) -> int:
    """Register the round, skill, workflow, fingerprint and harness that the samples belong to."""
    number = warehouse.register_round(session, {"tasks": 2}, number)
    warehouse.register_skill(session, SKILL)
    warehouse.register_workflow(
        session, WORKFLOW, SKILL.id, {"workflow.yaml": "skill: x\n", "fill.py": "pass\n"}, number
    )
    warehouse.register_fingerprint(session, PRINT)
    warehouse.register_harness(session, HARNESS)
    return number
