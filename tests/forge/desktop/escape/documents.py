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
from tests.forge.desktop.escape.weaken import Weaken, program, together, with_folder, without
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
FETCH = 'table:formula="of:=COM.MICROSOFT.WEBSERVICE(&quot;http://127.0.0.1:{port}/&quot;)" office:value-type="string"'
LINK = 'table:formula="of:=[&apos;file://{path}&apos;#$S.A1]" office:value-type="string"'
TEXT = '<text:p xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">{text}</text:p>'
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


def _computed(ground: Ground, book: str) -> str:
    """What the office makes of a workbook, where links of documents are followed without a question."""
    with LINKS_FOLLOWED(ground), Office(root=ground.folder / "root") as office:
        return office.client().recalculate(book.encode(), ".fods").decode(errors="replace")


def _new(ground: Ground, book: str) -> str:
    """The same workbook in other bytes: clients keep what was computed before."""
    return f"{book}<!-- {ground.folder} -->"


def _linked(path: object) -> str:
    return BOOK.format(scripts="", formula=LINK.format(path=path), cell="")


def _hidden_book(ground: Ground) -> str:
    """A workbook of the host, open to everybody, with the token in its cell."""
    path = ground.hidden / "book.fods"
    path.write_text(BOOK.format(scripts="", formula='office:value-type="string"', cell=TEXT.format(text=ground.token)))
    return str(path)


def _office_fetches(ground: Ground) -> bool:
    """Whether WEBSERVICE() reaches a server of the host from the office, where links are allowed."""
    server = ground.serve(socket.AF_INET, ("127.0.0.1", 0))
    made = _computed(ground, BOOK.format(scripts="", formula=FETCH.format(port=server.port), cell=""))
    return server.visits > 0 or ground.token in made


def _office_reads(ground: Ground) -> bool:
    """Whether a link brings a workbook of the host into one that the office computes, where links are allowed."""
    book = _linked(_hidden_book(ground))
    return ground.token in _computed(ground, book)


def _office_reads_earlier(ground: Ground) -> bool:
    """Whether a workbook brings in the one that the office computed before it: gold, for instance."""
    book = BOOK.format(scripts="", formula='office:value-type="string"', cell=TEXT.format(text=ground.token))
    linked = _new(ground, _linked("/tmp/office-0/in.ods"))
    with Office(root=ground.folder / "root") as office:
        client = office.client()
        gold = client.convert(book.encode(), ".fods", ".ods")
        assert ground.token.encode() in client.convert(gold, ".ods", ".csv")
        return ground.token.encode() in client.convert(linked.encode(), ".fods", ".csv")


def _office_runs(ground: Ground) -> bool:
    """Whether a workbook's macro starts a command in the office."""
    book = _new(ground, BOOK.format(scripts=MACRO, formula=FORMULA, cell=""))
    with Office(root=ground.folder / "root") as office:
        with contextlib.suppress(PreparerError):
            office.client().recalculate(book.encode(), ".fods")
        return until(lambda: any((ground.folder / "root").rglob("home/run")), 1.5)


def _calc_fetches(ground: Ground) -> bool:
    """Whether WEBSERVICE() reaches a server of the host from a workbook that Calc opens, where links are allowed."""
    with _links_allowed(ground):
        return _opens(
            "~/book.fods", "calc", lambda port: BOOK.format(scripts="", formula=FETCH.format(port=port), cell="")
        )(ground)


def _calc_reads(ground: Ground) -> bool:
    """Whether a link brings a workbook of the host into one that is opened and saved in Calc, where links are allowed."""
    book = _linked(_hidden_book(ground))
    with _links_allowed(ground):
        slot = ground.slot
        slot.lay([("~/book.fods", book.encode(), 0o644, False)])
        slot.launch("calc", "~/book.fods")
    path = slot.home / "book.fods"
    slot.input.key("ctrl+s")
    until(lambda: path.read_text() != book, 5)
    return until(lambda: ground.token in path.read_text(errors="replace"), 1)


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
def _links_allowed(ground: Ground) -> Iterator[None]:
    """LibreOffice follows the links of every document without a question."""
    allowed = (
        ("/org.openoffice.Office.Calc/Content/Update", "Link", "0"),
        ("/org.openoffice.Office.Common/Security/Scripting", "SecureURL", "<it>file:///</it>"),
    )
    with mock.patch("forge.desktop.libreoffice._SETTINGS", (*libreoffice._SETTINGS, *allowed)):
        yield


LINKS_FOLLOWED = together(
    _links_allowed, program("office_server.py", 'prop("UpdateDocMode", 0)', 'prop("UpdateDocMode", 3)')
)


@contextlib.contextmanager
def _macros_trusted(ground: Ground) -> Iterator[None]:
    settings = tuple(
        (path, name, "0" if name == "MacroSecurityLevel" else value) for path, name, value in libreoffice._SETTINGS
    )
    with mock.patch("forge.desktop.libreoffice._SETTINGS", settings):
        yield


def _attack(name: str, protection: str, run: Callable[[Ground], bool], weaken: Weaken) -> Attack:
    return Attack(name, "documents", "document", protection, run, weaken)


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
    _attack(
        "WEBSERVICE() in the office, links allowed", "a network of its own", _office_fetches, without("--unshare-net")
    ),
    _attack("WEBSERVICE() in Calc, links allowed", "a network of its own", _calc_fetches, without("--unshare-net")),
    _attack(
        "a link to a workbook of the host in the office, links allowed",
        "only chosen folders are in the box",
        _office_reads,
        with_folder(writable=False),
    ),
    _attack(
        "a link to a workbook of the host in Calc, links allowed",
        "only chosen folders are in the box",
        _calc_reads,
        with_folder(writable=False),
    ),
    _attack(
        "a link to the workbook that the office computed before",
        "LibreOffice follows no links; what was computed is removed",
        _office_reads_earlier,
        together(LINKS_FOLLOWED, program("office_server.py", "os.unlink(source)", "pass")),
    ),
    _attack(
        "a workbook's macro in the office",
        "LibreOffice runs no macros",
        _office_runs,
        together(
            _macros_trusted,
            program("office_server.py", 'prop("MacroExecutionMode", 0)', 'prop("MacroExecutionMode", 4)'),
        ),
    ),
]
