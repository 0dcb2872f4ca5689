"""A pool of grader processes: every grade runs in a process of its own that was forked for it and dies with it.

Each worker is a small server (`python -c ... serve`, see `verifiers.serving`) that has imported the checks and what they
read files with, has one thread, and forks once per grade. The fork is shut in and gets resource limits and a time-out; a
crash, a kill, a time-out or an exception becomes a `grader_error` verdict, never a score and never a hang.

The server is our own instead of multiprocessing's fork server, which would run the parent's main module in every
child again and need a helper process to track resources.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import os
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType

from forge.records import Guest, Rubric, Verdict, VerifierError
from verifiers.grading import grader_error
from verifiers.serving import PRELOAD, VERDICT_LIMIT, Limits, Request

log = logging.getLogger(__name__)

CACHED_GRADES = 1000
"""Grades that share one folder of computed workbooks."""

GRACE = 5.0
"""Seconds that a worker gets on top of the time-out before it is itself taken for dead."""


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
        request = Request(
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
        worker = _Worker(self._path, self._preload, Path(tempfile.mkdtemp(prefix="tree-", dir=self._computed)))
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

    def __init__(self, path: list[str], preload: tuple[str, ...], tree: Path):
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _BOOT.format(path=path, fd=theirs.fileno(), preload=preload, tree=str(tree))],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env={**_environment(), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )
        self._socket = ours
        self._connection = Connection(os.dup(ours.fileno()))
        self._greeted = False
        self.alive = True

    def grade(self, request: Request) -> Verdict:
        deadline = request.limits.seconds + GRACE
        try:
            self._connection.send(request)
            # A new worker answers only after its imports; the first grade waits for those too.
            if not self._greeted:
                self._greet(deadline + GRACE)
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

    def _greet(self, timeout: float) -> None:
        """Hear what a new server says of itself."""
        if not self._connection.poll(timeout):
            raise TimeoutError(f"the grader process did not start within {timeout:.0f} s")
        _, missing = _read_answer(self._connection)
        self._greeted = True
        if missing:
            log.warning("graders are not shut in wholly: this host offers no %s", missing)

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


def _environment() -> dict[str, str]:
    """Of our own environment what Python and its libraries need; keys and passwords stand there too."""
    kept = ("LANG", "LANGUAGE", "LD_LIBRARY_PATH", "PATH", "TZ", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if name in kept or name.startswith(("LC_", "PYTHON"))}


_BOOT = "import sys; sys.path[:] = {path!r}; from verifiers.serving import serve; serve({fd}, {preload!r}, {tree!r})"
