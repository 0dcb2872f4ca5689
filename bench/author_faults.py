"""`python -m bench.author_faults [--kills 12] [--seed 1]`: authoring and top-up through every fault, and through kills.

A recorded author (`tests.recorded`) authors a workflow of the library again, by the real `forge skills author` processes and
over HTTP. Every end is held against that of a run that nobody disturbed: the promoted files byte by byte, and the
warehouse's canonical dump. An answer that was cut off has been paid for and is part of the conversation, so with such
answers the rows of calls and of the run itself are left out of the comparison.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rounds.terminal import print_table
from rounds.workshop import Workshop
from tests.endpoint import Endpoint, serve
from tests.recorded import SKILL, Recording
from tests.rounds import test_topup as topup
from warehouse import Warehouse

FORGE = str(Path(sys.executable).parent / "forge")
KINDS = ("429", "500", "cut", "garbage", "empty", "hang", "truncated")
MIXED = (("429", 3), ("500", 4), ("cut", 5), ("garbage", 7), ("empty", 11), ("truncated", 13), ("hang", 17))
TOKENS = 200_000
RUNS = 6
"""How often a command may be started until it has come through all faults."""

Faults = Sequence[tuple[str, int]]


@dataclass
class End:
    """What a run left: the library's files, and the warehouse's dump."""

    files: dict[str, bytes]
    dump: list[str]

    def apart_from_calls(self) -> list[str]:
        """The dump without what a cut-off answer changes: the calls, and how many turns the run took."""
        return [line for line in self.dump if line.split(" ")[0] not in ("authorings", "model_answers", "model_calls")]


@dataclass
class Outcome:
    """A line of the table: what was done to a run, and what came of it.

    Attributes:
        faults: how often each fault came.
        runs: processes until the end.
        lost: items that did not come to their end.
        cached: failures that were kept as answers.
        over: tokens spent over the budget.
        twice: answers that were kept, and paid for again.
        equal: whether the end is that of an undisturbed run.
        odd: states after a kill that should not be.
    """

    what: str
    faults: dict[str, int] = field(default_factory=dict)
    runs: int = 0
    lost: int = 0
    cached: int = 0
    over: int = 0
    twice: int = 0
    equal: bool = False
    odd: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether all is as it should be."""
        return self.equal and not (self.lost or self.cached or self.over or self.twice or self.odd)


