"""The pool: spares are handed over ready, once, with the right clock and files, and only where they fit."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from forge.desktop.box import NO_LAYERS, Layers
from forge.desktop.health import Health
from forge.desktop.limits import SLOT
from forge.desktop.pool import SlotPool, _Order
from forge.desktop.recycling import Inspector, Recycling
from forge.desktop.slot import Slot
from forge.records import DesktopError, Guest, InputError
from tests.forge.desktop.conftest import becomes, living

pytestmark = [pytest.mark.desktop, pytest.mark.xdist_group("pool")]


def test_a_spare_is_handed_over_with_the_document_open(tmp_path: Path, workbook: bytes) -> None:
    with SlotPool(root=tmp_path, guest=Guest()) as pool:
        assert pool.wait_warm()
        (folder,) = os.listdir(tmp_path / "slots")
        guest = Guest(clock="2026-03-17T18:00:00")
        with pool.acquire(guest, [("~/Documents/Book one, two.xlsx", workbook, 0o644, False)]) as slot:
            assert slot.home.parent.name == folder
            slot.launch("calc", "~/Documents/Book one, two.xlsx")
            (window,) = slot.windows()
            assert window.title == "Book one, two.xlsx - LibreOffice Calc"
            cell = slot.cell("D3")
            assert cell is not None
            assert cell.text == "13.5"
            assert slot.shell.run("date +%FT%H; ls ~/Documents").output == "2026-03-17T18\nBook one, two.xlsx\n"
            slot.input.click(*_middle(slot, "F2"))
            slot.input.type("=NOW()\n")
            slot.settle()
            shown = slot.cell("F2")
            assert shown is not None
            assert shown.text is not None
            assert shown.text.startswith("03/17/26 06:0") or shown.text.startswith("03/17/2026 18:0"), shown.text
            slot.alive()


def _middle(slot: Slot, ref: str) -> tuple[int, int]:
    cell = slot.cell(ref)
    assert cell is not None
    x, y, width, height = cell.box
    return x + width // 2, y + height // 2


def test_what_was_expected_is_handed_over_at_once(tmp_path: Path, workbook: bytes) -> None:
    files = [("~/book.xlsx", workbook, 0o644, False), ("~/notes.txt", b"x", 0o644, False)]
    start = [("editor", "~/notes.txt"), ("calc", "~/book.xlsx")]
    guest = Guest(clock="2026-05-06T07:08:09")
    with SlotPool(root=tmp_path) as pool:
        pool.expect(guest, files, start=start)
        pool.expect(guest, files, start=start)
        assert pool.wait_warm()
        (folder,) = os.listdir(tmp_path / "slots")
        began = time.monotonic()
        with pool.acquire(guest, files) as slot:
            for app, path in start:
                slot.launch(app, path)
            assert time.monotonic() - began < 1
            assert slot.home.parent.name == folder
            assert [window.title.split(" ")[0] for window in slot.windows()] == ["~/notes.txt", "book.xlsx"]
            assert slot.cell("A2").text == "Thing 1"  # type: ignore[union-attr]
            assert slot.shell.run("date +%FT%T").output.startswith("2026-05-06T07:08:")
            slot.launch("files")  # goes on as usual
            assert len(slot.windows()) == 3
            slot.alive()


def test_another_request_does_not_get_what_was_expected(tmp_path: Path) -> None:
    with SlotPool(root=tmp_path, preload=()) as pool:
        pool.expect(Guest(), [("~/a.txt", b"a", 0o644, False)], start=[("editor", "~/a.txt")])
        with pool.acquire(Guest(), [("~/a.txt", b"b", 0o644, False)]) as slot:
            slot.launch("editor", "~/a.txt")
            assert (slot.home / "a.txt").read_bytes() == b"b"
        with pool.acquire(Guest(), [("~/a.txt", b"a", 0o644, False)]) as slot:
            slot.launch("editor", "~/a.txt")
            assert [window.title for window in slot.windows()] == ["~/a.txt - Mousepad"]


def test_a_slot_prepared_for_something_else_says_so(tmp_path: Path) -> None:
    with SlotPool(root=tmp_path) as pool:
        pool.expect(Guest(), start=[("editor", None)])
        assert pool.wait_warm()
        with pool.acquire() as slot, pytest.raises(DesktopError, match="prepared for"):
            slot.launch("files")


def test_what_cannot_be_prepared_fails_when_it_is_asked_for(tmp_path: Path) -> None:
    with SlotPool(root=tmp_path, preload=()) as pool:
        pool.expect(Guest(timezone="No/Where"))
        with pytest.raises(DesktopError, match="No/Where"):
            pool.acquire(Guest(timezone="No/Where"))
        pool.acquire().close()


def test_a_spare_serves_other_applications_too(tmp_path: Path) -> None:
    with SlotPool(root=tmp_path, guest=Guest()) as pool:
        assert pool.wait_warm()
        with pool.acquire(Guest(), [("~/a.txt", b"x", 0o644, False)]) as slot:
            slot.launch("editor", "~/a.txt")
            assert [window.title for window in slot.windows()] == ["~/a.txt - Mousepad"]
            slot.alive()


def test_a_spare_that_does_not_fit_is_not_used(tmp_path: Path) -> None:
    with SlotPool(root=tmp_path, guest=Guest(), preload=()) as pool:
        assert pool.wait_warm()
        (folder,) = os.listdir(tmp_path / "slots")
        layers = Layers(commands=(tmp_path,))
        with pool.acquire(Guest(timezone="Asia/Tokyo"), layers=layers) as slot:
            assert slot.home.parent.name != folder
            assert slot.shell.run("date +%Z; ls /opt/forge/commands").output == "JST\n0\n"
            assert folder not in os.listdir(tmp_path / "slots")
            slot.launched.set()
            assert pool.wait_warm()
            (spare,) = set(os.listdir(tmp_path / "slots")) - {slot.home.parent.name}
        with pool.acquire(Guest(timezone="Asia/Tokyo"), layers=layers) as slot:
            assert slot.home.parent.name == spare


def test_a_spare_that_died_is_not_handed_over(tmp_path: Path) -> None:
    with SlotPool(root=tmp_path, guest=Guest(), preload=()) as pool:
        assert pool.wait_warm()
        spare = pool._spares[0]
        os.kill(spare.pids[2], 9)
        assert becomes(lambda: len(living(spare.pids)) == 2)
        with pool.acquire(Guest()) as slot:
            assert slot is not spare
            slot.alive()


def test_no_more_than_size_are_open(tmp_path: Path) -> None:
    with SlotPool(1, spares=0, root=tmp_path) as pool:
        first = pool.acquire()
        got: list[Slot] = []
        thread = threading.Thread(target=lambda: got.append(pool.acquire()))
        thread.start()
        time.sleep(0.3)
        assert got == []
        first.close()
        thread.join(30)
        assert len(got) == 1
        got[0].close()
        for _ in range(3):  # what failed gives its place back
            with pytest.raises(DesktopError):
                pool.acquire(Guest(timezone="No/Where"))
        pool.acquire().close()


def test_a_clock_that_cannot_be_costs_no_slot(tmp_path: Path) -> None:
    with SlotPool(root=tmp_path, guest=Guest(), preload=()) as pool:
        assert pool.wait_warm()
        with pytest.raises(InputError, match="too far from now"):
            pool.acquire(Guest(clock="9999-12-31T00:00:00"))
        with pytest.raises(InputError, match="too far from now"):  # no spare any more: it would be made for that clock
            pool.acquire(Guest(clock="9999-12-31T00:00:00"))
        with pool.acquire(Guest()) as slot:
            with pytest.raises(InputError, match="no time for the guest's clock"):
                slot.set_clock("tomorrow")
            assert slot.guest == Guest()
    assert os.listdir(tmp_path / "slots") == []


def test_a_slot_that_does_not_close_well_does_not_keep_the_next(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    closed: list[str] = []

    class Broken:
        def __init__(self, name: str) -> None:
            self.name = name

        def close(self) -> None:
            closed.append(self.name)
            raise OSError("no such luck")

    with SlotPool(root=tmp_path, spares=0) as pool:
        pool._spares += [Broken("one"), Broken("two")]  # type: ignore[list-item]
    assert closed == ["one", "two"]
    assert len(caplog.records) == 2


def test_who_waits_for_a_slot_is_told_that_the_pool_is_closed(tmp_path: Path) -> None:
    said = []

    def wait() -> None:
        try:
            pool.acquire()
        except DesktopError as error:
            said.append(error.message)

    with SlotPool(0, spares=0, root=tmp_path) as pool:
        waiting = threading.Thread(target=wait, daemon=True)
        waiting.start()
        time.sleep(0.1)
        assert not said
    waiting.join(5)
    assert said == ["the pool of slots is closed"]


class Made:
    """A slot that was made beforehand of nothing."""

    guest, layers = Guest(), NO_LAYERS

    def __init__(self) -> None:
        self.closed = 0
        self.when_closed: Callable[[], object] = lambda: None

    def set_clock(self, at: str) -> None:
        """It has none."""

    def lay(self, files: object) -> None:
        """It has no home."""

    def on_close(self, call: Callable[[], None]) -> None:
        """Nobody is told."""

    def close(self) -> None:
        self.closed += 1
        self.when_closed()


def test_who_waits_for_a_slot_being_prepared_is_told_that_the_pool_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, begun, go_on = Made(), threading.Event(), threading.Event()

    def build(*_: object) -> Made:
        begun.set()
        assert go_on.wait(10)
        return made

    monkeypatch.setattr(SlotPool, "_build", build)
    monkeypatch.setattr(SlotPool, "_open", lambda *_: made)
    monkeypatch.setattr(Inspector, "why_not", lambda *_: None)
    pool = SlotPool(root=tmp_path)
    pool.expect(Guest())
    assert begun.wait(10)
    got: list[object] = []

    def wait() -> None:
        try:
            got.append(pool.acquire(Guest()))
        except DesktopError as error:
            got.append(error.message)

    waiting, closing = threading.Thread(target=wait), threading.Thread(target=pool.close)
    waiting.start()
    assert becomes(lambda: pool._free == 0), "it waits for what is being made"
    closing.start()
    assert becomes(lambda: pool._closed)
    go_on.set()
    waiting.join(10)
    closing.join(10)
    assert got == ["the pool of slots is closed"]
    assert made.closed == 1


def test_what_is_being_closed_is_handed_to_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Inspector, "why_not", lambda *_: None)
    one, two, three = made = [Made() for _ in range(3)]
    order = _Order(Guest(), (), NO_LAYERS)
    taken: list[object] = []
    pool = SlotPool(root=tmp_path, spares=0)
    pool._spares += [one, two]  # type: ignore[list-item]
    pool._prepared[order.key] = order, three  # type: ignore[assignment]
    one.when_closed = lambda: taken.append(pool._take_spare(order))
    pool.close()
    assert taken == [None]
    assert [slot.closed for slot in made] == [1, 1, 1]


def test_two_at_once_do_not_meet(tmp_path: Path) -> None:
    with SlotPool(2, root=tmp_path, preload=()) as pool:
        slots: list[Slot] = []
        threads = [threading.Thread(target=lambda: slots.append(pool.acquire())) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        one, two = slots
        assert one.display != two.display
        one.shell.run("echo one > ~/x")
        assert two.shell.run("cat ~/x").exit_code == 1
        one.close()
        two.alive()
        assert two.shell.run("echo still").output == "still\n"
        two.close()


def test_closing_leaves_nothing(tmp_path: Path) -> None:
    pool = SlotPool(root=tmp_path, guest=Guest())
    assert pool.wait_warm()
    pids = pool._spares[0].pids
    pool.close()
    pool.close()
    assert living(pids) == []
    assert os.listdir(tmp_path / "slots") == []
    with pytest.raises(DesktopError, match="closed"):
        pool.acquire()


def test_what_waits_and_is_not_well_is_made_anew(tmp_path: Path) -> None:
    rules = Recycling(every=0.2)
    with SlotPool(root=tmp_path, guest=Guest(), preload=(), recycling=rules) as pool:
        assert pool.wait_warm()
        first = pool._spares[0]
        os.kill(first.pids[0], signal.SIGKILL)
        assert becomes(lambda: bool(pool._spares) and pool._spares[0] is not first)
        assert len(pool.thrown_away) == 1
        assert "X server" in pool.thrown_away[0]
        assert living(first.pids) == []
        with pool.acquire() as slot:
            slot.alive()


def test_what_was_prepared_and_grew_old_is_prepared_again(tmp_path: Path) -> None:
    files = [("~/notes.txt", b"x", 0o644, False)]
    rules = Recycling(age=1.0, every=0.2)
    with SlotPool(root=tmp_path, preload=(), recycling=rules) as pool:
        pool.expect(Guest(), files, start=[("editor", "~/notes.txt")])
        assert becomes(lambda: len(pool.thrown_away) >= 1, 20)
        assert pool.thrown_away[0].startswith("it waited for")
        pool._inspector.rules = Recycling(every=0.2)
        assert pool.wait_warm()
        with pool.acquire(Guest(), files) as slot:
            slot.launch("editor", "~/notes.txt")
            assert [window.title.split(" ")[0] for window in slot.windows()] == ["~/notes.txt"]


def test_only_what_is_slow_time_and_again_is_thrown_away() -> None:
    class Waiting:
        age = 1.0

        def health(self) -> Health:
            return Health((), latencies.pop(0), 1.0)

    latencies = [3.0, 0.1, 3.0, 3.0]
    slot, inspector = Waiting(), Inspector(Recycling())
    assert [inspector.why_not(slot) for _ in range(4)] == [None, None, None, "it needed 3.0 s to answer"]  # type: ignore[arg-type]


def test_a_forgotten_slot_makes_room_for_the_next(tmp_path: Path) -> None:
    with SlotPool(1, spares=0, root=tmp_path, lease=0.5) as pool:
        forgotten = pool.acquire()
        pids = forgotten.pids
        with pool.acquire(lease=60) as slot:  # waits for the only place
            assert living(pids) == []
            slot.alive()


def test_every_slot_of_a_pool_has_its_limits(tmp_path: Path) -> None:
    with SlotPool(
        2, root=tmp_path, guest=Guest(), preload=(), limits=SLOT.changed("open_files=500, home_mb=70")
    ) as pool:
        assert pool.wait_warm()
        other = Guest(timezone="Asia/Tokyo")
        with pool.acquire(Guest()) as spare, pool.acquire(other) as made:
            for slot in (spare, made):
                assert slot.limits == replace(SLOT, open_files=500, home_mb=70)
                assert slot.shell.run("ulimit -n").output == "500\n"
