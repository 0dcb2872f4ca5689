"""Owners of leases: a name that says which process it is, so that others on the same machine can tell when it is gone.

After `kill -9` a lease would stay held until it runs out. A name therefore holds the process's number and, against
another process that was given the same number since, the moment of its start. They mean something only to those who see
the same processes: same start of the machine, same process namespace. Of any other owner (another machine, another
container, a name of another form) nobody here can say that it is gone; its leases run out.

A mistake would cost only work done twice: the fencing token still keeps a late owner from writing.
"""

from __future__ import annotations

import os
import re
import socket
import threading
from pathlib import Path

_NAME = re.compile(r"^[^:]*:(?P<pid>\d+):\d+@(?P<place>[0-9a-f-]+/\d+)/(?P<start>\d+)$")


def owner_name() -> str:
    """The name of the calling thread as an owner: `host:pid:thread@boot/namespace/start`."""
    name = f"{socket.gethostname().replace(':', '-')}:{os.getpid()}:{threading.get_ident()}"
    place, start = _place(), _start_of(os.getpid())
    return name if place is None or start is None else f"{name}@{place}/{start}"


def is_gone(owner: str) -> bool:
    """Whether the owner was a process of this machine that certainly runs no more. False when that cannot be known."""
    found = _NAME.match(owner)
    if found is None or found["place"] != _place():
        return False
    pid = int(found["pid"])
    start = _start_of(pid)
    if start is not None:
        return start != found["start"]
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False  # /proc may hide another user's processes
    return Path(f"/proc/{pid}/stat").exists()  # dead but not yet reaped by its parent


def _place() -> str | None:
    """Within what a process number means something: the boot of the kernel and the process namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return None


def _start_of(pid: int) -> str | None:
    """When a living process started, in clock ticks since the boot; None when there is no such process, or a dead one."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The name in parentheses may hold anything; after it come the state (field 3) and, at field 22, the start.
    fields = stat.rpartition(b")")[2].split()
    return None if fields[0] in (b"Z", b"X") else fields[19].decode()
