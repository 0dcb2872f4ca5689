"""A slot elsewhere is used like one here: real slots behind a server in this process."""

from __future__ import annotations

import inspect
import io
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import openpyxl
import pytest

from forge.desktop import Layers, Slot, acting
from forge.desktop.acting import Settle
from forge.desktop.health import below
from forge.desktop.input import Input
from forge.desktop.pool import SlotPool
from forge.desktop.remote import RemoteInput, RemotePool, RemoteScreen, RemoteShell, RemoteSlot
from forge.desktop.screen import Screen
from forge.desktop.server.app import create_app
from forge.desktop.server.leases import Desk
from forge.desktop.server.running import Background
from forge.desktop.shell import Shell
from forge.records import DesktopError, Guest, InputError
from forge.records.action import Bash, Key, Point, Pointer, Scroll, Type, Wait
from tests.forge.desktop.conftest import becomes
from tests.forge.desktop.server.conftest import TOKEN

pytestmark = pytest.mark.desktop
BOOK = "~/Documents/stock.xlsx"
QUICK = Settle(0.3, 0.15, 3.0)
OURS = {"connect", "limits", "open", "owner"}
"""What only a slot of this machine has."""


@pytest.fixture(scope="module")
def calc(remote: RemotePool, workbook: bytes) -> Iterator[RemoteSlot]:
    with remote.acquire(Guest(), [(BOOK, workbook, 0o644, False), ("~/Empty", b"", 0o755, True)]) as slot:
        slot.launch("calc", BOOK)
        yield slot


def public(kind: type) -> set[str]:
    names = {name for name in dir(kind) if not name.startswith("_")}
    return names | {name for name in inspect.get_annotations(kind) if not name.startswith("_")}


def test_a_remote_slot_has_all_that_a_slot_has() -> None:
    assert public(Slot) - OURS <= public(RemoteSlot) | {"guest"}
    inherited = {name for name in public(Slot) - OURS if getattr(RemoteSlot, name, None) is getattr(Slot, name, "")}
    # what is built of other calls works as it is; whatever is added there must be looked at here
    assert inherited == {"cell", "cells", "on_close"}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(Slot, RemoteSlot), (SlotPool, RemotePool), (Input, RemoteInput), (Shell, RemoteShell), (Screen, RemoteScreen)],
)
def test_it_takes_the_same_arguments(ours: type, theirs: type) -> None:
    for name in public(ours) - OURS:
        if inspect.isfunction(getattr(ours, name, None)):
            here, there = (inspect.signature(getattr(each, name)) for each in (ours, theirs))
            assert list(here.parameters.values()) == list(there.parameters.values()), name


def test_it_sees_what_is_on_the_screen(calc: RemoteSlot) -> None:
    shot = calc.screenshot()
    assert (shot.width, shot.height, shot.png[:4]) == (1280, 800, b"\x89PNG")
    assert [window.title for window in calc.windows()] == ["stock.xlsx - LibreOffice Calc"]
    assert calc.cell("A2") is not None
    assert calc.cell("A2").text == "Thing 1"  # type: ignore[union-attr]
    save = next(element for element in calc.tree("calc") if (element.name, element.role) == ("Save", "push button"))
    assert calc.tree("calc", under=save.path)[-1] == save
    assert any(pane.holds(640, 400) and pane.client for pane in calc.panes())
    assert calc.screen.pixels().shape == (800, 1280, 4)


def test_an_unchanged_picture_is_not_sent_again(calc: RemoteSlot) -> None:
    first = acting.look(calc)
    assert acting.look(calc).shot is first.shot


