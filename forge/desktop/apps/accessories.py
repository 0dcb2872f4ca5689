"""The small GTK applications: file manager, terminal, editor; and what GTK itself is told."""

from __future__ import annotations

from forge.desktop.apps.app import App, last_part, named
from forge.desktop.box import HOME

GTK2 = {"GTK_MODULES": "gail:atk-bridge"}
"""Added to the environment of a GTK 2 application: it speaks to the accessibility bus only through these."""

FILES = App(
    "files",
    "pcmanfm",
    "/usr/bin/pcmanfm",
    "pcmanfm",
    lambda path: ["/usr/bin/pcmanfm", "--no-desktop", path or HOME],
    last_part,
    ("layered pane", "icon", "table"),
    "",
    GTK2,
    stale_menus=True,
)
TERMINAL = App(
    "terminal",
    "xfce4-terminal",
    "/usr/bin/xfce4-terminal",
    "xfce4-terminal",
    lambda path: ["/usr/bin/xfce4-terminal", "--disable-server", f"--working-directory={path or HOME}"],
    lambda path: "Terminal",
    ("terminal",),
)
EDITOR = App(
    "editor",
    "mousepad",
    "/usr/bin/mousepad",
    "mousepad",
    lambda path: ["/usr/bin/mousepad", "--disable-server", *([path] if path else [])],
    named("Mousepad"),
    ("text",),
)

OPENED_BY = {
    "text/plain": "org.xfce.mousepad.desktop",
    "text/html": "chromium.desktop",
    "text/csv": "libreoffice-calc.desktop",
    "application/vnd.oasis.opendocument.spreadsheet": "libreoffice-calc.desktop",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "libreoffice-calc.desktop",
    "application/vnd.oasis.opendocument.text": "libreoffice-writer.desktop",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "libreoffice-writer.desktop",
    "application/vnd.oasis.opendocument.presentation": "libreoffice-impress.desktop",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "libreoffice-impress.desktop",
    "image/png": "gimp.desktop",
    "image/jpeg": "gimp.desktop",
    "message/rfc822": "thunderbird.desktop",
}
"""What a double click on a file starts, by type; what is a kind of another type (a log is text) follows that one. Without
this the file manager asks, for Debian without desktop-file-utils has no list of what opens what.
"""

SETTINGS = {
    ".config/gtk-3.0/settings.ini": (
        "[Settings]\ngtk-cursor-blink=false\ngtk-enable-animations=false\ngtk-can-change-accels=false\n"
        "gtk-overlay-scrolling=false\n"  # such scroll bars fade two seconds after they moved
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
    ".config/mimeapps.list": "[Default Applications]\n" + "".join(f"{kind}={by}\n" for kind, by in OPENED_BY.items()),
    ".config/xfce4/terminal/terminalrc": (
        "[Configuration]\nFontName=DejaVu Sans Mono 11\nMiscAlwaysShowTabs=FALSE\nMiscBell=FALSE\n"
        "MiscCursorBlinks=FALSE\nMiscMenubarDefault=TRUE\nMiscConfirmClose=FALSE\nMiscShowUnsafePasteDialog=FALSE\n"
        "TitleMode=TERMINAL_TITLE_HIDE\nScrollingLines=10000\n"
    ),
}
"""Files below the home that tell these how to be."""
