"""The walks of a grounding harvest: which application is opened with what, and the tour through it.

A walk is one piece of work: a slot of its own, some screens. Walks of one application differ in their documents, in the
size of the screen and in where they go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from forge.desktop.slot import File
from forge.harness.grounding import tours
from forge.harness.grounding.tours import Tour
from forge.records import Guest, InputError
from rounds import scenes

SIZES = ((1280, 800), (1920, 1080), (1366, 768), (1600, 900))
LARGE = (1920, 1080)


@dataclass(frozen=True)
class Walk:
    """One walk; `files` are made when it begins. `path` is what the application opens."""

    key: str
    app: str
    tour: Tour
    files: Callable[[], Sequence[File]] = tuple
    path: str | None = None
    size: tuple[int, int] = SIZES[0]

    @property
    def guest(self) -> Guest:
        """The guest with the walk's screen."""
        return Guest(width=self.size[0], height=self.size[1])


def walks(apps: Sequence[str] = ()) -> list[Walk]:
    """All walks, or those of some applications, cheap ones first within an application.

    Raises:
        InputError: there is no walk through an application.
    """
    unknown = [app for app in apps if app not in _WALKS]
    if unknown:
        raise InputError(f"no walk leads through {unknown[0]!r}", mend=f"known are {', '.join(_WALKS)}")
    return [walk for app in _WALKS if not apps or app in apps for walk in _WALKS[app]()]


def _office(app: str, bars: Sequence[str], make: Callable[[int], list[File]], path: str) -> list[Walk]:
    """What the office's programs share: menus with their dialogs, tool bars, side panels, settings."""
    first = partial(make, 0)
    found = [
        Walk(f"{app}/menus", app, tours.menus(dialogs=False), first, path, LARGE),
        Walk(f"{app}/panels", app, tours.chain(
            tours.buttons("Properties", "Styles", "Gallery", "Navigator"), tours.dropdowns), first, path),
        Walk(f"{app}/tool bars", app, tours.toolbars("View", "Toolbars"), first, path, SIZES[3]),
        Walk(f"{app}/options", app, tours.options(("Tools", "Options...")), first, path),
        Walk(f"{app}/context", app, tours.context((0.3, 0.4), (0.5, 0.6), (0.1, 0.95), (0.02, 0.5), (0.5, 0.09)), first, path),
    ]  # fmt: skip
    for number, name in enumerate(bars):
        found.append(
            Walk(f"{app}/menu {name}", app, tours.menus(name), partial(make, number), path, SIZES[number % len(SIZES)])
        )
    return found


def _calc() -> list[Walk]:
    path = "~/Documents/figures.xlsx"
    bars = ("File", "Edit", "View", "Insert", "Format", "Styles", "Sheet", "Data", "Tools", "Window", "Help")
    found = _office("calc", bars, scenes.workbook, path)
    return found + [
        Walk(f"calc/cells {n}", "calc", tours.cells(3), partial(scenes.workbook, 100 + n), path, SIZES[n % len(SIZES)])
        for n in range(4)
    ]


def _writer() -> list[Walk]:
    bars = ("File", "Edit", "View", "Insert", "Format", "Styles", "Table", "Form", "Tools", "Window", "Help")
    return _office("writer", bars, scenes.text_document, "~/Documents/report.docx")


def _impress() -> list[Walk]:
    bars = ("File", "Edit", "View", "Insert", "Format", "Slide", "Slide Show", "Tools", "Window", "Help")
    return _office("impress", bars, scenes.slides, "~/Documents/talk.pptx")


def _gimp() -> list[Walk]:
    path = "~/Pictures/picture.png"
    bars = ("File", "Edit", "Select", "View", "Image", "Layer", "Colors", "Tools", "Filters", "Windows", "Help")
    found = [
        Walk("gimp/panels", "gimp", tours.chain(tours.buttons("Layers", "Channels", "Paths"), tours.context((0.5, 0.5))),
             partial(scenes.picture, 1), path),
    ]  # fmt: skip
    for number, name in enumerate(bars):
        files = partial(scenes.picture, number)
        found.append(Walk(f"gimp/menu {name}", "gimp", tours.menus(name), files, path, SIZES[number % len(SIZES)]))
    return found


def _vlc() -> list[Walk]:
    keys = (
        "ctrl+p",
        "ctrl+e",
        "ctrl+i",
        "ctrl+o",
        "ctrl+shift+o",
        "ctrl+n",
        "ctrl+t",
        "ctrl+shift+w",
        "ctrl+m",
        "shift+F1",
    )
    return [
        Walk("vlc/menus", "vlc", tours.menus(), scenes.sound, "~/Music/tone.wav"),
        Walk("vlc/empty", "vlc", tours.menus(dialogs=False), size=SIZES[2]),
        Walk("vlc/dialogs", "vlc", tours.chords(*keys), scenes.sound, "~/Music/tone.wav", SIZES[1]),
        Walk("vlc/settings", "vlc", tours.chords("ctrl+p"), size=SIZES[3]),
        Walk("vlc/playlist", "vlc", tours.chain(tours.keys_then("ctrl+l"), tours.rows(("tree item", "list item", "table cell"), 12),
             tours.context((0.5, 0.4), (0.1, 0.3))), scenes.sound, "~/Music/tone.wav"),
    ]  # fmt: skip


