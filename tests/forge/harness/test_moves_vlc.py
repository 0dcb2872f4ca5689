"""The moves for VLC, in a real window; what they did is read from playlists, tags and its settings by other programs."""

import io
import json
import math
import struct
import subprocess
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from forge.harness import MOVES
from forge.records import InputError


def tone(hertz: int, seconds: float = 20) -> bytes:
    """A sound file."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        samples = (int(8000 * math.sin(2 * math.pi * hertz * i / 8000)) for i in range(int(8000 * seconds)))
        file.writeframes(b"".join(struct.pack("<h", sample) for sample in samples))
    return buffer.getvalue()


@pytest.fixture(scope="module")
def song(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A FLAC file without tags."""
    folder = tmp_path_factory.mktemp("song")
    (folder / "a.wav").write_bytes(tone(440))
    argv = ["ffmpeg", "-v", "error", "-i", "a.wav", "-map_metadata", "-1", "-bitexact", "a.flac"]
    subprocess.run(argv, cwd=folder, check=True, stdin=subprocess.DEVNULL)
    return (folder / "a.flac").read_bytes()


def tags(path: Path) -> dict[str, str]:
    argv = ["ffprobe", "-v", "error", "-show_format", "-of", "json", str(path)]
    told = subprocess.run(argv, check=True, capture_output=True, stdin=subprocess.DEVNULL).stdout
    return {name.lower(): value for name, value in json.loads(told)["format"].get("tags", {}).items()}


def settings(path: Path) -> dict[str, str]:
    """What a vlcrc sets; what is left at its default is commented out."""
    lines = (line for line in path.read_text().splitlines() if "=" in line and not line.startswith("#"))
    return dict(line.split("=", 1) for line in lines)


def test_a_playlist_is_xspf_or_m3u() -> None:
    with pytest.raises(InputError, match="move save_playlist: path"):
        MOVES.get("save_playlist").validate("~/Music/list.txt")


@pytest.mark.desktop
def test_media_are_opened_queued_tagged_and_listed(play_for_real: Callable[..., Any], song: bytes) -> None:
    played = play_for_real(
        [
            {"open_media": "~/Music/song.flac"},
            {"tag_media": {"path": "~/Music/song.flac", "tags": {"Title": "Evening", "Artist": "Jane Roe"}}},
            {"queue_media": "~/Music/low note.wav"},
            {"save_playlist": "~/Music/evening.xspf"},
            {"save_playlist": "~/Music/evening.m3u"},
        ],
        files=[("~/Music/song.flac", song, 0o644, False), ("~/Music/low note.wav", tone(110), 0o644, False)],
        start=[("vlc", None)],
    )
    played.check()
    kept = tags(played.home / "Music/song.flac")
    assert (kept["title"], kept["artist"]) == ("Evening", "Jane Roe")
    wanted = ["file:///home/alex/Music/song.flac", "file:///home/alex/Music/low%20note.wav"]
    root = ElementTree.parse(played.home / "Music/evening.xspf").getroot()
    assert [node.text for node in root.iter("{http://xspf.org/ns/0/}location")] == wanted
    lines = (played.home / "Music/evening.m3u").read_text().splitlines()
    assert lines[0] == "#EXTM3U"
    assert [line.replace("file:///home/alex/Music/", "") for line in lines if not line.startswith("#")] == [
        "song.flac",
        "low%20note.wav",
    ]


@pytest.mark.desktop
def test_preferences_are_kept_in_its_file(play_for_real: Callable[..., Any]) -> None:
    played = play_for_real(
        [
            {"media_setting": {"page": "Interface", "name": "Allow only one instance", "value": True}},
            {"media_setting": {"page": "Interface", "name": "Continue playback?", "value": "Never"}},
            {"media_setting": {"page": "Subtitles / OSD", "name": "Preferred subtitle language", "value": "de"}},
        ],
        start=[("vlc", None)],
    )
    played.check()
    kept = settings(played.home / ".config/vlc/vlcrc")
    assert kept["one-instance"] == "1"
    assert kept["qt-continue"] == "0"
    assert kept["sub-language"] == "de"
    assert kept["qt-privacy-ask"] == "0"
