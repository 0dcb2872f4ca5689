"""What is done in each application while its settling is measured: ordinary work, as steps in the language of solutions.

Each application has a desktop to begin with, and errands: a few steps that leave it ready for the next errand. In their
texts `{word}`, `{number}` and their like are drawn anew every time.
"""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.desktop import workbook
from forge.desktop.slot import File

BOOK, NOTES, PAGE = "~/Documents/book.xlsx", "~/Documents/notes.txt", "~/Documents/page.html"
PICTURE = "~/Pictures/picture.png"
_WORDS = ("harbour", "lantern", "meadow", "quarter", "saddle", "timber", "velvet", "window")


class OneOf(tuple[Any, ...]):
    """One of these, drawn."""


@dataclass(frozen=True)
class Workplace:
    """An application with what lies in the home and is open, and what is done there."""

    app: str
    files: tuple[File, ...]
    path: str | None
    errands: tuple[list[dict[str, Any]], ...]

    def errand(self, dice: random.Random) -> Iterator[list[dict[str, Any]]]:
        """The steps of one errand after another, without end."""
        while True:
            for steps in dice.sample(self.errands, len(self.errands)):
                yield _drawn(steps, dice)


def _drawn(value: Any, dice: random.Random) -> Any:
    if isinstance(value, OneOf):
        return _drawn(dice.choice(value), dice)
    if isinstance(value, dict):
        return {name: _drawn(part, dice) for name, part in value.items()}
    if isinstance(value, list):
        return [_drawn(part, dice) for part in value]
    if isinstance(value, str) and "{" in value:
        return value.format(
            word=dice.choice(_WORDS), number=dice.randint(100, 999), few=dice.randint(5, 30), digit=dice.randint(0, 7),
            cell=f"{dice.choice('ABCDEFG')}{dice.randint(1, 22)}",
        )  # fmt: skip
    return value


def _menu(*path: str, opens: str | None = None) -> dict[str, Any]:
    return {"menu": {"path": list(path), "opens": opens}}


def _click(name: Any, role: str, **more: Any) -> dict[str, Any]:
    return {"click": {"name": name, "role": role, **more}}


def workplaces() -> list[Workplace]:
    """The eight applications."""
    text: File = (NOTES, _lines().encode(), 0o644, False)
    return [
        Workplace("calc", ((BOOK, workbook(), 0o644, False),), BOOK, _CALC),
        Workplace("writer", (text,), NOTES, _WRITER),
        Workplace("thunderbird", _mail(), None, _THUNDERBIRD),
        Workplace("files", (text, *(_numbered(n) for n in range(12))), "~/Documents", _FILES),
        Workplace("terminal", (text,), "~/Documents", _TERMINAL),
        Workplace("editor", (text,), NOTES, _EDITOR),
        Workplace("chromium", ((PAGE, _HTML.encode(), 0o644, False),), PAGE, _CHROMIUM),
        Workplace("gimp", ((PICTURE, _picture(), 0o644, False),), PICTURE, _GIMP),
    ]