def _chromium() -> list[Walk]:
    inside = (
        "appearance", "autofill", "privacy", "search", "defaultBrowser", "onStartup", "languages", "downloads",
        "accessibility", "system", "reset", "content", "content/location", "content/notifications", "clearBrowserData",
        "cookies", "security", "fonts", "passwords", "people", "performance", "addresses", "searchEngines",
    )  # fmt: skip
    settings = [f"chrome://settings/{name}" for name in inside]
    others = [
        f"chrome://{name}" for name in ("flags", "history", "bookmarks", "downloads", "extensions", "version", "about")
    ]
    found = []
    for number in range(12):
        files, addresses = scenes.pages(number, 8)
        size = SIZES[number % len(SIZES)]
        found.append(
            Walk(
                f"chromium/pages {number}",
                "chromium",
                tours.places("ctrl+l", addresses, scrolls=1),
                partial(list, files),
                None,
                size,
            )
        )
    found += [
        Walk("chromium/settings", "chromium", tours.places("ctrl+l", settings, scrolls=1), size=SIZES[0]),
        Walk("chromium/inside", "chromium", tours.places("ctrl+l", others, scrolls=4), size=SIZES[2]),
    ]
    files, addresses = scenes.pages(50, 2)
    menu = tours.chain(
        tours.places("ctrl+l", addresses[:1]),
        tours.app_menu("alt+f"),
        tours.context((0.5, 0.5), (0.1, 0.3), (0.5, 0.08)),
    )
    found.append(Walk("chromium/menu", "chromium", menu, partial(list, files)))
    return found


def _thunderbird() -> list[Walk]:
    found = []
    for number in range(8):
        tour = tours.chain(
            tours.rows("tree item", 14, menu=number < 3),
            tours.rows(("table row", "tree table row", "table cell"), 8, 2, menu=number < 3),
        )
        size = SIZES[number % len(SIZES)]
        found.append(
            Walk(
                f"thunderbird/mail {number}",
                "thunderbird",
                tour,
                partial(scenes.mailbox, number),
                None,
                size,
            )
        )
    mail = partial(scenes.mailbox, 20)
    bar = tours.with_hidden_bar
    found += [
        Walk("thunderbird/menus", "thunderbird", bar(tours.menus(dialogs=False)), mail),
        Walk("thunderbird/dialogs", "thunderbird", bar(tours.menus("File", "Edit", "View", "Go", "Message")), mail, None, SIZES[3]),
        Walk("thunderbird/tools", "thunderbird", bar(tours.menus("Tools", "Events and Tasks", "Help")), mail, None, SIZES[2]),
        Walk("thunderbird/compose", "thunderbird", tours.chords("ctrl+n", "ctrl+shift+k"), mail),
        Walk("thunderbird/book", "thunderbird", tours.chain(tours.keys_then("ctrl+shift+b"),
             tours.rows(("tree item", "table row", "list item"), 14, menu=True)), mail),
        Walk("thunderbird/settings", "thunderbird", tours.in_tab(("Edit", "Settings"), scrolls=6), mail),
        Walk("thunderbird/accounts", "thunderbird", tours.in_tab(("Edit", "Account Settings"), scrolls=2), mail),
    ]  # fmt: skip
    return found


def _files() -> list[Walk]:
    found = []
    for number in range(8):
        files, where = scenes.folders(number)
        view = tours.keys_then("ctrl+4")  # icons have no names there, rows have
        tour = tours.chain(view, tours.places("ctrl+l", [f"/home/alex/{path[2:]}" for path in where[:14]]))
        size = SIZES[number % len(SIZES)]
        found.append(Walk(f"files/folders {number}", "files", tour, partial(list, files), where[0], size))
    files, where = scenes.folders(30)
    opened = tours.rows(("icon", "table cell"), 6, menu=True)
    found += [
        Walk("files/menus", "files", tours.chain(opened, tours.menus()), partial(list, files), where[0]),
        Walk("files/bare", "files", tours.menus(dialogs=False), size=SIZES[2]),
        Walk(
            "files/properties",
            "files",
            tours.chain(opened, tours.chords("alt+Return")),
            partial(list, files),
            where[-1],
            SIZES[3],
        ),
    ]
    return found


def _terminal() -> list[Walk]:
    return [
        Walk("terminal/menus", "terminal", tours.menus()),
        Walk("terminal/context", "terminal", tours.context((0.4, 0.4)), size=SIZES[1]),
        Walk("terminal/small", "terminal", tours.menus(), size=SIZES[2]),
    ]


def _editor() -> list[Walk]:
    path = "~/Documents/notes.txt"
    return [
        Walk("editor/menus", "editor", tours.menus(), partial(scenes.plain_text, 0), path),
        Walk("editor/context", "editor", tours.context((0.4, 0.4)), partial(scenes.plain_text, 1), path, SIZES[1]),
        Walk("editor/empty", "editor", tours.menus(), size=SIZES[2]),
    ]


_WALKS: dict[str, Callable[[], list[Walk]]] = {
    "calc": _calc, "thunderbird": _thunderbird, "files": _files, "terminal": _terminal, "editor": _editor,
    "writer": _writer, "impress": _impress, "chromium": _chromium, "gimp": _gimp, "vlc": _vlc,
}  # fmt: skip
