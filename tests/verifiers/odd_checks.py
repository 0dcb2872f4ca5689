"""Checks that misbehave on purpose. Imported by grader processes of the tests only, never by the tests themselves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from verifiers.base import Args, Case, Finding, check


class Nothing(Args):
    note: str = ""


@check("odd.pid", Nothing)
def pid(case: Case, args: Nothing) -> Finding:
    """Always right; its evidence is the process id."""
    return Finding(1.0, str(os.getpid()))


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
    os.kill(os.getpid(), signal.SIGSEGV)
    return Finding(1.0, "")


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
    """Starts a child that would outlive it, writes both ids to the note's file, and never ends."""
    child = subprocess.Popen(["sleep", "600"])
    with open(args.note, "w") as file:
        file.write(f"{os.getpid()} {child.pid}")
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
    with open(args.note, "wb") as file:
        file.write(bytes(64 << 20))
    return Finding(1.0, "")


@check("odd.kills_server", Nothing)
def kills_server(case: Case, args: Nothing) -> Finding:
    """Kills the process that forked it."""
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)
    return Finding(1.0, "")


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
