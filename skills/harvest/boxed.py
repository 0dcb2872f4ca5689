"""Running an application's own listing commands in a box: no network, an empty home, nothing left behind."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from forge.desktop import chown_home, run_boxed

Boxed = Callable[[Sequence[str], float], str]
"""Runs a command for at most so many seconds; its standard output, then what it wrote to ~/out, as text."""


def boxed(argv: Sequence[str], seconds: float) -> str:
    """Run a command in a fresh box. Raises DesktopError when the box cannot be made; a failing command gives what it said."""
    folder = Path(tempfile.mkdtemp(prefix="forge-harvest-"))
    folder.chmod(0o711)
    try:
        home = folder / "home"
        home.mkdir()
        chown_home(home)
        done = run_boxed(list(argv), home=home, timeout=seconds, output_limit=20_000_000)
        written = home / "out"
        more = written.read_bytes() if written.is_file() and not written.is_symlink() else b""
        return (done.stdout + more).decode("utf-8", "replace")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
