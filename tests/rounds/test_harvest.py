"""The grounding harvest: walks under claims; an interrupted one ends with what an undisturbed one has."""

from __future__ import annotations

import asyncio
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

import rounds.harvest
from forge.desktop.health import below
from forge.harness.grounding import tours
from forge.harness.grounding.explorer import RESTARTS, Found, StuckError
from forge.harness.grounding.sight import Sight
from forge.records import (
    DesktopError,
    GroundingPair,
    GroundingScreen,
    GroundingTarget,
    InputError,
    Settings,
    Style,
)
from rounds import scenes
from rounds.harvest import Desk, harvest, pair
from rounds.items import Silent, Tally
from rounds.walks import Walk, walks
from rounds.workshop import Workshop
from warehouse import grounding

APPLICATIONS = ("calc", "writer", "impress", "thunderbird", "chromium", "gimp", "vlc", "files", "terminal", "editor")

TEXT = partial(scenes.plain_text, 0)
SMALL = [
    Walk("editor/help", "editor", tours.menus("Help", dialogs=False), TEXT, "~/Documents/notes.txt"),
    Walk("editor/view", "editor", tours.menus("View", dialogs=False), TEXT, "~/Documents/notes.txt", (1366, 768)),
]


class StopAfterOne(Silent):
    """Ctrl-C once the first walk is through."""

    def advance(self, stage: str, note: str = "") -> None:
        raise asyncio.CancelledError


def run(home, progress=None):
    settings = Settings(home=home, slots=1)
    with Workshop(settings) as workshop:
        done = asyncio.run(harvest(workshop, ["editor"], progress))
        rows = [line for line in workshop.warehouse.dump() if line.startswith("grounding_")]
        with workshop.warehouse.read() as connection:
            pairs = grounding.read_pairs(connection)
        blobs = {pair.screenshot: workshop.warehouse.blobs.get(pair.screenshot)[:4] for pair in pairs}
    return done, rows, pairs, blobs


def test_every_application_has_walks_with_their_own_keys():
    found = walks()
    assert {walk.app for walk in found} == set(APPLICATIONS)
    assert len({walk.key for walk in found}) == len(found)
    assert {walk.app for walk in walks(["gimp", "files"])} == {"gimp", "files"}
    assert len({walk.size for walk in found}) == 4
    with pytest.raises(InputError, match="no walk leads through 'emacs'"):
        walks(["emacs"])


@pytest.mark.parametrize(
    "make", [scenes.workbook, scenes.plain_text, scenes.picture, scenes.mailbox], ids=lambda f: f.__name__
)
def test_scenes_are_the_same_for_the_same_seed(make):
    assert make(3) == make(3)
    assert make(3) != make(4)


def test_pages_are_full_of_named_things():
    files, addresses = scenes.pages(1, 2)
    form, table = (data.decode() for _, data, _, _ in files)
    assert addresses[0].startswith("file:///home/alex/site/")
    assert form.count("<label") >= 12
    assert form.count("<button") == 3
    assert table.count('<a href="#">') >= 12 + 14


def test_walks_are_bounded_by_this_machine_and_watched_episodes_by_wherever_slots_are(tmp_path, monkeypatch):
    limits = {}

    async def noted(*_, limit, stage, **more):
        limits[stage] = limit
        return Tally()

    monkeypatch.setattr(rounds.harvest, "run_items", noted)
    monkeypatch.setattr(Workshop, "slot_count", 32)
    with Workshop(Settings(home=tmp_path, slots=2)) as workshop:
        asyncio.run(harvest(workshop, most=0))
    assert limits == {"screens": 2, "oracle's screens": 32}


def sees(explorer):
    explorer._on_screen(Found(Sight(app="editor", width=1280, height=800, elements=(), surfaces=()), b"a picture"))


def fails(explorer):
    raise DesktopError("the X server died")


def never_closes(explorer):
    raise StuckError("a menu does not close")


def fails_in_a_step(explorer):
    explorer.safely(partial(fails, explorer))


def fails_in_every_step(explorer):
    for _ in range(RESTARTS + 1):
        fails_in_a_step(explorer)


def walk_through(home, monkeypatch, *parts, most_slots=100):
    """Harvest one walk on a desktop that opens so many times in a row; (walks done, faults, screens)."""
    slots = iter(())

    def tour(explorer):
        for part in parts:
            part(explorer)

    def begins(desk):
        nonlocal slots
        slots = iter(range(most_slots))
        return desk

    def opens(desk):
        if next(slots, None) is None:
            raise DesktopError("no X server came up")

    monkeypatch.setattr(Desk, "__enter__", begins)
    monkeypatch.setattr(Desk, "open", opens)
    monkeypatch.setattr(rounds.harvest, "walks", lambda apps: [Walk("editor/x", "editor", tour)])
    with Workshop(Settings(home=home, slots=1)) as workshop:
        done = asyncio.run(harvest(workshop))
    return done.walked.done, list(done.walked.faults.values()), [row["screens"] for row in done.counts]


