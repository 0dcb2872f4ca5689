"""Limits: where control groups are found, what they are told, what the warden sees, and whose fault exhaustion is."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from forge.desktop import limits as limits_
from forge.desktop.box import NO_LAYERS, run_boxed
from forge.desktop.enclosure import Enclosure
from forge.desktop.limits import ONE_SHOT, SLOT, Group, Limits, find_parents, release, slot_limits
from forge.desktop.server.homes import listing
from forge.desktop.slot import Slot
from forge.desktop.sweep import claim
from forge.desktop.warden import Warden, folder_size, usage
from forge.records import DesktopError, ExhaustedError, Guest, InputError, Settings
from tests.forge.desktop.conftest import becomes

V1 = """24 22 0:21 / {root}/memory rw - cgroup cgroup rw,memory
25 22 0:22 / {root}/cpu rw shared:3 - cgroup cgroup rw,cpu,cpuacct
26 22 0:23 / /nowhere/pids rw - cgroup cgroup rw,pids
27 22 0:24 / /proc rw - proc proc rw
"""
V2 = "24 22 0:21 {mounted} {root} rw - cgroup2 cgroup2 rw,nsdelegate\n"


def unified(folder: Path, offered: str = "cpu io memory pids", enabled: str = "cpu memory pids") -> Path:
    """A folder that looks like a control group of version 2."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cgroup.procs").write_text("")
    (folder / "cgroup.controllers").write_text(offered)
    (folder / "cgroup.subtree_control").write_text(enabled)
    return folder


def test_groups_of_version_1_lie_below_our_own(tmp_path: Path) -> None:
    for name in ("memory/jobs/mine", "cpu"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "cgroup.procs").write_text("")
    found = find_parents("4:memory:/jobs/mine\n1:cpu,cpuacct:/\n8:pids:/\n", V1.format(root=tmp_path))
    assert found == {"memory": tmp_path / "memory/jobs/mine", "cpu": tmp_path / "cpu"}


def test_groups_of_version_2_lie_where_controllers_are_enabled(tmp_path: Path) -> None:
    unified(tmp_path / "app.slice")
    unified(tmp_path / "app.slice/forge.scope", enabled="")
    mounts = V2.format(root=tmp_path, mounted="/")
    (tmp_path / "app.slice/forge.scope/cgroup.subtree_control").chmod(0o400)
    found = find_parents("0::/app.slice/forge.scope\n", mounts)
    # a root user may write to any file; a kernel would refuse it to a group that has processes
    assert found in ({"all": tmp_path / "app.slice"}, {"all": tmp_path / "app.slice/forge.scope"})
    assert find_parents("0::/app.slice/forge.scope\n", mounts, unified(tmp_path / "mine")) == {"all": tmp_path / "mine"}


def test_where_nothing_is_offered_there_are_no_groups(tmp_path: Path) -> None:
    unified(tmp_path, offered="", enabled="")
    assert find_parents("0::/\n", V2.format(root=tmp_path, mounted="/")) == {}
    assert find_parents("", "") == {}


def test_a_group_of_version_2_is_told_its_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_, "_parents", lambda: {"all": tmp_path})
    monkeypatch.setattr(limits_, "remove_group", lambda folder: True)
    written: dict[str, str] = {}
    monkeypatch.setattr(Path, "exists", lambda self: True)
    monkeypatch.setattr(Path, "write_text", lambda self, text: written.__setitem__(self.name, text))
    group = Group(Limits(memory_mb=100, processes=7, cpus=1.5))
    group.admit(4711)
    assert written == {
        "memory.max": str(100 << 20),
        "memory.swap.max": "0",
        "pids.max": "7",
        "cpu.max": "150000 100000",
        "cgroup.procs": "4711",
    }


def test_a_processs_limits_never_exceed_what_the_host_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda kind: (1024, 4096))
    assert f"--nofile={min(SLOT.open_files, 4096)}" in SLOT.prefix()
    assert "--nofile=100" in replace(SLOT, open_files=100).prefix()


