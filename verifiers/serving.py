"""The server in which graders run: it forks once per grade, and each fork shuts itself in before it reads anything.

A grade reads what an agent left. It sees the homes that it compares and the code it runs, can neither write nor start
anything nor reach anybody, and dies with its server (`forge.desktop.confinement`). It has two descriptors: one for its
verdict, which is read as text, and one to ask its server what LibreOffice computes. The server, which opens nothing that an
agent left, passes that on and keeps the results for later grades.

What this does not do: keep a file that takes over the library that reads it from forging the verdict of that one grade.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import signal
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from forge.desktop.confinement import Confinement
from forge.desktop.office import OfficeClient
from forge.records import DesktopError, Guest, Rubric, Verdict
from verifiers.base import CHECKS, Case, Tree
from verifiers.grading import grade, grader_error

PRELOAD = ("verifiers", "verifiers.grading", "openpyxl", "lxml.etree", "lxml.html", "PIL.Image", "sqlite3")
"""Modules that every worker imports once, so that no grade pays for them. Missing ones are passed over."""

VERDICT_LIMIT = 64 << 20
"""Bytes of a worker's answer."""

DOCUMENT_LIMIT = 128 << 20
"""Bytes of a document that a grade has computed."""

OFFICE_SECONDS = 60.0
"""That LibreOffice may take for one document."""


@dataclass(frozen=True)
class Limits:
    """What one grade may use.

    Args:
        seconds: wall-clock time-out.
        cpu_seconds: processor time.
        memory_mb: address space.
        file_mb: largest file it may write; nothing but its own temporary files.
        open_files: descriptors.
    """

    seconds: float = 120.0
    cpu_seconds: int = 120
    memory_mb: int = 4096
    file_mb: int = 256
    open_files: int = 256


@dataclass(frozen=True)
class Request:
    """One grade, as the pool sends it to a server: records as JSON, folders of the host."""

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


def serve(fd: int, preload: tuple[str, ...], tree: str) -> None:
    """The worker's side: answer requests on the socket `fd` until it is closed. Started by `GraderPool` only."""
    confinement = Confinement(("before", "after", "gold"))
    connection = Connection(fd)
    problems: list[str] = []
    for name in preload:
        try:
            importlib.import_module(name)
        except ImportError as error:
            if name not in PRELOAD or name.startswith("verifiers"):
                problems.append(f"cannot import {name}: {error}")
    try:
        CHECKS.names()  # loads those of other distributions
    except Exception as error:
        problems.append(f"cannot load a distribution's checks: {error}")
    confinement.build(Path(tree))
    _answer(connection, ("ready", ", ".join(confinement.missing)))
    gc.collect()
    gc.freeze()
    while True:
        try:
            request = connection.recv()
        except (EOFError, OSError):
            return
        answer = ("error", "; ".join(problems)) if problems else _in_fork(request, connection, confinement)
        if answer is None or not _answer(connection, answer):
            return


def _answer(connection: Connection, answer: tuple[str, str]) -> bool:
    """Say something to the parent; False when it is gone."""
    try:
        connection.send_bytes(json.dumps(answer).encode())
    except OSError:
        return False
    return True


def _in_fork(request: Request, connection: Connection, confinement: Confinement) -> tuple[str, str] | None:
    """Grade in a fork of this process. None when the parent went away meanwhile."""
    reader, writer = os.pipe()
    ours, theirs = socket.socketpair()
    try:
        confinement.prepare()
        child = os.fork()
    except OSError as error:
        os.close(reader)
        os.close(writer)
        ours.close()
        theirs.close()
        return ("error", f"no process can be made for a grade: {error}")
    if child == 0:
        try:
            _close_all_but(writer, theirs.fileno())
            _grade_and_write(request, writer, theirs.fileno(), confinement)
        finally:
            os._exit(0)
    os.close(writer)
    theirs.close()
    office = Connection(ours.detach())
    waiting: list[Any] = [reader, connection, office]
    deadline = time.monotonic() + request.limits.seconds
    chunks: list[bytes] = []
    fate, size = "", 0
    try:
        while True:
            left = deadline - time.monotonic()
            ready = wait(waiting, timeout=max(0.0, left))
            if connection in ready and reader not in ready:
                return None
            if not ready or left <= 0:
                fate = f"the grader ran longer than {request.limits.seconds:g} s and was killed"
                break
            if office in ready and not _serve_office(request, office, left):
                waiting.remove(office)
            if reader not in ready:
                continue
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
        office.close()
    data = b"".join(chunks)
    if not fate and os.WIFSIGNALED(status) and not data.endswith(b"\n"):
        fate = f"the grader process died of {signal.Signals(os.WTERMSIG(status)).name}"
    if fate:
        return ("error", fate)
    return ("verdict", data.decode(errors="replace"))


