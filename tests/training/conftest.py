"""Episodes of lights, folded and written once."""

from __future__ import annotations

from pathlib import Path

import pytest

from training import fold, write_shards
from training.example import Example
from training.lights import HARNESS, Blobs, episode


@pytest.fixture(scope="session")
def blobs() -> Blobs:
    return Blobs()


@pytest.fixture(scope="session")
def examples(blobs: Blobs) -> list[Example]:
    """24 episodes of two turns."""
    played = [episode(number, blobs) for number in range(24)]
    return [example for trajectory, task in played for example in fold(trajectory, task, HARNESS, blobs.__getitem__)]


@pytest.fixture(scope="session")
def shards(examples: list[Example], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with those examples; not to be changed."""
    folder = tmp_path_factory.mktemp("lights") / "shards"
    write_shards(examples, folder, query={"skill": "lights"})
    return folder
