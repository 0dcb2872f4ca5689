"""The moves for Chromium, in a real window; what they did is read from its profile, a server's log, and saved files."""

import json
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from forge.harness import MOVES
from forge.harness.moves.chromium import _same_address
from forge.harness.moves.chromium_profile import bookmarks
from forge.records import InputError

FORM = b"""<!doctype html><title>Order form</title><h1>Order form</h1><form action="/order" method="post">
<p><label>Name <input name="name"></label> <label for=mail>Email address</label> <input id=mail name=email type=email></p>
<p><label>Size <select name=size><option>Small<option>Medium<option>Large</select></label>
<label>Day <select name=day><script>for (let i = 1; i < 60; i++) document.write("<option>Day " + i)</script></select></label>
<p><label><input type=checkbox name=gift value=yes> Gift wrap</label>
<label><input type=radio name=speed value=slow checked> Slow</label>
<label><input type=radio name=speed value=fast> Fast</label></p>
<p><label>When <input type=date name=when></label> <label>Notes <textarea name=notes></textarea></label></p>
<div style="height: 1600px"></div><button>Place order</button> <a href="about.html">About us</a></form>"""
ABOUT = b"""<!doctype html><title>About us</title><h1>About us</h1><p>We sell pears.</p>
<p><a href="order.html">Back</a> <a href="prices.csv" download>Price list</a></p>"""
SERVER = b"""
import http.server, os
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(os.path.expanduser("~/orders.txt"), "ab") as file:
            file.write(body + b"\\n")
        answer = b"<title>Thank you</title><h1>Thank you</h1>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
os.chdir(os.path.expanduser("~/www"))
http.server.ThreadingHTTPServer(("127.0.0.1", 8000), Handler).serve_forever()
"""
FILES = [
    ("~/www/order.html", FORM, 0o644, False),
    ("~/www/about.html", ABOUT, 0o644, False),
    ("~/www/prices.csv", b"pear,3\n", 0o644, False),
    ("~/server.py", SERVER, 0o644, False),
]


def test_an_address_is_known_as_the_bar_shows_it() -> None:
    assert _same_address("/home/alex/a b.html", "file:///home/alex/a%20b.html")
    assert _same_address("127.0.0.1:8000", "http://127.0.0.1:8000/")
    assert not _same_address("127.0.0.1:8000/b", "http://127.0.0.1:8000/a")


def test_a_page_is_named_by_a_path_or_an_address() -> None:
    with pytest.raises(InputError, match="move open_page: address"):
        MOVES.get("open_page").validate("page.html")


@pytest.mark.desktop
def test_a_form_on_the_loopback_is_filled_in_and_sent(play_for_real: Callable[..., Any]) -> None:
    fields = {
        "Name": "Jane Roe",
        "Email address": "jane@example.com",
        "Size": "Large",
        "Day": "Day 45",
        "Gift wrap": True,
        "Fast": True,
        "When": "2026-05-30",
        "Notes": "Ring twice: #4, please!",
    }
    played = play_for_real(
        [
            {"bash": "setsid python3 ~/server.py > /dev/null 2>&1 &"},
            {"open_page": {"address": "http://127.0.0.1:8000/order.html", "title": "Order form"}},
            {"fill_form": {"fields": fields}},
            {"submit_form": {"button": "Place order", "title": "Thank you"}},
            {"open_page": "~/www/order.html"},
            {"follow_link": "About us"},
            {"download_file": {"link": "Price list", "file": "prices.csv"}},
            {"save_page": "~/Documents/about us.html"},
            {"save_page": "~/Documents/about us.pdf"},
            {"follow_link": {"link": "Back", "title": "Order*"}},
        ],
        files=FILES,
        start=[("chromium", None)],
        harness="hybrid",
    )
    played.check()
    assert (played.home / "orders.txt").read_text() == (
        "name=Jane+Roe&email=jane%40example.com&size=Large&day=Day+45&gift=yes&speed=fast&when=2026-05-30"
        "&notes=Ring+twice%3A+%234%2C+please%21\n"
    )
    assert (played.home / "Downloads/prices.csv").read_bytes() == b"pear,3\n"
    assert "We sell pears." in (played.home / "Documents/about us.html").read_text()
    assert (played.home / "Documents/about us.pdf").read_bytes().startswith(b"%PDF-")
    with sqlite3.connect(played.home / ".config/chromium/Default/History") as history:
        visited = [url for (url,) in history.execute("select url from urls order by id")]
    expected = [
        "http://127.0.0.1:8000/order.html",
        "http://127.0.0.1:8000/order",
        "file:///home/alex/www/order.html",
        "file:///home/alex/www/about.html",
    ]
    assert len(visited) >= 2, "it writes its history a few seconds late"
    assert visited == expected[: len(visited)]
    names = {action.element.name for action in played.trajectory.actions if action.element is not None}
    assert {"Name", "Size", "Large", "Gift wrap", "Place order", "Price list"} <= names


@pytest.mark.desktop
def test_bookmarks_tabs_and_settings_are_kept_in_the_profile(play_for_real: Callable[..., Any]) -> None:
    played = play_for_real(
        [
            {"bookmark_page": {"name": "Pears", "folder": "Bookmarks bar"}},
            {"new_bookmark_folder": "Work"},
            {"new_browser_tab": "~/www/order.html"},
            {"bookmark_page": {"folder": "Work"}},
            {"browser_tab": "Bookmarks"},
            {"close_browser_tab": "Order form"},
            {"browser_setting": {"page": "appearance", "name": "Show home button", "value": False}},
            {"browser_setting": {"page": "appearance", "name": "Bookmarks bar", "value": "Always hide"}},
            {"open_page": "~/www/about.html"},
            {"unbookmark_page": None},
        ],
        files=FILES,
        start=[("chromium", "~/www/about.html")],
    )
    played.check()
    assert bookmarks(played.home) == [
        ("Bookmarks bar", "Work", ""),
        ("Work", "Order form", "file:///home/alex/www/order.html"),
    ]
    kept = json.loads((played.home / ".config/chromium/Default/Preferences").read_text())
    assert kept["browser"]["show_home_button"] is False
    assert kept["bookmark_bar"]["show_on_all_tabs"] is False


@pytest.mark.desktop
def test_what_a_page_lacks_is_named_with_what_it_has(play_for_real: Callable[..., Any]) -> None:
    start = [("chromium", "~/www/order.html")]
    played = play_for_real([{"fill_form": {"fields": {"Size": "Huge"}}}], files=FILES, start=start)
    assert "the list 'Size' does not offer 'Huge'" in played.trajectory.error
    assert "it has Small, Medium, Large" in played.trajectory.error
