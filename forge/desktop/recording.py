"""Recordings: a slot's screen as it lives, by ffmpeg; and films of pictures, as MP4 or GIF.

What it does NOT cover: sound, and the guest's clock; a recording runs in real time.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from PIL import Image

from forge.desktop.box import reachable
from forge.desktop.spawn import start, stop, unprivileged
from forge.records.errors import DesktopError, InputError

if TYPE_CHECKING:
    from forge.desktop.slot import Slot

Frame = tuple[Image.Image, float]
"""A picture and the seconds that it is shown."""
RATE = 10
"""Pictures a second of a film, and of a recording of a slot elsewhere."""
_GIF_COLOURS = 128
_END = 15.0  # seconds that ffmpeg may take to finish a file


def needed() -> str:
    """ffmpeg's path. Raises DesktopError when it is missing."""
    path = shutil.which("ffmpeg")
    if path is None:
        raise DesktopError("ffmpeg is not installed", mend="run `make setup-apps`")
    return path


def check_target(file: Path, *, draft: bool = True) -> None:
    """Look whether a film or a picture can be written, before it is made.

    Args:
        file: where it goes.
        draft: a draft will be made beside it, as recordings of a display do.

    Raises:
        InputError: it cannot be written there.
    """
    said: str | None = None
    try:
        if file.is_dir():
            said = "it is a folder"
        elif file.exists() and not os.access(file, os.W_OK):
            said = "it is write-protected"
        elif draft or not file.exists():
            with tempfile.TemporaryFile(dir=file.parent):
                pass
    except OSError as error:
        said = error.strerror
    if said is not None:
        raise InputError(f"{file} cannot be written: {said}", mend="name a file in a folder that is there")


