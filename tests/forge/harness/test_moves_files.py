"""The moves for the file manager, in a real window; what they did is read from the disk."""

from collections.abc import Callable
from typing import Any

import pytest

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
