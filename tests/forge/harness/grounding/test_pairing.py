"""Pairs of many screens: each target at most five times, refusals for what is surely not there."""

from __future__ import annotations

import io
import random
from collections import Counter

from PIL import Image

from forge.harness.grounding.pairing import PER_TARGET, Screen, pairs_of
from forge.harness.grounding.sheet import sheet
from forge.records import Style
from tests.forge.harness.grounding.desks import DIALOG, FILE_MENU, OVER, WINDOW, Surface, popup, sight

PLAIN = sight(*WINDOW)
MENU = sight(
    *WINDOW, *FILE_MENU, surfaces=(Surface(x=0, y=0, width=800, height=600, title="Main"), popup(0, 44, 160, 80))
)
SORT = sight(*WINDOW, *DIALOG, surfaces=OVER, window="Sort")
SCREENS = [
    Screen(f"walk#{n}", f"{n:064x}", shown)
    for n, shown in enumerate([PLAIN, MENU, SORT, PLAIN, MENU, SORT, PLAIN, PLAIN])
]


def test_no_target_is_used_more_often_than_five_times():
    pairs = pairs_of(SCREENS)
    uses = Counter(pair.target for pair in pairs if pair.style is not Style.REFUSAL)
    assert max(uses.values()) <= PER_TARGET
    assert {target.name for target in uses} == {
        "File", "Edit", "Bold", "Italic", "Sort Ascending", "Open", "Save", "Export", "Match case", "Cancel", "OK",
    }  # fmt: skip


def test_every_box_is_the_element_s_on_that_screen():
    sights = {screen.key: screen.sight for screen in SCREENS}
    for pair in pairs_of(SCREENS):
        if pair.box is not None:
            assert pair.box in {e.box for e in sights[pair.screen].elements if e.role == pair.target.role}


def test_the_order_of_the_screens_does_not_matter():
    shuffled = SCREENS[:]
    random.Random(1).shuffle(shuffled)
    assert set(map(str, pairs_of(SCREENS))) == set(map(str, pairs_of(shuffled)))


def test_no_picture_has_two_equal_instructions():
    counts = Counter((pair.screen, pair.instruction.lower()) for pair in pairs_of(SCREENS))
    assert max(counts.values()) == 1


def test_refusals_ask_for_what_no_element_of_the_screen_resembles():
    refusals = [pair for pair in pairs_of(SCREENS) if pair.style is Style.REFUSAL]
    assert refusals
    sights = {screen.key: screen.sight for screen in SCREENS}
    for pair in refusals:
        shown = {e.name.lower() for e in sights[pair.screen].elements}
        assert pair.box is None
        assert pair.target.name.lower() not in shown
        assert pair.target.name in ("Match case", "Sort Ascending"), "names of one generic word are not sure enough"


def test_a_sheet_shows_every_pair():
    png = io.BytesIO()
    Image.new("RGB", (800, 600), "white").save(png, "PNG")
    pairs = pairs_of(SCREENS)[:13]
    picture = Image.open(io.BytesIO(sheet(pairs, lambda _: png.getvalue(), columns=5)))
    assert picture.width == 5 * 308
    assert picture.height // 3 * 3 == picture.height, "thirteen pairs need three rows of five"
    assert (255, 0, 0) in {colour for _, colour in picture.convert("RGB").getcolors(1 << 20)}
