"""The applications that a slot can start: command line, surroundings, and how to see that one is ready.

Their settings show no dialogs, tips or animations, and no blinking caret, so that a screen that has settled stays so.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from forge.desktop import libreoffice
from forge.desktop.box import HOME
from forge.records.errors import InputError

THUNDERBIRD = "/usr/lib/thunderbird/thunderbird"
THUNDERBIRD_PROFILE = ".thunderbird/alex.default"
_GTK2 = {"GTK_MODULES": "gail:atk-bridge"}  # gtk2 speaks to the accessibility bus only through these


@dataclass(frozen=True)
class App:
    """An application.

    Args:
        name: as tasks say it.
        bus_name: (part of) its name on the accessibility bus.
        program: the file that must exist in the box.
        package: the Debian package it comes from.
        command: path inside the box, or None -> argument vector.
        title: path or None -> text that its window's title contains once it is up.
        ready_role: role of a node that shows once its contents are there.
        ready_name: what that node's name must contain.
        env: added to its environment.
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


def _calc(path: str | None) -> list[str]:
    command = [libreoffice.SOFFICE, "--norestore", "--nologo"]
    separator = {".csv": 44, ".tsv": 9}.get(os.path.splitext(path or "")[1].lower())
    if separator:  # else a dialog asks how to read it
        command.append(f"--infilter=Text - txt - csv (StarCalc):{separator},34,76,1,,1033,false,true")
    return [*command, "--calc", *([path] if path else [])]


def _files(path: str | None) -> list[str]:
    return ["/usr/bin/pcmanfm", "--no-desktop", path or HOME]


def _terminal(path: str | None) -> list[str]:
    return ["/usr/bin/xfce4-terminal", "--disable-server", f"--working-directory={path or HOME}"]


def _last(path: str | None) -> str:
    return os.path.basename((path or HOME).rstrip("/"))


APPS = {
    app.name: app
    for app in (
        App(
            "calc",
            "soffice",
            libreoffice.SOFFICE,
            "libreoffice-calc",
            _calc,
            lambda path: os.path.basename(path) if path else "LibreOffice Calc",
            ("table",),
            "Sheet ",
            {"SAL_USE_VCLPLUGIN": "gtk3"},
        ),
        App(
            "thunderbird",
            "thunderbird",
            THUNDERBIRD,
            "thunderbird",
            lambda path: [THUNDERBIRD, "-profile", f"{HOME}/{THUNDERBIRD_PROFILE}", "-no-remote"],
            lambda path: "Thunderbird",
            ("tree item",),
        ),
        App(
            "files",
            "pcmanfm",
            "/usr/bin/pcmanfm",
            "pcmanfm",
            _files,
            _last,
            ("layered pane", "icon", "table"),
            "",
            _GTK2,
        ),
        App(
            "terminal",
            "xfce4-terminal",
            "/usr/bin/xfce4-terminal",
            "xfce4-terminal",
            _terminal,
            lambda path: "Terminal",
            ("terminal",),
        ),
        App(
            "editor",
            "mousepad",
            "/usr/bin/mousepad",
            "mousepad",
            lambda path: ["/usr/bin/mousepad", "--disable-server", *([path] if path else [])],
            lambda path: os.path.basename(path) if path else "Mousepad",
            ("text",),
        ),
    )
}


def find_app(name: str) -> App:
    """The application called `name`. Raises InputError that lists the known ones."""
    if name not in APPS:
        raise InputError(f"no application is called {name!r}", mend=f"known are {', '.join(APPS)}")
    return APPS[name]


def app_of(bus_name: str) -> str:
    """The task's name of an application from its name on the accessibility bus; that name itself for a stranger."""
    return next((app.name for app in APPS.values() if app.bus_name in bus_name.lower()), bus_name)


def lay_settings(home: Path) -> None:
    """Write every application's settings into a new home."""
    for name, text in _SETTINGS.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    libreoffice.copy_profile(home)


_SETTINGS = {
    ".config/gtk-3.0/settings.ini": (
        "[Settings]\ngtk-cursor-blink=false\ngtk-enable-animations=false\ngtk-can-change-accels=false\n"
        "gtk-theme-name=Adwaita\ngtk-icon-theme-name=Adwaita\ngtk-font-name=DejaVu Sans 10\n"
    ),
    ".gtkrc-2.0": (
        'gtk-cursor-blink=0\ngtk-enable-animations=0\ngtk-icon-theme-name="Adwaita"\ngtk-font-name="DejaVu Sans 10"\n'
    ),
    ".config/libfm/libfm.conf": (
        "[config]\nsingle_click=0\nuse_trash=1\nconfirm_del=1\nconfirm_trash=1\nthumbnail_local=0\n"
        "terminal=xfce4-terminal\nquick_exec=1\n\n[ui]\nbig_icon_size=48\nsmall_icon_size=24\nshow_thumbnail=0\n"
        "\n[places]\nplaces_home=1\nplaces_desktop=0\nplaces_root=0\nplaces_computer=0\nplaces_trash=1\n"
        "places_applications=0\nplaces_network=0\nplaces_unmounted=0\n"
    ),
    ".config/pcmanfm/default/pcmanfm.conf": (
        "[config]\nbm_open_method=0\n\n[volume]\nmount_on_startup=0\nmount_removable=0\nautorun=0\n\n[ui]\n"
        "always_show_tabs=0\nhide_close_btn=0\nwin_width=1200\nwin_height=740\nmaximized=1\nsplitter_pos=160\n"
        "media_in_new_tab=0\ndesktop_folder_new_win=0\nchange_tab_on_drop=1\nclose_on_unmount=1\n"
        "focus_previous=0\nside_pane_mode=places\nview_mode=list\nshow_hidden=0\nsort=name;ascending;\n"
        "toolbar=newtab;navigation;home;\nshow_statusbar=1\npathbar_mode_buttons=0\n"
    ),
    ".config/xfce4/terminal/terminalrc": (
        "[Configuration]\nFontName=DejaVu Sans Mono 11\nMiscAlwaysShowTabs=FALSE\nMiscBell=FALSE\n"
        "MiscCursorBlinks=FALSE\nMiscMenubarDefault=TRUE\nMiscConfirmClose=FALSE\nMiscShowUnsafePasteDialog=FALSE\n"
        "TitleMode=TERMINAL_TITLE_HIDE\nScrollingLines=10000\n"
    ),
}
