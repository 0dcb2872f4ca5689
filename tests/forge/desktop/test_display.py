"""The display: private, on a free number, gone without a trace; pictures and keys."""

from __future__ import annotations

import io
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import pytest
from PIL import Image

from forge.desktop.display import Display, share
from forge.desktop.input import Input, pixel
from forge.desktop.place import SOCKETS
from forge.desktop.screen import Screen, encode_png
from forge.desktop.settle import Settler
from forge.desktop.sweep import claim
from forge.desktop.windows import Windows
from forge.records import DesktopError, InputError
from tests.forge.desktop.conftest import becomes, is_stale, living

pytestmark = [pytest.mark.desktop, pytest.mark.xdist_group("display")]


@pytest.fixture(scope="module")
def display(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Display]:
    owned = claim("test", tmp_path_factory.mktemp("root"))
    display = Display(owned.folder, 800, 600)
    yield display
    display.close()
    owned.release()


def test_nothing_gets_in_without_the_cookie(display: Display) -> None:
    plain = {"PATH": os.environ["PATH"], "XAUTHORITY": "/dev/null"}
    command = ["xdpyinfo", "-display", display.name]
    assert subprocess.run(command, env=plain, capture_output=True, check=False).returncode == 1
    entitled = {**plain, "XAUTHORITY": str(display.cookie)}
    done = subprocess.run(command, env=entitled, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "dimensions:    800x600 pixels" in done.stdout


def test_it_listens_on_no_port(display: Display) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", 6000 + display.number), 1)


def test_a_taken_number_is_passed_over(tmp_path: Path, display: Display) -> None:
    with socket.socket(socket.AF_UNIX) as squatter:
        taken = next(n for n in range(200) if not (SOCKETS / f"X{n}").exists())
        squatter.bind(str(SOCKETS / f"X{taken}"))
        squatter.listen()
        try:
            other = Display(tmp_path, 640, 480)
            assert other.number not in (taken, display.number)
            other.close()
        finally:
            os.unlink(str(SOCKETS / f"X{taken}"))


def test_the_folder_of_the_sockets_is_made_for_all_users(tmp_path: Path) -> None:
    """Whatever the mask: nobody else may have made it before, and the servers are another user's."""
    folder, before = tmp_path / "sockets", os.umask(0o077)
    try:
        share(folder)
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o7777 == 0o1777
    folder.chmod(0o755)
    share(folder)
    assert folder.stat().st_mode & 0o7777 == 0o1777


@pytest.mark.parametrize("there", ["file", "link"])
def test_a_folder_of_sockets_that_is_none_is_told(tmp_path: Path, there: str) -> None:
    folder = tmp_path / "sockets"
    folder.write_text("") if there == "file" else folder.symlink_to(tmp_path)
    with pytest.raises(DesktopError, match="is no folder"):
        share(folder)


def test_it_leaves_nothing(tmp_path: Path) -> None:
    display = Display(tmp_path, 640, 480)
    pids, path = display.pids, display.socket
    assert len(living(pids)) == 2
    display.close()
    display.close()
    assert becomes(lambda: living(pids) == [])
    assert not is_stale(path)
    assert sorted(os.listdir(tmp_path)) == ["display", "openbox.log", "xvfb.log"]


@pytest.mark.parametrize("missing", ["Xvfb", "openbox", "bwrap"])
def test_a_missing_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("setpriv", "unshare", "sh", "mount", "mkdir", "bwrap", "Xvfb", "openbox"):
        found = next(p for p in (f"/usr/bin/{name}", f"/bin/{name}") if os.path.exists(p))
        if name != missing:
            (programs / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(programs))
    # these two are started inside a box, with the box's own PATH
    if missing == "openbox":
        monkeypatch.setattr("forge.desktop.display.WINDOW_MANAGER", "no-such-openbox")
    if missing == "Xvfb":
        monkeypatch.setattr("forge.desktop.display.SERVER", "no-such-Xvfb")
    with pytest.raises(DesktopError, match=missing):
        Display(tmp_path, 640, 480)
    assert not list(tmp_path.glob("xauthority"))


@pytest.mark.parametrize("victim", [0, 1])
def test_a_death_is_noticed(tmp_path: Path, victim: int) -> None:
    display = Display(tmp_path, 640, 480)
    screen = Screen(display)
    display.alive()
    pid = display.pids[victim]
    os.kill(pid, signal.SIGKILL)
    what = ("X server", "window manager")[victim]

    assert becomes(lambda: living((pid,)) == [])
    with pytest.raises(DesktopError, match=what):
        display.alive()
    if victim == 0:
        with pytest.raises(DesktopError, match="X server"):
            screen.screenshot()
    screen.close()
    display.close()


def test_a_picture_is_what_the_screen_shows(display: Display) -> None:
    connection = display.connect()
    root = connection.screen().root
    context = root.create_gc(foreground=0x336699)
    root.fill_rectangle(context, 100, 50, 200, 100)
    connection.sync()
    screen = Screen(display)
    shot = screen.screenshot()
    picture = Image.open(io.BytesIO(shot.png))
    picture.load()
    assert (shot.width, shot.height) == picture.size == (800, 600)
    assert picture.getpixel((150, 80)) == (0x33, 0x66, 0x99)
    assert picture.getpixel((100, 50)) == (0x33, 0x66, 0x99)
    assert picture.getpixel((99, 50)) != (0x33, 0x66, 0x99)
    screen.close()
    connection.close()


def test_a_grabbed_server_holds_up_no_other_display(display: Display, tmp_path: Path) -> None:
    from Xlib import error

    grabbed = Display(tmp_path, 640, 480)
    holder = grabbed.connect()
    holder.grab_server()
    holder.sync()
    with ThreadPoolExecutor(2) as pool:
        try:
            stuck = pool.submit(grabbed.connect)
            time.sleep(0.3)
            pool.submit(display.connect).result(15).close()
            assert not stuck.done()
        finally:
            grabbed.close()
        with pytest.raises(DesktopError, match="died"):
            stuck.result(10)
    with pytest.raises(error.ConnectionClosedError):
        holder.close()


@pytest.mark.parametrize("size", [(1, 1), (7, 3), (640, 480)])
def test_png_holds_the_pixels(size: tuple[int, int]) -> None:
    width, height = size
    pixels = numpy.random.default_rng(1).integers(0, 256, (height, width, 4), dtype=numpy.uint8)
    picture = numpy.asarray(Image.open(io.BytesIO(encode_png(pixels))))
    assert (picture == pixels[:, :, 2::-1]).all()


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ("ctrl+s", ["Control_L", "s"]),
        ("Return", ["Return"]),
        ("enter", ["Return"]),
        ("ctrl+shift+T", ["Control_L", "Shift_L", "T"]),
        ("alt+F4", ["Alt_L", "F4"]),
        ("ctrl++", ["Control_L", "plus"]),
        ("+", ["plus"]),
        ("ctrl+plus", ["Control_L", "plus"]),
        ("ctrl+Page_Down", ["Control_L", "Next"]),
        ("pgdn", ["Next"]),
        ("ctrl + a", ["Control_L", "a"]),
        ("LEFT", ["Left"]),
        ("super+é", ["Super_L", "eacute"]),
    ],
)
def test_chords_are_read(display: Display, keys: str, names: list[str]) -> None:
    from Xlib import XK

    device = Input(display)
    assert device._chord(keys) == [XK.string_to_keysym(name) for name in names]
    device.close()


