"""Waiting for descriptors of any number, as `select` does for low ones."""

from __future__ import annotations

import os
import socket

import pytest

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
