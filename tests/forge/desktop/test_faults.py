"""What breaks under a slot is a DesktopError that says so, and nothing is left: missing programs, deaths, full disk, kill -9."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from forge.desktop import apps, blame, display, files
from forge.desktop import slot as slots
from forge.desktop.display import CutOffError
from forge.desktop.health import below
from forge.desktop.slot import Slot
from forge.desktop.sweep import sweep
from forge.records import DesktopError, ExhaustedError, Guest
from tests.forge.desktop.conftest import becomes, is_stale, living
from tests.forge.desktop.xclients import GRAB, OPEN

pytestmark = [pytest.mark.desktop, pytest.mark.xdist_group("faults")]


def test_an_application_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = replace(apps.APPS["editor"], program="/usr/bin/no-such-editor")
    monkeypatch.setitem(apps.APPS, "editor", missing)
    with Slot.open(root=tmp_path) as slot:
        with pytest.raises(DesktopError, match="editor is not installed") as caught:
            slot.launch("editor")
        assert "install mousepad" in str(caught.value)
        slot.alive()


def test_an_application_that_ends_at_once_says_what_it_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ending = replace(apps.APPS["editor"], command=lambda _: ["/bin/sh", "-c", "echo cannot go on >&2; exit 3"])
    monkeypatch.setitem(apps.APPS, "editor", ending)
    with Slot.open(root=tmp_path) as slot:
        with pytest.raises(DesktopError, match=r"(?s)it ended \(exit code 3\): cannot go on"):
            slot.launch("editor")


def test_an_application_that_shows_nothing_is_given_up_with_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = replace(apps.APPS["editor"], command=lambda _: ["/bin/sleep", "60"])
    monkeypatch.setitem(apps.APPS, "editor", silent)
    with Slot.open(root=tmp_path) as slot:
        with pytest.raises(DesktopError, match="no window in time") as caught:
            slot.launch("editor", timeout=0.5)
    picture = Path(str(caught.value).partition("screenshot: ")[2].rstrip(")\n "))
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("victim", ["X server", "window manager", "box"])
def test_a_death_under_a_slot_is_noticed(tmp_path: Path, victim: str) -> None:
    with Slot.open(root=tmp_path) as slot:
        pid = slot.pids[["X server", "window manager", "box"].index(victim)]
        os.kill(pid, signal.SIGKILL)
        assert becomes(lambda: living((pid,)) == [])
        with pytest.raises(DesktopError, match="supervisor is gone" if victim == "box" else victim):
            slot.alive()
        if victim == "X server":
            with pytest.raises(DesktopError):
                slot.screenshot()
            with pytest.raises(DesktopError):
                slot.input.click(5, 5)
        if victim == "box":
            with pytest.raises(DesktopError):
                slot.shell.run("true")
            with pytest.raises(DesktopError):
                slot.tree()
    assert os.listdir(tmp_path / "slots") == []


@pytest.mark.parametrize(
    ("open_terminal", "how", "blamed"),
    [
        (False, signal.SIGKILL, DesktopError),  # no command of `bash` reaches an application
        (True, signal.SIGKILL, ExhaustedError),
        (True, signal.SIGUSR1, ExhaustedError),
        (True, signal.SIGSEGV, DesktopError),
    ],
)
def test_an_application_that_a_terminal_window_may_have_killed_is_the_agents_doing(
    tmp_path: Path, open_terminal: bool, how: signal.Signals, blamed: type[DesktopError]
) -> None:
    with Slot.open(root=tmp_path) as slot:
        slot.launch("editor")
        if open_terminal:
            slot.launch("terminal")
        slot.shell.run("sleep 60 &")
        slot.alive()
        (editor,) = (pid for pid in below([slot.pids[2]]) if Path(f"/proc/{pid}/comm").read_text() == "mousepad\n")
        os.kill(editor, how)
        assert becomes(lambda: editor not in below([slot.pids[2]]))
        with pytest.raises(DesktopError, match="editor died") as caught:
            slot.alive()
        assert type(caught.value) is blamed


@pytest.mark.parametrize(
    ("looked_at_since", "blamed"), [(True, DesktopError), (False, ExhaustedError)], ids=["before", "since"]
)
def test_an_exit_with_an_error_is_the_agents_doing_once_a_command_has_run(
    tmp_path: Path, looked_at_since: bool, blamed: type[DesktopError], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blame, "ENDING", 0.0)  # what is broken shows at once
    with Slot.open(root=tmp_path) as slot:
        slot.shell.run("true")  # as files get their times before an episode
        if looked_at_since:
            slot.alive()
        slot.ask("start", argv=["/bin/sh", "-c", "exit 3"])
        assert becomes(lambda: [each["code"] for each in slot.ask("apps")] == [3])
        with pytest.raises(DesktopError, match="exit code 3") as caught:
            slot.alive()
        assert type(caught.value) is blamed


CUT_OFF = (
    OPEN
    + """
