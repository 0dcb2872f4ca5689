"""`forge cost`: what tasks cost, from the ledger."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def cost(
    run: Annotated[str, typer.Option(help="Only one run, such as round-3. Default: the whole ledger.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Tokens and dollars: recurring, one-off authoring, rejected and wasted apart; what a task costs; the break-even.

    Examples:

      forge cost

      forge cost --json --run round-3
    """
    from rounds.terminal import print_json, print_table
    from rounds.workshop import Workshop
    from warehouse.costs import costs

    with Workshop() as workshop, workshop.warehouse.read() as connection:
        found = costs(connection, run)
    if as_json:
        print_json(found)
        return
    print_table(
        "Spent", ["part", "calls", "tokens", "US$"],
        [(part, s["calls"], s["tokens"], _usd(s["usd"])) for part, s in [*found["parts"].items(), ("total", found["total"])]],
    )  # fmt: skip
    print_table(
        f"Per accepted task ({found['accepted_tasks']} of {found['workflows']} workflows)",
        ["tasks a workflow", "recurring tokens", "with authoring", "US$ recurring", "US$ with authoring"],
        [
            (
                n, _count(found["recurring_tokens_per_accepted_task"][n]), _count(found["tokens_per_accepted_task"][n]),
                _usd(found["recurring_usd_per_accepted_task"][n]), _usd(found["usd_per_accepted_task"][n]),
            )
            for n in found["tokens_per_accepted_task"]
        ],
    )  # fmt: skip
    print_table(
        "By stage", ["stage", "calls", "tokens", "US$"],
        [(name, s["calls"], s["tokens"], _usd(s["usd"])) for name, s in found["by_stage"].items()],
    )  # fmt: skip
    for name, tasks in found["break_even"].items():
        if tasks is not None:
            print(f"cheaper than {name.replace('_', ' ')} from {tasks} tasks a workflow on")
    lost = found["open_calls"]
    if lost["calls"]:
        print(f"{lost['calls']} calls have not ended; they may have used {lost['tokens']} tokens, ${lost['usd']:.4f}")


def _count(value: float | None) -> Any:
    return "" if value is None else round(value)


def _usd(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