class Recording:
    """A live recording of a slot as MP4, from when it is made until `close`. Use it as a context manager.

    A slot of this machine is recorded with its pointer by ffmpeg itself, which ends with the slot at the latest; of a slot
    elsewhere, ten screenshots a second are taken at most, without pointer.

    Args:
        slot: an open slot.
        file: where the MP4 goes; it is whole only after `close`.
        rate: pictures a second.

    Raises:
        InputError: the MP4 cannot be written there.
        DesktopError: ffmpeg is missing or cannot see the screen.
    """

    def __init__(self, slot: Slot, file: Path, rate: int = 15):
        from forge.desktop.acting import Away

        self._recorder: _Sampler | DisplayRecording | None
        if isinstance(slot, Away):
            needed()
            self._recorder = _Sampler(slot, file, min(rate, RATE))
        else:
            self._recorder = DisplayRecording(slot.display, slot.xauthority, file, rate)

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End it and finish the file. May be called twice.

        Raises:
            DesktopError: the file cannot be finished; it names the one in which what was recorded is kept, if it can be.
        """
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            recorder.close()


class DisplayRecording:
    """ffmpeg on one display, as the slot's unprivileged user.

    Args:
        display: ":7".
        cookie: the Xauthority file.
        file: where the MP4 goes; it is whole only after `close`.
        rate: pictures a second.

    Raises:
        InputError: the MP4 cannot be written there.
        DesktopError: ffmpeg is missing or cannot see the screen.
    """

    def __init__(self, display: str, cookie: Path, file: Path, rate: int = 15):
        check_target(file)
        self._file = file
        self._draft = tempfile.NamedTemporaryFile(  # noqa: SIM115
            dir=file.parent, prefix=".recording-", suffix=".mp4", delete=False
        )
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._process = self._start(display, cookie, rate)
            self._wait_for_pictures()
        except BaseException:
            self._discard()
            raise

    def close(self) -> None:
        """End it and finish the file. Raises DesktopError as `Recording.close`."""
        if self._process is None:
            return
        process, self._process = self._process, None
        killed = -(process.poll() or 0)  # it ends by itself with the display
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        try:
            process.wait(_END)
        except subprocess.TimeoutExpired:
            stop(process)
        try:
            _run(
                [
                    "-i",
                    f"file:{self._draft.name}",
                    "-c",
                    "copy",
                    "-movflags",
                    "+faststart",
                    "-f",
                    "mp4",
                    f"file:{self._file}",
                ]
            )
        except DesktopError as error:
            self._draft.close()
            self._log.close()
            raise _kept(error, self._draft.name) from error
        self._discard()
        if killed > 0:
            raise DesktopError(f"{self._file} ends early: ffmpeg was killed by signal {killed} while it recorded")

    def _start(self, display: str, cookie: Path, rate: int) -> subprocess.Popen[bytes]:
        user = cookie.stat().st_uid  # the slot's own, who alone may read it
        prefix, (folder,) = reachable([cookie.parent], user)
        output = self._draft.fileno()
        argv = [needed(), "-nostdin", "-loglevel", "error", "-f", "x11grab", "-draw_mouse", "1"]
        argv += ["-framerate", str(rate), "-i", display, *_CODEC, "-g", str(2 * rate)]
        # in pieces of two seconds, for it cannot go back in what it writes; the file is put in order at the end
        argv += ["-movflags", "frag_keyframe+empty_moov", "-flush_packets", "1", "-f", "mp4", f"pipe:{output}"]
        environment = {"PATH": "/usr/bin:/bin", "XAUTHORITY": f"{folder}/{cookie.name}"}
        command = [*prefix, *unprivileged(argv, user=user)]
        return start(command, env=environment, pass_fds=(output,), log=self._log)

    def _discard(self) -> None:
        stop(self._process)
        self._draft.close()
        self._log.close()
        Path(self._draft.name).unlink(missing_ok=True)

    def _wait_for_pictures(self) -> None:
        """Until ffmpeg has written its first bytes: what is done from now on is in the recording."""
        assert self._process is not None
        deadline = time.monotonic() + _END
        while os.fstat(self._draft.fileno()).st_size == 0:
            if self._process.poll() is not None or time.monotonic() > deadline:
                stop(self._process)
                self._log.seek(0)
                said = self._log.read().decode(errors="replace").strip()[-300:]
                raise DesktopError(f"the screen cannot be recorded: {said or 'ffmpeg gave no picture'}")
            time.sleep(0.02)


class _Sampler:
    """Screenshots at a steady rate, in a thread."""

    def __init__(self, slot: Slot, file: Path, rate: int):
        check_target(file, draft=False)
        self._slot = slot
        self._file = file
        self._rate = rate
        self._shots: list[tuple[bytes, int]] = []  # a picture, and for how many ticks
        self._ended = threading.Event()
        self._take()
        self._thread = threading.Thread(target=self._run, name="forge-recording", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        try:
            write_mp4(self._frames(), self._file, rate=self._rate)
        except DesktopError as error:
            with tempfile.NamedTemporaryFile(prefix="recording-", suffix=".mp4", delete=False) as kept:
                try:
                    write_mp4(self._frames(), Path(kept.name), rate=self._rate)
                except BaseException as second:
                    Path(kept.name).unlink()
                    if isinstance(second, DesktopError):
                        raise error from second
                    raise
            raise _kept(error, kept.name) from error

    def _frames(self) -> Iterable[Frame]:
        return ((Image.open(io.BytesIO(png)).convert("RGB"), ticks / self._rate) for png, ticks in self._shots)

    def _run(self) -> None:
        while not self._ended.wait(1 / self._rate):
            try:
                self._take()
            except DesktopError:
                return  # whoever uses the slot meets the fault

    def _take(self) -> None:
        png = self._slot.screenshot().png
        if self._shots and self._shots[-1][0] == png:
            self._shots[-1] = (png, self._shots[-1][1] + 1)
        else:
            self._shots.append((png, 1))


def write_film(frames: Iterable[Frame], file: Path) -> None:
    """Write pictures as a film; the suffix says which, `.mp4` or `.gif`.

    Raises:
        InputError: another suffix, or no picture.
        DesktopError: ffmpeg is missing or failed (MP4 only).
    """
    kinds = {".mp4": write_mp4, ".gif": write_gif}
    if file.suffix.lower() not in kinds:
        raise InputError(f"{file}: a film is an .mp4 or a .gif")
    kinds[file.suffix.lower()](frames, file)


def write_gif(frames: Iterable[Frame], file: Path) -> None:
    """A GIF that repeats; all pictures have the size of the first. Raises InputError without a picture."""
    pictures: list[Image.Image] = []
    times: list[int] = []
    for picture, seconds in frames:
        fitted = _fit(picture, pictures[0].size if pictures else picture.size)
        pictures.append(fitted.quantize(_GIF_COLOURS, dither=Image.Dither.NONE))
        times.append(max(20, round(seconds * 100) * 10))  # a GIF counts in hundredths
    if not pictures:
        raise InputError(f"{file}: there is no picture for a film")
    pictures[0].save(file, "GIF", save_all=True, append_images=pictures[1:], duration=times, loop=0, optimize=False)


def write_mp4(frames: Iterable[Frame], file: Path, rate: int = RATE) -> None:
    """An MP4 (H.264); all pictures have the size of the first.

    Raises:
        InputError: no picture.
        DesktopError: ffmpeg is missing or failed.
    """
    frames = iter(frames)
    first = next(frames, None)
    if first is None:
        raise InputError(f"{file}: there is no picture for a film")
    width, height = first[0].size
    arguments = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(rate), "-i", "-"]
    arguments += [*_CODEC, "-movflags", "+faststart", "-f", "mp4", f"file:{file}"]

    def raw() -> Iterable[bytes]:
        shown = due = 0.0
        for picture, seconds in _with(first, frames):
            due += seconds
            data = _fit(picture, (width, height)).tobytes()
            while shown < due - 0.5 / rate:
                shown += 1 / rate
                yield data

    _run(arguments, raw())


_CODEC = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2"]
_CODEC += ["-pix_fmt", "yuv420p"]


def _kept(error: DesktopError, where: str) -> DesktopError:
    if not Path(where).exists():
        return error
    return DesktopError(f"{error.message}; what was recorded is kept in {where}", mend=error.mend)


def _with(first: Frame, rest: Iterable[Frame]) -> Iterable[Frame]:
    yield first
    yield from rest


def _fit(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    picture = picture.convert("RGB")
    return picture if picture.size == size else picture.resize(size, Image.Resampling.LANCZOS)


def _run(arguments: list[str], pieces: Iterable[bytes] = ()) -> None:
    """Run ffmpeg on what is piped in. Raises DesktopError with what it said."""
    command = [needed(), "-y", "-loglevel", "error", *arguments]
    with tempfile.TemporaryFile() as log:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log) as process:
            assert process.stdin is not None
            with suppress(BrokenPipeError):
                for piece in pieces:
                    process.stdin.write(piece)
            with suppress(BrokenPipeError):
                process.stdin.close()
        if process.returncode != 0:
            log.seek(0)
            said = log.read().decode(errors="replace").strip()[-300:]
            raise DesktopError(f"ffmpeg failed: {said or f'exit code {process.returncode}'}")
