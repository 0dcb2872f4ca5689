"""Times of files: what a preparer says of a file's last change is what the guest sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.desktop import Slot, chown_home, lay, run_boxed
from forge.desktop.limits import SLOT
from forge.records import Artifact, Guest, Role, Task, sha256_hex
from rounds.play import date_files, open_start
from rounds.workshop import dating
from tests.warehouse.samples import make_task

MARCH, MAY = 1_772_366_400, 1_777_636_800  # 2026-03-01 and 2026-05-01, 12:00 UTC
GUEST = Guest(clock="2026-06-05T09:00:00", timezone="Europe/Berlin")
SHOW = "stat -c '%Y %n' 'an old.txt' newer.txt plain.txt folder; ls -t *.txt"


def _artifact(path: str, mtime: int | None, role: Role = Role.VISIBLE, folder: bool = False) -> Artifact:
    return Artifact(path=path, sha256=sha256_hex(b""), size=0, role=role, folder=folder, mtime=mtime)


@pytest.fixture
def task() -> Task:
    return make_task().model_copy(
        update={
            "guest": GUEST,
            "start": (),
            "artifacts": (
                _artifact("~/an old.txt", MARCH),
                _artifact("~/newer.txt", MAY),
                _artifact("~/plain.txt", None),
                _artifact("~/folder", MARCH, folder=True),
                _artifact("~/folder/inside.txt", None),
                _artifact("~/gold.txt", MARCH, Role.GOLD),
            ),
        }
    )


def _files(task: Task) -> list[tuple[str, bytes, int, bool]]:
    return [(a.path, b"", a.mode, a.folder) for a in task.artifacts if a.role is not Role.GOLD]


def _expected(output: str) -> None:
    lines = output.splitlines()
    assert lines[:2] == [f"{MARCH} an old.txt", f"{MAY} newer.txt"]
    assert lines[3] == f"{MARCH} folder"
    started = int(lines[2].split()[0])
    assert 0 <= started - 1_780_642_800 + 120 < 240, "the others were changed when the guest's clock began"
    assert lines[4:] == ["plain.txt", "newer.txt", "an old.txt"]


def test_a_time_makes_no_other_task() -> None:
    task = make_task()
    dated = [artifact.model_copy(update={"mtime": MARCH}) for artifact in task.artifacts]
    assert task.model_copy(update={"artifacts": tuple(dated)}).id == task.id


def test_a_task_without_times_needs_no_script(task: Task) -> None:
    assert dating(make_task()) == ""
    assert "gold" not in dating(task)


@pytest.mark.desktop
def test_a_box_sees_the_times(task: Task, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    lay(home, _files(task))
    chown_home(home)
    done = run_boxed(["bash", "-c", dating(task) + SHOW], home=home, guest=GUEST)
    assert done.stderr == b""
    _expected(done.stdout.decode())


@pytest.mark.desktop
def test_a_slot_sees_the_times(task: Task, tmp_path: Path) -> None:
    with Slot.open(GUEST, home_files=_files(task), root=tmp_path, limits=SLOT) as slot:
        open_start(slot, task)
        _expected(slot.shell.run(SHOW).output)
        date_files(slot, make_task())
