"""A slot's health as data: what is frozen, dead, wild or full is found from outside, in time, and named."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forge.desktop import health
from forge.desktop.health import Watch, below, look
from forge.desktop.lease import Lease
from forge.desktop.slot import Slot
from forge.desktop.xprobe import SilentError, XProbe
from forge.records import DesktopError
from tests.forge.desktop.conftest import becomes, living


def named(pids: tuple[int, ...], program: str) -> int:
    """The process of a slot that runs a program."""
    return next(pid for pid in below(pids) if Path(f"/proc/{pid}/comm").read_text().strip() == program)


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.desktop
@pytest.mark.xdist_group("health")
def test_a_slot_is_well_and_what_is_frozen_in_it_is_named(plain_slot: Slot) -> None:
    before = plain_slot.screen.pixels()
    found = plain_slot.health()
    assert (found.findings, found.ok, str(found)) == ((), True, "well")
    assert 0 < found.latency < health.PATIENCE
    assert (plain_slot.screen.pixels() == before).all()  # the dot is gone
    with frozen(named(plain_slot.pids, "openbox")):
        found = look(plain_slot, Watch(), patience=0.5)
        assert [finding.what for finding in found.findings] == ["window manager"]
        assert not found.ok
    with frozen(named(plain_slot.pids, "Xvfb")):
        found = look(plain_slot, Watch(), patience=0.5)
        assert [finding.what for finding in found.findings] == ["display"]
        assert "does not answer within 0.5 s" in str(found)
    assert plain_slot.health().ok


@pytest.mark.desktop
@pytest.mark.xdist_group("health")
def test_a_bus_whose_socket_is_gone_or_another_is_no_fault(plain_slot: Slot) -> None:
    """The place of a bus's socket belongs to the guest: an episode that goes badly cannot be got rid of there."""
    moved = plain_slot.shell.run("cd /run/forge && mv bus away && ls")
    try:
        assert "away" in moved.output
        plain_slot.alive()
        plain_slot.shell.run("cd /run/forge && python3 -c \"import socket; socket.socket(1).bind('bus')\"")
        plain_slot.alive()
    finally:
        plain_slot.shell.run("cd /run/forge && mv -f away bus")


@pytest.mark.parametrize("bus", ["session bus", "accessibility bus"])
def test_a_bus_that_is_stopped_is_named(plain_slot: Slot, bus: str) -> None:
    daemons = [pid for pid in below(plain_slot.pids) if Path(f"/proc/{pid}/comm").read_text() == "dbus-daemon\n"]
    told = "accessibility.conf" if bus == "accessibility bus" else "/proc/self/fd/"
    (daemon,) = (pid for pid in daemons if told in Path(f"/proc/{pid}/cmdline").read_text())
    with frozen(daemon):
        assert str(plain_slot.health()) == f"the {bus} of the slot does not answer"
        with pytest.raises(DesktopError, match=f"the {bus} of the slot does not answer"):
            plain_slot.alive()
    assert plain_slot.health().ok


@pytest.mark.desktop
@pytest.mark.xdist_group("health")
def test_a_display_without_its_cookie_is_refused(plain_slot: Slot, tmp_path: Path) -> None:
    wrong = tmp_path / "cookie"
    wrong.write_bytes(plain_slot.xauthority.read_bytes()[:-1])
    data = bytearray(plain_slot.xauthority.read_bytes())
    data[data.index(b"COOKIE-1") + 10] ^= 1  # the first byte of the first key
    wrong.write_bytes(bytes(data))
    with pytest.raises(SilentError, match="refuses the cookie"):
        XProbe(plain_slot.display_socket, wrong, 2)
    with pytest.raises(SilentError, match="cannot be read"):
        XProbe(plain_slot.display_socket, tmp_path / "none", 2)


@pytest.mark.desktop
@pytest.mark.xdist_group("health")
def test_a_runaway_process_and_a_full_disk_are_found(plain_slot: Slot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "WILD_SECONDS", 1.5)
    monkeypatch.setattr(health, "WILD_SHARE", 0.05)  # the machine that tests has other work
    plain_slot.shell.run("(exec -a runaway sh -c 'while :; do :; done') & echo $! > ~/wild")
    try:
        assert becomes(lambda: any(f.what == "process" for f in plain_slot.health().findings))
        (found,) = plain_slot.health().findings
        assert "has kept a processor busy for" in found.says
    finally:
        plain_slot.shell.run("kill -9 $(cat ~/wild)")
    assert becomes(lambda: plain_slot.health().ok)
    monkeypatch.setattr(health, "LEAST_BYTES", 1 << 60)
    assert [finding.what for finding in plain_slot.health().findings] == ["disk"]


