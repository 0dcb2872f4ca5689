"""The guest's clock: programs wait as long as they mean to, and file times are in guest time for every program."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.desktop.box import run_boxed

WAITS = {
    "sleep": "time.sleep(0.2)",
    "condition": "threading.Event().wait(0.2)",
    "queue": "queue_get(0.2)",
    "subprocess": "run_too_long(0.2)",
    "select": "select.select([], [], [], 0.2)",
    "asyncio": "asyncio.run(asyncio.sleep(0.2))",
    "lock": "held.acquire(timeout=0.2)",
}
PROGRAM = """
import asyncio, queue, select, subprocess, threading, time
held = threading.Lock(); held.acquire()
def queue_get(seconds):
    try: queue.Queue().get(timeout=seconds)
    except queue.Empty: pass
def run_too_long(seconds):
    try: subprocess.run(['sleep', '9'], timeout=seconds)
    except subprocess.TimeoutExpired: pass
began, wall = time.monotonic(), time.time()
{what}
print(time.monotonic() - began, time.time() - wall)
"""


@pytest.mark.parametrize("what", WAITS)
def test_waits_take_as_long_as_they_should(home: Path, what: str) -> None:
    done = run_boxed(["python3", "-c", PROGRAM.format(what=WAITS[what])], home=home)
    passed, wall = map(float, done.stdout.split())
    assert 0.19 < passed < 3, done.stderr
    assert wall == pytest.approx(passed, abs=0.05)


def test_file_times_are_in_guest_time(home: Path) -> None:
    script = """
        touch new; touch -d '2020-05-06 07:08:09' old; cp -p old copy
        for f in new old copy; do date -r $f +%F; stat -c %y $f | cut -c1-10; done
        python3 -c 'import os, time; print(time.strftime("%F", time.localtime(os.stat("old").st_mtime)))'
        find . -newermt '2026-03-16 09:00' -name new
    """
    lines = run_boxed(["bash", "-c", script], home=home).stdout.decode().split()
    assert lines == ["2026-03-16"] * 2 + ["2020-05-06"] * 5 + ["./new"]


def test_times_of_the_system_stay(home: Path) -> None:
    expected = str(int(Path("/usr/bin/env").stat().st_mtime))
    assert run_boxed(["stat", "-c", "%Y", "/usr/bin/env"], home=home).stdout.decode().strip() == expected
