"""`forge doctor`: is everything here that Forge needs, and how is it mended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from forge.records import Settings


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False) -> None:
    """Check every requirement and say how to mend what is missing.

    Exit code 0 when all is there, else 1.
    """
    from forge.desktop import doctor as desktop_doctor
    from forge.records import Settings
    from rounds.terminal import print_json, print_table

    found = desktop_doctor()
    settings = Settings()
    if as_json:
        print_json(
            {
                "requirements": [{"name": r.name, "ok": r.ok, "found": r.found, "mend": r.mend} for r in found],
                "settings": {
                    "home": str(settings.home), "warehouse": settings.warehouse_url, "blobs": settings.blob_url,
                    "slots": settings.slots, "screen": settings.screen, "endpoint": _endpoints(settings) or None,
                },
            }
        )  # fmt: skip
    else:
        print_table(
            "Requirements", ["", "requirement", "found", "mend"],
            [("ok" if r.ok else "MISSING", r.name, r.found, "" if r.ok else r.mend) for r in found],
        )  # fmt: skip
        endpoint = _endpoints(settings) or "none: banks and the oracle are used"
        print(f"warehouse {settings.warehouse_url}\nblobs     {settings.blob_url}\nendpoint  {endpoint}")
    if not all(r.ok for r in found):
        raise typer.Exit(1)


def _endpoints(settings: Settings) -> str:
    """Base URLs by role, each endpoint once."""
    from forge.llm import Directory

    directory = Directory.from_settings(settings)
    roles = {name: [r for r, found in directory.roles.items() if found == name] for name in directory.endpoints}
    return "; ".join(f"{directory.endpoints[n].base_url} ({', '.join(r)})" for n, r in roles.items() if r)
