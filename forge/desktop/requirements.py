"""Whether this machine has what desktops need, and how to mend what it lacks; for `forge doctor`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from forge.records.errors import ForgeError

_SETUP = "or run setup/install"


@dataclass(frozen=True)
class Requirement:
    """One thing that is needed: whether it is there, what was found, and how to put it right."""

    name: str
    ok: bool
    found: str
    mend: str


def doctor() -> list[Requirement]:
    """Check every requirement of forge.desktop on this machine; takes about a second when all caches are there."""
    return [
        *(_program(*each) for each in _PROGRAMS),
        *(_file(*each) for each in _FILES),
        _attempt("FORGE_HOME is writable", _home, "set FORGE_HOME to a folder on a disk with space"),
        _attempt("the guest's clock compiles", _clock, f"install gcc and libc6-dev, {_SETUP}"),
        _attempt("locale en_US.UTF-8 compiles", _locale, f"install locales, {_SETUP}"),
        _attempt(
            "a box can be made", _box, "allow unprivileged user namespaces: sysctl kernel.unprivileged_userns_clone=1"
        ),
        _attempt("a display comes up", _display, f"install xvfb and openbox, {_SETUP}"),
        _attempt("LibreOffice starts in a box", _office, f"install libreoffice-calc, {_SETUP}"),
    ]


_PROGRAMS = (
    ("Xvfb", "xvfb"),
    ("openbox", "openbox"),
    ("bwrap", "bubblewrap"),
    ("setpriv", "util-linux"),
    ("dbus-daemon", "dbus-daemon"),
    ("xkbcomp", "x11-xkb-utils"),
    ("cc", "gcc"),
    ("localedef", "libc-bin"),
    ("pcmanfm", "pcmanfm"),
    ("xfce4-terminal", "xfce4-terminal"),
    ("mousepad", "mousepad"),
    ("thunderbird", "thunderbird"),
)
_FILES = (
    ("LibreOffice Calc", "/usr/lib/libreoffice/program/libsclo.so", "libreoffice-calc"),
    ("LibreOffice's GTK 3 look", "/usr/lib/libreoffice/program/libvclplug_gtk3lo.so", "libreoffice-gtk3"),
    ("LibreOffice's Python bridge", "/usr/lib/python3/dist-packages/uno.py", "python3-uno"),
    ("GObject for Python", "/usr/lib/python3/dist-packages/gi/__init__.py", "python3-gi"),
    ("accessibility bus", "/usr/libexec/at-spi-bus-launcher", "at-spi2-core"),
    ("accessibility of GTK 2", "gtk-2.0/modules/libatk-bridge.so", "libatk-adaptor"),
    ("accessibility types", "girepository-1.0/Atspi-2.0.typelib", "gir1.2-atspi-2.0"),
)


def _program(name: str, package: str) -> Requirement:
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    return Requirement(f"program {name}", found is not None, found or "not found", f"install {package}, {_SETUP}")


def _file(name: str, path: str, package: str) -> Requirement:
    places = [Path(path)] if path.startswith("/") else list(Path("/usr/lib").glob(f"*/{path}"))
    found = next((str(place) for place in places if place.exists()), None)
    return Requirement(name, found is not None, found or "not found", f"install {package}, {_SETUP}")


def _attempt(name: str, attempt: Callable[[], str], mend: str) -> Requirement:
    try:
        return Requirement(name, True, attempt(), mend)
    except ForgeError as error:
        return Requirement(name, False, error.message, error.mend or mend)
    except (OSError, subprocess.SubprocessError) as error:
        return Requirement(name, False, str(error), mend)


def _home() -> str:
    from forge.desktop.place import home

    folder = home()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        free = shutil.disk_usage(folder).free >> 20
    if free < 1024:
        raise OSError(f"{folder} has {free} MiB left, a round needs 1024")
    return f"{folder}, {free >> 10} GiB free"


def _clock() -> str:
    from forge.desktop.clock import library

    return str(library())


def _locale() -> str:
    from forge.desktop.place import locale_folder

    return str(locale_folder("en_US.UTF-8"))


def _box() -> str:
    from forge.desktop.box import chown_home, run_boxed

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        chown_home(home)
        done = run_boxed(["sh", "-c", "id -u; date +%F"], home=home, timeout=20)
    lines = done.stdout.decode().split()
    if done.exit_code != 0 or lines != ["1000", "2026-03-16"]:
        raise OSError(f"a command in a box gave {done.stdout!r} {done.stderr!r}")
    return f"{done.seconds * 1000:.0f} ms"


def _display() -> str:
    from forge.desktop.display import Display
    from forge.desktop.sweep import claim

    owned = claim("doctor")
    try:
        display = Display(owned.folder, 1280, 800)
        name = display.name
        display.close()
    finally:
        owned.release()
    return name


def _office() -> str:
    from forge.desktop.libreoffice import template, version

    template()
    return version()
