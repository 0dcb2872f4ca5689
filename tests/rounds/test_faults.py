"""What goes wrong around a round: another round, Ctrl-C, a dying or missing application, a full disk, a broken workflow.

Each ends in a clear error or a clean recovery; nothing is half-written, nothing lost, no fault becomes a reward.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import skills
from forge.desktop.apps import APPS
from forge.harness import SlotEnvironment
from forge.harness.teachers.base import Response, View
from forge.harness.teachers.oracle import OracleTeacher
from rounds.harvest import watch_one
from rounds.items import run_items
from rounds.materialize import Ticket, materialize
from rounds.play import Part
from rounds.register import Wish, choose, register
from rounds.regrade import regrade
from rounds.rollout import rollout
from rounds.round import prepare
from rounds.workshop import Workshop
from warehouse import grounding

from .runs import PROGRAM, SKILL, Rounds, claims, dump, left_over, open_warehouse, until

# they start rounds and desktops as processes and kill them at random moments: minutes, and a machine to themselves
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def undisturbed(rounds: Rounds, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The dump of a round of two tasks that nobody disturbed."""
    return rounds.finish(tmp_path_factory.mktemp("undisturbed") / "home")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """FORGE_HOME of the test."""
    monkeypatch.setenv("FORGE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def workshop(home: Path) -> Iterator[Workshop]:
    """An open workshop, which leaves nothing behind."""
    with Workshop() as opened:
        yield opened
    assert left_over(home) == []


def test_two_rounds_at_once_share_the_work(rounds: Rounds, undisturbed: list[str], tmp_path: Path) -> None:
    home = tmp_path / "home"
    both = [rounds.start(home), rounds.start(home)]
    assert [run.wait() for run in both] == [0, 0], both[0].log.read_text()[-3000:]
    assert dump(home) == undisturbed
    assert claims(home) == [(kind, "done", 1) for kind in ("materialize", "materialize", "probe", "probe")]
    assert left_over(home) == []


def test_a_killed_round_does_not_hold_up_another_one(rounds: Rounds, undisturbed: list[str], tmp_path: Path) -> None:
    home = tmp_path / "home"
    killed, other = rounds.start(home), rounds.start(home)
    until(lambda: _held(home), 60, "nothing is in work")
    killed.kill()
    assert killed.wait() == -signal.SIGKILL
    began = time.monotonic()
    assert other.wait() == 0, other.log.read_text()[-3000:]
    assert time.monotonic() - began < 100, "a dead process's lease was waited for"
    assert dump(home) == undisturbed


def test_an_interrupt_gives_everything_back(rounds: Rounds, undisturbed: list[str], tmp_path: Path) -> None:
    home = tmp_path / "home"
    for kind in ("materialize", "probe"):
        run = rounds.start(home)
        until(lambda: _held(home, kind), 60, f"no {kind} in work")  # noqa: B023
        run.kill(signal.SIGINT)
        assert run.wait() == 130, run.log.read_text()[-3000:]
        assert "Traceback" not in run.log.read_text()
        assert left_over(home) == []
        assert {state for _, state, _ in claims(home)} <= {"free", "done"}
    assert rounds.finish(home) == undisturbed


@pytest.mark.desktop
def test_an_interrupt_in_the_middle_of_an_episode(rounds: Rounds, tmp_path: Path) -> None:
    home = tmp_path / "home"
    rounds.finish(home, tasks=1)
    before = dump(home)
    run = rounds.start(home, tasks=1, play=True)
    until(lambda: _held(home, "play"), 60, "no episode in work")
    run.kill(signal.SIGINT)
    assert run.wait() == 130, run.log.read_text()[-3000:]
    assert "Traceback" not in run.log.read_text()
    assert left_over(home) == []
    assert dump(home) == before
    after = rounds.finish(home, tasks=1, play=True)
    assert [json.loads(line.split(" ", 1)[1])["reward"] for line in after if line.startswith("trajectories ")] == [1.0]


@pytest.mark.desktop
async def test_an_application_that_dies_in_the_middle_of_an_episode(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = await _one_part(workshop, "calc.sheet.rename-sheet", "gui")
    act, killed = SlotEnvironment.act, []

    async def deadly(environment: SlotEnvironment, *args: Any) -> Any:
        done = await act(environment, *args)
        if not killed:
            killed.extend(_inside(environment.slot._box.pid, "soffice.bin"))
            for pid in killed:
                os.kill(pid, signal.SIGSEGV)
        return done

    monkeypatch.setattr(SlotEnvironment, "act", deadly)
    tally, rows = await rollout(workshop, [part])
    assert len(killed) == 1
    assert (tally.done, tally.faults) == (1, {})
    assert [(row["reward"], row["ended_by"]) for row in rows] == [(1.0, "done")]
    assert claims(workshop.settings.home)[-1] == ("play", "done", 2)


@pytest.mark.desktop
async def test_a_display_that_freezes_in_the_middle_of_an_episode(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    part = await _one_part(workshop, "calc.sheet.rename-sheet", "gui")
    monkeypatch.setattr("forge.desktop.lease.SILENCE", 6.0)
    act, frozen = SlotEnvironment.act, []

    async def freezing(environment: SlotEnvironment, *args: Any) -> Any:
        done = await act(environment, *args)
        if not frozen:
            frozen.extend(pid for pid in environment.slot.pids if _inside(pid, "Xvfb"))
            os.kill(_inside(frozen[0], "Xvfb")[0], signal.SIGSTOP)
        return done

    monkeypatch.setattr(SlotEnvironment, "act", freezing)
    tally, rows = await asyncio.wait_for(rollout(workshop, [part]), 120)
    assert len(frozen) == 1
    assert (tally.done, tally.faults) == (1, {})
    assert [(row["reward"], row["ended_by"]) for row in rows] == [(1.0, "done")], "the fault is no result"
    assert claims(workshop.settings.home)[-1] == ("play", "done", 2), "it was claimed again"
    assert ["attempt 1" in record.getMessage() for record in caplog.records if record.name == "rounds.items"] == [True]


@pytest.mark.desktop
async def test_a_home_that_holds_more_than_can_be_kept_is_no_fault_and_earns_nothing(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = await _one_part(workshop, SKILL, "terminal")
    monkeypatch.setattr("forge.desktop.files.ENTRY_LIMIT", 2)
    tally, rows = await rollout(workshop, [part])
    assert (tally.done, tally.faults) == (1, {})
    assert [(row["reward"], row["ended_by"], row["grading"]) for row in rows] == [(0, "exhausted", "graded")]
    criteria = workshop.warehouse.trajectory(rows[0]["id"]).verdict.criteria
    assert {c.score for c in criteria} == {0}
    assert "more than 2 entries" in criteria[0].evidence
    assert regrade(workshop) == []
    assert claims(workshop.settings.home)[-1] == ("play", "done", 1)


@pytest.mark.desktop
async def test_a_model_may_think_for_longer_than_a_lease(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    part = await _one_part(workshop, SKILL, "terminal")
    monkeypatch.setattr("forge.desktop.lease.SILENCE", 1.0)
    thought = _slow_at_first(monkeypatch, 3.0)
    _, rows = await rollout(workshop, [part])
    assert thought == [True]
    assert [row["reward"] for row in rows] == [1.0]
    assert claims(workshop.settings.home)[-1] == ("play", "done", 1)


@pytest.mark.desktop
async def test_an_oracle_that_is_watched_may_think_for_longer_than_a_lease(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = await _one_part(workshop, "calc.sheet.rename-sheet", "gui")
    monkeypatch.setattr("forge.desktop.lease.SILENCE", 3.0)
    thought = _slow_at_first(monkeypatch, 8.0)
    writes = await watch_one(workshop, part.task)
    assert thought == [True]
    with workshop.warehouse.begin() as session:
        writes(session)
        assert grounding.read_screens(session, "calc")


@pytest.mark.desktop
async def test_an_application_that_is_not_installed(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    part = await _one_part(workshop, SKILL, "terminal")
    with monkeypatch.context() as patch:
        patch.setitem(APPS, "files", dataclasses.replace(APPS["files"], program="/usr/bin/not-there"))
        tally, rows = await rollout(workshop, [part])
    assert (tally.done, rows) == (0, [])
    (fault,) = tally.faults.values()
    assert "files is not installed" in fault
    assert "mend: install pcmanfm, or run setup/install" in fault
    assert workshop.warehouse.claims.state("play", part.item.key) == "free"
    tally, rows = await rollout(workshop, [part])
    assert [row["reward"] for row in rows] == [1.0]


FULL = """
import json, os, pathlib, subprocess, sys
disk, free, command = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
with open(disk / "filler", "wb", buffering=0) as filler:
    try:
        while filler.write(bytes(4096)):
            pass
    except OSError:
        pass
    filler.truncate(os.path.getsize(filler.name) - free)
run = lambda: subprocess.run(command, capture_output=True, text=True)
first = run()
(disk / "filler").unlink()
second = run()
os.execv(sys.executable, [sys.executable, "-c", "import json, sys; sys.path[:0] = sys.argv[4:6]; "
    "from pathlib import Path; from runs import dump; home = Path(sys.argv[6]); "
    "print(json.dumps([sys.argv[1], sys.argv[2], sys.argv[3], dump(home), [str(p) for p in (home / 'slots').iterdir()]]))",
    str(first.returncode), first.stdout + first.stderr, f"{second.returncode} {second.stdout}{second.stderr}",
    *json.loads(os.environ["PLACES"])])
"""


@pytest.mark.parametrize(
    ("what", "free", "codes", "message"),
    [
        ("home", 0, {3}, "database or disk is full"),  # at the start
        ("home", 700_000, {1, 3}, "database or disk is full"),  # in the middle of its work, wherever that is
        ("blobs", 12_000, {1}, "No space left on device"),
    ],
)
def test_a_disk_that_is_full(
    what: str, free: int, codes: set[int], message: str, undisturbed: list[str], tmp_path: Path
) -> None:
    """On a small file system of its own; once it has space the same command goes on."""
    disk = tmp_path / "disk"
    disk.mkdir()
    home = disk / "home" if what == "home" else tmp_path / "home"
    if what == "blobs":
        home.mkdir()
        (home / "blobs").symlink_to(disk)
    spec = json.dumps({"home": str(home), "skills": [SKILL]})
    box = ["bwrap", "--dev-bind", "/", "/", "--size", str(16 * 2**20), "--tmpfs", str(disk), "--die-with-parent"]
    if os.geteuid() == 0:
        box += ["--cap-add", "ALL"]
    done = subprocess.run(
        [*box, sys.executable, "-c", FULL, str(disk), str(free), sys.executable, str(PROGRAM), spec],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PLACES": json.dumps([str(PROGRAM.parents[2]), str(PROGRAM.parent), str(home)])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, said, second, found, left = json.loads(done.stdout)
    assert (int(first) in codes, second) == (True, "0 "), said
    assert message in said
    assert "mend: free some disk space" in said
    assert "Traceback" not in said
    assert found == undisturbed
    assert left == []


async def test_a_workflow_that_breaks_at_a_draw(workshop: Workshop, tmp_path: Path) -> None:
    folder = tmp_path / SKILL
    shutil.copytree(next(path for path in skills.library() if path.parent.name == SKILL).parent, folder)
    script = folder / "write_logs.py"
    lines = script.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.strip().startswith("return")) + 1
    indent = lines[at - 1][: -len(lines[at - 1].lstrip())]
    lines.insert(at - 1, f"{indent}raise ValueError('no such month')")
    script.write_text("\n".join(lines))
    broken = skills.load(folder / "workflow.yaml")
    plan = register(workshop.warehouse, Wish([broken, *choose(["files.folder.gather-by-type"])], tasks=1, round=1))
    tally = await prepare(workshop, 1, plan.workflows, {w.version: 1 for w in plan.workflows})
    assert list(tally.faults) == [Ticket(1, broken, 0).item.key]
    (fault,) = tally.faults.values()
    assert f"{script}:{at}: " in fault
    assert "no such month" in fault
    warehouse = workshop.warehouse
    assert warehouse.tasks_of_round(1, broken.version) == []
    assert [task["skill"] for task in warehouse.list_tasks()] == ["files.folder.gather-by-type"]
    assert warehouse.claims.state("materialize", Ticket(1, broken, 0).item.key) == "free"


def _slow_at_first(monkeypatch: pytest.MonkeyPatch, seconds: float) -> list[bool]:
    """Let the oracle think about its first answer for so long. Gives a list that holds True once it has."""
    respond = OracleTeacher.respond
    thought: list[bool] = []

    async def slow(teacher: OracleTeacher, view: View) -> Response:
        if not thought:
            await asyncio.sleep(seconds)
            thought.append(True)
        return await respond(teacher, view)

    monkeypatch.setattr(OracleTeacher, "respond", slow)
    return thought


async def _one_part(workshop: Workshop, skill: str, harness: str) -> Part:
    """An episode to play, of the first task of a skill."""
    (workflow,) = choose([skill])
    register(workshop.warehouse, Wish([workflow], tasks=1, round=1))
    tally = await run_items(
        workshop.warehouse, "materialize", [Ticket(1, workflow, 0).item], lambda t: materialize(workshop, t), limit=1
    )
    assert tally.done == 1, tally.faults
    return Part(workshop.warehouse.tasks_of_round(1, workflow.version)[0], harness)


def _held(home: Path, kind: str | None = None) -> bool:
    """Whether some work (of a kind) is held."""
    if not (home / "warehouse.db").exists():
        return False
    with open_warehouse(home) as warehouse:
        counts = warehouse.claims.counts()
    return any("held" in states for name, states in counts.items() if kind in (None, name))


def _inside(root: int, name: str) -> list[int]:
    """The processes of that name below a process."""
    children: dict[int, list[int]] = {}
    names: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
        except OSError:
            continue
        pid = int(folder.name)
        names[pid] = stat[stat.index("(") + 1 : stat.rindex(")")]
        children.setdefault(int(stat[stat.rindex(")") + 1 :].split()[1]), []).append(pid)
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        waiting += children.get(pid, [])
        if names.get(pid) == name:
            found.append(pid)
    return found
