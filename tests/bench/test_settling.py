"""The recording that settling is judged by, and the figures made of it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy
import pytest

from bench.doings import OneOf, Workplace
from bench.recording import Recorder, Recording, differing
from bench.settling import Wait, figures
from forge.desktop.display import Display
from forge.desktop.sweep import claim


def _picture(*spots: tuple[int, int, int, int]) -> numpy.ndarray:
    picture = numpy.zeros((100, 120, 4), numpy.uint8)
    for x, y, width, height in spots:
        picture[y : y + height, x : x + width] = 200
    return picture


def test_pixels_differ_outside_of_ignored_areas() -> None:
    one, other = _picture(), _picture((10, 20, 5, 4), (60, 70, 3, 2))
    assert differing(one, one.copy()) == 0
    assert differing(one, other) == 26
    assert differing(one, other, [(10, 20, 5, 4)]) == 6
    assert differing(one, other, [(0, 0, 12, 100), (60, 71, 50, 50)]) == 3 * 4 + 3


def test_faint_differences_do_not_count() -> None:
    faint = _picture()
    faint[5:9, 5:9] = 20
    assert differing(_picture(), faint) == 0


def test_what_was_missed_is_judged_by_the_last_picture() -> None:
    menu, dialog = _picture((0, 0, 10, 10)), _picture((50, 50, 20, 20))
    recording = Recording(0.0, [(0.0, _picture()), (0.1, menu), (0.2, _picture()), (0.8, dialog)])
    assert recording.changes() == [0.1, 0.2, 0.8]
    assert recording.missed(0.15) == 100 + 400
    assert recording.missed(0.5) == 400
    assert recording.missed(0.8) == 0
    recording.tips.add((50, 50, 20, 10))
    assert recording.missed(0.5) == 200


def test_a_flash_is_not_missed() -> None:
    recording = Recording(0.0, [(0.0, _picture()), (0.5, _picture((0, 0, 50, 50))), (0.6, _picture())])
    assert recording.missed(0.2) == 0


def test_figures_tell_policies_apart() -> None:
    waits = [Wait("calc", "a", True, 0.2, 0, 90)] * 3 + [Wait("files", "b", False, 0.5, 100, 100)]
    found = {figure.name: figure for figure in figures([*waits, Wait("files", "c", False, 0.7, 39, 39)])}
    assert found["actions recorded"].value == 5
    assert (found["with a predicate: early"].value, found["with a predicate: early"].met) == (0, True)
    assert found["with a predicate: early, with bars and icons"].value == 1
    assert (found["without: early"].value, found["without: early"].met) == (0.5, False)
    assert found["without: wait, median"].value == pytest.approx(0.6)
    assert found["files: early, of 2"].value == 1


def test_errands_are_drawn_again_from_the_same_dice() -> None:
    import random

    place = Workplace("calc", (), None, ([{"type": "{word} {number}"}], [{"key": OneOf(("Up", "Down"))}]))
    first, second = (place.errand(random.Random(3)) for _ in range(2))
    drawn = [next(first) for _ in range(6)]
    assert drawn == [next(second) for _ in range(6)]
    assert {step["key"] for steps in drawn for step in steps if "key" in step} <= {"Up", "Down"}
    assert not any("{" in step.get("type", "") for steps in drawn for step in steps)


@pytest.fixture
def display(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Display]:
    owned = claim("test", tmp_path_factory.mktemp("root"))
    display = Display(owned.folder, 800, 600)
    yield display
    display.close()
    owned.release()


@pytest.mark.desktop
def test_a_recording_holds_what_changed_and_when(display: Display) -> None:
    recorder = Recorder(display)
    connection = display.connect()
    root = connection.screen().root
    recording = recorder.start()
    time.sleep(0.3)
    drawn = time.monotonic() - recording.began
    root.fill_rectangle(root.create_gc(foreground=0xFF0000), 10, 10, 20, 30)
    connection.sync()
    time.sleep(0.5)
    recorder.stop()
    recorder.close()
    connection.close()
    assert len(recording.changes()) == 1
    assert recording.changes()[0] >= drawn
    assert recording.missed(drawn) == 600
    assert recording.missed(recording.changes()[0]) == 0
