"""GIMP: one window, no splash, no tips. What it knows of its plug-ins is found out once and copied into every home."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

from forge.desktop.apps.accessories import GTK2
from forge.desktop.apps.app import App, last_part
from forge.desktop.box import HOME, BoxPlan, chown_home
from forge.desktop.place import cached
from forge.records.canonical import digest
from forge.records.errors import DesktopError

PROGRAM = "/usr/bin/gimp"
PROFILE = ".config/GIMP/2.10"
"""Where its profile is, relative to the home."""


def _title(path: str | None) -> str:
    name = last_part(path).rpartition(".")[0] or last_part(path)
    return f"[{name}]" if path else "GNU Image Manipulation Program"


GIMP = App(
    "gimp",
    "gimp",
    PROGRAM,
    "gimp",
    lambda path: [PROGRAM, "--new-instance", "--no-splash", *([path] if path else [])],
    _title,
    ("status bar",),
    "",
    GTK2,
    stale_menus=True,
    crash=r"fatal error: (Segmentation fault|Bus error|Aborted|Illegal instruction|Floating point exception)",
)

SETTINGS = {
    f"{PROFILE}/gimprc": (
        '(theme "System")\n(icon-theme "Color")\n(save-session-info no)\n(save-document-history no)\n'
        "(check-updates no)\n(marching-ants-speed 10000)\n(color-profile-policy convert)\n"
    ),
    f"{PROFILE}/sessionrc": """\
(session-info "toplevel"
    (factory-entry "gimp-single-image-window")
    (position 0 0)
    (size 1280 800)
    (open-on-exit)
    (aux-info (left-docks-width "200") (right-docks-width "230") (maximized "yes"))
    (gimp-toolbox
        (side left)
        (book (current-page 0) (dockable "gimp-tool-options" (tab-style automatic))))
    (gimp-dock
        (side right)
        (book (current-page 0)
            (dockable "gimp-undo-history" (tab-style automatic))
            (dockable "gimp-brush-grid" (tab-style automatic))
            (dockable "gimp-font-list" (tab-style automatic)))
        (book (position 336) (current-page 0)
            (dockable "gimp-layer-list" (tab-style automatic) (preview-size 32))
            (dockable "gimp-channel-list" (tab-style automatic) (preview-size 32))
            (dockable "gimp-vectors-list" (tab-style automatic) (preview-size 32)))))
(hide-docks no)
(single-window-mode yes)
(tabs-position 0)
(last-tip-shown 0)
""",
}


def copy_profile(home: Path) -> None:
    """Put the prepared profile into a home.

    Raises:
        DesktopError: GIMP could not be run.
    """
    shutil.copytree(_template() / PROFILE, home / PROFILE, dirs_exist_ok=True)


def _template() -> Path:
    program = Path(PROGRAM).resolve()
    name = digest([str(program), int(program.stat().st_mtime), SETTINGS])[:16]
    return cached(f"gimp/{name}", _bake)


def _bake(folder: Path) -> None:
    for name, text in SETTINGS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    chown_home(folder)
    argv = [PROGRAM, "--no-interface", "--no-data", "--no-fonts", "--batch", "(gimp-quit 0)"]
    with ExitStack() as stack:
        command, fds = BoxPlan(home=folder).command(argv, stack)
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, pass_fds=fds, timeout=180, check=False
        )
    if done.returncode != 0 or not (folder / PROFILE / "pluginrc").exists():
        raise DesktopError(
            f"GIMP did not start (exit code {done.returncode}): {done.stderr.decode(errors='replace').strip()[-300:]}",
            mend=f"reinstall gimp; it was run with {HOME} as its home",
        )
