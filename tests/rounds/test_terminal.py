"""What jobs print: lines of progress are plain where there is no terminal, and never obeyed as markup or control characters."""

from __future__ import annotations

import pytest

from rounds.terminal import Bars


def test_a_line_of_progress_is_whole_and_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    long = "files.text.note-owner: write: " + "word " * 60
    with Bars() as bars:
        bars.start("author", 1)
        bars.say(long)
        bars.say("[bold]not markup[/bold] \x1b[2J")
        bars.advance("author", "done")
    shown = capsys.readouterr()
    assert shown.out == ""
    lines = shown.err.splitlines()
    assert lines[0].rstrip() == long.rstrip()
    assert lines[1].startswith("[bold]not markup[/bold] ")
    assert "\x1b" not in lines[1]