@pytest.mark.parametrize("keys", ["", "ctrl+", "Retrun", "ctrl+nosuchkey"])
def test_an_unknown_key_is_the_models_fault(display: Display, keys: str) -> None:
    device = Input(display)
    if keys == "ctrl+":
        device._chord(keys)  # reads as ctrl alone
    else:
        with pytest.raises(InputError):
            device.key(keys)
    device.close()


def test_the_pointer_goes_where_it_is_told(display: Display) -> None:
    device = Input(display)
    device.move(123, 456)
    assert device.position() == (123, 456)
    device.move(10_000, -5)
    assert device.position() == (799, 0)
    device.drag(10, 20, 200, 300)
    assert device.position() == (200, 300)
    device.close()


def test_fractions_fall_on_pixels() -> None:
    assert [pixel(f, 1280) for f in (0.0, 0.5, 1.0, 1279.5 / 1280)] == [0, 640, 1279, 1279]


def test_settling_waits_for_damage_and_then_for_quiet(display: Display) -> None:
    settler = Settler(display)
    connection = display.connect()
    root = connection.screen().root
    settler.mark()
    assert 0.1 <= settler.settle(first=0.1, quiet=0.05) < 0.5
    root.fill_rectangle(root.create_gc(foreground=0xFF0000), 0, 0, 10, 10)
    connection.sync()
    assert 0.2 <= settler.settle(first=5, quiet=0.2) < 3
    calls = iter([False, False, True])
    assert settler.settle(lambda: next(calls), first=0.05, quiet=0.05) < 2
    assert settler.settle(lambda: False, timeout=0.2) == pytest.approx(0.2, abs=0.1)
    settler.close()
    connection.close()


