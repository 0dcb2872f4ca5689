"""What an application is to a slot."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from forge.desktop.box import HOME


@dataclass(frozen=True)
class App:
    """An application.

    Args:
        name: as tasks say it.
        bus_name: (part of) its name on the accessibility bus; several may share one.
        program: the file that must exist in the box.
        package: the Debian package it comes from.
        command: path inside the box, or None -> argument vector.
        title: path or None -> text that its window's title contains once it is up.
        ready_role: role of a node that shows once its contents are there.
        ready_name: what that node's name must contain.
        env: added to its environment.
        mark: what the titles of its document windows end with, where several share a bus name.
        stale_menus: its menus stay in the tree after they were closed, see `forge.desktop.menus`.
        crash: what it says last when it crashed, as a pattern, where it then ends with an exit code as after an error.
        farewell: it keeps what was done to itself for a while, without a way to save; to be asked to end, not killed.
    """

    name: str
    bus_name: str
    program: str
    package: str
    command: Callable[[str | None], list[str]]
    title: Callable[[str | None], str]
    ready_role: tuple[str, ...]
    ready_name: str = ""
    env: dict[str, str] = field(default_factory=dict)
    mark: str = ""
    farewell: bool = False
    stale_menus: bool = False
    crash: str = ""


def last_part(path: str | None) -> str:
    """The name of a file or folder; the home's own without a path."""
    return os.path.basename((path or HOME).rstrip("/"))


def named(without: str) -> Callable[[str | None], str]:
    """A title: the document's name, and `without` where there is no document."""
    return lambda path: last_part(path) if path else without
