"""All attacks, in the order of the table."""

from __future__ import annotations

from tests.forge.desktop.escape import (
    copying,
    display,
    documents,
    exhaustion,
    files,
    grading,
    network,
    printing,
    privileges,
    processes,
    reading,
)
from tests.forge.desktop.escape.attack import Attack

_AREAS = (files, network, processes, privileges, exhaustion, display, copying, reading, documents, grading, printing)

ATTACKS: tuple[Attack, ...] = tuple(attack for area in _AREAS for attack in area.ATTACKS if attack.offered())
"""Those whose protection this host offers: an ordinary user has no mounts, and some hosts no control groups."""
