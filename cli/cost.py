"""`forge cost`: what tasks cost, from the ledger."""

from __future__ import annotations

from typing import Annotated

import typer


def cost(
    run: Annotated[str, typer.Option(help="Only one run, such as round-3. Default: the whole ledger.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Tokens and dollars: recurring, one-off authoring, rejected, unfinished and wasted apart; what a task costs; the break-even.

    A task's recurring tokens are told alone, and with authoring spread over 20, 100 and 500 tasks a workflow. Unfinished is what
    was paid for skills whose authoring has not ended; it counts as authoring, as what was rejected does.

    Examples:

      forge cost

      forge cost --json --run round-3
    """
    from rounds.cost_tables import both_ways, per_task, spent, usd
    from rounds.terminal import print_json, print_table
    from rounds.workshop import Workshop
    from warehouse.costs import costs

    with Workshop() as workshop, workshop.warehouse.read() as connection:
        found = costs(connection, run)
    if as_json:
        print_json(found)
        return
    print_table(*spent(found))
    print_table(*per_task(found))
    print_table(*both_ways(found))
    print_table(
        "By stage", ["stage", "calls", "tokens", "US$"],
        [(name, s["calls"], s["tokens"], usd(s["usd"])) for name, s in found["by_stage"].items()],
    )  # fmt: skip
    lost = found["open_calls"]
    if lost["calls"]:
        print(f"{lost['calls']} calls have not ended; they may have used {lost['tokens']} tokens, ${lost['usd']:.4f}")
