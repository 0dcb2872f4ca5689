"""`forge doctor`: is everything here that Forge needs, how is it mended, and which settings hold."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from forge.desktop import Requirement
    from forge.records import Settings

_APPLICATIONS = {
    "writer": "LibreOffice Writer", "impress": "LibreOffice Impress", "chromium": "Chromium", "gimp": "GIMP", "vlc": "VLC",
}  # fmt: skip
_PASSWORD = re.compile(
    r"""(://[^/@\s:]*:)(?:
            [^/?\#\s]*@                                # to the last @ of the authority
          | (?!//|\d+(?:[/?\#,\s]|$)) [^@\s]*@         # no port either: a password that has to be quoted, and is not
        )
      | ([?&](?:password|token|api_key)=)[^&\s]*""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Extra:
    """Something that a round does without: whether it is there, what was found, what needs it, and how to get it."""

    name: str
    ok: bool
    found: str
    needed_for: str
    mend: str


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False) -> None:
    """Check every requirement, say how to mend what is missing, and print the settings, secrets hidden.

    Exit code 0 when all is there that a round needs, else 1. What only other commands need is optional.
    """
    from forge.desktop import doctor as desktop_doctor
    from forge.records import Settings
    from rounds.terminal import print_json, print_table

    found = desktop_doctor()
    more = extras()
    settings = Settings()
    shown = {**values(settings), "endpoint": without_password(_endpoints(settings)) or None}
    if as_json:
        print_json(
            {
                "requirements": [{"name": r.name, "ok": r.ok, "found": r.found, "mend": r.mend} for r in found],
                "optional": [vars(e) for e in more],
                "settings": shown,
            }
        )
    else:
        print_table(
            "Requirements", ["", "requirement", "found", "mend"],
            [*(_row(r) for r in found), *(_extra_row(e) for e in more)],
        )  # fmt: skip
        endpoint = shown.pop("endpoint") or "none: banks and the oracle are used"
        listed = [(f"FORGE_{name.upper()}", None if value == "" else value) for name, value in shown.items()]
        print_table("Settings", ["variable", "value"], listed)
        print(f"endpoint  {endpoint}")
    if not all(r.ok for r in found):
        raise typer.Exit(1)


def extras() -> list[Extra]:
    """What `setup/install.sh apps` brings: further applications, the live view, films."""
    from forge.desktop.apps import APPS
    from forge.desktop.view import NOVNC

    view, film = "`forge desktop view` and `open`", "`forge desktop record` and `forge show --mp4`"
    return [
        *(
            _extra(shown, APPS[n].program, APPS[n].package, f"its tasks and `forge grounding harvest --app {n}`")
            for n, shown in _APPLICATIONS.items()
        ),
        _extra("x11vnc", shutil.which("x11vnc"), "x11vnc", view),
        _extra("noVNC", str(NOVNC), "novnc", view),
        _extra("ffmpeg", shutil.which("ffmpeg"), "ffmpeg", film),
    ]


def _extra(name: str, path: str | None, package: str, used: str) -> Extra:
    ok = path is not None and Path(path).exists()
    mend = f"needed for {used}: install {package}, or run setup/install.sh apps"
    return Extra(name, ok, str(path) if ok else "not found", used, mend)


def values(settings: Settings) -> dict[str, str | int | float | None]:
    """Every setting with its value, defaults filled in; secrets and passwords in addresses as stars."""
    found = {name: getattr(settings, name) for name in type(settings).model_fields}
    warehouse = _database(settings.warehouse_url)
    found |= {"home": settings.home.resolve(), "warehouse": warehouse, "blobs": settings.blob_url}
    return {n: v if v is None or isinstance(v, int | float) else without_password(str(v)) for n, v in found.items()}


def without_password(text: str) -> str:
    """A text with stars for the passwords in its URLs."""
    return _PASSWORD.sub(lambda m: f"{m[1]}***@" if m[1] else f"{m[2]}***", text)


def _database(url: str) -> str:
    """A database's URL with stars for what SQLAlchemy takes for its password, which may hold any sign but @."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        read = make_url(url)
    except (ArgumentError, ValueError):
        return url
    return read.render_as_string(hide_password=True) if read.password else url  # as it was written where there is none


def _row(found: Requirement) -> tuple[str, str, str, str]:
    return ("ok" if found.ok else "MISSING", found.name, found.found, "" if found.ok else found.mend)


def _extra_row(found: Extra) -> tuple[str, str, str, str]:
    return ("ok" if found.ok else "optional", found.name, found.found, "" if found.ok else found.mend)


def _endpoints(settings: Settings) -> str:
    """Base URLs by role, each endpoint once."""
    from forge.llm import Directory

    directory = Directory.from_settings(settings)
    roles = {name: [r for r, found in directory.roles.items() if found == name] for name in directory.endpoints}
    return "; ".join(f"{directory.endpoints[n].base_url} ({', '.join(r)})" for n, r in roles.items() if r)
