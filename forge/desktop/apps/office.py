"""LibreOffice's applications. They are one process and one name on the accessibility bus, told apart by their windows."""

from __future__ import annotations

import os

from forge.desktop import libreoffice
from forge.desktop.apps.app import App, named

_ENV = {"SAL_USE_VCLPLUGIN": "gtk3"}
_START = [libreoffice.SOFFICE, "--norestore", "--nologo"]


def _calc(path: str | None) -> list[str]:
    command = list(_START)
    separator = {".csv": 44, ".tsv": 9}.get(os.path.splitext(path or "")[1].lower())
    if separator:  # else a dialog asks how to read it
        command.append(f"--infilter=Text - txt - csv (StarCalc):{separator},34,76,1,,1033,false,true")
    return [*command, "--calc", *([path] if path else [])]


def _writer(path: str | None) -> list[str]:
    return [*_START, "--writer", *([path] if path else [])]


def _impress(path: str | None) -> list[str]:
    return [*_START, "--impress", *([path] if path else [])]


CALC = App(
    "calc",
    "soffice",
    libreoffice.SOFFICE,
    "libreoffice-calc",
    _calc,
    named("LibreOffice Calc"),
    ("table",),
    "Sheet ",
    _ENV,
    "LibreOffice Calc",
)
WRITER = App(
    "writer",
    "soffice",
    "/usr/lib/libreoffice/program/libswlo.so",
    "libreoffice-writer",
    _writer,
    named("LibreOffice Writer"),
    ("document text",),
    "",
    _ENV,
    "LibreOffice Writer",
)
IMPRESS = App(
    "impress",
    "soffice",
    "/usr/lib/libreoffice/program/libsdlo.so",
    "libreoffice-impress",
    _impress,
    named("LibreOffice Impress"),
    ("document presentation",),
    "",
    _ENV,
    "LibreOffice Impress",
)
