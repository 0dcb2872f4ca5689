"""Thunderbird. Its profile is a task's; `preparers` make it."""

from __future__ import annotations

from forge.desktop.apps.app import App
from forge.desktop.box import HOME

PROGRAM = "/usr/lib/thunderbird/thunderbird"
PROFILE = ".thunderbird/alex.default"
"""Where its profile is expected, relative to the home."""

THUNDERBIRD = App(
    "thunderbird",
    "thunderbird",
    PROGRAM,
    "thunderbird",
    lambda path: [PROGRAM, "-profile", f"{HOME}/{PROFILE}", "-no-remote"],
    lambda path: "Thunderbird",
    ("tree item",),
)
