"""The moves for the text editor, in a real window; what they did is read from the files."""

from collections.abc import Callable
from typing import Any

import pytest

from forge.harness import MOVES
from forge.records import InputError

LIST = b"Pears 3\napples 5\npears 7\nPlums 2\nlast line\n"
FILES = [("~/Documents/list.txt", LIST, 0o644, False), ("~/Documents/other.txt", b"one\ntwo\n", 0o644, False)]
START = [("editor", "~/Documents/list.txt")]


def test_lines_are_counted_from_one() -> None:
    with pytest.raises(InputError, match="move go_to_line: line: Input should be greater"):
        MOVES.get("go_to_line").validate(0)


@pytest.mark.desktop
def test_a_text_is_changed_and_saved(play_for_real: Callable[..., Any]) -> None:
    played = play_for_real(
        [
            {"replace_text": {"find": "pears", "replace": "Quinces"}},
            {"replace_text": {"find": "plums", "replace": "never", "match_case": False, "whole_word": True}},
            {"insert_at_line": {"line": 1, "text": "Shopping – “fruit”\n"}},
            {"edit_line": {"line": 3, "how": "duplicate"}},
            {"edit_line": {"line": 6, "how": "up"}},
            {"edit_line": {"line": 7, "how": "delete"}},
            {"convert_text": {"to": "Uppercase", "line": 3}},
            {"save_text": "~/Documents/list.txt"},
        ],
        files=FILES,
        start=START,
    )
    played.check()
    assert (played.home / "Documents/list.txt").read_text() == (
        "Shopping – “fruit”\nQuinces 3\nAPPLES 5\napples 5\nnever 2\nQuinces 7\n"
    )


@pytest.mark.desktop
def test_a_text_is_saved_under_another_name_with_other_ends_of_lines(play_for_real: Callable[..., Any]) -> None:
    played = play_for_real(
        [
            {"open_text": "~/Documents/other.txt"},
            {"convert_text": "Title Case"},
            {"line_ending": "DOS"},
            {"save_text_as": "~/Documents/for windows.txt"},
        ],
        files=FILES,
        start=START,
    )
    played.check()
    assert (played.home / "Documents/for windows.txt").read_bytes() == b"One\r\nTwo\r\n"
    assert (played.home / "Documents/other.txt").read_bytes() == b"one\ntwo\n"
    assert (played.home / "Documents/list.txt").read_bytes() == LIST


@pytest.mark.desktop
def test_what_does_not_occur_is_said(play_for_real: Callable[..., Any]) -> None:
    played = play_for_real([{"replace_text": {"find": "figs", "replace": "x"}}], files=FILES, start=START)
    assert "'figs' does not occur in the text" in played.trajectory.error