for number in map(int, sys.argv[1:]):
    x.XKillClient(display, ctypes.c_ulong(number))
x.XSync(display, 0)
"""
)


@pytest.mark.parametrize("by", ["host", "bash"])
def test_a_connection_that_is_cut_off_is_the_agents_doing(
    tmp_path: Path, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blame, "ENDING", 60.0 if by == "bash" else 0.0)
    with Slot.open(root=tmp_path) as slot:
        slot.launch("editor")
        assert slot._windows is not None
        victim = slot._windows._connection
        number = victim.screen().root.create_window(0, 0, 1, 1, 0, 0).id  # any of its own
        victim.sync()
        if by == "host":
            other = slot._screen_server.connect()
            other.create_resource_object("window", number).kill_client()
            other.sync()
            other.close()
        else:
            slot.lay([("~/cut.py", CUT_OFF.encode(), 0o644, False)])
            slot.shell.run(f"python3 cut.py {number}")
        slot.alive()
        with pytest.raises(DesktopError, match="lost the connection") as caught:
            slot.windows()
        assert type(slot.blame(caught.value)) is (ExhaustedError if by == "bash" else CutOffError)


BUSES = {"dbus-daemon": 2, "at-spi-bus-laun": 1}


@pytest.mark.parametrize(
    ("open_terminal", "how", "of", "blamed"),
    [
        (False, signal.SIGKILL, (*BUSES,), DesktopError),  # no command of `bash` reaches them
        (False, signal.SIGKILL, ("dbus-daemon",), DesktopError),
        (False, signal.SIGTERM, ("at-spi-bus-laun",), DesktopError),
        (False, signal.SIGSTOP, (*BUSES,), DesktopError),
        (True, signal.SIGKILL, (*BUSES,), ExhaustedError),
        (True, signal.SIGKILL, ("dbus-daemon",), ExhaustedError),
        (True, signal.SIGTERM, ("at-spi-bus-laun",), ExhaustedError),
        (True, signal.SIGSTOP, (*BUSES,), ExhaustedError),
        (True, signal.SIGSEGV, ("dbus-daemon",), DesktopError),
    ],
)
def test_a_bus_that_a_terminal_window_may_have_ended_or_stopped_is_the_agents_doing(
    tmp_path: Path, open_terminal: bool, how: signal.Signals, of: tuple[str, ...], blamed: type[DesktopError]
) -> None:
    with Slot.open(root=tmp_path) as slot:
        if open_terminal:
            slot.launch("terminal")
        slot.shell.run("sleep 60 &")
        names = {pid: Path(f"/proc/{pid}/comm").read_text().strip() for pid in below([slot.pids[2]])}
        victims = [pid for pid, name in names.items() if name in of]
        assert len(victims) == sum(BUSES[name] for name in of)
        for pid in victims:
            os.kill(pid, how)
        if how != signal.SIGSTOP:
            slot.ask("start", argv=["/bin/sh", "-c", "exit 1"])  # as applications end that have lost their bus
            assert becomes(lambda: [each["code"] for each in slot.ask("apps")][-1] == 1)
            assert becomes(lambda: not set(victims) & set(below([slot.pids[2]])))
        with pytest.raises(DesktopError, match="bus of the slot") as caught:
            slot.alive()
        assert type(caught.value) is blamed


def test_a_command_of_the_host_is_none_of_the_agents(tmp_path: Path) -> None:
    with Slot.open(root=tmp_path) as slot:
        slot.shell.run("true", by_host=True)
        slot.ask("start", argv=["/bin/sh", "-c", "exit 3"])
        assert becomes(lambda: [each["code"] for each in slot.ask("apps")] == [3])
        with pytest.raises(DesktopError, match="exit code 3") as caught:
            slot.alive()
        assert type(caught.value) is DesktopError


@pytest.mark.parametrize(
    ("then", "blamed"),
    [("script-fu: error", DesktopError), ("gimp: Fatal IO error 11 (gone) on X server :0.", ExhaustedError)],
)
def test_a_crash_is_told_from_an_end_by_what_the_application_says(
    tmp_path: Path, then: str, blamed: type[DesktopError], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blame, "ENDING", 0.0)
    says = f"echo 'gimp: fatal error: Segmentation fault'; echo '{then}'; exit 1"
    crashing = replace(apps.APPS["gimp"], program="/bin/sh", command=lambda _: ["/bin/sh", "-c", says])
    monkeypatch.setitem(apps.APPS, "gimp", crashing)
    with Slot.open(root=tmp_path) as slot:
        slot.shell.run("true")
        slot.ask("start", argv=crashing.command(None))
        assert becomes(lambda: [each["code"] for each in slot.ask("apps")] == [1])
        with pytest.raises(DesktopError, match="gimp died") as caught:
            slot.alive()
        assert type(caught.value) is blamed


ZAP = (
    OPEN
    + """
