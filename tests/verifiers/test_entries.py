"""Looking at a home: kinds, modes, links, what is bookkeeping, what differs, what is put back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.records import PreparerError
from verifiers import entries
from verifiers.base import AgentFault, Tree
from verifiers.entries import below, differs, entry_at, is_bookkeeping, is_own, put_back, remove, walk


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "Documents").mkdir(parents=True)
    (home / "Documents/a.txt").write_text("a")
    (home / "Documents/run.sh").write_text("#!/bin/sh\n")
    (home / "Documents/run.sh").chmod(0o755)
    (home / "link").symlink_to("/etc")
    os.mkfifo(home / "pipe")
    return home


def test_a_walk_names_everything_and_follows_nothing(home: Path) -> None:
    found = walk(Tree(home))
    assert {path: (e.kind, oct(e.mode), e.size, e.target) for path, e in found.items() if e.kind != "folder"} == {
        "~/Documents/a.txt": ("file", "0o644", 1, None),
        "~/Documents/run.sh": ("file", "0o755", 10, None),
        "~/link": ("link", "0o777", 0, "/etc"),
        "~/pipe": ("other", "0o644", 0, None),
    }
    assert list(found) == sorted(found)
    assert set(walk(Tree(home), "~/Documents")) == {"~/Documents/a.txt", "~/Documents/run.sh"}
    assert walk(Tree(home), "~/Documents/a.txt") == {}


def test_a_home_with_far_too_many_files_is_the_agents_fault(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "LIMIT", 3)
    with pytest.raises(AgentFault, match="more than 3"):
        walk(Tree(home, agents=True))
    with pytest.raises(PreparerError, match="more than 3"):
        walk(Tree(home))


@pytest.mark.parametrize(
    ("path", "bookkeeping"),
    [
        ("~/.config/libreoffice/4/user/x.xcu", True),
        ("~/.cache", True),
        ("~/.bash_history", True),
        ("~/.local/share/recently-used.xbel", True),
        ("~/.local/share", False),
        ("~/.local/share/Trash", False),
        ("~/.local/share/Trash/files/a.txt", False),
        ("~/Documents/.~lock.a.xlsx#", True),
        ("~/Documents/a.xlsx", False),
        ("~/.configuration", False),
        ("~/.thunderbird/alex.default/Mail/x", True),
        ("~/notes.txt", False),
    ],
)
def test_what_is_bookkeeping(path: str, bookkeeping: bool) -> None:
    assert is_bookkeeping(path) is bookkeeping
    assert is_bookkeeping(path, ("~/Documents", "~/notes.txt")) is (
        bookkeeping or path.startswith(("~/Documents", "~/notes"))
    )


def test_what_lies_below_others_or_is_one_of_them() -> None:
    assert below("~/a/b", "~/x", "~/a")
    assert below("~/a", "~/a")
    assert not below("~/ab", "~/a")
    assert not below("~", "~/a")
    assert not below("~/a")


def test_what_a_program_keeps_is_its_own_unless_the_task_laid_it() -> None:
    assert is_own("~/.config/site/list.json", ())
    assert is_own("~/.config/sites/x", ("~/.config/site",))
    assert not is_own("~/.config/site/list.json", ("~/.config/site",))
    assert not is_own("~/Documents/a.txt", ())


def test_differences_are_content_kind_mode_and_names_below(home: Path, tmp_path: Path) -> None:
    def fresh() -> Path:
        put_back(home / "Documents", tmp_path / "copy/Documents")
        return tmp_path / "copy"

    same = Tree(fresh())
    assert not differs(Tree(home), same, "~/Documents")
    assert not differs(Tree(home), same, "~/nowhere")
    assert differs(Tree(home), same, "~/link")
    for change in (
        lambda root: (root / "Documents/a.txt").write_text("b"),
        lambda root: (root / "Documents/a.txt").chmod(0o600),
        lambda root: (root / "Documents/a.txt").unlink(),
        lambda root: (root / "Documents/new").mkdir(),
        lambda root: (remove(root / "Documents/a.txt"), (root / "Documents/a.txt").symlink_to("run.sh")),
    ):
        root = fresh()
        change(root)  # type: ignore[no-untyped-call]
        assert differs(Tree(home), Tree(root), "~/Documents")


def test_an_entry_is_the_link_itself(home: Path) -> None:
    found = entry_at(Tree(home), "~/link")
    assert found is not None
    assert (found.kind, found.target) == ("link", "/etc")
    assert entry_at(Tree(home), "~/Documents/none") is None
    assert entry_at(Tree(home), "~/Documents/a.txt/below") is None


def test_put_back_restores_kinds_and_modes_and_removes_what_was_not_there(home: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy"
    put_back(home / "Documents", target / "Documents")
    put_back(home / "link", target / "link")
    put_back(home / "none", target / "Documents/a.txt")
    assert (target / "Documents/run.sh").stat().st_mode & 0o777 == 0o755
    assert os.readlink(target / "link") == "/etc"
    assert not (target / "Documents/a.txt").exists()
