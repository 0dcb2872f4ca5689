"""VLC: no question about privacy, no look for updates, no sound device."""

from __future__ import annotations

from forge.desktop.apps.app import App, named

PROGRAM = "/usr/bin/vlc"

VLC = App(
    "vlc",
    "vlc",
    PROGRAM,
    "vlc-plugin-qt",
    lambda path: [PROGRAM, *([path] if path else [])],
    named("VLC media player"),
    ("push button",),
)

SETTINGS = {
    ".config/vlc/vlcrc": (
        "[qt]\nqt-privacy-ask=0\nqt-updates-notif=0\nqt-error-dialogs=1\nqt-system-tray=0\nqt-notification=0\n"
        "qt-name-in-title=1\nqt-autoload-extensions=0\nqt-video-autoresize=0\nqt-bgcone=0\n"
        "[core]\naout=adummy\nmetadata-network-access=0\nvideo-title-show=0\n"
    ),
    ".config/vlc/vlc-qt-interface.conf": "[General]\ngeometry=\n[MainWindow]\nstatus-bar-visible=true\n",
}
"""Files below the home."""
