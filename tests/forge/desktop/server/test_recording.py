"""Recordings show what was on the screen; films of an episode show its steps."""

from __future__ import annotations

import io
import json
import re
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from PIL import Image

from forge.desktop import Slot, acting, recording
from forge.desktop.display import Display
from forge.desktop.recording import DisplayRecording, Recording, check_target, write_film, write_gif, write_mp4
from forge.desktop.remote import RemotePool
from forge.records import DesktopError, InputError
from tests.forge.desktop.conftest import processes

COLOURS = [(200, 30, 30), (30, 200, 30), (30, 30, 200)]
FRAMES = [
    (Image.new("RGB", (320, 201), colour), seconds) for colour, seconds in zip(COLOURS, (1.0, 0.5, 1.5), strict=True)
]


def facts(file: Path) -> dict[str, str]:
    """Width, height and seconds of a video."""
    ask = ["ffprobe", "-v", "error", "-of", "json", "-show_entries", "stream=width,height,codec_name:format=duration"]
    done = subprocess.run([*ask, str(file)], capture_output=True, check=True, stdin=subprocess.DEVNULL)
    found = json.loads(done.stdout)
    return {**found["streams"][0], **found["format"]}


def frame(file: Path, second: float) -> numpy.ndarray:
    """The picture at a moment, as RGB."""
    size = facts(file)
    command = ["ffmpeg", "-v", "error", "-i", str(file), "-ss", str(second), "-frames:v", "1"]
    command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, capture_output=True, check=True, stdin=subprocess.DEVNULL)
    return numpy.frombuffer(done.stdout, numpy.uint8).reshape(int(size["height"]), int(size["width"]), 3)


def test_an_mp4_shows_each_picture_for_its_time(tmp_path: Path) -> None:
    file = tmp_path / "film.mp4"
    write_mp4(FRAMES, file)
    found = facts(file)
    assert (found["codec_name"], found["width"], found["height"]) == ("h264", 320, 202)  # H.264 wants even sizes
    assert float(found["duration"]) == pytest.approx(3.0, abs=0.11)
    for second, colour in ((0.5, COLOURS[0]), (1.2, COLOURS[1]), (2.5, COLOURS[2])):
        assert frame(file, second)[100, 160] == pytest.approx(colour, abs=12)


@pytest.mark.parametrize("name", ["-x.mp4", "10:30 run.mp4", "a%d.mp4"])
def test_a_name_is_a_name(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """ffmpeg would read options, protocols and numbers of pictures into it."""
    monkeypatch.chdir(tmp_path)
    write_mp4(FRAMES[:1], Path(name))
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert float(facts(Path(f"./{name}").absolute())["duration"]) == pytest.approx(1.0, abs=0.11)


def test_a_gif_shows_each_picture_for_its_time(tmp_path: Path) -> None:
    file = tmp_path / "film.gif"
    write_gif(FRAMES, file)
    with Image.open(file) as film:
        assert film.n_frames == 3
        for number, (picture, seconds) in enumerate(FRAMES):
            film.seek(number)
            assert film.info["duration"] == seconds * 1000
            assert film.convert("RGB").getpixel((160, 100)) == picture.getpixel((160, 100))


def test_what_is_no_film_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"an \.mp4 or a \.gif"):
        write_film(FRAMES, tmp_path / "film.avi")
    for name in ("film.mp4", "film.gif"):
        with pytest.raises(InputError, match="no picture"):
            write_film([], tmp_path / name)


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(DesktopError, match="ffmpeg is not installed\n  mend: run `make setup-apps`"):
        write_mp4(FRAMES, tmp_path / "film.mp4")


@pytest.mark.desktop
def test_a_live_recording_shows_the_screen(tmp_path: Path) -> None:
    file = tmp_path / "live.mp4"
    with Slot.open(root=tmp_path / "root") as slot:
        with Recording(slot, file):
            slot.input.move(10, 10)
            time.sleep(0.4)  # what is to be recorded takes its time
            slot.launch("editor")
            slot.input.type("recorded")
            slot.settle()
            time.sleep(0.4)
            screen = slot.screen.pixels()[:, :, 2::-1].astype(int)
        assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".recording")] == []
    found = facts(file)
    assert (found["width"], found["height"]) == (1280, 800)
    last = frame(file, float(found["duration"]) - 0.2).astype(int)
    assert abs(last - screen).mean() < 3
    assert abs(frame(file, 0.1).astype(int) - screen).mean() > 20, "it began before the editor was open"


