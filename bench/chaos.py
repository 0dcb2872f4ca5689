"""`python -m bench.chaos [--kills 100] [--seed 1]`: what is killed in the middle of real episodes, and what comes of it.

Episodes are played by the oracle through the turn loop on slots with Calc. At a random moment a part of the slot is killed
(-9), or the whole process that plays. Counted are episodes that would be held against the agent, and whatever is left
behind: processes (this process adopts all orphans, so none can hide), displays, mounts, control groups, files. A slot of a
living neighbour stands beside all of it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.desktop import BOOK, workbook
from forge.desktop import Slot
from forge.desktop.health import below
from forge.desktop.limits import sweep_groups
from forge.desktop.place import home
from forge.desktop.sweep import sweep
from forge.harness import OracleTeacher, SlotEnvironment, load_harness, play
from forge.records import (
    Criterion,
    DesktopError,
    EndedBy,
    Guest,
    Rubric,
    Solution,
    Step,
    Task,
    Trajectory,
    sha256_hex,
)

_SUBREAPER = 36  # prctl
_GONE = 10.0  # seconds that a killed thing has for its end
_STEPS: tuple[dict[str, object], ...] = (
    {"enter": {"cell": "F2", "text": "Total"}},
    {"enter": {"cell": "F3", "text": "=SUM(B1:B40)"}},
    {"select": "A5"},
    {"key": "ctrl+b"},
    {"save": BOOK},
)


@dataclass
class Tally:
    """What came of killing one kind of thing.

    Args:
        what: the thing.
        kills: times it was killed in mid-episode.
        faults: episodes that ended as a fault of the infrastructure, without a reward.
        finished: episodes that had done all their work by then, and ended well.
        against: episodes held against the agent, each in words.
        left: what was left behind, each in words.
    """

    what: str
    kills: int = 0
    faults: int = 0
    finished: int = 0
    against: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def _program(name: str) -> Callable[[Slot], int | None]:
    def find(slot: Slot) -> int | None:
        for pid in below(slot.pids):
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/comm").read_text().strip() == name:
                    return pid
        return None

    return find


def _supervisor(slot: Slot) -> int | None:
    for pid in below(slot.pids[-1:]):
        with contextlib.suppress(OSError):
            argv = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if b"/opt/forge/supervisor.py" in argv and not argv[0].endswith(b"bwrap"):
                return pid
    return None


VICTIMS: dict[str, Callable[[Slot], int | None]] = {
    "application": _program("soffice.bin"),
    "X server": _program("Xvfb"),
    "window manager": _program("openbox"),
    "supervisor": _supervisor,
    "accessibility bus": _program("at-spi-bus-laun"),
    "whole box": lambda slot: slot.pids[-1],
}
HOST = "playing process"


def task() -> Task:
    """A task for the oracle: some cells, a format, saved."""
    steps = tuple(Step(move=move, value=value) for step in _STEPS for move, value in step.items())
    return Task(
        skill="calc.formula.total-below-column",
        workflow="0" * 64,
        seed=1,
        apps=("calc",),
        guest=Guest(),
        resolved={"a": 1},
        instruction="Put the total into F3.",
        rubric=Rubric(criteria=(Criterion(id="a", kind="must", check="files.exists"),)),
        solutions=(Solution(channel="gui", steps=steps),),
    )


def episode(slot: Slot) -> Trajectory:
    """Play the task on a slot that has the workbook open."""
    played = task()
    solution = played.solution("gui")
    assert solution is not None
    environment = SlotEnvironment(slot, sha256_hex)
    try:
        teacher = OracleTeacher(solution, environment)
        return asyncio.run(play(played, load_harness("gui"), teacher, environment, sha256_hex))
    finally:
        environment.close()


def open_slot(root: Path) -> Slot:
    """A slot below `root` that shows the workbook."""
    slot = Slot.open(Guest(), home_files=[(BOOK, workbook(), 0o644, False)], root=root)
    try:
        slot.launch("calc", BOOK)
    except BaseException:
        slot.close()
        raise
    return slot


class Chaos:
    """Kills things below one root folder. Use it as a context manager: it opens and closes the neighbour.

    Args:
        root: an empty folder that serves as FORGE_HOME.
        seed: of the random moments.
    """

    def __init__(self, root: Path, seed: int):
        self.root = root
        self._dice = random.Random(seed)
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)

    def __enter__(self) -> Chaos:
        self.neighbour = Slot.open(root=self.root, home_files=[("~/kept.txt", b"kept", 0o644, False)])
        try:
            with open_slot(self.root) as slot:
                began = time.monotonic()
                went = episode(slot)
                self._seconds = time.monotonic() - began
            if (went.ended_by, went.error) != (EndedBy.DONE, None):
                raise SystemExit(f"an undisturbed episode ended by {went.ended_by}: {went.error}")
        except BaseException:
            self.neighbour.close()
            raise
        self._before = self._living()
        return self

    def __exit__(self, *_: object) -> None:
        self.neighbour.close()

    def kill(self, what: str, tally: Tally) -> None:
        """Play one episode, kill one thing in the midst of it, and note what came of it."""
        if what == HOST:
            self._kill_host(tally)
            return
        try:
            slot = open_slot(self.root)
        except DesktopError as error:  # nothing was killed yet
            tally.left.append(f"no slot could be opened: {error}")
            return
        traces = self._traces()
        with slot:
            killed = threading.Event()

            def strike() -> None:
                pid = VICTIMS[what](slot)
                if pid is not None:
                    os.kill(pid, signal.SIGKILL)
                    killed.set()

            timer = threading.Timer(self._dice.uniform(0, self._seconds), strike)
            timer.start()
            try:
                went: Trajectory | None = episode(slot)
                raised = ""
            except Exception as error:
                where = traceback.extract_tb(error.__traceback__)
                ours = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in where if "/forge/" in frame.filename]
                went, raised = None, f"{type(error).__name__}: {error} ({' '.join(ours[-4:])})"
            was_in_time = killed.is_set()
            timer.cancel()
            timer.join()
        if was_in_time:
            tally.kills += 1
            if went is None:
                tally.against.append(f"the loop was left by {raised}")
            elif went.reward is not None:
                tally.against.append(f"the reward {went.reward}")
            elif went.ended_by is EndedBy.FAULT:
                tally.faults += 1
            elif went.ended_by is EndedBy.DONE and went.done_status == "success":
                tally.finished += 1
            else:
                tally.against.append(f"it ended by {went.ended_by}: {went.error}")
        tally.left += self._left(traces)

    def _kill_host(self, tally: Tally) -> None:
        log = self.root / "host.log"
        with log.open("wb") as output:
            command = [sys.executable, "-m", "bench.chaos", "--play-below", str(self.root)]
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        moment = self._dice.uniform(0, 1.5 + self._seconds)  # also while the slot is made
        deadline = time.monotonic() + 60
        while b"begin" not in log.read_bytes() and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(moment)
        traces = self._traces()
        process.kill()
        process.wait()
        tally.kills += 1
        tally.faults += b"ended" not in log.read_bytes()
        tally.finished += b"ended" in log.read_bytes()
        self._living()  # buries what this process adopted, as a host's first process would have
        sweep(self.root)  # as the next start does
        sweep_groups()
        tally.left += self._left(traces)

    def _traces(self) -> list[Path]:
        """What slots other than the neighbour's have outside of their folders: control groups, sockets of displays."""
        found = []
        for folder in (self.root / "slots").iterdir():
            if folder == self.neighbour.home.parent:
                continue
            with contextlib.suppress(OSError):
                found += [Path(line) for line in (folder / "groups").read_text().splitlines()]
            with contextlib.suppress(OSError):
                found.append(Path(f"/tmp/.X11-unix/X{(folder / 'display').read_text().strip()}"))
        return found

    def _living(self) -> set[int]:
        """Living processes below this one; orphans that have ended are buried."""
        found = set()
        for pid in below([os.getpid()])[1:]:
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                if fields[0] not in "ZX":
                    found.add(pid)
                elif int(fields[1]) == os.getpid():
                    os.waitpid(pid, os.WNOHANG)
        return found

    def _left(self, traces: list[Path]) -> list[str]:
        """What there is although no slot but the neighbour's is open; what is about to end is waited for."""
        deadline = time.monotonic() + _GONE
        while (found := self._found(traces)) and time.monotonic() < deadline:
            time.sleep(0.05)
        return found

    def _found(self, traces: list[Path]) -> list[str]:
        found = []
        for pid in self._living() - self._before:
            with contextlib.suppress(OSError):
                line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found.append(f"process {pid}: {line[:100]}")
        folders = [path.name for path in (self.root / "slots").iterdir() if path != self.neighbour.home.parent]
        found += [f"folder {name}" for name in folders]
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
        kept = str(self.neighbour.home.parent)
        found += [f"mount {line.split()[4]}" for line in mounts if str(self.root) in line and kept not in line]
        found += [f"trace {path}" for path in traces if path.exists() and not _answers(path)]
        health = self.neighbour.health()
        if not health.ok or (self.neighbour.home / "kept.txt").read_bytes() != b"kept":
            found.append(f"the neighbour was touched: {health}")
        return found