def test_a_box_over_its_memory_is_a_failed_command(home: Path) -> None:
    tight = replace(ONE_SHOT, memory_mb=80)
    done = run_boxed(["python3", "-c", "bytearray(b'x') * (150 << 20)"], home=home, limits=tight)
    assert done.exit_code != 0
    assert run_boxed(["true"], home=home, limits=tight).exit_code == 0


def test_what_is_left_in_a_group_ends_with_it() -> None:
    group = Group(ONE_SHOT)
    if not group.folders:
        return  # this host offers none
    process = subprocess.Popen(["sleep", "60"])
    group.admit(process.pid)
    folders = list(group.folders.values())
    group.close()
    assert process.wait(5) == -9
    assert not any(folder.exists() for folder in folders)


def test_usage_counts_all_below_a_process() -> None:
    script = "x = bytearray(b'x') * (30 << 20); import subprocess; print(flush=True); subprocess.run(['sleep', '60'])"
    process = subprocess.Popen(["/usr/bin/python3", "-c", script], stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        process.stdout.readline()
        assert becomes(lambda: usage([process.pid])[1] == 2)
        # a child that has not become another program yet counts what it shares with its parent
        assert becomes(lambda: usage([process.pid, process.pid])[0] < 60 << 20)
        memory, processes = usage([process.pid])
        assert memory > 30 << 20
        assert processes == 2
    finally:
        for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            os.kill(int(child), 9)
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_folders_size_counts_a_file_once_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 100_000)
    os.link(tmp_path / "a", tmp_path / "b")
    (tmp_path / "c").symlink_to("/usr")
    (tmp_path / "sparse").touch()
    os.truncate(tmp_path / "sparse", 1 << 40)
    size, entries = folder_size(tmp_path, 1000)
    assert entries == 4
    assert 100_000 <= size < 200_000
    assert folder_size(Path("/usr/bin"), 10)[1] == 11


def test_the_warden_ends_what_goes_over_and_says_why(tmp_path: Path) -> None:
    said: list[str] = []
    warden = Warden(Limits(home_mb=1), lambda: [], home=tmp_path, processes=False, end=said.append, every=0.02)
    (tmp_path / "big").write_bytes(b"x" * (2 << 20))
    assert becomes(lambda: said == ["disk (1 MiB in its home)"])
    warden.close()


def test_an_enclosure_leaves_nothing(tmp_path: Path) -> None:
    enclosure = Enclosure(SLOT, tmp_path)
    (enclosure.home / "file").write_text("x")
    os.mkfifo(enclosure.home / "pipe")
    groups = (tmp_path / "groups").read_text().split()
    enclosure.close()
    enclosure.close()
    release(tmp_path)
    assert str(tmp_path) not in Path("/proc/self/mounts").read_text()
    assert not any(os.path.exists(group) for group in groups)


def test_a_fault_stays_a_fault_and_exhaustion_is_the_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enclosure = Enclosure(SLOT, tmp_path)
    error = DesktopError("the display is gone")
    assert enclosure.blame(error) is error
    monkeypatch.setattr(enclosure, "_spent", "memory (6144 MiB)")
    blamed = enclosure.blame(error)
    assert isinstance(blamed, ExhaustedError)
    assert str(blamed) == "the slot used up its memory (6144 MiB): the display is gone"
    assert enclosure.blame(blamed) is blamed
    enclosure.close()


@pytest.mark.desktop
def test_a_slot_outlives_a_command_that_took_too_much(tmp_path: Path) -> None:
    script = "x = [bytearray(b'x') * (20 << 20) for _ in range(20)]; print(len(x))"
    with Slot.open(root=tmp_path, limits=replace(SLOT, memory_mb=300)) as slot:
        slot.lay([("~/take.py", script.encode(), 0o644, False)])
        result = slot.shell.run("python3 take.py")
        if result.exit_code == 0:
            return  # this host offers no control groups
        assert "20" not in result.output.split()
        slot.alive()
        assert slot.shell.run("echo on").output == "on\n"