@pytest.mark.desktop
@pytest.mark.xdist_group("health")
def test_what_has_died_is_found(tmp_path: Path) -> None:
    with Slot.open(root=tmp_path) as slot:
        slot.launch("editor")
        os.kill(named(slot.pids, "mousepad"), signal.SIGKILL)
        assert becomes(lambda: [finding.what for finding in slot.health().findings] == ["application"])
        os.kill(named(slot.pids, "openbox"), signal.SIGKILL)
        assert becomes(lambda: {f.what for f in slot.health().findings} >= {"window manager", "display"})
        os.kill(slot.pids[-1], signal.SIGKILL)
        assert becomes(lambda: "supervisor" in {finding.what for finding in slot.health().findings})


@pytest.mark.desktop
@pytest.mark.xdist_group("health")
def test_a_slot_whose_holder_falls_silent_is_taken_back(tmp_path: Path) -> None:
    slot = Slot.open(root=tmp_path)
    pids = slot.pids
    slot.lend(1.0)
    for _ in range(8):
        time.sleep(0.2)
        assert slot.renew()  # heartbeats
    assert slot.shell.run("sleep 1.5; echo done").output == "done\n"  # a command under way holds the lease
    assert becomes(lambda: living(pids) == [] and os.listdir(tmp_path / "slots") == [])
    assert not slot.renew()
    for use in (slot.settle, slot.windows, lambda: slot.shell.run("true")):
        with pytest.raises(DesktopError, match="its lease ran out, there was no heartbeat for 1 s"):
            use()
    slot.close()


@pytest.mark.desktop
@pytest.mark.xdist_group("health")
def test_who_waits_for_a_frozen_display_is_set_free(tmp_path: Path) -> None:
    slot = Slot.open(root=tmp_path)
    slot.lend(0.5)
    said: list[BaseException] = []

    def wait() -> None:
        try:
            slot.windows()
        except BaseException as error:
            said.append(error)

    os.kill(named(slot.pids, "Xvfb"), signal.SIGSTOP)
    waiting = threading.Thread(target=wait)
    waiting.start()
    waiting.join(10)
    assert not waiting.is_alive()
    assert isinstance(said[0], DesktopError)
    slot.close()


@pytest.mark.desktop
@pytest.mark.xdist_group("health")
def test_a_home_that_was_taken_back_is_no_state(tmp_path: Path) -> None:
    slot = Slot.open(root=tmp_path, home_files=[("~/a", b"1", 0o644, False), ("~/b", b"2", 0o644, False)])
    slot.lend(0.3)

    def slow(data: bytes) -> str:
        if data == b"1":
            time.sleep(0.6)  # reading is a use
        return hashlib.sha256(data).hexdigest()

    assert {"~/a", "~/b"} <= {entry.path for entry in slot.snapshot(slow).entries}
    pids = slot.pids
    assert becomes(lambda: living(pids) == [])
    with pytest.raises(DesktopError, match="its lease ran out"):
        slot.snapshot(slow)


def test_a_lease_runs_out_once_and_not_while_it_is_used() -> None:
    ended: list[float] = []
    lease = Lease(0.2, lambda: ended.append(time.monotonic()))
    with lease.use():
        time.sleep(0.4)
        assert lease.left == 0.2
    released = time.monotonic()
    assert becomes(lambda: bool(ended))
    assert ended[0] - released >= 0.2
    assert (lease.left, lease.renew()) == (0.0, False)
    time.sleep(0.3)
    assert len(ended) == 1


def test_a_lease_that_was_given_back_does_not_run_out() -> None:
    ended: list[int] = []
    lease = Lease(0.1, lambda: ended.append(1))
    lease.cancel()
    lease.cancel()
    time.sleep(0.3)
    assert ended == []


@pytest.mark.parametrize("use", [0.0, 0.5, 1.0])
def test_a_busy_process_is_wild_only_after_a_while(use: float, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    begun = 7
    monkeypatch.setattr(health, "_ticks", lambda pid: begun + int(use * (now[0] - 100) * os.sysconf("SC_CLK_TCK")))
    watch = Watch()
    look_at: Callable[[], list[tuple[int, float]]] = lambda: watch.wild([5])
    found = {}
    for second in range(0, 100, 10):
        now[0] = 100.0 + second
        found[second] = look_at()
        assert look_at() == found[second]  # at once again: one look
    assert found[50] == []
    assert found[60] == ([(5, 60.0)] if use == 1.0 else [])