def _answers(path: Path) -> bool:
    """Whether a living X server has taken the number of a dead one since."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(str(path))
        except OSError:
            return False
    return True


def wreak(root: Path, kills: int, seed: int, on_kill: Callable[[Tally], None] = lambda tally: None) -> list[Tally]:
    """Kill so many things, each kind in turn, below a root folder."""
    kinds = [*VICTIMS, HOST]
    tallies = {what: Tally(what) for what in kinds}
    with Chaos(root, seed) as chaos:
        tries = 0
        while sum(tally.kills for tally in tallies.values()) < kills and tries < 2 * kills + 10:
            what = min(kinds, key=lambda kind: tallies[kind].kills)
            chaos.kill(what, tallies[what])
            tries += 1
            on_kill(tallies[what])
    return list(tallies.values())


def _play_below(root: Path) -> None:
    """What the process does that is killed as a whole."""
    print("begin", flush=True)
    with open_slot(root) as slot:
        print("playing", flush=True)
        went = episode(slot)
        print("ended", went.ended_by, flush=True)
        time.sleep(60)


def main() -> None:
    """Kill, count, and print the table; exit code 1 when anything was held against the agent or left behind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="14 kills")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--play-below", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.play_below is not None:
        _play_below(chosen.play_below)
        return
    home().mkdir(parents=True, exist_ok=True)
    root = Path(tempfile.mkdtemp(prefix="chaos-", dir=home()))
    root.chmod(0o755)

    def progress(tally: Tally) -> None:
        print(f"{tally.what}: {tally.kills} {tally.against[-1:]} {tally.left[-1:]}", file=sys.stderr, flush=True)

    try:
        tallies = wreak(root, 14 if chosen.quick else chosen.kills, chosen.seed, progress)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    if chosen.json:
        json.dump([asdict(tally) for tally in tallies], sys.stdout, indent=2)
        print()
    else:
        from rounds.terminal import print_table

        rows = [(t.what, t.kills, t.faults, t.finished, len(t.against), len(t.left)) for t in tallies]
        rows.append(("all", *(sum(row[i] for row in rows) for i in range(1, 6))))
        columns = [
            "killed in mid-episode",
            "times",
            "ended as fault",
            "was through",
            "against the agent",
            "left behind",
        ]
        print_table("", columns, rows)
        for tally in tallies:
            for text in (*tally.against, *tally.left):
                print(f"{tally.what}: {text}")
    sys.exit(any(tally.against or tally.left for tally in tallies))


if __name__ == "__main__":
    main()
