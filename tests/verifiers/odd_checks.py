"""Checks that misbehave on purpose. Imported by grader processes of the tests only, never by the tests themselves."""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

from verifiers.base import Args, Case, Finding, Tree, check


class Nothing(Args):
    note: str = ""


_GRADES: list[str] = []


@check("odd.counts", Nothing)
def counts(case: Case, args: Nothing) -> Finding:
    """Always right; its evidence is how many grades this process has seen."""
    _GRADES.append(args.note)
    return Finding(1.0, str(len(_GRADES)))


@check("odd.answer", Nothing)
def answer(case: Case, args: Nothing) -> Finding:
    """Right when the answer is the note."""
    return Finding(float(case.answer == args.note), f"{case.answer!r}")


@check("odd.raises", Nothing)
def raises(case: Case, args: Nothing) -> Finding:
    """Raises."""
    raise RuntimeError("a bug in a check")


@check("odd.segfault", Nothing)
def segfault(case: Case, args: Nothing) -> Finding:
    """Dies of a signal."""
    return Finding(1.0, ctypes.string_at(0).decode())


@check("odd.exits", Nothing)
def exits(case: Case, args: Nothing) -> Finding:
    """Leaves the interpreter without a verdict."""
    os._exit(0)


@check("odd.sys_exit", Nothing)
def sys_exit(case: Case, args: Nothing) -> Finding:
    """Raises SystemExit."""
    sys.exit(3)


@check("odd.sleeps", Nothing)
def sleeps(case: Case, args: Nothing) -> Finding:
    """Never ends."""
    time.sleep(600)
    return Finding(1.0, "")


@check("odd.hoards", Nothing)
def hoards(case: Case, args: Nothing) -> Finding:
    """Takes more memory than any grade may."""
    return Finding(1.0, str(len(bytearray(64 << 30))))


@check("odd.spins", Nothing)
def spins(case: Case, args: Nothing) -> Finding:
    """Burns processor time for ever."""
    while True:
        pass


@check("odd.writes", Nothing)
def writes(case: Case, args: Nothing) -> Finding:
    """Writes a larger file than any grade may."""
    with tempfile.TemporaryFile() as file:
        file.write(bytes(64 << 20))
    return Finding(1.0, "")


@check("odd.kills", Nothing)
def kills(case: Case, args: Nothing) -> Finding:
    """Kills all that it can reach; its evidence is what it reaches by number."""
    reached = []
    for number in [*range(2, 50), int(args.note)]:
        try:
            os.kill(number, signal.SIGKILL)
        except ProcessLookupError:
            continue
        reached.append(number)
    return Finding(1.0, f"{reached} {os.getppid()}")


@check("odd.lists", Nothing)
def lists(case: Case, args: Nothing) -> Finding:
    """Always right; its evidence is all that it sees of three homes, and its working folder."""
    assert case.gold is not None
    found = [f"{tree.root.name}/{path.name}" for tree in (case.before, case.after, case.gold) for path in _all(tree)]
    return Finding(1.0, " ".join([*found, os.getcwd(), *sorted(os.listdir("/"))]))


def _all(tree: Tree) -> list[Path]:
    return sorted(path for path in tree.root.rglob("*") if path.is_file() and path.read_bytes() is not None)


@check("odd.reads", Nothing)
def reads(case: Case, args: Nothing) -> Finding:
    """Always right; its evidence is what a file of the host says, or why it says nothing."""
    try:
        return Finding(1.0, Path(args.note).read_text())
    except OSError as error:
        return Finding(1.0, type(error).__name__)


@check("odd.imports", Nothing)
def imports(case: Case, args: Nothing) -> Finding:
    """Always right; its evidence is a name in a module that nobody imported before."""
    module, _, name = args.note.partition(":")
    return Finding(1.0, str(getattr(importlib.import_module(module), name)))


@check("odd.chatters", Nothing)
def chatters(case: Case, args: Nothing) -> Finding:
    """Prints a lot, which nobody reads."""
    for _ in range(1000):
        print("x" * 1000)
        os.write(2, b"y" * 1000)
    return Finding(1.0, "z" * 5_000_000)


@check("odd.computes", Nothing)
def computes(case: Case, args: Nothing) -> Finding:
    """Always right; its evidence is what LibreOffice computes for ~/a.xlsx."""
    assert case.office is not None
    return Finding(1.0, str(case.office.values(case.after.read("~/a.xlsx") or b"", ".xlsx")["Data"]))


@check("odd.asks", Nothing)
def asks(case: Case, args: Nothing) -> Finding:
    """Always right; asks its server what no grade asks."""
    server: Connection = case.office._server  # type: ignore[union-attr]
    server.send_bytes(args.note.encode())
    server.send_bytes(b"a document")
    return Finding(1.0, "")
