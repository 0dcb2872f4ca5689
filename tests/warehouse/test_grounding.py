"""Grounding rows on both engines."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from forge.records import GroundingPair, GroundingScreen, GroundingTarget, Style
from warehouse import grounding


def screen(app: str, number: int = 0) -> GroundingScreen:
    return GroundingScreen(
        key=f"{app}/menus#{number:04}", part=f"{app}/menus", app=app, window="Main", width=1280, height=800,
        screenshot=f"{number:064x}", sight=f"{number + 1000:064x}",
    )  # fmt: skip


def pair(app: str, name: str, style: Style = Style.NAME, number: int = 0) -> GroundingPair:
    refusal = style is Style.REFUSAL
    target = GroundingTarget(app=app, context="window", role="none" if refusal else "push button", name=name)
    return GroundingPair(
        target=target, style=style, instruction=f"Click \U0001f600 {name}", screen=screen(app, number).key,
        screenshot=f"{number:064x}", width=1280, height=800, box=None if refusal else (1, 2, 30, 40),
    )  # fmt: skip


CALC = [pair("calc", "Bold"), pair("calc", "Bold", Style.FUNCTION), pair("calc", "Nowhere", Style.REFUSAL)]


def write(warehouse, app, pairs, screens=(0,)):
    with warehouse.begin() as session:
        grounding.add_screens(session, [screen(app, n) for n in screens])
        grounding.replace_pairs(session, app, pairs)


def test_what_goes_in_comes_out(warehouse):
    write(warehouse, "calc", CALC)
    write(warehouse, "gimp", [pair("gimp", "Blur")])
    with warehouse.read() as connection:
        assert grounding.read_screens(connection, "calc") == [screen("calc")]
        assert set(map(str, grounding.read_pairs(connection, ["calc"]))) == set(map(str, CALC))
        assert len(grounding.read_pairs(connection)) == 4
        assert grounding.read_pairs(connection, []) == []


def test_pairs_are_replaced_as_a_whole_and_screens_stay(warehouse):
    write(warehouse, "calc", CALC, (0, 1))
    write(warehouse, "gimp", [pair("gimp", "Blur")])
    write(warehouse, "calc", [pair("calc", "Italic", number=1)], (1, 2))
    with warehouse.read() as connection:
        assert [p.target.name for p in grounding.read_pairs(connection)] == ["Italic", "Blur"]
        assert [s.key[-1] for s in grounding.read_screens(connection, "calc")] == ["0", "1", "2"]


def test_whoever_locks_the_screens_waits_for_who_has_them_and_sees_the_pairs_written_then(warehouse):
    write(warehouse, "calc", CALC)

    def replaced(name):
        with warehouse.begin() as session:
            grounding.read_screens(session, "calc", lock=True)
            reading.set()
            if name == "First":
                time.sleep(0.2)
            grounding.replace_pairs(session, "calc", [pair("calc", name)])

    reading = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(replaced, "First")
        assert reading.wait(10)
        second = pool.submit(replaced, "Second")
        first.result(10)
        second.result(10)
    with warehouse.read() as connection:
        assert [p.target.name for p in grounding.read_pairs(connection)] == ["Second"]


def test_counts(warehouse):
    write(warehouse, "calc", CALC, (0, 1))
    with warehouse.read() as connection:
        assert grounding.counts(connection) == [
            {
                "app": "calc", "screens": 2, "targets": 1, "pairs": 3, "most": 2, "name": 1, "function": 1,
                "position": 0, "refusal": 1,
            }
        ]  # fmt: skip


def test_the_dump_knows_pairs_but_not_pictures(warehouse):
    write(warehouse, "calc", CALC)
    found = [line for line in warehouse.dump() if line.startswith("grounding_")]
    assert len(found) == 1 + 2 + 3
    assert not any(f"{1000:064x}" in line or "created_at" in line for line in found)
    assert any('"instruction":"Click' in line and '"x":1' in line for line in found)
