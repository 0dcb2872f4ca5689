"""`python -m bench.warehouse`: rows written per second and seconds per question, on SQLite and PostgreSQL.

A warehouse of so many tasks, each with 17 probes, as many trajectories, and 20 actions a trajectory, written through the
same methods that jobs use.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.report import Figure, options, show
from forge.records import (
    Action,
    ActionRecord,
    Artifact,
    Bash,
    Criterion,
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
from warehouse.private_postgres import PrivatePostgres
from warehouse.views import REQUIRED_GATES

SKILLS = 12
ACTIONS = 20
BATCH = 100
"""Items a transaction; jobs write one an item, which the claims' figure shows."""

PRINT = Fingerprint(applications={"libreoffice-calc": "7.4.7"}, checks={"calc.formula": 1})
HARNESS = Harness(
    name="hybrid", channel="hybrid", tools=("computer", "bash", "done"), system_prompt="You see a desktop."
)
APPS = (("calc",), ("thunderbird",), ("files",), ("calc", "thunderbird"))


def main() -> None:
    """Fill a warehouse on each engine and ask it everything."""
    chosen = options(__doc__ or "")
    tasks = 1_000 if chosen.quick else 20_000
    figures: list[Figure] = []
    for engine in ("sqlite", "postgresql"):
        with _opened(engine) as warehouse:
            figures += _measure(engine, warehouse, tasks)
    show(figures, as_json=chosen.json)


@contextmanager
def _opened(engine: str) -> Iterator[Warehouse]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = f"sqlite:///{folder}/warehouse.db"
        if engine == "postgresql":
            url = stack.enter_context(PrivatePostgres()).new_database()
        yield stack.enter_context(Warehouse.open(url, str(folder / "blobs")))


