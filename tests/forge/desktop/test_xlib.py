"""Waiting for descriptors of any number, as `select` does for low ones."""

from __future__ import annotations

import os
import resource
import socket

import pytest

from forge.desktop.spawn import allow_slots
from forge.desktop.xlib import select


def test_what_is_ready_is_told(high_descriptors: None) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert ours.fileno() > 1024
        assert select([ours], [], [], 0) == ([], [], [])
        assert select([ours], [ours], [], None) == ([], [ours], [])
        theirs.send(b"x")
        assert select([ours], [ours], [], None) == ([ours], [ours], [])
        assert select([ours.fileno()], [], [], 5) == ([ours.fileno()], [], [])
        ours.recv(1)
        theirs.close()
        assert select([ours], [], [], 5) == ([ours], [], [])


def test_what_is_closed_is_an_error(high_descriptors: None) -> None:
    reading, writing = os.pipe()
    os.close(writing)
    assert select([reading], [], [], 5) == ([reading], [], [])
    os.close(reading)
    with pytest.raises(OSError, match="Bad file descriptor"):
        select([reading], [], [], 5)


def test_as_many_files_may_be_open_as_slots_need() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] != resource.RLIM_INFINITY and before[1] < 1400:
        pytest.fail(f"this host lets a process have {before[1]} files open, too few to test this")
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1100, before[1]))
        allow_slots(2)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (1100, before[1])  # never fewer
        allow_slots(10)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (1344, before[1])
        allow_slots(1 << 40)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[1] == before[1]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
