"""Rounds run by `round_process.py`, seen from a test: started, killed, waited for; what they left and what they wrote."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warehouse import Warehouse

PROGRAM = Path(__file__).parent / "round_process.py"
SKILL = "files.text.count-log-entries"
GONE_SECONDS = 10.0
"""What the children of a killed process get to end."""


@dataclass(frozen=True)
class Run:
    """A running round: its process, and the file it says things to."""

    pid: int
    log: Path
    rounds: Rounds

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Signal the process; its children are left to what the code under test has provided for them."""
        os.kill(self.pid, number)

    def wait(self) -> int:
        """The exit code; of a process that was killed the negative number of the signal."""
        return int(self.rounds.ask({"wait": self.pid}))


class Rounds:
    """Starts rounds. A context manager."""

    def __enter__(self) -> Rounds:
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()  # its children die with it
        self._process.communicate()

    def ask(self, request: dict[str, Any]) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def start(self, home: Path, *, skills: tuple[str, ...] = (SKILL,), **spec: Any) -> Run:
        """Start a round; see `round_process.Spec`."""
        home.mkdir(exist_ok=True)
        log = home.with_suffix(".log")
        request = {"home": str(home), "skills": list(skills), "log": str(log), **spec}
        request.setdefault("passed", str(home.with_suffix(".passed")))
        return Run(int(self.ask({"run": request})), log, self)

    def finish(self, home: Path, **spec: Any) -> list[str]:
        """Run a round to its end and return the canonical dump; fails when it does not end well or leaves something."""
        run = self.start(home, **spec)
        code = run.wait()
        assert code == 0, f"exit code {code}:\n{run.log.read_text()[-3000:]}"
        assert left_over(home) == []
        return dump(home)


def open_warehouse(home: Path) -> Warehouse:
    """The warehouse of a round."""
    return Warehouse.open(f"sqlite:///{home / 'warehouse.db'}", f"file://{home / 'blobs'}")


def dump(home: Path) -> list[str]:
    """The canonical dump of a round's warehouse, whose blobs are all there and whole."""
    with open_warehouse(home) as warehouse:
        for blob in (home / "blobs").glob("??/*/*"):
            warehouse.blobs.get(blob.name)
        for task in warehouse.list_tasks():
            for artifact in warehouse.task(task["id"]).artifacts:
                assert artifact.folder or warehouse.blobs.has(artifact.sha256)
        return warehouse.dump()


def claims(home: Path) -> list[tuple[str, str, int]]:
    """The claims as (kind, state, token), sorted: which work there was, what became of it, how often it changed hands."""
    with open_warehouse(home) as warehouse, warehouse.read() as connection:
        rows = connection.exec_driver_sql("SELECT kind, state, token FROM claims ORDER BY kind, key")
        return [tuple(row) for row in rows]


def left_over(home: Path) -> list[str]:
    """Folders of slots, offices and scratch, and processes of a round, that are there although nothing runs any more.

    Processes of a killed round get a moment to find out: graders look up from their imports only at the end of them.
    """
    deadline = time.monotonic() + GONE_SECONDS
    while (found := processes(home)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return [str(path) for path in (home / "slots").glob("*")] + found


def processes(home: Path) -> list[str]:
    """The command lines of processes that belong to a round: its folder is in their command line or environment."""
    mark, found = str(home).encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            if mark in command or mark in (folder / "environ").read_bytes():
                found.append(f"{folder.name} {command.replace(bytes(1), b' ').decode(errors='replace')[:200]}")
        except OSError:
            continue
    return found


def until(condition: Callable[[], Any], seconds: float, what: str) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
