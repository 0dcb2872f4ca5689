"""`forge show` on a warehouse with one episode: which files it writes, and what it says of ids that are not there."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from forge.records import Settings
from rounds.workshop import Workshop

from ..warehouse.samples import SCREEN, make_task, make_trajectory, register
from .test_commands import forge


@pytest.fixture
def episode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of an episode."""
    monkeypatch.setenv("FORGE_HOME", str(tmp_path / "home"))
    picture = io.BytesIO()
    Image.new("RGB", (SCREEN.width, SCREEN.height), "white").save(picture, "PNG")
    task = make_task()
    with Workshop(Settings(home=tmp_path / "home")) as workshop:
        warehouse = workshop.warehouse
        seen = SCREEN.model_copy(update={"screenshot": warehouse.blobs.put(picture.getvalue())})
        played = make_trajectory(task)
        actions = tuple(a.model_copy(update={"before": seen, "after": seen}) for a in played.actions)
        with warehouse.begin() as session:
            register(warehouse, session, 1)
            warehouse.add_task(session, task, 1, 0)
            return str(warehouse.add_trajectory(session, played.model_copy(update={"actions": actions})))


@pytest.mark.parametrize(
    ("wanted", "written"),
    [
        ([], {"film-ID.png"}),
        (["-o", "strip.png"], {"strip.png"}),
        (["--gif", "a.gif"], {"a.gif"}),
        (["--gif", "a.gif", "-o", "strip.png"], {"a.gif", "strip.png"}),
    ],
)
def test_only_what_is_asked_for_is_written(wanted: list[str], written: set[str], episode: str, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    shown = forge("show", episode, *wanted, cwd=there)
    assert shown.returncode == 0, shown.stderr
    names = {name.replace("ID", episode[:12]) for name in written}
    assert {path.name for path in there.iterdir()} == names
    assert all(name in shown.stdout for name in names)


def test_an_episode_that_is_not_there_names_the_command_that_lists_them(episode: str) -> None:
    shown = forge("show", "zzzz")
    assert shown.returncode == 3
    assert "mend: `forge show` lists them" in shown.stderr


@pytest.mark.parametrize("option", ["-o", "--gif", "--mp4"])
def test_a_target_that_cannot_be_written_is_bad_input(option: str, episode: str) -> None:
    shown = forge("show", episode, option, "no such folder/film")
    assert (shown.returncode, "Traceback" in shown.stderr) == (2, False)
    assert "no such folder/film cannot be written" in shown.stderr


def test_the_default_target_is_looked_at_too(episode: str, tmp_path: Path) -> None:
    name = f"film-{episode[:12]}.png"
    (tmp_path / name).mkdir()
    shown = forge("show", episode, cwd=tmp_path)
    assert (shown.returncode, shown.stderr.partition("\n")[0]) == (
        2,
        f"forge: {name} cannot be written: it is a folder",
    )
