"""A pool of grader processes: every grade runs in a process of its own that was forked for it and dies with it.

Each worker is a small server (`python -c ... serve`) that has imported the checks and what they read files with, has one
thread, and forks once per grade. The fork gets resource limits and a time-out; a crash, a kill, a time-out or an exception
becomes a `grader_error` verdict, never a score and never a hang.

The server is our own instead of multiprocessing's fork server, which would run the parent's main module in every
child again and need a helper process to track resources.

A grade has no descriptor but the one for its verdict, and what comes from it is read as text. What this does not do:
isolate a check from the host. Checks are our code; whatever an agent left behind that must be
*run* is run by `forge.desktop.run_boxed`.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import TracebackType
from typing import Any

from forge.records import Guest, Rubric, Verdict, VerifierError
from verifiers.grading import grader_error

PRELOAD = ("verifiers", "verifiers.grading", "openpyxl", "lxml.etree", "lxml.html", "PIL.Image", "sqlite3")
"""Modules that every worker imports once, so that no grade pays for them. Missing ones are passed over."""

CACHED_GRADES = 1000
"""Grades that share one folder of computed workbooks."""

VERDICT_LIMIT = 64 << 20
"""Bytes of a worker's answer."""

GRACE = 5.0
"""Seconds that a worker gets on top of the time-out before it is itself taken for dead."""


@dataclass(frozen=True)
class Limits:
    """What one grade may use.

    Args:
        seconds: wall-clock time-out.
        cpu_seconds: processor time.
        memory_mb: address space.
        file_mb: largest file it may write.
    """

    seconds: float = 120.0
    cpu_seconds: int = 120
    memory_mb: int = 4096
    file_mb: int = 256


@dataclass(frozen=True)
class _Request:
    rubric: str
    before: str
    after: str
    gold: str | None
    answer: str | None
    status: str
    guest: str
    office: str | None
    office_cache: str
    limits: Limits = field(default_factory=Limits)


class GraderPool:
    """Grades in parallel, from any thread. Use as a context manager, or call `close`.

    Args:
        workers: grades that may run at once.
        limits: what one grade may use.
        preload: more modules for the workers to import: those that register a person's own checks.
        scratch: folder for what LibreOffice computed, removed by `close`; default: the system's temporary folder.
    """

    def __init__(
        self,
        workers: int = 2,
        *,
        limits: Limits | None = None,
        preload: tuple[str, ...] = (),
        scratch: Path | None = None,
    ):
        if workers < 1:
            raise VerifierError(f"a grader pool needs at least one worker, got {workers}")
        self.limits = limits or Limits()
        self._path, self._preload = list(sys.path), (*PRELOAD, *preload)
        self._lock = threading.Lock()
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        self._all: set[_Worker] = set()
        self._closed = False
        self._computed = tempfile.mkdtemp(prefix="forge-graded-", dir=scratch)
        self._grades = itertools.count()
        for _ in range(workers):
            self._idle.put(self._start())

    def grade(
        self,
        rubric: Rubric,
        before: Path,
        after: Path,
        gold: Path | None = None,
        answer: str | None = None,
        status: str = "success",
        guest: Guest | None = None,
        office_address: Path | None = None,
    ) -> Verdict:
        """Grade one final state; blocks while all workers are busy.

        Args:
            rubric: the task's.
            before: folder of the host with the guest's home as it was at the start.
            after: the same after the agent stopped.
            gold: folder with the gold artifacts.
            answer: the agent's last answer.
            status: the done status.
            guest: the task's guest.
            office_address: socket of `forge.desktop.Office`, for checks that need formulas computed.

        Raises:
            VerifierError: the pool is closed.
        """
        request = _Request(
            rubric=rubric.model_dump_json(),
            before=str(before),
            after=str(after),
            gold=None if gold is None else str(gold),
            answer=answer,
            status=status,
            guest=(guest or Guest()).model_dump_json(),
            office=None if office_address is None else str(office_address),
            office_cache=self._office_cache(),
            limits=self.limits,
        )
        worker = self._idle.get()
        if worker is None:
            self._idle.put(None)
            raise VerifierError("the grader pool is closed")
        try:
            return worker.grade(request)
        finally:
            self._give_back(worker)

    def close(self) -> None:
        """End all workers and what they run. Grades under way become `grader_error`; later calls raise."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            workers, self._all = self._all, set()
            self._idle.put(None)
        for worker in workers:
            worker.stop()
        shutil.rmtree(self._computed, ignore_errors=True)

    def __enter__(self) -> GraderPool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _office_cache(self) -> str:
        """Where grades keep what LibreOffice computed: near-misses of one task share most of their workbooks.

        A new folder every so often; the one before the last is removed, so that it never grows without end.
        """
        number = next(self._grades) // CACHED_GRADES
        if number >= 2:
            shutil.rmtree(f"{self._computed}/{number - 2}", ignore_errors=True)
        return f"{self._computed}/{number}"

    def _start(self) -> _Worker:
        worker = _Worker(self._path, self._preload)
        self._all.add(worker)
        return worker

    def _give_back(self, worker: _Worker) -> None:
        with self._lock:
            if self._closed:
                return
            if not worker.alive:
                self._all.discard(worker)
                worker.stop()
                worker = self._start()
            self._idle.put(worker)


class _Worker:
    """The parent's handle on one server process."""

    def __init__(self, path: list[str], preload: tuple[str, ...]):
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _BOOT.format(path=path, fd=theirs.fileno(), preload=preload)],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )
        self._socket = ours
        self._connection = Connection(os.dup(ours.fileno()))
        self.alive = True

    def grade(self, request: _Request) -> Verdict:
        deadline = request.limits.seconds + GRACE
        try:
            self._connection.send(request)
            # A new worker answers only after its imports; the first grade waits for those too.
            if not self._connection.poll(deadline + GRACE):
                raise TimeoutError(f"the grader process did not answer within {deadline + GRACE:.0f} s")
            kind, payload = _read_answer(self._connection)
        except (OSError, EOFError, TimeoutError, ValueError) as error:
            self.alive = False
            return grader_error(f"the grader process is gone: {type(error).__name__}: {error}")
        if kind != "verdict":
            return grader_error(payload)
        try:
            return Verdict.model_validate_json(payload)
        except ValueError as error:
            return grader_error(f"the grader returned no verdict: {error}")

    def stop(self) -> None:
        """End the server and its child, from any thread; a grade under way sees the end of the stream."""
        self.alive = False
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _read_answer(connection: Connection) -> tuple[str, str]:
    """What a worker answered. Only text is taken from it: it has opened what an agent left."""
    kind, payload = json.loads(connection.recv_bytes(VERDICT_LIMIT))
    return str(kind), str(payload)


