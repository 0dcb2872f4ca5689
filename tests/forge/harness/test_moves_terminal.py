"""The moves for the terminal's window; what was typed is known by the files that it wrote."""

from collections.abc import Callable
from typing import Any

import pytest

from forge.harness import MOVES
from forge.harness.moves.terminal import _since
from forge.records import InputError

START = [("terminal", "~/Documents")]
FILES = [("~/Documents/a.txt", b"pear\nplum\n", 0o644, False)]


def test_what_a_command_printed_is_below_it() -> None:
    shown = "alex@desktop:~$ ls\na.txt\nalex@desktop:~$ wc -l a.txt\n2 a.txt\nalex@desktop:~$"
    assert _since(shown, "wc -l a.txt") == "\n2 a.txt\nalex@desktop:~$"


def test_a_command_is_one_line() -> None:
    with pytest.raises(InputError, match="move run_command: command"):
        MOVES.get("run_command").validate("ls\npwd")


@pytest.mark.desktop
def test_commands_are_typed_in_tabs_and_what_is_shown_is_saved(play_for_real: Callable[..., Any]) -> None:
    played = play_for_real(
        [
            {
                "run_command": {
                    "command": "sort -r a.txt > b.txt; wc -l b.txt",
                    "shows": "2 b.txt",
                    "makes": "~/Documents/b.txt",
                }
            },
            {"new_terminal_tab": None},
            {"run_command": "pwd > where.txt; echo from the second tab"},
            {"save_terminal": "~/Documents/second tab.txt"},
            {"terminal_tab": 1},
            {"run_command": {"command": "printf 'echo pasted > c.txt' > line.txt; clear; cat line.txt"}},
            {"terminal_tab": 2},
            {"close_terminal_tab": None},
            {"run_command": {"command": "sleep 2; echo done > d.txt", "makes": "~/Documents/d.txt"}},
        ],
        files=FILES,
        start=START,
    )
    played.check()
    home = played.home / "Documents"
    assert (home / "b.txt").read_text() == "plum\npear\n"
    assert (home / "where.txt").read_text() == "/home/alex/Documents\n"
    assert "\nfrom the second tab\n" in (home / "second tab.txt").read_text()
    assert "wc -l" not in (home / "second tab.txt").read_text()
    assert (home / "line.txt").read_text() == "echo pasted > c.txt"
    assert (home / "d.txt").read_text() == "done\n"


@pytest.mark.desktop
def test_what_the_terminal_shows_is_copied_and_pasted_elsewhere(play_for_real: Callable[..., Any]) -> None:
    played = play_for_real(
        [
            {"run_command": "echo 'first; second'"},
            {"copy_terminal": None},
            {"new_terminal_tab": None},
            {"type": "cat > pasted.txt\n"},
            {"paste_terminal": None},
            {"key": {"keys": "ctrl+d", "repeat": 2}},  # what was pasted does not end with a newline
            {"wait_for": {"role": "terminal", "text": "$ "}},
        ],
        files=FILES,
        start=START,
    )
    played.check()
    assert "\nfirst; second\n" in (played.home / "Documents/pasted.txt").read_text()


@pytest.mark.desktop
def test_what_is_not_printed_is_said(play_for_real: Callable[..., Any]) -> None:
    steps = [{"run_command": {"command": "cat a.txt", "shows": "quince"}}]
    played = play_for_real(steps, files=FILES, start=START)
    assert "'cat a.txt' does not print 'quince'" in played.trajectory.error
    assert "plum" in played.trajectory.error
