"""A process that runs a round without Prefect and can be killed at any point: python round_process.py [SPEC].

With a SPEC (JSON, see `Spec`) it runs that round. Without one it forks a child for each round that it is asked for (see
`serve`); imports are paid for once, which makes tests with many kills bearable.
"""

from __future__ import annotations

import asyncio
import ctypes
import fnmatch
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from sqlalchemy.engine import Connection, Engine

import warehouse.claims
import warehouse.engine
import warehouse.migrations
import warehouse.store
from forge.harness import SlotEnvironment
from forge.records import ForgeError
from rounds.register import Wish, choose, register
from rounds.round import play_round, prepare
from rounds.workshop import Workshop

ROUND = 1
"""Always the same: a round that was finished before the kill is taken up again, not followed by the next."""


@dataclass(frozen=True)
class Spec:
    """What to run.

    Args:
        home: FORGE_HOME.
        skills: patterns of skill ids.
        tasks: draws of each.
        play: whether to play on the desktop too.
        fatal: patterns of points at which the process kills itself, each point once; see `Points`.
        passed: file of the points at which a process died already.
        log: file for what the process says.
    """

    home: str
    skills: list[str]
    tasks: int = 2
    play: bool = False
    fatal: list[str] = field(default_factory=list)
    passed: str = ""
    log: str = ""


def main(spec: Spec) -> int:
    """Run the round to its end; returns the exit code that `forge` would give."""
    os.environ["FORGE_HOME"] = spec.home
    if spec.fatal:
        Points(Path(spec.passed), spec.fatal).arm()
    try:
        with Workshop() as workshop:
            faults = asyncio.run(run(workshop, spec))
    except KeyboardInterrupt:
        return 130
    except ForgeError as error:
        print(error, flush=True)
        return 3
    for key, fault in faults.items():
        print(f"{key}: {fault}", flush=True)
    return 1 if faults else 0


async def run(workshop: Workshop, spec: Spec) -> dict[str, str]:
    """The jobs of a round with a fixed number of draws. Returns the faults."""
    plan = register(workshop.warehouse, Wish(choose(spec.skills), tasks=spec.tasks, round=ROUND))
    draws = dict.fromkeys((w.version for w in plan.workflows), spec.tasks)
    faults = (await prepare(workshop, ROUND, plan.workflows, draws)).faults
    if spec.play:
        faults |= (await play_round(workshop, ROUND, plan.workflows, draws)).faults
    if not faults:
        finish(workshop)
    return faults


def finish(workshop: Workshop) -> None:
    """As `rounds.round.finish` does it."""
    with workshop.warehouse.begin() as session:
        workshop.warehouse.finish_round(session, ROUND)


class Points:
    """Kills this process at its commit points: where a transaction begins (`before`), has written all (`inside`) and is
    committed (`after`), where a file is renamed into its place, and where an action of an episode is carried out.

    Args:
        passed: where a point is written down before the process dies at it, so that the next one passes it.
        fatal: patterns of the points that count.
    """

    def __init__(self, passed: Path, fatal: list[str]):
        self._file = passed
        self._passed = set(passed.read_text().splitlines()) if passed.exists() else set()
        self._fatal = fatal
        self._lock = threading.Lock()

    def reach(self, point: str) -> None:
        """Die here, unless a process did so before."""
        with self._lock:
            if point in self._passed or not any(fnmatch.fnmatchcase(point, p) for p in self._fatal):
                return
            with self._file.open("a") as file:
                file.write(f"{point}\n")
                file.flush()
                os.fsync(file.fileno())
            os.kill(os.getpid(), signal.SIGKILL)

    def arm(self) -> None:
        """Put the points into the code under test."""
        for module in (warehouse.store, warehouse.claims, warehouse.migrations):
            module.begin = self._transaction(module.begin)  # type: ignore[attr-defined]
        os.replace = self._rename(os.replace)  # type: ignore[assignment]
        act = SlotEnvironment.act

        async def mortal_act(*args: Any) -> Any:
            self.reach(f"before act {args[1].kind}")
            result = await act(*args)
            self.reach(f"after act {args[1].kind}")
            return result

        SlotEnvironment.act = mortal_act  # type: ignore[method-assign]

    def _transaction(self, begin: Callable[[Engine], Any]) -> Callable[[Engine], Any]:
        @contextmanager
        def mortal(engine: Engine) -> Iterator[Connection]:
            name = _purpose()
            self.reach(f"before {name}")
            with begin(engine) as connection:
                yield connection
                self.reach(f"inside {name}")
            self.reach(f"after {name}")

        return mortal

    def _rename(self, replace: Callable[..., None]) -> Callable[..., None]:
        def mortal(source: Any, target: Any, **options: Any) -> None:
            parts = Path(str(target)).parts
            name = "blob" if "blobs" in parts else "node" if "nodes" in parts else "file"
            self.reach(f"before rename {name}")
            replace(source, target, **options)
            self.reach(f"after rename {name}")

        return mortal


def _purpose() -> str:
    """What a transaction is for, from who began it: `acquire probe KEY`, `commit probe KEY`, `register`, `migrate` ..."""
    frame = sys._getframe(2)
    while frame.f_back is not None:
        name, variables = frame.f_code.co_name, frame.f_locals
        if name == "acquire_many":
            return f"acquire {variables['kind']} {' '.join(variables['wanted'])}"
        if name == "_commit":
            return f"commit {variables['lease'].kind} {variables['lease'].key}"
        if name in ("register", "migrate", "mark_near_duplicates", "finish", "renew", "release"):
            return name
        frame = frame.f_back
    raise AssertionError("a transaction that nobody thought of: name it here")


def serve() -> None:
    """Answer each line: {"run": SPEC} with the number of a new child, {"wait": NUMBER} with how that one ended."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "wait" in asked:
            _, status = os.waitpid(asked["wait"], 0)
            print(os.waitstatus_to_exitcode(status), flush=True)
            continue
        child = os.fork()
        if child == 0:
            _be_a_child(Spec(**asked["run"]))
        print(child, flush=True)


def _be_a_child(spec: Spec) -> None:
    code = 70
    try:
        os.setsid()
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        with open(spec.log, "ab") as log, open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        code = main(spec)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Spec(**json.loads(sys.argv[1]))))
    serve()
