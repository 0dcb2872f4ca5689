"""The box shuts in what runs in it: files, network, privileges, time, output, memory."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from forge.desktop.box import Completed, Layers, chown_home, run_boxed
from forge.records import DesktopError, Guest


def sh(home: Path, command: str, **more: object) -> Completed:
    return run_boxed(["bash", "-c", command], home=home, **more)  # type: ignore[arg-type]


def test_runs_as_the_guest_in_its_home(home: Path) -> None:
    done = sh(home, 'id -un; id -u; pwd; echo "$HOME"; hostname; touch made')
    assert done.stdout.decode().split() == ["alex", "1000", "/home/alex", "/home/alex", "desktop"]
    assert done.exit_code == 0
    assert (home / "made").exists()


def test_gives_both_streams_and_the_exit_code(home: Path) -> None:
    done = run_boxed(["bash", "-c", "cat; echo wrong >&2; exit 7"], home=home, stdin=b"in \xff out")
    assert (done.stdout, done.stderr, done.exit_code) == (b"in \xff out", b"wrong\n", 7)
    assert not done.timed_out
    assert not done.truncated


def test_a_missing_command_is_the_commands_failure(home: Path) -> None:
    assert run_boxed(["no-such-program"], home=home).exit_code != 0


@pytest.mark.parametrize("path", ["/root", "/work", "/srv", "/etc/shadow", "/etc/ssh", "/var/lib/dpkg", "/home/root"])
def test_the_hosts_files_are_not_there(home: Path, path: str) -> None:
    assert sh(home, f"test -e {path}").exit_code == 1


@pytest.mark.parametrize("path", ["/usr/x", "/etc/x", "/x", "/run/forge/clock", "/etc/passwd", "/opt/forge/x"])
def test_the_system_cannot_be_written(home: Path, path: str) -> None:
    done = sh(home, f"echo x > {path}")
    assert done.exit_code == 1
    assert b"Read-only" in done.stderr or b"denied" in done.stderr


def test_another_home_cannot_be_seen(home: Path, tmp_path: Path) -> None:
    secret = tmp_path / "gold.txt"
    secret.write_text("gold")
    assert sh(home, f"cat {secret}").exit_code == 1
    assert sh(home, "ls -A /tmp /home").stdout.decode().split() == ["/home:", "alex", "/tmp:"]


def test_there_is_no_network(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
        done = run_boxed(["python3", "-c", code], home=home)
    assert b"ConnectionRefusedError" in done.stderr
    assert sh(home, "tail -n +3 /proc/net/dev | cut -d: -f1").stdout.split() == [b"lo"]


def test_displays_of_the_host_cannot_be_reached(home: Path) -> None:
    assert sh(home, "ls /tmp/.X11-unix").exit_code == 2
    assert sh(home, "cat /proc/net/unix | tail -n +2 | wc -l").stdout.strip() == b"0"


def test_no_privileges_and_no_way_to_them(home: Path) -> None:
    done = sh(home, "grep -E 'Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs' /proc/self/status | cut -f2")
    assert done.stdout.split() == [b"0000000000000000"] * 5 + [b"1"]
    assert sh(home, "unshare --user --map-root-user true").exit_code == 1


def test_processes_of_the_host_cannot_be_seen(home: Path) -> None:
    assert sh(home, f"test -d /proc/{os.getpid()}").exit_code == 1
    assert len(sh(home, "ls /proc | grep -c '^[0-9]'").stdout.strip()) <= 2


def test_the_time_limit_kills_everything(home: Path) -> None:
    done = sh(home, "(while true; do date +%N > beat; done) & sleep 60", timeout=0.5)
    assert (done.exit_code, done.timed_out) == (None, True)
    assert 0.4 < done.seconds < 5
    before = (home / "beat").stat().st_mtime_ns
    assert (home / "beat").stat().st_mtime_ns == before
    assert sh(home, "true").exit_code == 0


def test_a_child_left_behind_holds_nothing_up(home: Path) -> None:
    done = sh(home, "sleep 60 & echo done", timeout=20)
    assert done.stdout == b"done\n"
    assert done.seconds < 10


def test_output_is_cut_at_the_limit_and_the_command_goes_on(home: Path) -> None:
    done = sh(home, "head -c 3000000 /dev/zero; touch finished", output_limit=1000)
    assert len(done.stdout) == 1000
    assert done.truncated
    assert (home / "finished").exists()


def test_a_reader_that_reads_nothing_is_no_fault(home: Path) -> None:
    assert run_boxed(["true"], home=home, stdin=b"x" * 1_000_000).exit_code == 0


def test_memory_is_limited(home: Path) -> None:
    done = run_boxed(["python3", "-c", "bytearray(600 << 20)"], home=home, memory_mb=256)
    assert b"MemoryError" in done.stderr


def test_layers_are_put_first_and_read_only(home: Path, tmp_path: Path) -> None:
    commands, python = tmp_path / "commands", tmp_path / "python"
    commands.mkdir()
    python.mkdir()
    (commands / "greet").write_text("#!/bin/sh\necho hello $1\n")
    (commands / "greet").chmod(0o755)
    (python / "greeting.py").write_text("WORD = 'hi'\n")
    layers = Layers(commands=(commands,), python=(python,))
    done = sh(home, "greet you; python3 -c 'import greeting; print(greeting.WORD)'", layers=layers)
    assert done.stdout == b"hello you\nhi\n"
    assert sh(home, 'echo x > "$(dirname "$(command -v greet)")/new"', layers=layers).exit_code == 1


def test_a_folder_that_is_not_there_is_named(home: Path, tmp_path: Path) -> None:
    with pytest.raises(DesktopError, match="nowhere"):
        sh(home, "true", layers=Layers(commands=(tmp_path / "nowhere",)))


def test_missing_bubblewrap_says_what_to_do(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DesktopError, match="setup/install"):
        sh(home, "true")


@pytest.mark.parametrize(
    ("guest", "expected"),
    [
        (Guest(), "2026-03-16 09:30 CET"),
        (Guest(clock="2026-07-16T12:00:00"), "2026-07-16 12:00 CEST"),
        (Guest(clock="2024-02-29T23:59:30", timezone="America/New_York"), "2024-02-29 23:59 EST"),
        (Guest(clock="2031-07-01T12:00:00", timezone="Asia/Kolkata", locale="C.UTF-8"), "2031-07-01 12:00 IST"),
    ],
)
def test_the_clock_and_the_zone_are_the_guests(home: Path, guest: Guest, expected: str) -> None:
    python = "import time; print(time.strftime('%Y-%m-%d %H:%M %Z'))"
    done = sh(home, f"date '+%Y-%m-%d %H:%M %Z'; python3 -c \"{python}\"", guest=guest)
    assert done.stdout.decode().splitlines() == [expected, expected]


def test_the_locale_is_the_guests(home: Path) -> None:
    done = sh(home, 'locale charmap; date +%A; printf "%\'d\\n" 1234567', guest=Guest(locale="de_DE.UTF-8"))
    assert done.stdout.decode().split() == ["UTF-8", "Montag", "1.234.567"]


def test_unknown_zone_and_locale_are_named(home: Path) -> None:
    with pytest.raises(DesktopError, match="Mars/Olympus"):
        sh(home, "true", guest=Guest(timezone="Mars/Olympus"))
    with pytest.raises(DesktopError, match="xx_XX"):
        sh(home, "true", guest=Guest(locale="xx_XX.UTF-8"))


def test_an_ordinary_user_can_make_boxes_too(tmp_path: Path) -> None:
    """The same call in a process without root's identity: another unprivileged user, with folders of its own."""
    if os.geteuid() != 0:
        return  # all other tests here have just shown it
    place = Path("/tmp") / f"forge-test-{os.getpid()}"
    place.mkdir()
    try:
        os.chown(place, 65123, 65123)
        code = f"""
            import os, sys
            os.setgroups([]); os.setgid(65123); os.setuid(65123)
            sys.path.insert(0, {str(Path.cwd())!r})
            os.environ.update(FORGE_HOME={str(place / "forge")!r}, FORGE_CACHE={str(place / "cache")!r}, HOME={str(place)!r})
            from pathlib import Path
            from forge.desktop.box import chown_home, run_boxed
            home = Path({str(place / "home")!r}); home.mkdir(); chown_home(home)
            done = run_boxed(["sh", "-c", "id -un; date +%F; touch made"], home=home)
            print(done.stdout.decode(), done.stderr.decode(), (home / "made").exists())
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False, timeout=60
        )
        assert done.stdout.split() == ["alex", "2026-03-16", "True"], done.stderr
    finally:
        subprocess.run(["rm", "-rf", str(place)], check=True)


INTERRUPTED = """
import os, signal, sys, threading, time
from pathlib import Path
from forge.desktop.box import chown_home, run_boxed
from forge.desktop.spawn import start, stop

signal.signal(signal.SIGINT, lambda *_: print("told", flush=True))
home = Path(sys.argv[1])
chown_home(home)
long_lived = start(["sleep", "60"])

def interrupt():
    while not (home / "runs").exists():
        time.sleep(0.01)
    os.killpg(0, signal.SIGINT)
    (home / "told").touch()

threading.Thread(target=interrupt).start()
print(run_boxed(["sh", "-c", "touch runs; until test -e told; do sleep 0.05; done"], home=home).exit_code, long_lived.poll())
stop(long_lived)
"""


def test_an_interrupt_from_the_terminal_does_not_reach_what_was_started(home: Path) -> None:
    """It goes to the whole process group: whoever lets what is under way end in order needs it to go on."""
    command = [sys.executable, "-c", INTERRUPTED, str(home)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, start_new_session=True)
    assert done.stdout.split() == ["told", "0", "None"], done.stderr


def test_chown_home_follows_no_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    owner = outside.stat().st_uid
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    chown_home(folder)
    assert outside.stat().st_uid == owner