def _measure(engine: str, warehouse: Warehouse, count: int) -> list[Figure]:
    tasks = [_task(number) for number in range(count)]
    figures = [
        Figure(f"{engine}: tasks", count / _seconds(lambda: _write_tasks(warehouse, tasks)), "rows/s"),
        Figure(f"{engine}: probes", 17 * count / _write_probes(warehouse, tasks), "rows/s"),
    ]
    seconds = _write_trajectories(warehouse, tasks)
    figures += [
        Figure(f"{engine}: trajectories", count / seconds, "rows/s"),
        Figure(f"{engine}: actions, with their trajectories", ACTIONS * count / seconds, "rows/s"),
    ]
    keys = [str(n) for n in range(300)]
    seconds = _seconds(lambda: _claim_and_complete(warehouse, keys))
    figures.append(Figure(f"{engine}: one claim, got and done", 1000 * seconds / len(keys), "ms"))
    calls = [_call(n) for n in range(300)]
    seconds = _seconds(lambda: [warehouse.ledger.record(call) for call in calls] and None)
    figures.append(Figure(f"{engine}: one ledger row", 1000 * seconds / len(calls), "ms"))
    blobs = [random.Random(n).randbytes(120_000) for n in range(200)]
    seconds = _seconds(lambda: [warehouse.blobs.put(blob) for blob in blobs] and None)
    figures.append(Figure(f"{engine}: one screenshot stored", 1000 * seconds / len(blobs), "ms"))
    trajectory = warehouse.list_trajectories(limit=1)[0]["id"]
    questions: dict[str, Callable[[], object]] = {
        "acceptance of one task": lambda: warehouse.acceptance(tasks[count // 2].id),
        "one task, whole": lambda: warehouse.task(tasks[count // 2].id),
        "one trajectory, whole": lambda: warehouse.trajectory(trajectory),
        "reasons of all tasks": lambda: warehouse.rows_of("acceptance_reasons"),
        "tasks by application": lambda: warehouse.rows_of("tasks_by_app"),
        "kill rates": lambda: warehouse.rows_of("kill_rates"),
        "success by skill and harness": lambda: warehouse.rows_of("success_by_skill_harness"),
        "share of GUI and terminal calls": lambda: warehouse.rows_of("channel_share"),
        "all figures (forge stats)": warehouse.stats,
        "50 accepted tasks listed": lambda: warehouse.list_tasks(accepted=True, limit=50),
    }
    for name, ask in questions.items():
        ask()
        figures.append(Figure(f"{engine}: {name}", 1000 * min(_seconds(ask) for _ in range(3)), "ms"))
    return figures


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _batches(tasks: list[Task]) -> Iterator[list[Task]]:
    for start in range(0, len(tasks), BATCH):
        yield tasks[start : start + BATCH]


def _write_tasks(warehouse: Warehouse, tasks: list[Task]) -> None:
    with warehouse.begin() as session:
        warehouse.register_round(session, {"tasks": len(tasks)}, 1)
        warehouse.register_fingerprint(session, PRINT)
        warehouse.register_harness(session, HARNESS)
        for number in range(SKILLS):
            skill = Skill(id=f"calc.area.skill-{number}", apps=APPS[number % 4], title=f"Skill {number}")
            warehouse.register_skill(session, skill)
            warehouse.register_workflow(session, _workflow(number), skill.id, "skill: ...\n" * 50, 1)
    ordinal = 0
    for batch in _batches(tasks):
        with warehouse.begin() as session:
            for task in batch:
                warehouse.add_task(session, task, 1, ordinal)
                ordinal += 1


def _write_probes(warehouse: Warehouse, tasks: list[Task]) -> float:
    """Seconds for the writing alone; the records are made before."""
    seconds = 0.0
    for batch in _batches(tasks):
        probes = [probe for task in batch for probe in _probes(task)]
        began = time.perf_counter()
        with warehouse.begin() as session:
            warehouse.add_probes(session, probes)
        seconds += time.perf_counter() - began
    return seconds


def _write_trajectories(warehouse: Warehouse, tasks: list[Task]) -> float:
    """Seconds for the writing alone; the records are made before."""
    seconds = 0.0
    for batch in _batches(tasks):
        trajectories = [_trajectory(task) for task in batch]
        began = time.perf_counter()
        with warehouse.begin() as session:
            for trajectory in trajectories:
                warehouse.add_trajectory(session, trajectory)
        seconds += time.perf_counter() - began
    return seconds


def _claim_and_complete(warehouse: Warehouse, keys: list[str]) -> None:
    for key in keys:
        lease = warehouse.claims.acquire("bench", key, "bench")
        assert lease is not None
        with warehouse.begin() as session:
            lease.complete(session)


def _workflow(number: int) -> str:
    return sha256_hex(str(number).encode())


def _task(number: int) -> Task:
    kind = number % SKILLS
    return Task(
        skill=f"calc.area.skill-{kind}", workflow=_workflow(kind), seed=number, apps=APPS[kind % 4], guest=Guest(),
        resolved={"number": number, "rows": [[f"item {n}", n * 1.25, "2026-03-16"] for n in range(12)]},
        instruction=f"Put the total of column B of budget-{number}.xlsx below it, as a number with two decimals.",
        artifacts=(Artifact(path=f"~/Documents/budget-{number}.xlsx", sha256=sha256_hex(b"%d" % number), size=8000),),
        rubric=Rubric(
            criteria=(
                Criterion(id="total", kind="must", check="calc.formula", args={"cell": "B14", "means": "=SUM(B2:B13)"}),
                Criterion(id="format", kind="must", check="calc.number_format", args={"cell": "B14"}),
                Criterion(id="elsewhere", kind="must_not", check="calc.changed_elsewhere", args={"allow": ["B14"]}),
            )
        ),
        solutions=tuple(Solution(channel=c, steps=(Step(move="bash", value="python3 x.py"),)) for c in ("terminal", "gui")),
    )  # fmt: skip


def _probes(task: Task) -> list[Probe]:
    """Seventeen, or one more: what acceptance wants, some audits; every tenth task has a surviving near-miss."""
    number = task.resolved["number"]
    bad = number % 10 == 9
    verdict = Verdict(grading="graded", score=0.0)
    common = {
        "task": task.id,
        "expected": "as it has to be",
        "fingerprint": PRINT.digest(),
        "evidence": "B14: 12 " * 20,
    }

    def row(kind: ProbeKind, name: str, score: float | None, passed: bool = True, **more: object) -> Probe:
        return Probe.model_validate({**common, "kind": kind, "name": name, "passed": passed, "score": score, **more})

    def spoiled(kind: ProbeKind, criterion: str, mutant: str, score: float, passed: bool = True) -> Probe:
        miss = NearMiss(name=f"{criterion}:{mutant}", breaks=(criterion,), only=kind is not ProbeKind.OVER_EDIT)
        return row(kind, miss.name, score, passed, near_miss=miss, verdict=verdict)

    return [
        *[row(ProbeKind.GATE, name, None) for name in REQUIRED_GATES],
        row(ProbeKind.NOOP, "untouched", 0.0, verdict=verdict),
        *[row(ProbeKind.SOLUTION, f"terminal#{n}", 1.0) for n in (1, 2, 3)],
        *([row(ProbeKind.SOLUTION, "gui-desktop#1", 1.0)] if number < SKILLS else []),
        spoiled(ProbeKind.NEAR_MISS, "total", "hard-coded", 0.5),
        spoiled(ProbeKind.NEAR_MISS, "total", "neighbour", 1.0 if bad else 0.5, not bad),
        spoiled(ProbeKind.NEAR_MISS, "format", "reverted", 0.5),
        spoiled(ProbeKind.OVER_EDIT, "elsewhere", "other-cell", 0.0),
        spoiled(ProbeKind.OVER_EDIT, "elsewhere", "other-sheet", 0.0),
        spoiled(ProbeKind.AUDIT, "total", "off-by-one", 0.5),
        spoiled(ProbeKind.AUDIT, "format", "percent", 0.5),
    ]


def _trajectory(task: Task) -> Trajectory:
    number = int(task.resolved["number"])
    kinds: tuple[Action, ...] = (
        Pointer(kind="left_click", at=Point(x=0.25, y=0.5)), Key(keys="ctrl+s"), Bash(command="ls -l ~/Documents"),
    )  # fmt: skip
    seen = [
        Observation(screenshot=sha256_hex(b"%d-%d" % (number, n)), width=1280, height=800, window="budget.xlsx")
        for n in range(ACTIONS + 1)
    ]
    actions = tuple(
        ActionRecord(
            turn=n, index=n, action=kinds[(number + n) % 3], before=seen[n], after=seen[n + 1], result="ok " * 20
        )
        for n in range(ACTIONS)
    )
    score = 1.0 if number % 3 else 0.0
    return Trajectory(
        task=task.id, harness=HARNESS.digest(), channel="hybrid", teacher="oracle", provenance=Provenance.ORACLE,
        turns=tuple(Turn(index=n, text="step " * 20, usage=Usage(prompt_tokens=900)) for n in range(ACTIONS)),
        actions=actions, ended_by="done", grading="graded", reward=score, verdict=Verdict(grading="graded", score=score),
        fingerprint=PRINT.digest(), seconds=12.0,
    )  # fmt: skip


def _call(number: int) -> ModelCall:
    return ModelCall(
        id=f"call-{number}", purpose="writer", recurring=True, endpoint="default", model="m", request="r", status="ok",
        usage=Usage(prompt_tokens=1000, completion_tokens=100), cost_usd=0.001,
    )  # fmt: skip


if __name__ == "__main__":
    main()