@pytest.mark.desktop
def test_a_recording_whose_recorder_was_killed_says_so(tmp_path: Path) -> None:
    file = tmp_path / "film.mp4"
    with Slot.open(root=tmp_path) as slot:
        live = DisplayRecording(slot.display, slot.xauthority, file)
        time.sleep(0.5)
        assert live._process is not None
        live._process.kill()
        live._process.wait()
        with pytest.raises(DesktopError, match=r"film\.mp4 ends early: ffmpeg was killed by signal 9"):
            live.close()
    assert file.exists()


def test_a_slot_elsewhere_is_recorded_too(remote: RemotePool, tmp_path: Path) -> None:
    file = tmp_path / "elsewhere.mp4"
    with remote.acquire() as slot, Recording(slot, file):
        slot.launch("editor")
        slot.input.type("recorded")
        slot.settle()
        screen = slot.screen.pixels()[:, :, 2::-1].astype(int)
        time.sleep(0.3)
    found = facts(file)
    last = frame(file, float(found["duration"]) - 0.11).astype(int)
    assert abs(last - screen).mean() < 3


@pytest.mark.desktop
def test_a_screen_that_is_gone_is_said(tmp_path: Path) -> None:
    cookie = tmp_path / "cookie"
    cookie.write_bytes(b"")
    with pytest.raises(DesktopError, match="cannot be recorded"):
        DisplayRecording(":9999", cookie, tmp_path / "film.mp4")
    assert [each.name for each in tmp_path.iterdir()] == ["cookie"]


@pytest.mark.desktop
def test_a_recording_that_is_interrupted_before_it_began_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: DisplayRecording) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(DisplayRecording, "_wait_for_pictures", interrupted)
    (tmp_path / "display").mkdir()
    with closing(Display(tmp_path / "display", 320, 202)) as display:
        with pytest.raises(KeyboardInterrupt):
            DisplayRecording(display.name, display.cookie, tmp_path / "film.mp4")
        assert processes(f"-i {display.name} ") == []
    assert [each.name for each in tmp_path.iterdir()] == ["display"]


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A slot elsewhere that shows one colour."""
    png = io.BytesIO()
    FRAMES[0][0].save(png, "PNG")
    monkeypatch.setattr(acting, "Away", SimpleNamespace)
    return SimpleNamespace(screenshot=lambda: SimpleNamespace(png=png.getvalue()))


@pytest.mark.parametrize("target", ["absent/film.mp4", "folder", "file/film.mp4"])
def test_where_no_film_can_be_written_none_is_begun(tmp_path: Path, elsewhere: Any, target: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=f"{target} cannot be written: .*\n  mend: "):
        Recording(elsewhere, tmp_path / target)
    with pytest.raises(InputError, match=f"{target} cannot be written: .*\n  mend: "):
        DisplayRecording(":9999", tmp_path / "file", tmp_path / target)


@pytest.mark.desktop
def test_a_recording_whose_file_cannot_be_finished_is_kept(tmp_path: Path, elsewhere: Any) -> None:
    (tmp_path / "display").mkdir()
    with closing(Display(tmp_path / "display", 320, 202)) as display:
        live = DisplayRecording(display.name, display.cookie, tmp_path / "live.mp4")
        sampled = Recording(elsewhere, tmp_path / "elsewhere.mp4")
        time.sleep(0.5)
        for recorder, name in ((live, "live.mp4"), (sampled, "elsewhere.mp4")):
            (tmp_path / name).mkdir()
            with pytest.raises(DesktopError, match="directory; what was recorded is kept in ") as fault:
                recorder.close()
            recorder.close()  # no second one is kept
            kept = Path(re.split(" is kept in ", fault.value.message)[1])
            assert float(facts(kept)["duration"]) > 0
            kept.unlink()


@pytest.mark.parametrize("fault", [DesktopError("the disk is full"), KeyboardInterrupt()])
def test_a_recording_that_cannot_be_kept_either_leaves_nothing(
    tmp_path: Path, elsewhere: Any, fault: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "film.mp4"
    first = DesktopError(f"{target} cannot be written")

    def write(frames: Any, file: Path, rate: int) -> None:
        raise first if file == target else fault

    monkeypatch.setattr(recording, "write_mp4", write)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    recorder = Recording(elsewhere, target)
    with pytest.raises((DesktopError, KeyboardInterrupt)) as told:
        recorder.close()
    assert told.value is (first if isinstance(fault, DesktopError) else fault)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_wants_no_folder_that_can_be_written_but_for_a_draft() -> None:
    file = Path("/proc/self/comm")  # beside it nobody can make a file, not even root
    check_target(file, draft=False)
    with pytest.raises(InputError, match=f"{file} cannot be written"):
        check_target(file)
