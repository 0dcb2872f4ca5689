"""Going from window to window, on a real desktop."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.desktop

FILES = [("~/Documents/a.txt", b"a\n", 0o644, False)]
OPEN = [("editor", "~/Documents/a.txt"), ("files", "~/Documents"), ("terminal", "~/Documents")]


def test_the_window_asked_for_comes_to_the_front_however_many_lie_between(play_for_real: Callable[..., Any]) -> None:
    steps = [
        {"switch_window": "*Mousepad"},
        {"type": "b\n"},
        {"key": "ctrl+s"},
        {"switch_window": "Terminal"},
        {"type": "touch there && exit\n"},
        {"wait_window": {"title": "Terminal", "gone": True}},
        {"switch_window": "Documents"},
        {"switch_window": "Documents"},
    ]
    played = play_for_real(steps, files=FILES, start=OPEN)
    played.check()
    assert (played.home / "Documents/a.txt").read_bytes() == b"b\na\n"
    assert (played.home / "Documents/there").exists()
    assert played.trajectory.actions[-1].after.window == "Documents"


def test_a_window_that_is_not_there_is_an_error_that_names_the_others(play_for_real: Callable[..., Any]) -> None:
    played = play_for_real([{"switch_window": "Calculator"}], files=FILES, start=OPEN[1:])
    assert played.trajectory.done_status == "failure"
    assert "'Calculator' does not come to the front" in played.trajectory.error
    assert "'Terminal'" in played.trajectory.error
