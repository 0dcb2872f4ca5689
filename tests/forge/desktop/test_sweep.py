"""Leftovers of dead owners go, those of living neighbours stay; caches are built once and never by halves."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from forge.desktop import box
from forge.desktop.box import chown_home, run_boxed
from forge.desktop.limits import MOUNTED, mount_folder
from forge.desktop.place import cached, locale_folder, remove
from forge.desktop.sweep import claim, forget_display, sweep
from forge.records import DesktopError
from tests.forge.desktop.conftest import becomes

OWNER = """
import sys, time
from pathlib import Path
from forge.desktop.sweep import claim
print(claim("slot", Path(sys.argv[1])).folder, flush=True)
time.sleep(600)
"""


def owner(root: Path) -> tuple[subprocess.Popen[str], Path]:
    """Another process that owns a folder below `root`."""
    process = subprocess.Popen([sys.executable, "-c", OWNER, str(root)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def test_a_dead_owners_folder_goes_and_a_living_ones_stays(tmp_path: Path) -> None:
    dead, dead_folder = owner(tmp_path)
    alive, alive_folder = owner(tmp_path)
    (dead_folder / "home").mkdir()
    (dead_folder / "home" / "file").write_text("x")
    (dead_folder / "home").chmod(0)
    end(dead)
    try:
        assert sweep(tmp_path) == [dead_folder.name]
        assert not dead_folder.exists()
        assert alive_folder.exists()
    finally:
        end(alive)


def test_claiming_sweeps_first(tmp_path: Path) -> None:
    dead, folder = owner(tmp_path)
    end(dead)
    mine = claim("slot", tmp_path)
    assert not folder.exists()
    mine.release()
    mine.release()
    assert os.listdir(tmp_path / "slots") == []


def test_many_claim_at_once(tmp_path: Path) -> None:
    barrier = threading.Barrier(8)
    claims = []

    def one() -> None:
        barrier.wait()
        for _ in range(10):
            claims.append(claim("slot", tmp_path))

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(os.listdir(tmp_path / "slots")) == len(claims) == 80
    for each in claims:
        each.release()


def test_ones_own_folder_is_never_swept(tmp_path: Path) -> None:
    mine = claim("slot", tmp_path)
    assert sweep(tmp_path) == []
    assert mine.folder.exists()
    mine.release()


def test_what_no_claim_has_made_is_left_alone(tmp_path: Path) -> None:
    dead, folder = owner(tmp_path)
    end(dead)
    for name in ("proc", "slot-1", "x" + folder.name[1:] + "0"):
        (tmp_path / "slots" / name).mkdir()
        (tmp_path / "slots" / name / "lock").touch()
    assert sweep(tmp_path) == [folder.name]
    assert len(os.listdir(tmp_path / "slots")) == 3


def test_a_place_that_cannot_hold_slots_is_named(tmp_path: Path) -> None:
    (tmp_path / "slots").write_text("a file")
    with pytest.raises(DesktopError, match="slots"):
        claim("slot", tmp_path)


def test_only_a_dead_displays_socket_is_removed() -> None:
    number = 60000 + os.getpid() % 5000
    path = Path(f"/tmp/.X11-unix/X{number}")
    path.parent.mkdir(mode=0o1777, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        forget_display(number)
        assert path.exists()
    forget_display(number)
    assert not path.exists()


def test_a_socket_of_a_display_that_is_just_ending_is_removed_too() -> None:
    number = 61_000 + os.getpid() % 1000
    path = Path(f"/tmp/.X11-unix/X{number}")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    ending = threading.Timer(0.3, server.close)
    ending.start()
    try:
        forget_display(number)
        assert not path.exists()
    finally:
        ending.join()
        path.unlink(missing_ok=True)


def test_a_cache_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGE_CACHE", str(tmp_path))
    built = []
    barrier = threading.Barrier(4)

    def build(folder: Path) -> None:
        built.append(1)
        (folder / "content").write_text("whole")

    def use() -> None:
        barrier.wait()
        assert (cached("thing/one", build) / "content").read_text() == "whole"

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert os.listdir(tmp_path / "thing") == ["one"]
    assert cached("thing/one", build) == tmp_path / "thing" / "one"


def test_what_fails_to_build_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGE_CACHE", str(tmp_path))

    def build(folder: Path) -> None:
        (folder / "half").write_text("half")
        raise DesktopError("no luck")

    with pytest.raises(DesktopError, match="no luck"):
        cached("thing", build)
    assert os.listdir(tmp_path) == []


def test_a_built_in_locale_needs_no_folder() -> None:
    assert locale_folder("C.UTF-8") is None
    folder = locale_folder("en_US.UTF-8")
    assert folder is not None
    assert (folder / "en_US.UTF-8" / "LC_TIME").is_file()


@pytest.mark.parametrize("name", ["../../etc.UTF-8", "en_US.ISO-8859-1", "", "a b.UTF-8"])
def test_odd_locales_are_refused(name: str) -> None:
    with pytest.raises(DesktopError):
        locale_folder(name)


def test_removing_follows_no_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    remove(folder)
    assert not folder.exists()
    assert (outside / "kept").exists()


def nested(folder: Path, levels: int) -> None:
    """Folders in folders, made by descriptors: a path of this length could not be opened."""
    fd = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("x", dir_fd=fd)
        below = os.open("x", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    os.fchmod(fd, 0o500)
    os.close(fd)


def test_folders_nested_without_end_change_hands_and_go(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "beside").mkdir(parents=True)
    nested(folder, 3000)
    chown_home(folder)
    remove(folder)
    assert not folder.exists()


def test_a_leftover_that_cannot_be_removed_does_not_keep_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    owners = [owner(tmp_path) for _ in range(2)]
    for process, _ in owners:
        end(process)
    first, second = sorted(folder for _, folder in owners)
    (first / "stuck").touch()
    unlink = os.unlink

    def refuse(path: str, **options: int) -> None:
        if path == "stuck":
            raise PermissionError(1, "Operation not permitted")
        unlink(path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refuse)
        claim("slot", tmp_path).release()
    assert not second.exists()
    assert os.listdir(first) == ["stuck"]
    assert "Operation not permitted" in caplog.text


def test_nobody_is_killed_for_what_is_mounted_on_a_leftover(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dead, folder = owner(tmp_path)
    end(dead)
    (folder / MOUNTED[0]).mkdir()
    is_mounted = mount_folder(folder / MOUNTED[0], 1, 10, (0, 0))  # as a slot's home is, where we may
    bystander = subprocess.Popen(["unshare", "--user", "--mount", "sleep", "60"], stdin=subprocess.DEVNULL)
    killed: list[int] = []
    try:
        assert becomes(lambda: os.readlink(f"/proc/{bystander.pid}/ns/mnt") != os.readlink("/proc/self/ns/mnt"))
        for each in ("self", str(bystander.pid)):  # all see it
            assert (folder.name in Path(f"/proc/{each}/mountinfo").read_text()) == is_mounted
        with monkeypatch.context() as patch:
            patch.setattr(os, "kill", lambda pid, number: killed.append(pid))
            assert sweep(tmp_path) == [folder.name]
        assert killed == []
        assert not folder.exists()
        assert folder.name not in Path("/proc/self/mountinfo").read_text()
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.desktop
def test_a_box_whose_owner_ended_while_it_was_made_ends_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alive = run_boxed(["sh", "-c", "ls /proc/self/fd; env"], home=home)
    assert b"FORGE_OWNER" not in alive.stdout
    assert alive.stdout.split()[:4] == [b"0", b"1", b"2", b"3"]  # 3 is the folder that is listed
    ours, theirs = os.pipe()
    os.close(theirs)  # as the kernel does for an owner that is killed
    monkeypatch.setattr(box, "lifeline", lambda: ours)
    try:
        orphan = run_boxed(["sh", "-c", "echo lives on; sleep 60"], home=home)
        assert (orphan.exit_code, orphan.stdout) == (137, b"")
    finally:
        os.close(ours)