def _serve_office(request: Request, grade: Connection, left: float) -> bool:
    """Have a document computed that a grade asks for; False when there is no more to come.

    A grade may ask for anything; what it asks for is computed in the office's box and kept under what was asked. A document
    may have taken over the office: what it answers may be anything too.
    """
    try:
        words = json.loads(grade.recv_bytes(1000))
        data = grade.recv_bytes(DOCUMENT_LIMIT)
    except (OSError, EOFError, ValueError, RecursionError):
        return False
    if request.office is None or not isinstance(words, list) or len(words) != 3:
        return False
    if any(not isinstance(word, str) or "\0" in word for word in words):
        return False
    operation, source, target = words
    client = OfficeClient(
        Path(request.office),
        clock=Guest.model_validate_json(request.guest).clock,
        cache=Path(request.office_cache),
        timeout=min(OFFICE_SECONDS, max(1.0, left)),
        patience=max(1.0, left),
    )
    body = b""
    try:
        fields, body = client.answer(operation, data, source, target)
        said = json.dumps(fields)
    except DesktopError as error:
        said = json.dumps({"error": "silent", "message": error.message})
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        said = json.dumps({"error": "silent", "message": f"the office's answer is none: {type(error).__name__}"})
    try:
        grade.send_bytes(said.encode())
        grade.send_bytes(body)
    except OSError:
        return False
    return True


class _OfficeByServer(OfficeClient):
    """The grade's side of `_serve_office`."""

    def __init__(self, server: Connection):
        super().__init__(Path(), timeout=OFFICE_SECONDS)
        self._server = server

    def answer(self, operation: str, data: bytes, source: str, target: str) -> tuple[dict[str, Any], bytes]:
        try:
            self._server.send_bytes(json.dumps([operation, source, target]).encode())
            self._server.send_bytes(data)
            return json.loads(self._server.recv_bytes()), self._server.recv_bytes()
        except (OSError, EOFError) as error:
            raise DesktopError(f"the office cannot be asked: {error}") from error


def _close_all_but(*kept: int) -> None:
    """A grade, which opens what an agent left, holds no way to anything but its verdict and its questions."""
    above = 2
    for fd in (*sorted(kept), os.sysconf("SC_OPEN_MAX")):
        os.closerange(above + 1, fd)
        above = fd


def _reap(child: int) -> int:
    """Kill what is left of the child's process group and collect it. Returns its wait status."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def _grade_and_write(request: Request, writer: int, server: int, confinement: Confinement) -> None:
    """In the fork: limits, confinement, the grade, its verdict as one JSON line into the pipe."""
    os.setpgid(0, 0)
    try:
        verdict = _confined_grade(request, server, confinement)
    except BaseException as error:
        verdict = grader_error(f"{type(error).__name__}: {error}")
    data = verdict.model_dump_json().encode() + b"\n"
    while data:
        data = data[os.write(writer, data) :]


def _confined_grade(request: Request, server: int, confinement: Confinement) -> Verdict:
    folders = {"before": Path(request.before), "after": Path(request.after)}
    if request.gold is not None:
        folders["gold"] = Path(request.gold)
    seen = confinement.enter(folders, server)
    _limit(request.limits)
    office = None if request.office is None else _OfficeByServer(Connection(server))
    case = Case(
        before=Tree(seen["before"]),
        after=Tree(seen["after"]),
        gold=Tree(seen["gold"]) if "gold" in seen else None,
        answer=request.answer,
        status=request.status,
        guest=Guest.model_validate_json(request.guest),
        office=office,
    )
    return grade(Rubric.model_validate_json(request.rubric), case)


def _limit(limits: Limits) -> None:
    wanted: Mapping[int, int] = {
        resource.RLIMIT_AS: limits.memory_mb << 20,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_FSIZE: limits.file_mb << 20,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
    }
    for kind, value in wanted.items():
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
