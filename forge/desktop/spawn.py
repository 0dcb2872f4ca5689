"""Starting the long-lived processes of a desktop so that none can outlive Forge, not even after `kill -9`.

The kernel kills a child with a parent-death signal when the *thread* that forked it ends, not the process. Everything
that lives longer than one call is therefore forked by one daemon thread that lives as long as the process. Children get
no inherited pipes: a pipe that a killed Xvfb's child still holds would hang whoever reads it.
"""

from __future__ import annotations

import contextlib
import os
import queue
import resource
import shutil
import signal
import subprocess
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import IO

from forge.records.errors import DesktopError

GUEST_ID = 77001
"""The numeric user and group that boxes and displays run as when Forge runs as root. It needs no account."""

_FILES = 32  # twice the open files that a slot needs of our process
_Job = tuple["Future[subprocess.Popen[bytes]]", list[str], dict[str, object]]


def identity(user: int | None = None) -> tuple[int, int]:
    """(uid, gid) of the processes of a desktop: an unprivileged number under root, else the user's own.

    Args:
        user: the number under root; GUEST_ID if None.
    """
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    return (GUEST_ID, GUEST_ID) if user is None else (user, user)


def user_of(name: str) -> int:
    """A number for the user of one slot alone, so that slots share none of what the kernel counts by user.

    Args:
        name: the slot's unique name.
    """
    return GUEST_ID + 1 + zlib.crc32(name.encode()) % (1 << 30)


def unprivileged(argv: Sequence[str], *, user: int | None = None, gate: bool = False) -> list[str]:
    """`argv` prefixed so that it runs without root's identity, without capabilities, and dies with its parent thread.

    Only for children of this process: one whose parent was killed before the kernel knew that it is to die with it ends
    by itself, for then its parent is another.

    Args:
        argv: the command.
        user: see `identity`.
        gate: wait for a line on stdin before `argv` is run: until then it has no children, and can be put into a
            control group as a whole.

    Raises:
        DesktopError: the program is not installed.
    """
    path = ""
    for program in ("setpriv", argv[0]):
        path = shutil.which(program) or ""
        if not path:
            raise DesktopError(f"{program} is not installed", mend="run setup/install")
    prefix = ["setpriv", "--no-new-privs", "--pdeathsig", "KILL"]
    if os.geteuid() == 0:
        uid, gid = identity(user)
        prefix += [f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
    script = '[ "$PPID" = "$0" ] && program=$1 && shift 2 && exec "$program" "$@"'
    if gate:
        script = f"read -r go && {script}"
    return [*prefix, "--", "sh", "-c", script, str(os.getpid()), os.path.realpath(path), *argv]


def allow_slots(count: int) -> None:
    """Let this process have as many files open as so many slots need, beside the usual 1,024 and as far as the host lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 1024 + _FILES * count
    wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def start(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
    log: Path | IO[bytes] | None = None,
    admit: Callable[[int], None] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a long-lived child; stdin is empty, stdout and stderr go to `log` or nowhere.

    It is in a process group of its own: Ctrl-C in a terminal goes to ours, which may let what is under way come to its end.

    Args:
        argv: the command.
        env: its environment; ours if None.
        pass_fds: descriptors that it inherits.
        log: where its output goes.
        admit: called with its process id before it goes through its gate, see `unprivileged`.

    Raises:
        FileNotFoundError: the program is not installed.
    """
    output: int | IO[bytes] = subprocess.DEVNULL
    opened: IO[bytes] | None = None
    if isinstance(log, Path):
        output = opened = log.open("ab")
    elif log is not None:
        output = log
    try:
        process = _spawner().spawn(
            list(argv),
            {
                "env": dict(env) if env is not None else None,
                "pass_fds": tuple(pass_fds),
                "stdin": subprocess.DEVNULL if admit is None else subprocess.PIPE,
                "stdout": output,
                "stderr": output,
                "process_group": 0,
            },
        )
        if admit is not None:
            open_gate(process, admit)
        return process
    finally:
        if opened is not None:
            opened.close()


def open_gate(process: subprocess.Popen[bytes], admit: Callable[[int], None]) -> None:
    """Let a child that waits at its gate go on once `admit` has seen to it, with nothing more to read on stdin."""
    assert process.stdin is not None
    try:
        admit(process.pid)
        with contextlib.suppress(BrokenPipeError):  # it has ended; whoever waits for it will see
            process.stdin.write(b"\n")
            process.stdin.flush()
    finally:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()


def stop(process: subprocess.Popen[bytes] | None) -> None:
    """Kill a child and reap it; quiet when it is gone already.

    A box is bubblewrap waiting for the first process of a process namespace. That process is killed first: it ends only
    after all others in its namespace have ended, so that nothing is left when this returns.
    """
    if process is None or process.poll() is not None:
        return
    try:
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            children = [int(pid) for pid in file.read().split()]
    except OSError:
        children = []
    for pid in children:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if children:
        try:
            process.wait(2)
            return
        except subprocess.TimeoutExpired:
            pass
    process.kill()
    process.wait()


_lifelines: dict[int, tuple[int, int]] = {}
_lifelines_lock = threading.Lock()


def lifeline() -> int:
    """The reading end of a pipe whose writing end only this process holds: who reads sees it end when we end, however.

    A box looks at it once it is bound to the life of its owner (see `inside/guestclock.c`): an owner that was killed
    before is noticed so.
    """
    with _lifelines_lock:
        if os.getpid() not in _lifelines:  # a forked child needs one of its own
            _lifelines[os.getpid()] = os.pipe()
        return _lifelines[os.getpid()][0]


class _Spawner:
    """A daemon thread that forks on behalf of all others."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        threading.Thread(target=self._serve, name="forge-spawner", daemon=True).start()

    def spawn(self, argv: list[str], options: dict[str, object]) -> subprocess.Popen[bytes]:
        future: Future[subprocess.Popen[bytes]] = Future()
        self._jobs.put((future, argv, options))
        return future.result()

    def _serve(self) -> None:
        while True:
            future, argv, options = self._jobs.get()
            try:
                future.set_result(subprocess.Popen(argv, **options))  # type: ignore[call-overload]
            except BaseException as error:
                future.set_exception(error)


_current: _Spawner | None = None
_lock = threading.Lock()


def _spawner() -> _Spawner:
    global _current
    with _lock:
        if _current is None or _current.pid != os.getpid():  # a forked child has no such thread
            _current = _Spawner()
        return _current