def test_an_action_is_one_request_and_names_its_element(calc: RemoteSlot, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    call = calc._connection.call
    monkeypatch.setattr(calc._connection, "call", lambda m, p, *a, **o: (calls.append(p), call(m, p, *a, **o))[1])
    cell = calc.cell("E2")
    assert cell is not None
    x, y, width, height = cell.box
    calls.clear()
    at = Point(x=(x + width / 2) / 1280, y=(y + height / 2) / 800)
    acted = acting.act(calc, Pointer(kind="left_click", at=at), settle=QUICK)
    assert [path.rpartition("/")[2] for path in calls] == ["act"]
    assert acted.element is not None
    assert (acted.element.role, acted.element.name) == ("table cell", "E2")
    assert acted.look.window == "stock.xlsx - LibreOffice Calc"
    assert not acted.error


def test_what_is_typed_and_saved_is_in_the_home(
    calc: RemoteSlot, put: Callable[[bytes], str], blobs: dict[str, bytes]
) -> None:
    file = calc.home / BOOK[2:]
    before = file.stat()
    acting.act(calc, Type(text="=SUM(D2:D13)\n"), settle=QUICK)
    saved = lambda: file.stat().st_mtime_ns != before.st_mtime_ns
    acting.act(calc, Key(keys="ctrl+s"), until=saved, settle=QUICK)
    assert becomes(saved)
    assert openpyxl.load_workbook(io.BytesIO(calc.read(BOOK))).active["E2"].value == "=SUM(D2:D13)"
    state = calc.snapshot(put)
    by_path = {entry.path: entry for entry in state.entries}
    assert by_path["~/Empty"].kind == "folder"
    stored = blobs[by_path[BOOK].sha256 or ""]
    assert openpyxl.load_workbook(io.BytesIO(stored)).active["E2"].value == "=SUM(D2:D13)"


def test_a_key_that_does_not_exist_is_the_agents_error(calc: RemoteSlot) -> None:
    acted = acting.act(calc, Key(keys="nosuchkey"), settle=QUICK)
    assert acted.error
    assert "nosuchkey" in acted.output
    with pytest.raises(InputError, match="nosuchkey"):
        calc.input.key("nosuchkey")
    with pytest.raises(InputError, match="no application is called"):
        calc.launch("nothing")
    with pytest.raises(InputError, match="no cell reference"):
        calc.cell("B")


def test_the_shell_persists(calc: RemoteSlot) -> None:
    assert calc.shell.run("cd ~/Documents; X=7").exit_code == 0
    acted = acting.act(calc, Bash(command='echo "$X $PWD"; exit_code() { return 3; }; exit_code'), settle=None)
    assert (acted.output, acted.exit_code) == ("7 /home/alex/Documents", 3)
    calc.shell.restart()
    assert calc.shell.run("echo $X").output.strip() == ""
    limited = calc.shell.run("sleep 30", timeout=0.5)
    assert (limited.timed_out, limited.exit_code) == (True, None)


def test_a_command_that_takes_long_is_waited_for(calc: RemoteSlot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forge.desktop.server.connection._WAIT", 1)
    began = time.monotonic()
    assert calc.shell.run("sleep 2.5; echo done").output == "done\n"
    assert time.monotonic() - began >= 2.5


def test_pointer_and_wheel(calc: RemoteSlot) -> None:
    calc.input.move(200, 300)
    assert calc.input.position() == (200, 300)
    assert not acting.act(calc, Scroll(at=Point(x=0.5, y=0.5), dy=2), settle=QUICK).error
    assert not acting.act(calc, Wait(seconds=0.1), seconds_left=0.05).error


def test_the_copy_of_the_home_follows(calc: RemoteSlot, outside: Path) -> None:
    home = calc.home
    calc.shell.run(f"mkdir -p ~/New/Deep; echo one > ~/New/Deep/a.txt; ln -s {outside} ~/New/link; mkfifo ~/New/pipe")
    assert becomes(lambda: (home / "New/Deep/a.txt").exists())
    assert (home / "New/Deep/a.txt").read_text() == "one\n"
    calc.shell.run("rm -r ~/New; echo file > ~/New")
    assert becomes(lambda: (home / "New").is_file())
    assert (home / "New").read_text() == "file\n"
    calc.shell.run("rm ~/New")
    assert becomes(lambda: not (home / "New").exists())


@pytest.mark.parametrize("path", ["~/../x", "/etc/passwd", "~/link/x", "~/link", "~/absent", "~/"])
def test_no_file_outside_the_home_is_read(calc: RemoteSlot, path: str, outside: Path) -> None:
    calc.shell.run(f"ln -sfn {outside.parent} ~/link")
    with pytest.raises((InputError, FileNotFoundError)):
        calc.read(path)


def test_layers_travel(remote: RemotePool, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/greet").write_text("#!/bin/sh\necho hello from a layer\n")
    (tmp_path / "bin/greet").chmod(0o755)
    (tmp_path / "python/kit").mkdir(parents=True)
    (tmp_path / "python/kit/__init__.py").write_text("answer = 42\n")
    layers = Layers((tmp_path / "bin",), (tmp_path / "python",))
    with remote.acquire(layers=layers) as slot:
        assert slot.shell.run("greet; python3 -c 'import kit; print(kit.answer)'").output == "hello from a layer\n42\n"


def test_a_reset_slot_is_another_desktop(remote: RemotePool) -> None:
    with remote.acquire(files=[("~/a.txt", b"one", 0o600, False)]) as slot:
        slot.shell.run("echo more >> ~/a.txt; X=1")
        slot.reset(Guest(timezone="Asia/Tokyo"), [("~/b.txt", b"two", 0o600, False)])
        assert slot.shell.run("cat ~/*; echo $X; date +%Z").output == "two\nJST\n"


def test_a_stopped_slot_keeps_its_files(remote: RemotePool, put: Callable[[bytes], str]) -> None:
    with remote.acquire(files=[("~/a.txt", b"one", 0o600, False)]) as slot:
        slot.shell.run("sleep 1000 & echo two > ~/b.txt")
        slot.stop()
        slot.alive()
        assert [entry.path for entry in slot.snapshot(put).entries] == ["~/a.txt", "~/b.txt"]


def test_a_dead_box_is_a_fault(remote: RemotePool, server: Background) -> None:
    slot = remote.acquire()
    with pytest.raises(DesktopError):
        slot.ask("nosuchquestion")
    slot.close()
    with pytest.raises(DesktopError, match="closed"):
        slot.screenshot()
    with pytest.raises(DesktopError, match="is on http"):
        _ = slot.display


def test_pictures_and_files_by_plain_http(remote: RemotePool, server: Background) -> None:
    """What another program would send, from the description alone."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with httpx.Client(base_url=server.url, headers=headers, timeout=30) as http:
        slot = http.post("/v1/slots", json={"files": [{"path": "~/n.txt", "data": "aGVsbG8="}]}).json()["id"]
        picture = http.get(f"/v1/slots/{slot}/screenshot")
        assert (picture.headers["content-type"], picture.content[:4]) == ("image/png", b"\x89PNG")
        assert http.get(f"/v1/slots/{slot}/files", params={"path": "~/n.txt"}).content == b"hello"
        assert http.put(f"/v1/slots/{slot}/files", params={"path": "~/m.txt"}, content=b"more").status_code == 204
        done = http.post(f"/v1/slots/{slot}/exec", json={"command": "cat n.txt m.txt; false"}).json()
        assert (done["output"], done["exit_code"]) == ("hellomore", 1)
        act = http.post(f"/v1/slots/{slot}/act", json={"action": {"kind": "key", "keys": "ctrl+a"}}).json()
        assert (act["error"], act["seen"]["picture"]["width"]) == (False, 1280)
        wrong = http.post(f"/v1/slots/{slot}/act", json={"action": {"kind": "dance"}})
        assert (wrong.status_code, wrong.json()["error"]["kind"]) == (400, "input")
        assert wrong.json()["error"]["message"].startswith("action: ")
        assert http.delete(f"/v1/slots/{slot}").status_code == 204
        assert http.get(f"/v1/slots/{slot}/windows").status_code == 410


def test_what_cannot_be_asked_for_is_bad_input(server: Background) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with httpx.Client(base_url=server.url, headers=headers, timeout=30) as http:
        slot = f"/v1/slots/{http.post('/v1/slots', json={}).json()['id']}"

        def click(**arguments: object) -> dict[str, object]:
            return {"what": "click", "arguments": {"x": 1, "y": 1, **arguments}}

        asked: list[tuple[str, object, str]] = [
            (f"{slot}/input", click(button=999), "button = 999"),
            (f"{slot}/input", click(count=-1), "count = -1"),
            (f"{slot}/input", click(x=None), "click: x: "),
            (f"{slot}/input", click(z=1), "click: z: "),
            (f"{slot}/input", {"what": "type", "arguments": {"text": None}}, "type: text: "),
            (f"{slot}/input", {"what": "hold", "arguments": {"keys": "a", "seconds": 1e6}}, "seconds = 1e+06"),
            (f"{slot}/ask", {"what": "ping", "arguments": {"what": "apps"}}, "no further argument 'what'"),
            (f"{slot}/clock", {"at": "9999-99"}, "no time for the guest's clock"),
            (f"{slot}/clock", {"at": "9999-12-31T23:59:59"}, "too far from now"),
            (f"{slot}/settle", {"quiet": 1e6}, "quiet = 1e+06"),
            (f"{slot}/act", {"action": {"kind": "key", "keys": "a"}, "settle": {"timeout": 1e6}}, "timeout = 1e+06"),
            (f"{slot}/exec", {"command": "true", "output_limit": 1 << 30}, "output_limit"),
            (f"{slot}/lay", {"files": [{"path": "~/../x"}]}, "no path below the guest's home"),
        ]
        answers = [(http.post(path, json=body), said) for path, body, said in asked]
        endless = http.post("/v1/slots", content=b'{"lease": 1e999}', headers={"Content-Type": "application/json"})
        no_number = http.post(f"{slot}/settle", content=b'{"quiet": NaN}', headers={"Content-Type": "application/json"})
        long_name = http.put(f"{slot}/files", params={"path": "~/" + "a" * 300}, content=b"x")
        outside = http.put(f"{slot}/files", params={"path": "/etc/passwd"}, content=b"x")
        answers += [
            (endless, "lease = inf"),
            (no_number, "quiet = nan"),
            (long_name, "more than 255"),
            (outside, "no path"),
        ]
        assert http.post(f"{slot}/exec", json={"command": "echo well"}).json()["output"] == "well\n"
        assert http.delete(slot).status_code == 204
        lent = http.get("/v1/status").json()["slots"]
        never = http.post("/v1/slots", json={"guest": {"clock": "9999-12-31T23:59:59"}})
        assert http.get("/v1/status").json()["slots"] == lent
        for answer, said in [*answers, (never, "too far from now")]:
            assert (answer.status_code, answer.json()["error"]["kind"]) == (400, "input"), answer.text
            assert said in answer.json()["error"]["message"]


def test_versions_are_known(remote: RemotePool) -> None:
    from forge.desktop import fingerprint

    assert remote.fingerprint() == fingerprint({})


def test_a_display_that_freezes_in_the_middle_of_a_call_ends_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forge.desktop.server.leases.SILENCE", 3.0)
    with SlotPool(1, spares=0, root=tmp_path) as pool:
        desk = Desk(pool, 1, lease=3.0)
        with Background(create_app(desk, TOKEN)) as server, RemotePool([server.url], TOKEN) as remote:
            with remote.acquire() as slot:
                for pid in below(desk.held(slot.id).slot.pids):
                    if Path(f"/proc/{pid}/comm").read_text().strip() == "Xvfb":
                        os.kill(pid, signal.SIGSTOP)
                with pytest.raises(DesktopError):
                    slot.windows()
            with remote.acquire() as slot:
                assert slot.windows() == [], "its place is free again"
