"""Settling: damage, quiet, and applications that are at work."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from forge.desktop import Slot
from forge.desktop.activity import Activity
from forge.desktop.display import Display
from forge.desktop.settle import Settler
from forge.desktop.sweep import claim
from forge.desktop.xlib import connect

pytestmark = [pytest.mark.desktop, pytest.mark.xdist_group("settle")]


@pytest.fixture(scope="module")
def display(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Display]:
    owned = claim("test", tmp_path_factory.mktemp("root"))
    display = Display(owned.folder, 800, 600)
    yield display
    display.close()
    owned.release()


class Pretended(Activity):
    """Applications that run, or use processor time, until a given moment."""

    def __init__(self, until: float, *, seen: bool):
        self.until, self.seen = until, seen

    def sample(self) -> tuple[float, bool]:
        now = time.monotonic()
        return min(now, self.until), self.seen and now < self.until


@pytest.mark.parametrize("seen", [True, False], ids=["seen running", "only by the time it used"])
def test_work_without_a_change_on_the_screen_is_waited_for(display: Display, seen: bool) -> None:
    began = time.monotonic()
    settler = Settler(display, Pretended(began + 0.8, seen=seen))
    settler.settle(first=0.1, quiet=0.05)
    settler.close()
    assert time.monotonic() - began >= 0.8


def test_a_process_may_have_many_open_files(display: Display, high_descriptors: None) -> None:
    connection = display.authorized(lambda: connect(display.name))
    assert connection.fileno() > 1024
    connection.sync()
    settler = Settler(display)
    assert settler.settle(lambda: False, timeout=0.1) == 0.1
    connection.screen().root.create_window(0, 0, 9, 9, 0, 24, override_redirect=True, background_pixel=5).map()
    connection.sync()
    assert settler.settle(first=5, quiet=0.05) < 2
    settler.close()
    connection.close()


def test_work_without_end_is_not(display: Display) -> None:
    settler = Settler(display, Pretended(time.monotonic() + 60, seen=True))
    assert settler.settle(first=0.1, quiet=0.05) < 5
    assert settler.settle(first=0.1, quiet=0.05, timeout=0.3) == pytest.approx(0.3, abs=0.15)
    settler.close()


def test_a_box_is_at_work_when_an_application_is_and_not_when_the_bash_tool_is() -> None:
    with Slot.open() as slot:
        slot.launch("terminal")
        activity = Activity(slot.pids[-1])
        used, _ = activity.sample()
        slot.shell.run("for i in $(seq 300000); do :; done")
        after, _ = activity.sample()
        assert after - used < 0.3
        began = time.monotonic()
        slot.input.type("for i in $(seq 3000000); do :; done; touch done\n")
        looks = []
        while not (slot.home / "done").exists() and time.monotonic() - began < 60:
            looks.append(activity.sample())
            time.sleep(0.02)
        assert looks[-1][0] - after > 0.5
        assert sum(running for _, running in looks) > len(looks) / 2
