"""What a slot has inside so that OSWorld's software finds what it expects: commands, pyautogui, a home at /home/user."""

from __future__ import annotations

import hashlib
from pathlib import Path

from forge.desktop.box import HOME as USERS_HOME
from forge.desktop.box import Layers
from forge.desktop.inside import osworld as inside
from forge.desktop.place import cached

HOME = "/home/user"
"""Where OSWorld's tasks look for the home."""
COMMANDS = {
    "python": "/usr/bin/python3",
    "google-chrome": "chromium --no-first-run --test-type --password-store=basic",
    "gnome-terminal": "xfce4-terminal --disable-server",
    "nautilus": "pcmanfm",
    "gedit": "mousepad --disable-server",
}
"""Commands of OSWorld's machine, and what they are here."""
GUEST = "/opt/forge/python/0/osworld_guest.py"
_PROGRAMS = {"guest.py": "osworld_guest.py", "pyautogui.py": "pyautogui.py", "pyperclip.py": "pyperclip.py"}


def below_home(path: str) -> str | None:
    """A path below the home, by whichever of its names, as "~/..."; None for any other."""
    home = next((home for home in ("~", USERS_HOME, HOME) if path.startswith(f"{home}/")), None)
    return None if home is None else "~" + path[len(home) :]


def osworld_layers() -> Layers:
    """The layers for `Slot.open`."""
    here = Path(inside.__file__ or "").parent
    programs = {target: (here / source).read_bytes() for source, target in _PROGRAMS.items()}
    name = hashlib.sha256(repr((sorted(programs.items()), sorted(COMMANDS.items()))).encode()).hexdigest()[:16]

    def build(folder: Path) -> None:
        for part in ("commands", "python"):
            (folder / part).mkdir()
            (folder / part).chmod(0o755)
        for command, line in COMMANDS.items():
            path = folder / "commands" / command
            path.write_text(f'#!/bin/sh\nexec {line} "$@"\n')
            path.chmod(0o755)
        for program, content in programs.items():
            (folder / "python" / program).write_bytes(content)

    folder = cached(f"osworld/{name}", build)
    return Layers((folder / "commands",), (folder / "python",), (HOME,))
