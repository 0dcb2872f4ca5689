"""A film of an episode: each action with its mark, then what came of it; nothing is shown twice."""

import io
from pathlib import Path

from PIL import Image, ImageChops

from forge.desktop.recording import write_gif
from forge.harness.film import AFTER, BEFORE, LAST, frames
from forge.records import (
    ActionRecord,
    Bash,
    Done,
    EndedBy,
    Key,
    Observation,
    Point,
    Pointer,
    Provenance,
    Trajectory,
    sha256_hex,
)


def png(color: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (640, 400), color).save(buffer, "PNG")
    return buffer.getvalue()


BLOBS = {sha256_hex(data): data for data in map(png, ("white", "navy"))}
WHITE, NAVY = (Observation(screenshot=name, width=640, height=400) for name in BLOBS)
ACTIONS = [
    (Pointer(kind="left_click", at=Point(x=0.5, y=0.5)), WHITE, NAVY),
    (Key(keys="ctrl+s"), NAVY, NAVY),
    (Bash(command="ls"), NAVY, NAVY),
    (Done(), NAVY, NAVY),
]
EPISODE = Trajectory(
    task="0" * 64,
    harness="0" * 64,
    channel="hybrid",
    teacher="oracle",
    provenance=Provenance.ORACLE,
    actions=tuple(
        ActionRecord(turn=n, index=n, action=action, before=before, after=after)
        for n, (action, before, after) in enumerate(ACTIONS)
    ),
    ended_by=EndedBy.DONE,
)


def test_actions_and_what_came_of_them() -> None:
    film = list(frames(EPISODE, BLOBS.__getitem__, width=480))
    assert [seconds for _, seconds in film] == [BEFORE, AFTER, BEFORE, BEFORE, LAST]
    assert {picture.size for picture, _ in film} == {(480, 375)}
    corner = [picture.getpixel((470, 100)) for picture, _ in film]
    white, navy = (255, 255, 255), (0, 0, 128)
    assert (corner[0], corner[1], corner[2], corner[4]) == (white, navy, navy, navy)
    middle = film[0][0].crop((230, 215, 250, 235))
    assert ImageChops.difference(middle, Image.new("RGB", middle.size, "white")).getbbox(), "the click is marked"


def test_screenshots_that_are_gone_are_said(tmp_path: Path) -> None:
    write_gif(frames(EPISODE, {}.__getitem__), tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == 5
