"""`forge llm`: which models answer for which role, and whether they do."""

from __future__ import annotations

from typing import Annotated, Any

import typer

app = typer.Typer(help="Model endpoints: list them with their roles, check that they answer.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the endpoints that the settings name, with roles and prices. Keys are never shown.

    Endpoints stand in endpoints.yaml (or FORGE_LLM_ENDPOINTS), or are named by FORGE_LLM_BASE_URL and FORGE_LLM_MODEL;
    FORGE_LLM_ROLES=author=NAME,judge=NAME chooses.
    """
    from forge.llm import Directory
    from forge.records import Settings
    from rounds.terminal import print_json, print_table

    directory = Directory.from_settings(Settings())
    rows: list[dict[str, Any]] = [
        {
            "name": name, "model": e.model, "server": e.server, "dialect": e.dialect, "base_url": e.base_url,
            "roles": [role for role, found in directory.roles.items() if found == name],
            "prices": None if e.known_prices is None else e.known_prices.to_json(),
        }
        for name, e in directory.endpoints.items()
    ]  # fmt: skip
    if as_json:
        print_json(rows)
        return
    if not rows:
        print("no endpoint: banks and the oracle are used; see docs/llm.md")
        return
    print_table(
        "Endpoints", ["name", "model", "server", "dialect", "roles", "US$ per million in/out"],
        [(r["name"], r["model"], r["server"], r["dialect"], " ".join(r["roles"]), _price(r["prices"])) for r in rows],
    )  # fmt: skip


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="Which; default: the one for the role author.")] = "",
    as_json: Json = False,
) -> None:
    """Ask an endpoint four small questions: words, a picture, a tool call, a typed answer. Costs some hundred tokens.

    Exit code 1 when one of them fails.

    Examples:

      forge llm check

      FORGE_LLM_BASE_URL=http://127.0.0.1:8000/v1 FORGE_LLM_MODEL=qwen forge llm check
    """
    import asyncio

    from rounds.endpoint_check import check_endpoint
    from rounds.terminal import print_json, print_table
    from rounds.workshop import Workshop

    with Workshop() as workshop:
        directory = workshop.models.directory
        client = workshop.models.asking(
            directory.choosing(name).require("author") if name else directory.require("author")
        )
        findings = asyncio.run(check_endpoint(client))
    if as_json:
        print_json([{"question": f.question, "ok": f.ok, "found": f.found, "seconds": f.seconds} for f in findings])
    else:
        print_table(
            f"{client.endpoint.name}: {client.endpoint.model}", ["", "question", "found", "s"],
            [("ok" if f.ok else "FAILED", f.question, f.found, round(f.seconds, 1)) for f in findings],
        )  # fmt: skip
    if not all(f.ok for f in findings):
        raise typer.Exit(1)


def _price(prices: dict[str, Any] | None) -> str:
    return "unknown" if prices is None else f"{prices['prompt']:g} / {prices['completion']:g}"
