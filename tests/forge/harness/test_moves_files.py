"""The moves for the file manager, in a real window; what they did is read from the disk."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forge.harness.moves import files_items
from forge.harness.moves.installed import Entry

pytestmark = pytest.mark.desktop

FILES = [
    ("~/Documents/a.txt", b"a", 0o644, False),
    ("~/Documents/b.txt", b"b", 0o644, False),
    ("~/Documents/c.txt", b"c", 0o644, False),
    ("~/Documents/Old", b"", 0o755, True),
    ("~/Pictures/p.png", b"p", 0o644, False),
]


def test_files_are_renamed_copied_moved_and_thrown_away(play_for_real: Callable[..., Any]) -> None:
    played = play_for_real(
        [
            {"rename_item": {"name": "a.txt", "to": "notes.txt"}},
            {"make_folder": "New things"},
            {"transfer_item": {"name": "b.txt", "to": "~/Pictures"}},
            {"open_folder": "~/Documents"},
            {"transfer_item": {"name": "notes.txt", "to": "~/Documents/New things", "how": "copy"}},
            {"open_folder": "~/Documents"},
            {"open_item": "Old"},
            {"open_folder": "~/Documents"},
            {"trash_item": "c.txt"},
        ],
        files=FILES,
        start=[("files", "~/Documents")],
    )
    played.check()
    found = {
        str(path.relative_to(played.home)): path.read_bytes()
        for folder in ("Documents", "Pictures")
        for path in (played.home / folder).rglob("*")
        if path.is_file()
    }
    assert found == {
        "Documents/New things/notes.txt": b"a",
        "Documents/notes.txt": b"a",
        "Pictures/b.txt": b"b",
        "Pictures/p.png": b"p",
    }
    assert (played.home / ".local/share/Trash/files/c.txt").read_bytes() == b"c"
    assert played.trajectory.actions[0].element.name == "a.txt"


def test_things_are_made_dragged_linked_deleted_and_given_rights(play_for_real: Callable[..., Any]) -> None:
    played = play_for_real(
        [
            {"make_file": "empty list.txt"},
            {"drag_item": {"name": "a.txt", "onto": "Old"}},
            {"link_item": {"name": "b.txt", "to": "~/Pictures"}},
            {"set_permissions": {"name": "b.txt", "execute": "Only owner", "view": "Only owner"}},
            {"delete_item": "c.txt"},
            {"open_with": {"name": "empty list.txt", "command": "mousepad", "title": "*empty list.txt - Mousepad"}},
            {"switch_window": "Documents"},
            {"open_with": {"name": "b.txt", "command": "xfce4-terminal -x less"}},
        ],
        files=FILES,
        start=[("files", "~/Documents")],
        max_turns=200,  # a command line may have to be typed again
    )
    played.check()
    home = played.home
    assert (home / "Documents/empty list.txt").read_bytes() == b""
    assert (home / "Documents/Old/a.txt").read_bytes() == b"a"
    assert not (home / "Documents/a.txt").exists()
    assert (home / "Pictures/b.txt").is_symlink()
    assert (home / "Pictures/b.txt").readlink() == Path("/home/alex/Documents/b.txt")
    assert (home / "Documents/b.txt").stat().st_mode & 0o777 == 0o700
    assert not (home / "Documents/c.txt").exists()
    assert not (home / ".local/share/Trash/files/c.txt").exists()


def test_what_the_slots_machine_does_not_list_is_opened_by_its_command_line(
    play_for_real: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = {"mousepad": Entry("Notes of this machine", "Accessories"), "xfce4-terminal -x less": Entry("Less", "Games")}
    monkeypatch.setattr(files_items, "installed", here.get)
    play_for_real(
        [
            {"open_with": {"name": "a.txt", "command": "mousepad", "title": "*a.txt - Mousepad"}},
            {"switch_window": "Documents"},
            {"open_with": {"name": "b.txt", "command": "xfce4-terminal -x less"}},
        ],
        files=FILES,
        start=[("files", "~/Documents")],
        max_turns=200,
    ).check()