_BOOT = "import sys; sys.path[:] = {path!r}; from verifiers.pool import serve; serve({fd}, {preload!r})"


def serve(fd: int, preload: tuple[str, ...]) -> None:
    """The worker's side: answer requests on the socket `fd` until it is closed. Started by `GraderPool` only."""
    import gc

    connection = Connection(fd)
    problems: list[str] = []
    for name in preload:
        try:
            importlib.import_module(name)
        except ImportError as error:
            if name not in PRELOAD or name.startswith("verifiers"):
                problems.append(f"cannot import {name}: {error}")
    gc.collect()
    gc.freeze()
    while True:
        try:
            request = connection.recv()
        except (EOFError, OSError):
            return
        answer = ("error", "; ".join(problems)) if problems else _in_fork(request, connection)
        if answer is None:
            return
        try:
            connection.send_bytes(json.dumps(answer).encode())
        except OSError:
            return


def _in_fork(request: _Request, connection: Connection) -> tuple[str, str] | None:
    """Grade in a fork of this process. None when the parent went away meanwhile."""
    reader, writer = os.pipe()
    server = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            _close_all_but(writer)
            _grade_and_write(request, writer, server)
        finally:
            os._exit(0)
    os.close(writer)
    deadline = time.monotonic() + request.limits.seconds
    chunks: list[bytes] = []
    fate, size = "", 0
    try:
        while True:
            left = deadline - time.monotonic()
            ready = wait([reader, connection], timeout=max(0.0, left))
            if connection in ready and reader not in ready:
                return None
            if not ready:
                fate = f"the grader ran longer than {request.limits.seconds:g} s and was killed"
                break
            chunk = os.read(reader, 1 << 16)
            if not chunk:
                break
            chunks.append(chunk)
            size += len(chunk)
            if size > VERDICT_LIMIT // 8:  # written as text once more it grows
                fate = f"the grader said more than {VERDICT_LIMIT >> 23} MiB and was killed"
                break
    finally:
        os.close(reader)
        status = _reap(child)
    data = b"".join(chunks)
    if not fate and os.WIFSIGNALED(status) and not data.endswith(b"\n"):
        fate = f"the grader process died of {signal.Signals(os.WTERMSIG(status)).name}"
    if fate:
        return ("error", fate)
    return ("verdict", data.decode(errors="replace"))


def _close_all_but(writer: int) -> None:
    """A grade, which opens what an agent left, holds no way to anything but its own verdict."""
    os.closerange(3, writer)
    os.closerange(writer + 1, os.sysconf("SC_OPEN_MAX"))


def _reap(child: int) -> int:
    """Kill what is left of the child's process group and collect it. Returns its wait status."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def _grade_and_write(request: _Request, writer: int, server: int) -> None:
    """In the fork: limits, the grade, its verdict as one JSON line into the pipe."""
    os.setpgid(0, 0)
    _die_with(server)
    try:
        verdict = _limited_grade(request)
    except BaseException as error:
        verdict = grader_error(f"{type(error).__name__}: {error}")
    data = verdict.model_dump_json().encode() + b"\n"
    while data:
        data = data[os.write(writer, data) :]


def _limited_grade(request: _Request) -> Verdict:
    import resource

    from forge.desktop.office import OfficeClient
    from verifiers.base import Case, Tree
    from verifiers.grading import grade

    guest = Guest.model_validate_json(request.guest)
    office = None
    if request.office is not None:
        office = OfficeClient(Path(request.office), clock=guest.clock, cache=Path(request.office_cache))
    for limit, value in (
        (resource.RLIMIT_AS, request.limits.memory_mb << 20),
        (resource.RLIMIT_CPU, request.limits.cpu_seconds),
        (resource.RLIMIT_FSIZE, request.limits.file_mb << 20),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(limit)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))
    case = Case(
        before=Tree(Path(request.before)),
        after=Tree(Path(request.after)),
        gold=None if request.gold is None else Tree(Path(request.gold)),
        answer=request.answer,
        status=request.status,
        guest=guest,
        office=office,
    )
    return grade(Rubric.model_validate_json(request.rubric), case)


def _die_with(server: int) -> None:
    """Have the kernel kill this process when its server dies (PR_SET_PDEATHSIG, prctl(2))."""
    import ctypes

    libc: Any = ctypes.CDLL(None, use_errno=True)
    libc.prctl(1, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(1)
