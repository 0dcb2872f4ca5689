"""Ctrl-C through real processes: told at once, in order the first time, at once the second time, without a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from rounds.interrupts import FIRST, LAST

ROOT = Path(__file__).parents[2]
JOB = """
import asyncio, subprocess, sys, time
import cli.main, cli.grounding
from rounds import interrupts
import typer

async def job():
    print("working", flush=True)
    await asyncio.to_thread(time.sleep, float(sys.argv[2]))

def harvest():
    child = subprocess.Popen(["sleep", "300"], start_new_session=True)
    print(child.pid, flush=True)
    try:
        interrupts.run(job())
    finally:
        child.kill()
        child.wait()
        print("tidied up", flush=True)

app = typer.Typer()
app.command()(harvest)
cli.main.app = lambda: app([])
cli.main.main()
"""
IMPORTED = """
import runpy, signal
set_handler = signal.signal

def told(number, handler):
    before = set_handler(number, handler)
    print(getattr(handler, "__name__", handler), flush=True)
    return before

signal.signal = told
runpy.run_module("flows.round", run_name="__main__")
"""
"""Imports a round; says each handler of a signal once it is set."""


@contextmanager
def started(*command: str) -> Iterator[subprocess.Popen[str]]:
    """A process that takes SIGINT as one of a terminal does."""
    process = subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True, preexec_fn=partial(signal.signal, signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stderr.close()


def begun(process: subprocess.Popen[str]) -> int:
    """Wait until the job is at work; its child's process id."""
    assert process.stdout is not None
    child = int(process.stdout.readline())
    assert process.stdout.readline() == "working\n"
    return child


def test_the_first_interrupt_is_told_at_once_and_the_job_ends_in_order() -> None:
    with started("-c", JOB, "job", "3") as process:
        begun(process)
        process.send_signal(signal.SIGINT)
        at = time.monotonic()
        assert process.stderr is not None
        assert process.stderr.readline() == FIRST + "\n"
        assert time.monotonic() - at < 2
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "tidied up\n", LAST + "\n")


def test_the_second_interrupt_ends_the_process_and_what_it_started() -> None:
    with started("-c", JOB, "job", "60") as process:
        child = begun(process)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.readline() == FIRST + "\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, "", LAST + "\n")
    deadline = time.monotonic() + 10
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{child}").exists()


@pytest.mark.slow
@pytest.mark.xdist_group("prefect")
def test_an_interrupted_round_shows_no_traceback_and_says_that_work_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """As from a terminal: the embedded server gets the signal too."""
    for name in list(os.environ):
        if name.startswith("PREFECT"):
            monkeypatch.delenv(name)
    with started("-m", "flows.round", '{"tasks": 4, "skills": ["files.archive.*"]}') as process:
        assert process.stderr is not None
        while "probe: " not in (line := process.stderr.readline()):
            assert line, process.wait()
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=200)
    lines = [line for line in err.splitlines() if " of " not in line]
    assert process.returncode == 130
    assert FIRST in lines
    assert lines[-1] == LAST
    assert "Traceback" not in err
    assert len(lines) < 12


def test_a_round_interrupted_while_it_is_imported_shows_no_traceback() -> None:
    with started("-c", IMPORTED) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "at_once\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, LAST + "\n")
