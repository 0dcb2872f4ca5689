"""The fingerprint: versions of everything under a result outside the task."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from forge.desktop.box import Layers
from forge.records.canonical import digest
from forge.records.fingerprint import Fingerprint

PACKAGES = (
    *("libreoffice-calc", "libreoffice-writer", "libreoffice-impress", "libreoffice-gtk3", "thunderbird"),
    *("pcmanfm", "xfce4-terminal", "mousepad", "chromium", "gimp", "vlc-bin", "vlc-plugin-qt"),
    *("openbox", "xvfb", "bubblewrap", "libgtk-3-0", "libgtk2.0-0", "at-spi2-core", "adwaita-icon-theme"),
    *("libc6", "bash", "coreutils", "python3", "python3-openpyxl", "sqlite3"),
)
"""Debian packages whose version can change what an agent sees or a file holds."""


def fingerprint(checks: Mapping[str, int], layers: Mapping[str, Path] | Layers | None = None) -> Fingerprint:
    """What results of this machine depend on now.

    Args:
        checks: check name to version.
        layers: layer name to its folder; their contents are hashed.
    """
    if isinstance(layers, Layers):
        layers = {path.name: path for path in (*layers.commands, *layers.python)}
    return Fingerprint(
        applications=_packages(),
        fonts=_fonts(),
        locale=f"{os.confstr('CS_GNU_LIBC_VERSION')}",
        layers={name: hash_folder(path) for name, path in sorted((layers or {}).items())},
        checks=dict(checks),
    )


def hash_folder(folder: Path) -> str:
    """Hash of the names and contents below a folder, without caches of bytecode."""
    found = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    return digest(found)[:16]


@functools.cache
def _packages() -> dict[str, str]:
    """Installed versions, read from dpkg's own list, which is much faster than asking dpkg."""
    wanted = set(PACKAGES)
    versions: dict[str, str] = {}
    try:
        text = Path("/var/lib/dpkg/status").read_text(errors="replace")
    except OSError:
        return versions
    for paragraph in text.split("\n\n"):
        name = re.match(r"Package: (\S+)", paragraph)
        if name and name[1] in wanted and "\nStatus: install ok installed" in paragraph:
            version = re.search(r"^Version: (\S+)", paragraph, re.M)
            versions[name[1]] = version[1] if version else "?"
    return dict(sorted(versions.items()))


@functools.cache
def _fonts() -> str:
    try:
        done = subprocess.run(
            ["fc-list", ":", "family", "style", "fontversion"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        return ""
    return hashlib.sha256(b"\n".join(sorted(done.stdout.splitlines()))).hexdigest()[:16]
