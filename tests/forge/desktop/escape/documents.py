"""Hostile documents: what they try when an application opens them."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator
from unittest import mock

from forge.desktop import Office, libreoffice
from forge.desktop.apps import find_app
from forge.records import Element, PreparerError
from tests.forge.desktop.escape.attack import Attack, Ground, until
from tests.forge.desktop.escape.weaken import without
from tests.forge.desktop.test_thunderbird import MAIL, profile

_NAMESPACES = " ".join(
    f'xmlns:{name}="{uri}"'
    for name, uri in {
        "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
        "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
        "draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0",
        "svg": "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0",
        "script": "urn:oasis:names:tc:opendocument:xmlns:script:1.0",
        "xlink": "http://www.w3.org/1999/xlink",
        "ooo": "http://openoffice.org/2004/office",
        "of": "urn:oasis:names:tc:opendocument:xmlns:of:1.2",
    }.items()
)
BOOK = f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document {_NAMESPACES} office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
{{scripts}}<office:body><office:spreadsheet><table:table table:name="S"><table:table-row><table:table-cell {{formula}}>{{cell}}
</table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document>"""
PICTURE = """<draw:frame svg:width="1cm" svg:height="1cm">
<draw:image xlink:type="simple" xlink:href="http://127.0.0.1:{port}/pixel.png"/></draw:frame>"""
MACRO = """<office:scripts><office:script script:language="ooo:Basic"><ooo:libraries>
<ooo:library-embedded ooo:name="Standard"><ooo:module ooo:name="M"><ooo:source-code>Function Taken(x)
Shell "/usr/bin/touch", 0, "/home/alex/run"
Taken = 1
End Function</ooo:source-code></ooo:module></ooo:library-embedded></ooo:libraries></office:script></office:scripts>"""
FORMULA = 'table:formula="of:=TAKEN(1)" office:value-type="float"'
PIXEL = '<p>Here they are: <img src="http://127.0.0.1:{port}/pixel.png">'
PAGE = """<!DOCTYPE html><title>Page</title><img src="http://127.0.0.1:{port}/pixel.png">
<script>fetch("http://127.0.0.1:{port}/", {{mode: "no-cors"}}); new WebSocket("ws://127.0.0.1:{port}/")</script>"""


def _workbook_loads(ground: Ground) -> bool:
    """Whether a workbook that the office computes brings about a request to a server of the host."""
    server = ground.serve(socket.AF_INET, ("127.0.0.1", 0))
    book = BOOK.format(scripts="", formula="", cell=PICTURE.format(port=server.port))
    with Office(root=ground.folder / "root") as office:
        with contextlib.suppress(PreparerError):
            office.client().convert(book.encode(), ".fods", ".pdf")
    return server.visits > 0


def _opens(path: str, app: str, content: Callable[[int], str]) -> Callable[[Ground], bool]:
    """Whether what an application opens reaches a server of the host."""

    def run(ground: Ground) -> bool:
        server = ground.serve(socket.AF_INET, ("127.0.0.1", 0))
        slot = ground.slot
        slot.lay([(path, content(server.port).encode(), 0o644, False)])
        slot.launch(app, path)
        return until(lambda: server.visits > 0, 2)

    return run


def _mail_loads(ground: Ground) -> bool:
    """Whether a mail that is read fetches a picture, though the person has allowed pictures from servers."""
    server = ground.serve(socket.AF_INET, ("127.0.0.1", 0))
    slot = ground.slot
    mail = MAIL.replace("text/plain", "text/html").replace("Here they are.", PIXEL.format(port=server.port))
    allowed = b'user_pref("mailnews.message_display.disable_remote_image", false);\n'
    laid = []
    for path, data, mode, is_folder in profile():
        data = data + allowed if path.endswith("prefs.js") else mail.encode() if path.endswith("Figures") else data
        laid.append((path, data, mode, is_folder))
    slot.lay(laid)
    slot.launch("thunderbird")
    for name in ("Figures", "The figures"):
        found: list[Element] = []

        def shows(name: str = name, found: list[Element] = found) -> bool:
            found[:] = [each for each in slot.tree("thunderbird") if each.name.startswith(name) and each.box[2] > 1]
            return bool(found)

        assert until(shows, 20), f"there is no {name}"
        x, y, width, height = found[0].box
        slot.input.click(x + width // 2, y + height // 2)
    return until(lambda: server.visits > 0, 5)


def _macro_runs(ground: Ground) -> bool:
    slot = ground.slot
    book = BOOK.format(scripts=MACRO, formula=FORMULA, cell="")
    slot.lay([("~/book.fods", book.encode(), 0o644, False)])
    slot.ask("start", argv=find_app("calc").command("/home/alex/book.fods"))
    run = slot.home / "run"
    until(lambda: run.exists() or "" in [window.title for window in slot.windows()], 30)  # the warning has no title
    slot.input.key("Return")
    until(lambda: run.exists() or any("book" in window.title for window in slot.windows()), 20)
    return until(run.exists, 1.5)


@contextlib.contextmanager
def _macros_trusted(ground: Ground) -> Iterator[None]:
    settings = tuple(
        (path, name, "0" if name == "MacroSecurityLevel" else value) for path, name, value in libreoffice._SETTINGS
    )
    with mock.patch("forge.desktop.libreoffice._SETTINGS", settings):
        yield


ATTACKS = [
    Attack(
        "a workbook's picture from a server",
        "documents",
        "document",
        "a network of its own",
        _workbook_loads,
        without("--unshare-net"),
    ),
    Attack(
        "a workbook's macro at its opening",
        "documents",
        "document",
        "LibreOffice runs no macros",
        _macro_runs,
        _macros_trusted,
    ),
    Attack(
        "a mail's picture from a server",
        "documents",
        "document",
        "a network of its own",
        _mail_loads,
        without("--unshare-net"),
        slow=True,
    ),
    Attack(
        "a page that talks to a server of the host",
        "documents",
        "document",
        "a network of its own",
        _opens("~/page.html", "chromium", lambda port: PAGE.format(port=port)),
        without("--unshare-net"),
    ),
]