class Author:
    """`forge skills author` on a home of its own, over a server.

    Args:
        home: FORGE_HOME; made.
        server: who answers.
        tokens: what the skill may use.
    """

    def __init__(self, home: Path, server: Endpoint, tokens: int = TOKENS):
        self.home = home
        self.tokens = tokens
        home.mkdir(parents=True, exist_ok=True)
        endpoint = {
            "base_url": server.url, "model": "tiny", "backoff_seconds": 0.01, "request_seconds": 1.5, "max_attempts": 6,
            "prices": {"prompt": 1.0, "completion": 4.0}, "max_output_tokens": 3000,
        }  # fmt: skip
        (home / "endpoints.yaml").write_text(json.dumps({"endpoints": {"tiny": endpoint}}))

    def start(self, *more: str) -> subprocess.Popen[bytes]:
        """Start the command; what it says goes into a file beside the home."""
        env = {name: value for name, value in os.environ.items() if not name.startswith("FORGE_LLM")}
        env |= {"FORGE_HOME": str(self.home), "FORGE_LLM_ENDPOINTS": str(self.home / "endpoints.yaml")}
        command = [FORGE, "skills", "author", SKILL, "--title", "Unpack some members", "--smoke", "3"]
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [*command, "--tokens", str(self.tokens), *more],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env,
            )  # fmt: skip

    @property
    def log(self) -> Path:
        """What the processes said."""
        return self.home.with_suffix(".log")

    def finish(self) -> int:
        """Start it until it ends otherwise than by a fault; how many processes it took."""
        for number in range(1, RUNS + 1):
            if self.start().wait() != 3:
                return number
        return RUNS

    def end(self) -> End:
        """What is there."""
        library = self.home / "library"
        files = {str(p.relative_to(library)): p.read_bytes() for p in sorted(library.rglob("*")) if p.is_file()}
        with self._warehouse() as warehouse:
            return End(files, warehouse.dump())

    def outcome(self) -> str:
        """How the run ended, by its row; empty without one."""
        with closing(sqlite3.connect(self.home / "warehouse.db")) as db:
            row = db.execute("SELECT outcome FROM authorings WHERE skill = ?", (SKILL,)).fetchone()
        return "" if row is None else str(row[0])

    def oddities(self, wanted: dict[str, bytes]) -> list[str]:
        """What is wrong with the state as it stands now, whoever was killed: a folder in part, a row without its folder."""
        folder = self.home / "library" / SKILL
        here = {f"{SKILL}/{p.name}": p.read_bytes() for p in folder.iterdir()} if folder.exists() else {}
        odd = (
            []
            if here in ({}, wanted)
            else [f"the folder holds {', '.join(sorted(path.rpartition('/')[2] for path in here))}"]
        )
        if (self.home / "warehouse.db").exists():
            with closing(sqlite3.connect(self.home / "warehouse.db")) as db:
                rows = [
                    db.execute(f"SELECT count(*) FROM {table} WHERE skill = ?", (SKILL,)).fetchone()[0]
                    for table in ("workflows", "authorings")
                    if db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
                ]
            if any(rows) and not here:
                odd.append("a row without its folder")
            if len(set(rows)) > 1:
                odd.append(f"rows in part: {rows}")
        return odd

    def account(self, found: Outcome) -> None:
        """Read the ledger: failures that were kept, tokens over the budget, answers that were paid for twice."""
        with self._warehouse() as warehouse:
            _account(warehouse, found, self.tokens)

    def _warehouse(self) -> Warehouse:
        return Warehouse.open(f"sqlite:///{self.home / 'warehouse.db'}", f"file://{self.home / 'blobs'}")


def undisturbed(folder: Path) -> End:
    """The end of a run that nobody disturbed."""
    with serve(Recording()) as server:
        author = Author(folder / "undisturbed", server)
        code = author.start().wait()
        assert code == 0, author.log.read_text()[-3000:]
        return author.end()


def through_faults(folder: Path, name: str, faults: Faults, calm: End) -> Outcome:
    """Author through faults; a command that ended in a fault is started again."""
    with serve(Recording(), faults) as server:
        author = Author(folder / name, server)
        found = Outcome(f"authoring, {name}", runs=author.finish())
        found.faults = {kind: server.faults[kind] for kind, _ in faults}
    end = author.end()
    cut = any(kind == "truncated" for kind, _ in faults)
    found.equal = end.files == calm.files and (
        end.apart_from_calls() == calm.apart_from_calls() if cut else end.dump == calm.dump
    )
    found.lost = int(author.outcome() != "authored")
    author.account(found)
    if not found.good:
        found.odd.append(f"{name} ended so: {author.log.read_text(errors='replace')[-3000:]}")
    return found


def within_budget(folder: Path, tokens: int) -> Outcome:
    """A budget that is too small for all of it, under faults: the run ends by it, and promotes nothing."""
    with serve(Recording(), MIXED[:3]) as server:
        author = Author(folder / f"budget-{tokens}", server, tokens)
        found = Outcome(f"authoring, a budget of {tokens:,} tokens", runs=author.finish())
        found.faults = {kind: server.faults[kind] for kind, _ in MIXED[:3]}
    author.account(found)
    found.equal = author.outcome() == "budget" and author.end().files == {}
    return found