@pytest.mark.desktop
def test_a_slot_that_breaks_by_its_limits_can_still_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forge.desktop.enclosure.mount_folder", lambda *_: False)
    with Slot.open(root=tmp_path, limits=replace(SLOT, home_mb=8)) as slot:
        slot.shell.run("head -c 20000000 /dev/zero > big")

        def broken() -> bool:
            try:
                slot.alive()
            except ExhaustedError:
                return True
            return False

        assert becomes(broken)
        slot.stop()
        found = slot.snapshot(lambda data: hashlib.sha256(data).hexdigest()).entries
        assert [(entry.path, entry.size) for entry in found] == [("~/big", 20_000_000)]


def test_a_step_of_closing_that_fails_does_not_keep_the_next(tmp_path: Path) -> None:
    owned = claim("slot", tmp_path)
    slot = Slot(Guest(), NO_LAYERS, owned)
    slot._enclosure = Enclosure(SLOT, owned.folder)
    enclosed = slot._enclosure.close

    def fail() -> None:
        raise OSError("no such luck")

    slot._enclosure.close = fail  # type: ignore[method-assign]
    called = []
    slot.on_close(lambda: called.append(1))
    with pytest.raises(OSError, match="no such luck"):
        slot.close()
    enclosed()
    assert called == [1]
    assert os.listdir(tmp_path / "slots") == []
    assert owned.folder.name not in Path("/proc/self/mountinfo").read_text()


@pytest.mark.desktop
@pytest.mark.parametrize("place", ["/home/alex", "/tmp"])
def test_folders_nested_without_end_are_the_guests_doing_and_go_with_the_slot(tmp_path: Path, place: str) -> None:
    program = f"import os; os.chdir('{place}')\nfor _ in range(3000): os.mkdir('x'); os.chdir('x')"
    with Slot.open(root=tmp_path) as slot:
        assert slot.shell.run(f'python3 -c "{program}"').exit_code == 0
        slot.lay([("~/laid/file", b"x", 0o644, False)])
        assert slot.shell.run("echo more >> ~/laid/file && touch ~/laid/other; cat ~/laid/file").output == "xmore\n"
        slot.stop()
        if place != "/tmp":
            with pytest.raises(ExhaustedError, match="nested deeper"):
                slot.snapshot(lambda data: hashlib.sha256(data).hexdigest())
            with pytest.raises(ExhaustedError, match="nested deeper"):
                listing(slot.home)
        name = slot.home.parent.name
    assert os.listdir(tmp_path / "slots") == []
    assert name not in Path("/proc/self/mountinfo").read_text()


def test_limits_as_a_person_writes_them() -> None:
    assert SLOT.changed("") == SLOT
    assert SLOT.changed(" memory_mb = 3000, cpus=1.5,") == replace(SLOT, memory_mb=3000, cpus=1.5)
    for text, said in (
        ("memory=3", "there is no limit 'memory'"),
        ("memory_mb", "'' is no limit for memory_mb"),
        ("home_mb=1.5", "'1.5' is no limit for home_mb"),
        ("cpus=0", "'0' is no limit for cpus"),
        ("cpus=inf", "'inf' is no limit for cpus"),
    ):
        with pytest.raises(InputError, match=re.escape(said)):
            SLOT.changed(text)


def test_the_setting_of_limits_is_named_where_it_cannot_be() -> None:
    assert slot_limits(Settings(slot_limits="memory_mb=3000")) == replace(SLOT, memory_mb=3000)
    with pytest.raises(InputError, match=r"^FORGE_SLOT_LIMITS = 'memory=3': there is no limit 'memory'") as caught:
        slot_limits(Settings(slot_limits="memory=3"))
    assert str(caught.value.mend).startswith("write memory_mb=3000,home_mb=500,cpus=1.5; known are memory_mb, ")
