"""`kill -9` at every commit point and at random times: the rerun's dump is that of an undisturbed run, nothing is left.

A process is killed at one point, the next one goes on with the same warehouse and is killed at the next point, until one
reaches the end. Nothing is ever deleted from a warehouse, so what any of them wrote wrongly would still be there.
"""

from __future__ import annotations

import fcntl
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from forge.desktop.sweep import sweep

from .runs import Rounds, claims, dump, left_over, until

# they start rounds and desktops as processes and kill them at random moments: minutes, and a machine to themselves
pytestmark = pytest.mark.slow

QUICK = [
    "inside migrate",
    "after register",
    "after acquire materialize *:0",
    "before rename blob",
    "inside commit materialize *:1",
    "inside mark_near_duplicates",
    "inside commit probe *",
    "after commit probe *",
]
ALL = [f"{moment} *" for moment in ("before", "inside", "after")]


@pytest.fixture(scope="module")
def undisturbed(rounds: Rounds, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The dump of a round of two tasks that nobody disturbed."""
    found = rounds.finish(tmp_path_factory.mktemp("undisturbed") / "home")
    assert sum(line.startswith("tasks ") for line in found) == 2
    assert sum(line.startswith("probes ") for line in found) > 20
    return found


def killed_at(rounds: Rounds, home: Path, points: list[str], **spec: object) -> list[str]:
    """Start the round again and again; each process dies at the next point. Returns the points, once one lives on."""
    passed = home.with_suffix(".passed")
    while (code := (run := rounds.start(home, fatal=points, **spec)).wait()) == -signal.SIGKILL:
        found = passed.read_text().splitlines()
        assert len(found) == len(set(found))
    assert code == 0, run.log.read_text()[-3000:]
    return passed.read_text().splitlines()


def test_a_round_killed_at_its_commit_points(rounds: Rounds, undisturbed: list[str], tmp_path: Path) -> None:
    home = tmp_path / "home"
    points = killed_at(rounds, home, QUICK)
    assert len(points) == len(QUICK) + 2  # both tasks' probes
    assert dump(home) == undisturbed
    assert left_over(home) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_round_killed_at_every_commit_point(rounds: Rounds, undisturbed: list[str], tmp_path: Path) -> None:
    home = tmp_path / "home"
    points = killed_at(rounds, home, ALL)
    work = [f"{what} {kind}" for what in ("acquire", "commit") for kind in ("materialize", "probe")]
    for moment in ("before", "inside", "after"):
        for name in ("migrate", "register", "mark_near_duplicates", "finish"):
            assert f"{moment} {name}" in points
        for name in work:
            assert sum(point.startswith(f"{moment} {name} ") for point in points) == 2, (moment, name)
    for moment in ("before", "after"):
        assert f"{moment} rename blob" in points
        assert f"{moment} rename node" in points
    assert dump(home) == undisturbed
    assert left_over(home) == []


def killed_at_times(rounds: Rounds, undisturbed: list[str], folder: Path, seed: int, kills: int) -> int:
    """Rounds that are killed at random times and go on, until so many processes were killed. Returns the rounds' number."""
    dice = random.Random(seed)
    number = 0
    while kills > 0:
        number += 1
        home = folder / f"home-{number}"
        while True:
            run = rounds.start(home)
            if kills > 0:
                time.sleep(dice.uniform(0.0, 4.0))  # where in its work it is killed is left to chance
                run.kill()
            code = run.wait()
            if code == 0:
                break
            assert code == -signal.SIGKILL, run.log.read_text()[-3000:]
            kills -= 1
        assert dump(home) == undisturbed, f"round {number} of seed {seed}"
        assert left_over(home) == []
        assert {state for _, state, _ in claims(home)} == {"done"}
    return number


def test_rounds_killed_at_random_times(rounds: Rounds, undisturbed: list[str], tmp_path: Path) -> None:
    killed_at_times(rounds, undisturbed, tmp_path, seed=1, kills=4)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_rounds_killed_at_fifty_random_times(rounds: Rounds, undisturbed: list[str], tmp_path: Path) -> None:
    assert killed_at_times(rounds, undisturbed, tmp_path, seed=2, kills=50) > 1


def test_a_box_that_outlived_its_owner_is_ended_by_the_next_start(tmp_path: Path) -> None:
    folder, other = tmp_path / "slots" / "office-0123456789ab", tmp_path / "slots" / "office-ba9876543210"
    boxes = []
    for path in (folder, other):
        path.mkdir(parents=True)
        (path / "lock").touch()
        box = ["bwrap", "--ro-bind", "/", "/", "--bind", str(path), "/mnt", "--unshare-pid", "--", "sleep", "300"]
        boxes.append(subprocess.Popen(box))
    with (other / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # its owner lives
        until(lambda: all(_mounts(box.pid) for box in boxes), 10, "no boxes")
        assert sweep(tmp_path) == [folder.name]
        assert boxes[0].wait(10) == -signal.SIGKILL
        assert boxes[1].poll() is None
    boxes[1].kill()
    boxes[1].wait()
    assert sweep(tmp_path) == [other.name]
    assert left_over(tmp_path) == []


def _mounts(pid: int) -> bool:
    """Whether the box below a bubblewrap has its folder mounted and runs its command."""
    return any(
        b"sleep" in Path(f"/proc/{child}/cmdline").read_bytes()
        for init in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for child in Path(f"/proc/{init}/task/{init}/children").read_text().split()
    )


@pytest.mark.desktop
def test_a_round_killed_in_the_middle_of_its_episode(rounds: Rounds, tmp_path: Path) -> None:
    alone, home = tmp_path / "alone", tmp_path / "home"
    undisturbed = rounds.finish(alone, tasks=1, play=True)
    assert sum(line.startswith("trajectories ") for line in undisturbed) == 1
    points = ["after acquire play *", "after act double_click", "inside commit play *", "after commit play *"]
    assert [point.split()[:2] for point in killed_at(rounds, home, points, tasks=1, play=True)] == [
        ["after", "acquire"],
        ["after", "act"],
        ["inside", "commit"],
        ["after", "commit"],
    ]
    assert dump(home) == undisturbed
    assert left_over(home) == []
    assert [claim for claim in claims(home) if claim[0] == "play"] == [("play", "done", 4)]  # three died with it