def through_kills(folder: Path, kills: int, seed: int, calm: End, seconds: float) -> Outcome:
    """Kill the process at random times, and start the command again; and then another one, until there were so many kills.

    Args:
        folder: for the homes.
        kills: processes to kill.
        seed: of the times.
        calm: the undisturbed end.
        seconds: about how long an undisturbed run takes.
    """
    dice, found, number = random.Random(seed), Outcome("authoring, kill -9"), 0
    found.equal = True
    while found.faults.get("kills", 0) < kills:
        number += 1
        with serve(Recording()) as server:
            author = Author(folder / f"killed-{number}", server)
            while True:
                process = author.start()
                found.runs += 1
                if found.faults.get("kills", 0) < kills:
                    try:
                        process.wait(dice.uniform(0.5, seconds))
                    except subprocess.TimeoutExpired:
                        process.send_signal(signal.SIGKILL)
                code = process.wait()
                found.odd += author.oddities(calm.files)
                if code != -signal.SIGKILL:
                    break
                found.faults["kills"] = found.faults.get("kills", 0) + 1
            end = author.end()
            found.equal &= code == 0 and end.files == calm.files and end.dump == calm.dump
            found.lost += int(author.outcome() != "authored")
            author.account(found)
    return found


def top_up(folder: Path, faults: Faults) -> Outcome:
    """Fill banks through faults; see `tests.rounds.test_topup`."""
    ends = []
    found = Outcome("top-up, all faults")
    for name, wanted in (("calm", ()), ("faults", faults)):
        with serve(topup.answer, wanted) as server, Workshop(topup.settings(folder / name, server.url)) as workshop:
            for found.runs in range(1, RUNS + 1):
                if not asyncio.run(topup.fill(workshop)).faults:
                    break
            ends.append(topup.end_of(workshop))
            if name == "faults":
                found.faults = {kind: server.faults[kind] for kind, _ in faults}
                found.lost = sum(count < topup.WANTED for count in topup.sizes(workshop).values())
                _account(workshop.warehouse, found, None)
    found.equal = ends[0] == ends[1]
    with serve(topup.answer, faults[:3]) as server:
        with Workshop(topup.settings(folder / "budget", server.url, llm_tokens=9000)) as workshop:
            assert asyncio.run(topup.fill(workshop)).budget
            found.over = max(0, workshop.warehouse.ledger.spent("round-1")[0] - 9000)
    return found


def _account(warehouse: Warehouse, found: Outcome, tokens: int | None) -> None:
    calls = warehouse.ledger.calls()
    good = {call.id for call in calls if call.status == "ok"}
    with warehouse.read() as connection:
        kept = [row[0] for row in connection.exec_driver_sql("SELECT call FROM model_answers")]
    paid = Counter(call.request for call in calls if call.status == "ok")
    found.cached += sum(call not in good for call in kept)
    found.twice += sum(count - 1 for count in paid.values())
    if tokens is not None:
        found.over += max(0, sum(call.usage.total for call in calls) - tokens)


def all_of_it(folder: Path, kills: int, seed: int, *, quick: bool) -> list[Outcome]:
    """Every show, one after another."""
    began = time.monotonic()
    calm = undisturbed(folder)
    seconds = time.monotonic() - began
    kinds = () if quick else KINDS
    found = [through_faults(folder, kind, [(kind, 3 if kind in ("429", "truncated") else 2)], calm) for kind in kinds]
    found.append(through_faults(folder, "all faults", MIXED, calm))
    found.append(within_budget(folder, 30_000))
    found.append(top_up(folder, topup.FAULTS))
    found.append(through_kills(folder, kills, seed, calm, seconds))
    return found


def main() -> int:
    """Print the table; 1 when something was lost, kept wrongly, overspent or ended otherwise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--quick", action="store_true", help="all faults at once only, and three kills")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="author-faults-") as folder:
        found = all_of_it(Path(folder), 3 if chosen.quick else chosen.kills, chosen.seed, quick=chosen.quick)
    if chosen.json:
        json.dump([asdict(each) for each in found], sys.stdout, indent=2)
        print()
    else:
        columns = ["what", "faults that came", "runs", "lost", "failures kept", "over budget", "paid twice", "same end"]
        print_table("", columns, [_row(each) for each in found])
        for line in (line for each in found for line in each.odd):
            print(line)
    return 0 if all(each.good for each in found) else 1


def _row(found: Outcome) -> tuple[str | int, ...]:
    came = ", ".join(f"{kind} {count}" for kind, count in found.faults.items())
    end = "yes" if found.equal else "NO"
    return found.what, came, found.runs, found.lost, found.cached, found.over, found.twice, end


if __name__ == "__main__":
    sys.exit(main())
