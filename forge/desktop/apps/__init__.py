"""The applications that a slot can start: command line, surroundings, and how to see that one is ready.

Their settings show no dialogs, tips or animations, and no blinking caret, so that a screen that has settled stays so.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from forge.desktop import libreoffice
from forge.desktop.apps import accessories, chromium, gimp, vlc
from forge.desktop.apps.accessories import EDITOR, FILES, TERMINAL
from forge.desktop.apps.app import App
from forge.desktop.apps.chromium import CHROMIUM
from forge.desktop.apps.gimp import GIMP
from forge.desktop.apps.mail import PROFILE as THUNDERBIRD_PROFILE
from forge.desktop.apps.mail import THUNDERBIRD
from forge.desktop.apps.office import CALC, IMPRESS, WRITER
from forge.desktop.apps.vlc import VLC
from forge.records.errors import InputError

__all__ = ["APPS", "THUNDERBIRD_PROFILE", "App", "app_of", "find_app", "lay_settings", "settings"]

APPS = {app.name: app for app in (CALC, WRITER, IMPRESS, THUNDERBIRD, CHROMIUM, GIMP, VLC, FILES, TERMINAL, EDITOR)}


def find_app(name: str) -> App:
    """The application called `name`. Raises InputError that lists the known ones."""
    if name not in APPS:
        raise InputError(f"no application is called {name!r}", mend=f"known are {', '.join(APPS)}")
    return APPS[name]


def app_of(bus_name: str, titles: Sequence[str] = (), wanted: str | None = None) -> str:
    """The task's name of an application from its name on the accessibility bus; that name itself for a stranger.

    Args:
        bus_name: as the bus has it.
        titles: of its windows, the uppermost first; they tell those apart that share a bus name.
        wanted: the one asked for, where the titles do not tell.
    """
    same = [app for app in APPS.values() if app.bus_name in bus_name.lower()]
    for title in titles:
        for app in same:
            if app.mark and title.endswith(app.mark):
                return app.name
    names = [app.name for app in same]
    return wanted if wanted in names else names[0] if names else bus_name


def settings() -> dict[str, bytes]:
    """Every application's settings, path relative to the home to content."""
    texts = {**accessories.SETTINGS, **chromium.SETTINGS, **gimp.SETTINGS, **vlc.SETTINGS}
    return {path: text.encode() for path, text in texts.items()}


def lay_settings(home: Path) -> None:
    """Write every application's settings into a new home."""
    for name, content in settings().items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    libreoffice.copy_profile(home)
    if os.path.exists(gimp.PROGRAM):
        gimp.copy_profile(home)
