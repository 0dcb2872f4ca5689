"""Files in and out: nothing that the guest built can trick the reader, and nothing half-written stays."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forge.desktop import files
from forge.desktop.files import lay, restore, snapshot
from forge.records import DesktopError, ExhaustedError, FileEntry, InputError, Snapshot

Put = Callable[[bytes], str]


def paths(found: Snapshot) -> list[str]:
    return [entry.path for entry in found.entries]


def entry(found: Snapshot, path: str) -> FileEntry:
    return next(each for each in found.entries if each.path == path)


def test_what_is_laid_is_there(home: Path) -> None:
    lay(
        home,
        [("~/a/b/run.sh", b"#!/bin/sh\n", 0o755, False), ("~/empty", b"", 0o700, True), ("~/a/b/x", b"", 0o600, False)],
    )
    assert (home / "a/b/run.sh").read_bytes() == b"#!/bin/sh\n"
    assert stat.S_IMODE((home / "a/b/run.sh").stat().st_mode) == 0o755
    assert stat.S_IMODE((home / "a/b").stat().st_mode) == 0o755
    assert stat.S_IMODE((home / "empty").stat().st_mode) == 0o700


def test_a_stamp_is_given_to_all(home: Path) -> None:
    lay(home, [("~/a/f", b"x", 0o644, False)], stamp=1_000_000.0)
    assert (home / "a/f").stat().st_mtime == 1_000_000


@pytest.mark.parametrize(
    "path",
    [
        "/etc/x",
        "x",
        "~/../x",
        "~/a/../../x",
        "~/",
        "~",
        "~/a//b",
        "~/./x",
        "~/a\0b",
        "~/" + "ä" * 128,
        "~/a/" + "b" * 256,
    ],
)
def test_paths_out_of_the_home_are_refused(home: Path, path: str) -> None:
    for before in ([], [("~/first", b"x", 0o644, False)]):
        with pytest.raises(InputError):
            lay(home, [*before, (path, b"x", 0o644, False)])
        assert not list(home.iterdir())


def test_what_cannot_be_laid_leaves_nothing_in_the_way_of_the_next(home: Path, put: Put) -> None:
    (home / "folder").mkdir()
    with pytest.raises(DesktopError, match="folder cannot be written"):
        lay(home, [("~/folder", b"x", 0o644, False)])
    lay(home, [("~/" + "a" * 255, b"x", 0o644, False)])
    assert paths(snapshot(home, put)) == ["~/" + "a" * 255, "~/folder"]


def test_two_lay_into_one_folder_at_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def both(fd: int, data: bytes) -> None:
        monkeypatch.undo()
        lay(home, [("~/second", b"2", 0o644, False)])
        os.write(fd, data)

    monkeypatch.setattr(files, "_write_all", both)
    lay(home, [("~/first", b"1", 0o644, False)])
    assert {path.name: path.read_bytes() for path in home.iterdir()} == {"first": b"1", "second": b"2"}


def test_laying_follows_no_link(home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (home / "door").symlink_to(outside)
    with pytest.raises(DesktopError, match="door/x"):
        lay(home, [("~/door/x", b"x", 0o644, False)])
    (home / "file").symlink_to(outside / "target")
    lay(home, [("~/file", b"x", 0o644, False)])  # replaces the link itself
    assert not (outside / "target").exists()
    assert not list(outside.iterdir())


def test_a_full_disk_is_told_and_leaves_nothing_half_written(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(home, [("~/kept", b"old", 0o644, False)])
    real = os.write

    def full(fd: int, data: bytes) -> int:
        if len(data) > 10:
            return real(fd, bytes(data)[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "write", full)
    with pytest.raises(DesktopError, match="No space left on device") as caught:
        lay(home, [("~/kept", b"new content", 0o644, False)])
    assert "free some space" in str(caught.value)
    assert (home / "kept").read_bytes() == b"old"
    assert os.listdir(home) == ["kept"]


def test_links_are_kept_as_written_and_never_followed(home: Path, put: Put, blobs: dict[str, bytes]) -> None:
    (home / "passwd").symlink_to("/etc/passwd")
    (home / "folder").symlink_to("/etc")
    (home / "loop").symlink_to("loop")
    found = snapshot(home, put)
    assert [(e.path, e.kind, e.target) for e in found.entries] == [
        ("~/folder", "link", "/etc"),
        ("~/loop", "link", "loop"),
        ("~/passwd", "link", "/etc/passwd"),
    ]
    assert blobs == {}


def test_what_is_no_file_is_left_out(home: Path, put: Put) -> None:
    os.mkfifo(home / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home / "socket"))
        if os.geteuid() == 0:
            os.mknod(home / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        (home / "file").write_text("x")
        assert paths(snapshot(home, put)) == ["~/file"]


def test_a_hard_link_gives_the_content_of_its_own_place(home: Path, put: Put, blobs: dict[str, bytes]) -> None:
    (home / "a").write_text("same")
    os.link(home / "a", home / "b")
    found = snapshot(home, put)
    assert entry(found, "~/a").sha256 == entry(found, "~/b").sha256
    assert list(blobs.values()) == [b"same"]


def test_a_huge_sparse_file_has_a_size_and_no_content(
    home: Path, put: Put, blobs: dict[str, bytes], tmp_path: Path
) -> None:
    with open(home / "huge", "wb") as file:
        file.truncate(1 << 40)
    found = snapshot(home, put)
    assert (entry(found, "~/huge").size, entry(found, "~/huge").sha256) == (1 << 40, None)
    assert blobs == {}
    other = tmp_path / "other"
    other.mkdir()
    restore(found, other, blobs.__getitem__)
    assert (other / "huge").stat().st_size == files.FILE_LIMIT + 1
    assert (other / "huge").stat().st_blocks == 0


def test_too_much_cannot_be_kept(home: Path, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "TOTAL_LIMIT", 1 << 20)
    (home / "a").write_bytes(bytes(700_000))
    (home / "b").write_bytes(bytes(700_000))
    with pytest.raises(DesktopError, match="more than 1 MiB"):
        snapshot(home, put)
    (home / "a").write_bytes(b"")
    monkeypatch.setattr(files, "ENTRY_LIMIT", 1)
    with pytest.raises(DesktopError, match="more than 1 entries"):
        snapshot(home, put)


@pytest.mark.parametrize(("name", "said"), [("d", "nested deeper"), ("d" * 200, "more than 3072 bytes")])
def test_deep_nesting_is_the_guests_doing_and_no_crash(home: Path, put: Put, name: str, said: str) -> None:
    fd = os.open(home, os.O_RDONLY)
    for _ in range(files.DEPTH_LIMIT + 10):  # by descriptors, as a path of this length could not be opened
        os.mkdir(name, dir_fd=fd)
        below = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    with pytest.raises(ExhaustedError, match=said):
        snapshot(home, put)


HOLDER = """
import fcntl, os, signal, sys, time
path, gives = sys.argv[1], sys.argv[2] == "gives"
fd = os.open(path, os.O_RDWR)
signal.signal(signal.SIGIO, lambda *_: (time.sleep(0.2), os._exit(0)) if gives else None)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("held", flush=True)
while True:
    time.sleep(60)