@pytest.mark.parametrize(
    ("tour", "says"),
    [(fails, "the X server died"), (tours.chain(tours.chain(fails)), "no X server came up")],
    ids=["the desktop fails", "no other desktop opens"],
)
def test_a_walk_cut_short_by_a_fault_is_walked_again(tmp_path, monkeypatch, tour, says):
    assert walk_through(tmp_path, monkeypatch, sees, tour, sees, most_slots=1) == (0, [says], [])
    assert walk_through(tmp_path, monkeypatch, sees, sees) == (1, [], [2])


@pytest.mark.parametrize(
    ("tour", "screens"),
    [(never_closes, 1), (fails_in_every_step, 1), (tours.chain(fails_in_every_step), 1), (fails_in_a_step, 2)],
    ids=["does not close", "too many slots", "too many slots in a chain", "one other slot"],
)
def test_what_a_walk_found_is_kept_where_its_application_stops_it(tmp_path, monkeypatch, tour, screens):
    assert walk_through(tmp_path, monkeypatch, sees, tour, sees) == (1, [], [screens])


def test_pairs_of_fewer_screens_never_replace_those_of_more(tmp_path, monkeypatch):
    """Another harvest adds a screen, and its pairs are through before ours, which were begun without it."""

    def screen(number):
        return GroundingScreen(
            key=f"editor/x#{number:04}", part="editor/x", app="editor", window="", width=1280, height=800,
            screenshot=f"{number:064x}", sight=f"{number:064x}",
        )  # fmt: skip

    def other_harvest():
        with workshop.warehouse.begin() as session:
            grounding.add_screens(session, [screen(1)])
        assert pair(workshop, "editor") == 2

    meanwhile = [other_harvest]

    def made_of(_, screens):
        if meanwhile:
            meanwhile.pop()()
        target = GroundingTarget(app="editor", context="window", role="none", name="Bold")
        shown = {"width": 1280, "height": 800, "style": Style.REFUSAL, "instruction": f"one of {len(screens)}"}
        return [GroundingPair(target=target, screen=s.key, screenshot=s.screenshot, **shown) for s in screens]

    monkeypatch.setattr(rounds.harvest, "_pairs", made_of)
    with Workshop(Settings(home=tmp_path)) as workshop:
        with workshop.warehouse.begin() as session:
            grounding.add_screens(session, [screen(0)])
        pair(workshop, "editor")
        with workshop.warehouse.read() as connection:
            assert [p.instruction for p in grounding.read_pairs(connection)] == ["one of 2", "one of 2"]


@pytest.mark.desktop
@pytest.mark.parametrize("of", ["a walk", "the pool"])
def test_a_slot_on_a_frozen_display_is_taken_back_and_has_its_limits(tmp_path, monkeypatch, of):
    monkeypatch.setattr("forge.desktop.lease.SILENCE", 3.0)
    settings = Settings(home=tmp_path, slots=1, slot_limits="open_files=500")
    with Workshop(settings) as workshop, Desk(workshop, Walk("editor/help", "editor", SMALL[0].tour)) as desk:
        slot = desk.open() if of == "a walk" else workshop.slots.acquire()
        assert slot.shell.run("ulimit -n").output == "500\n"
        [server] = [pid for pid in below(slot.pids) if Path(f"/proc/{pid}/comm").read_text().strip() == "Xvfb"]
        os.kill(server, signal.SIGSTOP)
        with ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(slot.screenshot)
            try:
                with pytest.raises(DesktopError):
                    waiting.result(30)
                with pytest.raises(DesktopError, match="its lease ran out"):
                    slot.windows()
            finally:
                slot.close()  # sets the thread free in any case


@pytest.mark.desktop
def test_an_interrupted_harvest_ends_as_an_undisturbed_one(tmp_path, monkeypatch):
    monkeypatch.setattr(rounds.harvest, "walks", lambda apps: SMALL)
    done, whole, pairs, blobs = run(tmp_path / "whole")
    assert (done.walked.done, done.walked.skipped, done.walked.faults) == (2, 0, {})
    assert set(blobs.values()) == {b"\x89PNG"}
    names = {pair.target.name for pair in pairs}
    assert {"Help", "View", "Menubar", "Color Scheme"} <= names
    assert done.counts[0]["most"] <= 5
    with pytest.raises(asyncio.CancelledError):
        run(tmp_path / "parts", StopAfterOne())
    done, parts, _, _ = run(tmp_path / "parts")
    assert (done.walked.done, done.walked.skipped) == (1, 1)
    assert parts == whole
    done, again, _, _ = run(tmp_path / "parts")
    assert (done.walked.done, done.walked.skipped) == (0, 2)
    assert again == whole
