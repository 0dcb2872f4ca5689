"""LibreOffice's profile: one template, baked once, that starts without dialogs, tips, locks or recovery.

A brand-new profile makes soffice.bin end with exit code 81 ("start me again"); running it once headless avoids that, so
the template is baked once per version and settings and copied into every home.
"""

from __future__ import annotations

import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

from forge.desktop.box import HOME, BoxPlan, chown_home
from forge.desktop.place import cached
from forge.records.canonical import digest
from forge.records.errors import DesktopError

SOFFICE = "/usr/lib/libreoffice/program/soffice.bin"
PROFILE = ".config/libreoffice/4"
"""Where LibreOffice looks for its profile by itself, relative to the home."""

_COMMON = "/org.openoffice.Office.Common"
_SETTINGS: tuple[tuple[str, str, str], ...] = (
    (f"{_COMMON}/Misc", "FirstRun", "false"),
    (f"{_COMMON}/Misc", "ShowTipOfTheDay", "false"),
    (f"{_COMMON}/Misc", "CrashReport", "false"),
    (f"{_COMMON}/Misc", "UseSystemFileDialog", "false"),
    (f"{_COMMON}/Misc", "UseLocking", "false"),  # a killed Calc's stale lock would keep the next one from opening
    ("/org.openoffice.Office.Impress/Misc/NewDoc", "AutoPilot", "false"),  # no choice of templates
    (f"{_COMMON}/Save/Document", "WarnAlienFormat", "false"),
    (f"{_COMMON}/Save/Document", "AutoSave", "false"),
    (f"{_COMMON}/Security/Scripting", "MacroSecurityLevel", "3"),
    ("/org.openoffice.Setup/Product", "ooSetupLastVersion", "7.4"),
    ("/org.openoffice.Setup/Product", "LastTimeGetInvolvedShown", "4102444800"),
    ("/org.openoffice.Setup/Product", "LastTimeDonateShown", "4102444800"),
    ("/org.openoffice.Office.Recovery/RecoveryInfo", "Enabled", "false"),
    ("/org.openoffice.Office.Recovery/AutoSave", "Enabled", "false"),
    # always recalculate on load: a file written by a library has no or stale values
    ("/org.openoffice.Office.Calc/Formula/Load", "OOXMLRecalcMode", "0"),
    ("/org.openoffice.Office.Calc/Formula/Load", "ODFRecalcMode", "0"),
)


def version() -> str:
    """The build of the installed LibreOffice, e.g. "7-40(Build:2)".

    Raises:
        DesktopError: it is not installed.
    """
    try:
        lines = Path(SOFFICE).with_name("versionrc").read_text().splitlines()
    except FileNotFoundError:
        raise DesktopError(
            "LibreOffice is not installed", mend="install libreoffice-calc, or run setup/install"
        ) from None
    values = dict(line.split("=", 1) for line in lines if "=" in line)
    return f"{values.get('UpdateID', '').split('_')[1:2]}{values.get('buildid', '')}".strip("[]'").replace("']", "-")


def template() -> Path:
    """The folder with a baked profile, ready to be copied to ~/.config/libreoffice/4. Built at the first call.

    Raises:
        DesktopError: LibreOffice is missing or cannot be run.
    """
    changed = int(Path(SOFFICE).stat().st_mtime) if Path(SOFFICE).exists() else 0
    name = digest([version(), changed, _SETTINGS])[:16]
    return cached(f"libreoffice/{name}", _bake) / "profile"


def copy_profile(home: Path) -> None:
    """Put the baked profile into a home."""
    shutil.copytree(template(), home / PROFILE, dirs_exist_ok=True)


def _bake(folder: Path) -> None:
    items = "".join(
        f'<item oor:path="{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>\n'
        for path, name, value in _SETTINGS
    )
    user = folder / "profile" / "user"
    user.mkdir(parents=True)
    (user / "registrymodifications.xcu").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<oor:items xmlns:oor="http://openoffice.org/2001/registry" '
        'xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n'
        f"{items}</oor:items>\n"
    )
    chown_home(folder)
    argv = [SOFFICE, f"-env:UserInstallation=file://{HOME}/profile", "--headless", "--norestore"]
    code = None
    for _ in range(3):  # exit code 81 asks to be started again
        with ExitStack() as stack:
            command, fds = BoxPlan(home=folder).command([*argv, "--terminate_after_init"], stack)
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, pass_fds=fds, timeout=120, check=False
            )
        code = done.returncode
        if code == 0:
            for path in folder.rglob(".~lock*"):
                path.unlink()
            return
    raise DesktopError(
        f"LibreOffice did not start (exit code {code}): {done.stderr.decode(errors='replace').strip()[-300:]}",
        mend="run `forge doctor`",
    )
