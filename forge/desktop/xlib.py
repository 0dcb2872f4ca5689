"""Connections of python-xlib, in a process that may have more than 1,024 files open, as one with many slots does."""

from __future__ import annotations

import errno
import os
import select as system
from collections.abc import Sequence
from typing import Any

_READABLE = system.POLLIN | system.POLLHUP | system.POLLERR
_WRITABLE = system.POLLOUT | system.POLLERR


def connect(name: str) -> Any:
    """A connection (`Xlib.display.Display`) to the display called `name`, ":7"; the cookie is that in $XAUTHORITY."""
    from Xlib import display
    from Xlib.protocol import display as protocol

    # it waits by `select.select`, which refuses descriptors from 1,024 on; of `select` it uses nothing else but `error`
    protocol.select = _Select
    return display.Display(name)


def select(
    reads: Sequence[Any], writes: Sequence[Any], errors: Sequence[Any] = (), timeout: float | None = None
) -> tuple[list[Any], list[Any], list[Any]]:
    """As `select.select`, for descriptors of any number; what has failed is ready, and nothing else is told of `errors`."""
    poll = system.poll()
    asked: dict[int, int] = {}
    for files, events in ((reads, system.POLLIN), (writes, system.POLLOUT)):
        for file in files:
            asked[_number(file)] = asked.get(_number(file), 0) | events
    for number, events in asked.items():
        poll.register(number, events)
    found = dict(poll.poll(None if timeout is None else max(0.0, timeout) * 1000))
    if any(events & system.POLLNVAL for events in found.values()):
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    ready, writable = (
        [file for file in files if found.get(_number(file), 0) & events]
        for files, events in ((reads, _READABLE), (writes, _WRITABLE))
    )
    return ready, writable, []


class _Select:
    error = OSError
    select = staticmethod(select)


def _number(file: Any) -> int:
    return file if isinstance(file, int) else int(file.fileno())
