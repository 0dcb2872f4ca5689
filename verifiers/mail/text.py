"""What a mail says, whatever it was typed with: format=flowed undone, HTML as text, quotes and spaces made equal."""

from __future__ import annotations

import re
import unicodedata
from html.parser import HTMLParser

from preparers.thunderbird.reading import ReadMail

_ALIKE = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " ", "\u2026": "..."})
_BLOCKS = {"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "ul", "ol", "table"}


def said(mail: ReadMail, *, quoted: bool = True) -> str:
    """The mail's text, normalised.

    Args:
        mail: the message.
        quoted: keep what it quotes of the mail it answers.
    """
    if mail.text is not None:
        text = unflowed(mail.text) if mail.flowed else mail.text
        if not quoted:
            text = _own_words(text)
    elif mail.html is not None:
        text = html_text(mail.html, quoted=quoted)
        if not quoted:
            text = _own_words(text)
    else:
        text = ""
    return normal(text)


def normal(text: str) -> str:
    """Text with one space between words, straight quotes and composed characters."""
    text = unicodedata.normalize("NFC", text).translate(_ALIKE)
    return re.sub(r"\s+", " ", text).strip()


def unflowed(text: str) -> str:
    """Undo format=flowed (RFC 3676): join soft-broken lines, remove space stuffing; quoted lines keep their marks."""
    lines: list[str] = []
    open_depth: int | None = None
    for line in text.split("\n"):
        marks = len(line) - len(line.lstrip(">"))
        content = line[marks:].removeprefix(" ")
        soft = content.endswith(" ") and content != "-- "
        if open_depth == marks and lines:
            lines[-1] += content
        else:
            lines.append(("> " if marks else "") + content)
        open_depth = marks if soft else None
    return "\n".join(lines)


def html_text(html: str, *, quoted: bool = True) -> str:
    """The text of an HTML mail, a line a block."""
    reader = _Reader(quoted)
    reader.feed(html)
    reader.close()
    return "".join(reader.pieces)


def _own_words(text: str) -> str:
    kept = [line for line in text.split("\n") if not line.startswith(">")]
    return re.sub(r"(?m)^On [^\n]* wrote:\s*$", "", "\n".join(kept))


class _Reader(HTMLParser):
    def __init__(self, quoted: bool):
        super().__init__(convert_charrefs=True)
        self.quoted = quoted
        self.pieces: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("style", "script", "title") or (tag == "blockquote" and not self.quoted):
            self._hidden += 1
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("style", "script", "title") or (tag == "blockquote" and not self.quoted):
            self._hidden = max(0, self._hidden - 1)
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data)
