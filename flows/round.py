"""Flow `round`: one generation round, whole. `python -m flows.round '{"tasks": 2}'` runs it with the embedded server."""

from __future__ import annotations

import json
import signal
import sys
from typing import Any

if __name__ == "__main__":  # the environment must be set before prefect is imported
    from flows.embedded import use_embedded_server
    from forge.records.settings import Settings
    from rounds.interrupts import at_once

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, at_once)  # nothing has begun while prefect is imported
    use_embedded_server(Settings().home)

from dataclasses import asdict

from prefect import flow, task

from flows.embedded import start_embedded_server
from flows.heartbeat import alive
from flows.naming import by_round
from flows.progress import progress
from flows.reporting import fail_on_faults, table
from forge.records import ForgeError, InputError
from forge.records.printable import printable
from rounds import interrupts
from rounds.plan_check import checked
from rounds.register import Wish, choose, register
from rounds.round import run_round
from rounds.workshop import Workshop


@task(name="round-batch", retries=1, retry_delay_seconds=10)
def round_batch(round: int | None, skills: list[str], tasks: int, even: bool) -> dict[str, Any]:
    """Register, prepare, probe and play one round with bounded concurrency inside. Returns its report."""
    with Workshop() as workshop, progress() as shown:
        plan = register(workshop.warehouse, Wish(choose(skills), tasks=tasks, round=round, even=even, named=skills))
        report = interrupts.run(run_round(workshop, plan, shown))
    return {**asdict(report), "complete": report.complete}


@flow(name="round", flow_run_name=by_round("whole"), retries=0)
def generation_round(
    round: int | None = None, skills: list[str] | None = None, tasks: int = 2, even: bool = False
) -> dict[str, Any]:
    """One generation round: until the chosen skills have `tasks` accepted tasks on average, each played on a real desktop.

    Args:
        round: its number; none: the unfinished round of the same plan, else the next.
        skills: skill ids or shell patterns; none: all. A retired skill is drawn only when its whole id is here.
        tasks: accepted tasks a skill; divided by what a student came to.
        even: the same number for every skill.
    """
    with Workshop() as workshop, alive(workshop.warehouse):
        report = round_batch(round, skills or [], tasks, even)
        rows = workshop.warehouse.rows_of("tasks_by_skill")
        took = checked(workshop, report["round"])
    table("round", rows, f"round {report['round']}: {report['accepted']} tasks accepted")
    table("round-check", took, "what the round was expected to take, and took")
    fail_on_faults(report["faults"])
    return report


def main() -> None:
    """Run the flow from the command line and print what it came to. Exit code 1: the round is short of tasks; else as `forge`."""
    from rounds.plan_tables import check
    from rounds.terminal import print_json, print_table

    parameters = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    if signal.getsignal(signal.SIGINT) is interrupts.at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        start_embedded_server()
        report = generation_round(**parameters)
    except ForgeError as error:
        print(printable(f"forge: {error}"), file=sys.stderr)
        sys.exit(2 if isinstance(error, InputError) else 3)
    except KeyboardInterrupt:
        interrupts.say(interrupts.LAST)
        sys.exit(interrupts.EXIT_CODE)
    if "--json" in sys.argv:
        print_json(report)
    else:
        with Workshop() as workshop:
            tables = workshop.warehouse.report()
            for title in ("Tasks by skill", "Probes over all candidates", "Trajectories by outcome"):
                if title in tables:
                    print_table(f"{title}, whole warehouse", *tables[title])
            print_table(*check(checked(workshop, report["round"]), f"Round {report['round']}, expected and taken"))
        print(f"round {report['round']}: {report['accepted']} tasks accepted, {report['rejected']} rejected")
        for skill, missing in report["short"].items():
            print(f"short: {skill} lacks {missing}")
    sys.exit(0 if report["complete"] else 1)


if __name__ == "__main__":
    main()