"""


@pytest.mark.parametrize("gives", [True, False])
def test_a_file_on_which_the_guest_has_a_lease(
    home: Path, put: Put, monkeypatch: pytest.MonkeyPatch, gives: bool
) -> None:
    (home / "held").write_text("x")
    command = [sys.executable, "-c", HOLDER, str(home / "held"), "gives" if gives else "keeps"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            if gives:
                assert paths(snapshot(home, put)) == ["~/held"]
            else:
                monkeypatch.setattr(files, "_LEASE_PATIENCE", 0.3)
                with pytest.raises(ExhaustedError, match="~/held is kept locked"):
                    snapshot(home, put)
        finally:
            holder.kill()
    assert paths(snapshot(home, put)) == ["~/held"]


def test_leases_are_waited_for_only_so_long_in_all(home: Path, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_LEASE_PATIENCE", 0.5)
    with ExitStack() as stack:
        for number in range(4):  # each gives its lease back 0.2 s after it is asked to
            file = home / f"held{number}"
            file.write_text("x")
            command = [sys.executable, "-c", HOLDER, str(file), "gives"]
            holder = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE))
            stack.callback(holder.kill)
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
        with pytest.raises(ExhaustedError, match=r"~/held[23] is kept locked"):
            snapshot(home, put)
    assert len(paths(snapshot(home, put))) == 4


def test_odd_names_survive(home: Path, put: Put, blobs: dict[str, bytes], tmp_path: Path) -> None:
    names = ["line\nfeed", " space ", "ümläut 你好", "quote'\"", "-rf", "back\\slash", "tab\t", "*"]
    for name in names:
        (home / name).write_text(name)
    found = snapshot(home, put)
    assert paths(found) == sorted(f"~/{name}" for name in names)
    other = tmp_path / "other"
    other.mkdir()
    restore(found, other, blobs.__getitem__)
    assert sorted(os.listdir(other)) == sorted(names)


def test_a_name_that_is_no_text_is_written_with_escapes(home: Path, put: Put) -> None:
    with open(os.fsencode(home) + b"/bad\xff", "wb") as file:
        file.write(b"x")
    assert paths(snapshot(home, put)) == ["~/bad\\xff"]


def test_what_the_guest_locked_is_read_all_the_same(home: Path, put: Put) -> None:
    (home / "locked").mkdir()
    (home / "locked/secret").write_text("x")
    (home / "locked/secret").chmod(0)
    (home / "locked").chmod(0)
    found = snapshot(home, put)
    assert [(e.path, e.mode) for e in found.entries] == [("~/locked", 0), ("~/locked/secret", 0)]
    assert entry(found, "~/locked/secret").sha256 is not None
    assert stat.S_IMODE((home / "locked").stat().st_mode) == 0


LOCKED = """
import sys, tempfile
from pathlib import Path
from forge.desktop.files import snapshot
for mode in map(int, sys.argv[2:]):
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        home = Path(name)
        (home / "sub").mkdir()
        (home / "sub/file").touch(0)
        locked = home / sys.argv[1]
        locked.chmod(mode)
        found = [(entry.path, entry.mode) for entry in snapshot(home, lambda data: "0" * 64).entries]
        assert found == [("~/sub", mode if sys.argv[1] else 0o755), ("~/sub/file", 0)], found
        assert locked.stat().st_mode & 0o777 == mode
        locked.chmod(0o700)
