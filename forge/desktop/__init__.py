"""Real desktops, isolated and quick to make: boxes, slots, a headless office, and files in and out.

The public face is loaded when first used, so that importing this package costs nothing:

- `Slot`, `SlotPool`: a private desktop (display, window manager, box, home) for one episode; warm spares of it; `Health`
  is what is wrong with one, `Recycling` when a spare is thrown away.
- `run_boxed`: one command in a box of its own; `Layers`, `Completed`, `chown_home` belong to it.
- `Office`, `OfficeClient`: headless LibreOffice in a box that computes, converts and reads workbooks.
- `lay`, `snapshot`, `restore`: files into and out of a guest's home.
- `fingerprint`: versions of all that a result depends on; `doctor`: whether all that is needed is here.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forge.desktop.box import NO_LAYERS, Completed, Layers, chown_home, run_boxed
    from forge.desktop.files import lay, restore, snapshot
    from forge.desktop.health import Health
    from forge.desktop.input import Input
    from forge.desktop.office import Office, OfficeClient
    from forge.desktop.pool import SlotPool
    from forge.desktop.recycling import Recycling
    from forge.desktop.requirements import Requirement, doctor
    from forge.desktop.screen import Screen, Screenshot
    from forge.desktop.shell import Shell, ShellResult
    from forge.desktop.slot import Cells, Slot
    from forge.desktop.versions import fingerprint
    from forge.desktop.windows import Window

_FACE = {
    "NO_LAYERS": "box",
    "Cells": "slot",
    "Completed": "box",
    "Health": "health",
    "Input": "input",
    "Layers": "box",
    "Office": "office",
    "OfficeClient": "office",
    "Recycling": "recycling",
    "Requirement": "requirements",
    "Screen": "screen",
    "Screenshot": "screen",
    "Shell": "shell",
    "ShellResult": "shell",
    "Slot": "slot",
    "SlotPool": "pool",
    "Window": "windows",
    "chown_home": "box",
    "doctor": "requirements",
    "fingerprint": "versions",
    "lay": "files",
    "restore": "files",
    "run_boxed": "box",
    "snapshot": "files",
}

__all__ = [
    "NO_LAYERS",
    "Cells",
    "Completed",
    "Health",
    "Input",
    "Layers",
    "Office",
    "OfficeClient",
    "Recycling",
    "Requirement",
    "Screen",
    "Screenshot",
    "Shell",
    "ShellResult",
    "Slot",
    "SlotPool",
    "Window",
    "chown_home",
    "doctor",
    "fingerprint",
    "lay",
    "restore",
    "run_boxed",
    "snapshot",
]


def __getattr__(name: str) -> Any:
    if name not in _FACE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_FACE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
