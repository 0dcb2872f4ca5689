"""The installed applications, as menus and choosers show them: by name, in groups."""

from __future__ import annotations

import configparser
import os
import shlex
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ENTRIES = Path("/usr/share/applications")
"""Where applications say how they are shown; the system's, which slots of this machine see read-only. A slot of another machine
sees that machine's, so what is found here may not be shown there."""

GROUPS = {
    "Utility": "Accessories",
    "Graphics": "Graphics",
    "Network": "Internet",
    "Office": "Office",
    "AudioVideo": "Sound & Video",
    "System": "System Tools",
    "Settings": "Preferences",
}
"""Main category -> the group in which an English menu shows it (lxmenu-data)."""

_FILE_CODES = ("%f", "%F", "%u", "%U")


@dataclass(frozen=True)
class Entry:
    """An installed application that opens files.

    Args:
        name: as menus show it, in English.
        group: the group of the menu.
    """

    name: str
    group: str


@cache
def installed(command: str, folder: Path = ENTRIES) -> Entry | None:
    """The entry that runs a command with a file; None where there is none, or menus do not show it.

    Source: the Desktop Entry Specification 1.5, freedesktop.org.
    """
    program = _program(command)
    for path in sorted(folder.glob("*.desktop")):
        parser = configparser.RawConfigParser(strict=False, delimiters=("=",), comment_prefixes=("#",))
        parser.optionxform = str  # type: ignore[assignment, method-assign]
        try:
            parser.read_string(path.read_text(encoding="utf-8"))
            entry = parser["Desktop Entry"]
            name, words = entry["Name"], shlex.split(entry["Exec"])
        except (OSError, ValueError, KeyError, configparser.Error):
            continue  # what menus cannot read they do not show
        if entry.get("NoDisplay") == "true" or entry.get("Hidden") == "true" or "OnlyShowIn" in entry:
            continue
        if len(words) != 2 or words[1] not in _FILE_CODES or _program(words[0]) != program:
            continue
        group = next((GROUPS[word] for word in entry.get("Categories", "").split(";") if word in GROUPS), None)
        if group is not None:
            return Entry(name, group)
    return None


def _program(command: str) -> str:
    """What a command runs in the end, links followed."""
    found = shutil.which(command)
    return command if found is None else os.path.realpath(found)