"""


@pytest.mark.parametrize("folder", ["", "sub"])
def test_what_the_guest_locked_is_read_by_an_ordinary_user_too(folder: str) -> None:
    """One whom a folder's permissions bind, which root's they do not: the home itself and one in it."""
    other: dict[str, Any] = {"user": 65123, "group": 65123, "extra_groups": []} if os.geteuid() == 0 else {}
    command = [sys.executable, "-c", LOCKED, folder, *map(str, (0, 0o100, 0o200, 0o400, 0o500, 0o600))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, umask=0o022, **other)
    assert done.returncode == 0, done.stderr


def test_caches_of_applications_are_left_out(home: Path, put: Put) -> None:
    lay(
        home,
        [
            ("~/.cache/x", b"x", 0o644, False),
            ("~/.config/libreoffice/4/user/registrymodifications.xcu", b"x", 0o644, False),
            ("~/.config/gtk-3.0/settings.ini", b"x", 0o644, False),
            ("~/.thunderbird/alex.default/startupCache/x", b"x", 0o644, False),
            ("~/.thunderbird/alex.default/Mail/pop.example.com/Inbox", b"x", 0o644, False),
            ("~/.thunderbird/alex.default/Mail/pop.example.com/Inbox.msf", b"x", 0o644, False),
            ("~/.thunderbird/alex.default/prefs.js", b"x", 0o644, False),
        ],
    )
    assert [
        path for path in paths(snapshot(home, put)) if not path.endswith(("default", "Mail", "com", ".thunderbird"))
    ] == [
        "~/.thunderbird/alex.default/Mail/pop.example.com/Inbox",
        "~/.thunderbird/alex.default/prefs.js",
    ]


def test_a_persons_own_settings_are_kept(home: Path, put: Put) -> None:
    lay(home, [("~/.config/app/conf.ini", b"x", 0o644, False)])
    assert paths(snapshot(home, put)) == ["~/.config", "~/.config/app", "~/.config/app/conf.ini"]


def test_restoring_follows_no_link_of_the_snapshot(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    digest = "0" * 64
    evil = Snapshot(
        entries=(
            FileEntry(path="~/door", kind="link", target=str(outside)),
            FileEntry(path="~/door/x", kind="file", sha256=digest, size=1),
        )
    )
    with pytest.raises(DesktopError):
        restore(evil, home, lambda _: b"x")
    assert not list(outside.iterdir())


_NAME = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
    lambda name: name not in (".", "..") and not name.startswith(".")
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    tree=st.dictionaries(
        st.lists(_NAME, min_size=1, max_size=3).map(tuple), st.one_of(st.none(), st.binary(max_size=50)), max_size=8
    )
)
def test_snapshot_and_restore_are_a_round_trip(
    tree: dict[tuple[str, ...], bytes | None], tmp_path_factory: pytest.TempPathFactory
) -> None:
    files_of = {k for k, v in tree.items() if v is not None}
    tree = {k: v for k, v in tree.items() if not any(k[:n] in files_of for n in range(1, len(k)))}
    blobs: dict[str, bytes] = {}

    def put(data: bytes) -> str:
        import hashlib

        name = hashlib.sha256(data).hexdigest()
        blobs[name] = data
        return name

    first, second = tmp_path_factory.mktemp("a"), tmp_path_factory.mktemp("b")
    for path, data in tree.items():
        lay(first, [("~/" + "/".join(path), data or b"", 0o640, data is None)])
    found = snapshot(first, put)
    restore(found, second, blobs.__getitem__)
    assert snapshot(second, put) == found
    for path, data in tree.items():
        if data is not None:
            assert first.joinpath(*path).read_bytes() == second.joinpath(*path).read_bytes() == data


def test_settings_are_kept_only_once_they_were_changed(home: Path, put: Put) -> None:
    laid = {".config/vlc/vlcrc": b"[qt]\n", ".config/chromium/Default/Preferences": b"{}"}
    lay(home, [(f"~/{path}", data, 0o644, False) for path, data in laid.items()])
    lay(home, [("~/.config/chromium/Default/GPUCache/x", b"1", 0o644, False), ("~/.config/own", b"", 0o644, False)])
    assert paths(snapshot(home, put, laid)) == ["~/.config", "~/.config/own"]
    lay(home, [("~/.config/vlc/vlcrc", b"[qt]\nqt-bgcone=1\n", 0o644, False)])
    lay(home, [("~/.config/chromium/Default/Bookmarks", b"{}", 0o644, False)])
    assert paths(snapshot(home, put, laid)) == [
        "~/.config",
        "~/.config/chromium",
        "~/.config/chromium/Default",
        "~/.config/chromium/Default/Bookmarks",
        "~/.config/own",
        "~/.config/vlc",
        "~/.config/vlc/vlcrc",
    ]


def test_names_that_are_no_text_are_told_apart(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    names = [b"\xff", rb"\xff", rb"\xff~2", b"\xfe" * 255, b"\xfe" * 254 + b"\xfd", "straße\n".encode()]
    for folder in (home, other):
        folder.mkdir()
    kept: dict[str, bytes] = {}

    def put(data: bytes) -> str:
        kept[hashlib.sha256(data).hexdigest()] = data
        return hashlib.sha256(data).hexdigest()

    for name in names:
        Path(os.fsdecode(bytes(home) + b"/" + name)).write_bytes(name)
    state = snapshot(home, put)
    found = {kept[entry.sha256 or ""]: entry.path for entry in state.entries}
    long = rb"\xfe".decode() * 60
    assert found == dict(
        zip(names, [r"~/\xff~3", r"~/\xff", r"~/\xff~2", f"~/{long}~2", f"~/{long}", "~/straße\n"], strict=True)
    )
    restore(state, other, kept.__getitem__)
    assert {path.read_bytes(): f"~/{path.name}" for path in other.iterdir()} == found
