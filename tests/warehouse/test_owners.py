"""Owners: a process that died is known to be gone, one that lives or cannot be seen is not; its leases are free at once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from warehouse.owners import is_gone, owner_name

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def other() -> Iterator[subprocess.Popen[str]]:
    """Another process that has told its name and waits."""
    code = "from warehouse.owners import owner_name; print(owner_name(), flush=True); input()"
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    yield process
    process.kill()
    process.communicate()


def name_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_we_are_not_gone():
    assert not is_gone(owner_name())
    assert f":{os.getpid()}:" in owner_name()


def test_a_process_is_gone_when_it_was_killed_even_before_it_is_reaped(other):
    name = name_of(other)
    assert not is_gone(name)
    other.kill()
    os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)  # dead, and a zombie until it is reaped
    assert Path(f"/proc/{other.pid}/stat").exists()
    assert is_gone(name)
    other.wait()
    assert is_gone(name)


def test_another_process_with_the_same_number_is_another_owner():
    started = re.sub(r"/(\d+)$", lambda found: f"/{int(found[1]) - 1}", owner_name())
    assert is_gone(started)


@pytest.mark.parametrize(
    "elsewhere",
    [
        lambda name: re.sub(r"@[^/]+/", "@00000000-0000-0000-0000-000000000000/", name),  # another machine
        lambda name: re.sub(r"/\d+/", "/17/", name),  # another container
        lambda name: name.split("@")[0],
        lambda name: "a person",
        lambda name: "",
    ],
)
def test_nobody_is_declared_gone_who_cannot_be_seen_from_here(other, elsewhere):
    name = name_of(other)
    other.kill()
    other.wait()
    assert is_gone(name)
    assert not is_gone(elsewhere(name))


def test_what_a_dead_process_held_is_had_at_once_and_its_late_writes_are_fenced_off(warehouse, other):
    claims, name = warehouse.claims, name_of(other)
    late = claims.acquire("probe", "t1", name, 1000)
    assert claims.acquire("probe", "t1", owner_name()) is None
    assert claims.state("probe", "t1") == "held"
    other.kill()
    other.wait()
    assert claims.state("probe", "t1") == "stale"
    assert claims.counts() == {"probe": {"stale": 1}}
    assert [(lease.key, lease.token) for lease in claims.acquire_many("probe", ["t0", "t1"], owner_name())] == [
        ("t0", 1),
        ("t1", 2),
    ]
    assert claims.counts() == {"probe": {"held": 2}}
    assert not late.release()