test = ctypes.CDLL("libXtst.so.6")
x.XChangeKeyboardMapping(display, 100, 1, (ctypes.c_ulong * 1)(0xFED5), 1)  # Terminate_Server
x.XSync(display, 0)
time.sleep(0.3)
test.XTestFakeKeyEvent(display, 100, 1, ctypes.c_ulong(0))
test.XTestFakeKeyEvent(display, 100, 0, ctypes.c_ulong(0))
x.XSync(display, 0)
"""
)


def test_an_x_server_that_was_told_to_end_is_the_agents_doing(tmp_path: Path) -> None:
    with Slot.open(root=tmp_path) as slot:
        slot.lay([("~/zap.py", ZAP.encode(), 0o644, False)])
        slot.shell.run("python3 zap.py")
        assert becomes(lambda: slot._screen_server.gave_up)
        with pytest.raises(ExhaustedError, match=r"X server .* died \(exit code 0\)"):
            slot.alive()


@pytest.mark.parametrize("by", ["host", "bash"])
def test_a_display_that_is_grabbed_until_the_lease_is_over_is_the_agents_doing(tmp_path: Path, by: str) -> None:
    with Slot.open(root=tmp_path) as slot:
        other = slot._screen_server.connect()
        if by == "host":
            other.grab_server()
            other.sync()
        else:
            slot.lay([("~/grab.py", GRAB.encode(), 0o644, False)])
            slot.shell.run("python3 grab.py grabbed & until test -e grabbed; do sleep 0.05; done")
        slot.lend(0.5)
        with pytest.raises(
            DesktopError
        ) as caught:  # one may still be answered when the box has ended, and with it the grab
            becomes(lambda: slot.screenshot() is None)
        assert type(slot.blame(caught.value)) is (ExhaustedError if by == "bash" else DesktopError)
        other.display.socket.close()


def test_the_end_of_the_server_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "_RETURN", 60.0)
    with Slot.open(root=tmp_path) as slot:
        for pid in below([slot.pids[0]]):
            if Path(f"/proc/{pid}/comm").read_text() == "Xvfb\n":
                os.kill(pid, signal.SIGKILL)
        assert becomes(lambda: slot._screen_server._server.poll() is not None)  # type: ignore[union-attr]
        assert becomes(lambda: slot._screen_server._manager.poll() is not None)  # type: ignore[union-attr]
        began = time.monotonic()
        with pytest.raises(DesktopError, match="X server"):
            slot.alive()
        assert time.monotonic() - began < 30  # a window manager that ends with it is not waited for


@pytest.mark.parametrize("victim", [0, 1, 2], ids=["X server", "window manager", "box"])
def test_a_death_of_what_no_program_of_the_agents_reaches_is_a_fault(tmp_path: Path, victim: int) -> None:
    with Slot.open(root=tmp_path) as slot:
        slot.launch("terminal")
        slot.shell.run("sleep 60 &")
        os.kill(slot.pids[victim], signal.SIGKILL)
        assert becomes(lambda: living((slot.pids[victim],)) == [])
        with pytest.raises(DesktopError) as caught:
            slot.alive()
        assert type(caught.value) is DesktopError
    error = DesktopError("closed")
    assert slot.blame(error) is error


def test_a_window_manager_that_ends_by_itself_comes_back(tmp_path: Path) -> None:
    with Slot.open(root=tmp_path) as slot:
        slot.launch("editor")
        for _ in range(2):
            before = slot.pids[1]
            slot.shell.run("timeout 2 openbox --replace")
            assert becomes(lambda before=before: slot.pids[1] != before and slot.health().ok)  # type: ignore[misc]
            slot.alive()
            assert [window.title for window in slot.windows()] == ["Untitled 1 - Mousepad"]
        last = slot.pids
    assert living(last) == []


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(home: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(slots, "lay_settings", full)
    with pytest.raises(DesktopError, match="No space left on device") as caught:
        Slot.open(root=tmp_path)
    assert "free some space" in str(caught.value)
    assert os.listdir(tmp_path / "slots") == []


def test_files_that_do_not_fit_leave_no_slot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files, "_write_all", full)
        with pytest.raises(DesktopError, match=r"~/big cannot be written into the guest: No space left on device"):
            Slot.open(root=tmp_path, home_files=[("~/big", b"x" * 100, 0o644, False)])
    assert os.listdir(tmp_path / "slots") == []


def test_a_home_that_the_guest_filled_is_no_fault_of_the_slot(tmp_path: Path, put: Callable[[bytes], str]) -> None:
    with Slot.open(root=tmp_path) as slot:
        result = slot.shell.run(
            "ulimit -f 10; head -c 1000000 /dev/zero > big; echo status $?; ls -s big | cut -d' ' -f1"
        )
        assert "status 153" in result.output  # killed by SIGXFSZ
        slot.alive()
        assert [e.path for e in slot.snapshot(put).entries] == ["~/big"]


@pytest.mark.parametrize(
    ("guest", "says"), [(Guest(timezone="No/Where"), "No/Where"), (Guest(locale="no_WH.UTF-8"), "no_WH")]
)
def test_an_impossible_guest_leaves_nothing(tmp_path: Path, guest: Guest, says: str) -> None:
    with pytest.raises(DesktopError, match=says):
        Slot.open(guest, root=tmp_path)
    assert os.listdir(tmp_path / "slots") == []


OWNER = """
import signal, sys
from pathlib import Path
from forge.desktop.slot import Slot
slot = Slot.open(root=Path(sys.argv[1]))
slot.launch("editor")
slot.shell.run("(while true; do date > beat; sleep 0.1; done) &")
print(slot.home.parent.name, slot.display, *slot.pids, flush=True)
{end}
"""


@pytest.mark.parametrize("end", ["signal.pause()", "raise KeyboardInterrupt", "sys.exit(0)", "slot.close()"])
def test_nothing_outlives_its_owner(tmp_path: Path, end: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER.format(end=end), str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    with process.stdout:
        name, display, *numbers = process.stdout.readline().split()
    pids = tuple(map(int, numbers))
    socket = Path(f"/tmp/.X11-unix/X{display[1:]}")
    try:
        if end == "signal.pause()":
            assert len(living(pids)) == 3
            process.send_signal(signal.SIGKILL)
        process.wait(30)
    finally:
        process.kill()
    assert becomes(lambda: living(pids) == [])
    if end == "signal.pause()":
        assert sweep(tmp_path) == [name]
    assert os.listdir(tmp_path / "slots") == []
    assert not is_stale(socket)