_CALC: tuple[list[dict[str, Any]], ...] = (
    [{"select": "{cell}"}, {"toolbar": OneOf(("Bold", "Italic"))}],
    [{"enter": {"cell": "{cell}", "text": OneOf(("{word}{number}", "=SUM(B1:B{few})"))}}],
    [
        _menu("Format", "Cells...", opens="Format Cells"),
        {"tab": {"name": OneOf(("Font", "Borders", "Alignment")), "within": "Format Cells"}},
        {"press": {"button": "Cancel", "dialog": "Format Cells"}},
    ],
    [{"insert_sheet": "{word}{number}"}, {"sheet": "Sheet"}],
    [{"select": "A1:D{few}"}, {"key": OneOf(("ctrl+b", "ctrl+i", "ctrl+u"))}],
    [{"enter": {"cell": "{cell}", "text": "{number}"}}, {"save": BOOK}],
    [{"key": OneOf(("Page_Down", "ctrl+Home", "ctrl+End", "ctrl+z"))}],
)
_WRITER: tuple[list[dict[str, Any]], ...] = (
    [{"key": "ctrl+End"}, {"type": "\nA {word} for the {word}."}],
    [_menu("Format", "Paragraph...", opens="Paragraph"), {"press": {"button": "Cancel", "dialog": "Paragraph"}}],
    [{"key": "ctrl+Home"}, {"key": "shift+End"}, {"key": OneOf(("ctrl+b", "ctrl+i", "ctrl+u"))}],
    [
        _menu("Edit", "Find and Replace...", opens="Find and Replace"),
        {"type": "{word}"},
        {"press": {"button": "Close", "dialog": "Find and Replace"}},
    ],
    [{"key": OneOf(("Page_Down", "Page_Up", "ctrl+z"))}],
    [_click(OneOf(("Insert", "Styles", "Table", "Tools")), "menu"), {"key": "Escape"}],
)
_THUNDERBIRD: tuple[list[dict[str, Any]], ...] = (
    [{"folder": OneOf(("Sent", "Drafts", "Trash"))}, {"folder": "Inbox"}],
    [{"folder": "Inbox"}, {"key": OneOf(("End", "Home"))}, {"key": OneOf(("Up", "Down"))}],
    [{"key": "Down"}, {"key": "Down"}],
    [
        _click("New Message", "push button"),
        {"wait_window": "Write:*"},
        {"fill": {"text": "About the {word}", "field": "Subject"}},
        {"key": "ctrl+w"},
        {"press": {"button": "Discard changes"}},
    ],
    [{"address_book": None}, {"mail_tab": None}],
    [_click("Quick Filter", "toggle button"), {"type": "{word}"}, {"key": "Escape"}, {"key": "Escape"}],
)
_FILES: tuple[list[dict[str, Any]], ...] = (
    [{"open_folder": "~/Pictures"}, {"open_folder": "~/Documents"}],
    [{"make_folder": "{word}{number}"}],
    [{"open_folder": "~/Pictures"}, _click("picture-0{digit}.txt", "table cell", fx=0.05)],
    [_click(OneOf(("File", "Edit", "View", "Go", "Tools")), "menu"), {"key": "Escape"}],
    [_click(OneOf(("Size", "Modified", "Name")), "table column header")],
    [{"open_folder": "~/Documents"}, {"open_item": "notes.txt"}, {"wait_window": "*notes.txt*"}, {"key": "ctrl+q"}],
)
_TERMINAL: tuple[list[dict[str, Any]], ...] = (
    [{"type": "ls -l ~/Documents # {word}\n"}],
    [{"type": "head -{few} notes.txt\n"}],
    [{"type": "echo {word} >> more.txt"}, {"key": "Return"}],
    [{"type": "find / -name '*.desktop' 2>/dev/null | sort | head -{few}\n"}],
    [{"key": "ctrl+l"}],
    [_click(OneOf(("File", "Edit", "View", "Terminal")), "menu"), {"key": "Escape"}],
    [{"type": "python3 -c 'import json; print(json.dumps(list(range({few}))))'\n"}],
)
_EDITOR: tuple[list[dict[str, Any]], ...] = (
    [{"key": "ctrl+End"}, {"type": "The {word} again.\n"}],
    [{"key": "ctrl+f"}, {"type": "{word}"}, {"key": "Escape"}],
    [_menu("Search", "Find and Replace...", opens="Find and Replace"), {"key": "Escape"}],
    [{"key": OneOf(("Page_Down", "ctrl+Home", "ctrl+a", "ctrl+z"))}],
    [_click(OneOf(("File", "Edit", "View", "Document")), "menu"), {"key": "Escape"}],
    [{"key": "ctrl+s"}],
)
_CHROMIUM: tuple[list[dict[str, Any]], ...] = (
    [{"key": "ctrl+Home"}, _click("Part {digit}", "link")],
    [{"key": "ctrl+Home"}, {"fill": {"text": "{word}", "field": "Name"}}, _click("Send", "push button")],
    [{"key": "ctrl+Home"}, {"pick": {"choice": OneOf(("Small", "Medium", "Large")), "field": "Size"}}],
    [{"key": "F5"}],
    [{"key": "ctrl+t"}, {"key": "ctrl+w"}],
    [{"key": "ctrl+f"}, {"type": "text"}, {"key": "Escape"}],
    [{"key": OneOf(("Page_Down", "End", "ctrl+Home"))}],
)
_GIMP: tuple[list[dict[str, Any]], ...] = (
    [_menu("Colors", "Invert")],
    [_menu("Image", "Scale Image...", opens="Scale Image"), {"key": "Escape"}],
    [_menu("Image", "Transform", "Flip Horizontally")],
    [{"key": OneOf(("plus", "minus", "ctrl+z"))}],
    [_click(OneOf(("Filters", "Layer", "Tools", "Windows")), "menu"), {"key": "Escape"}],
    [_menu("File", "Export As...", opens="Export Image"), {"key": "Escape"}],
)

_HTML = (
    "<html><head><title>Page</title></head><body><h1>Orders</h1>"
    + "".join(f"<p><a href='#part{n}'>Part {n}</a></p>" for n in range(8))
    + "<form><label>Name <input id=n></label> <label>City <input></label> <label><input type=checkbox>Urgent</label> "
    "<label>Size <select><option>Small<option>Medium<option>Large</select></label> "
    "<button type=button onclick=\"out.textContent='Sent '+n.value\">Send</button></form><p id=out>Nothing sent</p>"
    + "".join(f"<h2 id=part{n}>Part {n}</h2>{'<p>Some text of this part.</p>' * 12}" for n in range(8))
    + "</body></html>"
)


def _lines() -> str:
    dice = random.Random(1)
    return "".join(f"{n}. The {dice.choice(_WORDS)} is by the {dice.choice(_WORDS)}.\n" for n in range(1, 61))


def _numbered(number: int) -> File:
    return f"~/Pictures/picture-{number:02}.txt", f"{number}\n".encode(), 0o644, False


def _picture() -> bytes:
    """Stripes, as a PNG."""
    from PIL import Image

    picture = Image.new("RGB", (640, 400), "#336699")
    for x in range(0, 640, 40):
        picture.paste("#ffcc33", (x, 0, x + 20, 400))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def _mail() -> tuple[File, ...]:
    """A mailbox as a skill of the library draws one."""
    import skills
    from forge.desktop import Office
    from skills import Kitchen

    path = next(path for path in skills.library() if path.parent.name == "thunderbird.mail.tag-message")
    with Office() as office:
        draw = skills.draw(skills.load(path), 7, Kitchen(office=office.client()))
    return tuple((file.path, file.data, file.mode, file.folder) for file in draw.files)