def test_windows_are_listed_with_place_and_title(display: Display) -> None:
    from Xlib import X, Xatom

    connection = display.connect()
    root = connection.screen().root
    window = root.create_window(0, 0, 100, 100, 0, X.CopyFromParent)
    title = "Fenster ü"
    window.change_property(
        connection.intern_atom("_NET_WM_NAME"), connection.intern_atom("UTF8_STRING"), 8, title.encode()
    )
    window.change_property(Xatom.WM_CLASS, Xatom.STRING, 8, b"thing\0Thing\0")
    window.map()
    connection.sync()
    windows = Windows(display)
    assert becomes(lambda: [w.title for w in windows.shown()] == [title])
    assert becomes(lambda: windows.shown()[0].width == 800 and windows.shown()[0].active)  # maximized by the manager
    listed = windows.shown()[0]
    assert (listed.x, listed.y + listed.height) == (0, 600)
    window.destroy()
    connection.sync()
    assert becomes(lambda: windows.shown() == [])
    windows.close()
    connection.close()


def test_properties_that_a_program_has_spoilt_are_read_as_nothing_and_in_part(display: Display) -> None:
    from Xlib import X, Xatom

    connection = display.connect()
    root = connection.screen().root
    window = root.create_window(0, 0, 100, 100, 0, X.CopyFromParent)
    name, utf8 = connection.intern_atom("_NET_WM_NAME"), connection.intern_atom("UTF8_STRING")
    window.change_property(name, utf8, 8, b"good")
    window.map()
    connection.sync()
    windows = Windows(display)
    assert becomes(lambda: [w.title for w in windows.shown()] == ["good"])

    window.change_property(name, Xatom.CARDINAL, 32, [1, 2])
    root.change_property(connection.intern_atom("_NET_ACTIVE_WINDOW"), Xatom.STRING, 8, b"me")
    connection.sync()
    assert [(w.title, w.active) for w in windows.shown()] == [("", False)]

    window.change_property(name, utf8, 8, b"x" * 200_000)
    connection.sync()
    assert [len(w.title) for w in windows.shown()] == [4096]

    stacking = connection.intern_atom("_NET_CLIENT_LIST_STACKING")
    root.change_property(stacking, Xatom.WINDOW, 32, [window.id] + [root.id + 7] * 60_000)
    connection.sync()
    assert [w.id for w in windows.shown()] == [window.id]
    assert any(pane.client == window.id for pane in windows.panes())
    root.change_property(stacking, Xatom.STRING, 8, b"none")
    connection.sync()
    assert windows.shown() == []
    window.destroy()
    connection.sync()
    windows.close()
    connection.close()
