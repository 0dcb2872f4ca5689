"""The explorer on real applications: what it finds, and that it leaves nothing open or changed."""

from __future__ import annotations

import io
from itertools import pairwise

import pytest
from PIL import Image

from forge.desktop import Slot
from forge.harness.grounding.explorer import Explorer
from forge.harness.grounding.sight import take
from forge.harness.grounding.visible import things
from forge.harness.grounding.watch import WatchedEnvironment
from forge.records import DesktopError, Key

TEXT = b"one line\nanother line\n"


@pytest.fixture(scope="module")
def slot():
    with Slot.open(home_files=[("~/notes.txt", TEXT, 0o644, False)]) as opened:
        opened.launch("editor", "~/notes.txt")
        yield opened


@pytest.mark.desktop
def test_menus_submenus_and_dialogs_are_found_and_closed_again(slot):
    explorer = Explorer(slot, "editor")
    explorer.menus("Search", "Document")
    contexts = {t.context: t for found in explorer.found for t in things(found.sight)}
    assert {
        "menu Search",
        "menu Document",
        "menu Document > Tab Size",
        "dialog Find and Replace",
        "dialog Go To",
    } <= set(contexts)
    names = {(t.context, t.name) for found in explorer.found for t in things(found.sight)}
    assert {("menu Search", "Find Previous"), ("menu Document > Tab Size", "4"), ("dialog Go To", "Cancel")} <= names
    assert [window.title for window in slot.windows()] == ["~/notes.txt - Mousepad"]
    assert not [pane for pane in slot.panes() if pane.client is None and pane.width > 20]
    assert (slot.home / "notes.txt").read_bytes() == TEXT


@pytest.mark.desktop
def test_boxes_are_where_the_screen_shows_them(slot):
    """An open menu's entry is drawn inside its box: the area differs from what the closed menu showed there."""
    closed, before = take(slot, "editor")
    assert "Select All" not in {t.name for t in things(closed)}
    slot.input.key("alt+e")
    slot.settle(lambda: len([p for p in slot.panes() if p.client is None and p.width > 20]) == 1)
    opened, after = take(slot, "editor")
    slot.input.key("Escape")
    slot.settle()
    entry = next(t for t in things(opened) if t.name == "Select All")
    x, y, width, height = entry.box
    assert (before[y : y + height, x : x + width] != after[y : y + height, x : x + width]).mean() > 0.05
    assert entry.context == "menu Edit"
    assert {t.surface for t in things(opened) if t.context == "menu Edit"} == {len(opened.surfaces) - 1}
    entries = [t for t in things(opened) if t.context == "menu Edit"]
    assert all(a.box[1] + a.box[3] <= b.box[1] + 1 for a, b in pairwise(entries)), "one below the other"


@pytest.mark.desktop
def test_a_kept_screen_is_a_picture_and_nothing_is_kept_twice(slot):
    explorer = Explorer(slot, "editor")
    explorer.look()
    explorer.look()
    assert len(explorer.found) == 1
    picture = Image.open(io.BytesIO(explorer.found[0].png))
    assert picture.size == (explorer.found[0].sight.width, explorer.found[0].sight.height) == (1280, 800)
    assert explorer.found[0].sight.details, "the editor tells what its menus are for"


def test_after_a_fault_the_walk_goes_on_in_another_slot():
    slots = ["first", "second", "third"]
    explorer = Explorer(slots[0], "editor", None, lambda: slots[1])  # type: ignore[arg-type, return-value]

    def broken():
        raise DesktopError("it hangs")

    explorer.safely(broken)
    assert explorer.slot == "second"
    done = []
    explorer.safely(lambda: done.append(1))
    assert done == [1]
    alone = Explorer(slots[0], "editor")  # type: ignore[arg-type]
    with pytest.raises(DesktopError, match="hangs"):
        alone.safely(broken)


@pytest.mark.desktop
async def test_a_watched_episode_keeps_what_its_actions_bring_up(slot):
    found = []
    environment = WatchedEnvironment(slot, lambda png: "0" * 64, ["editor"], found.append)
    try:
        before = await environment.observe()
        after = (await environment.act(Key(keys="ctrl+r"))).after
        await environment.act(Key(keys="Escape"))
    finally:
        environment.close()
    assert (before.window, after.window) == ("~/notes.txt - Mousepad", "Find and Replace")
    assert [screen.sight.window for screen in found] == [before.window, after.window]
    assert "Search for" in {t.name for t in things(found[1].sight)}
