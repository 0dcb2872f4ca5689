"""The personal address book: cards read as plain fields, added and changed; what a change does not name stays as it is."""

from __future__ import annotations

import re
import sqlite3
import time
import uuid
from collections.abc import Mapping
from pathlib import Path

from .formats import card_rows, folded, vcard_text

FIELDS = ("name", "email", "first", "last", "second_email", "phone", "organization", "title", "nickname", "note")
"""What is known of a contact by name; a vCard may hold more."""

_PROPERTIES = {
    "name": "FN", "email": "EMAIL", "second_email": "EMAIL", "phone": "TEL", "organization": "ORG", "title": "TITLE",
    "nickname": "NICKNAME", "note": "NOTE", "first": "N", "last": "N",
}  # fmt: skip
_NEW_LINES = {"email": "EMAIL;PREF=1", "second_email": "EMAIL", "phone": "TEL;VALUE=TEXT"}
_ROWS = {
    "name": "DisplayName", "first": "FirstName", "last": "LastName", "email": "PrimaryEmail",
    "second_email": "SecondEmail", "nickname": "NickName", "organization": "Company", "title": "JobTitle", "note": "Notes",
}  # fmt: skip
_ALWAYS = ("DisplayName", "FirstName", "LastName", "PrimaryEmail")
"""Rows that Thunderbird keeps beside the vCard; others are only kept fresh where they are."""


class Book:
    """The address book of a profile, opened for one change or look: commits when its block ends well, and closes.

    Raises LookupError when there is none, BlockingIOError while Thunderbird holds it.
    """

    def __init__(self, path: Path):
        if not path.is_file():
            raise LookupError(f"no address book at {path}")
        self.connection = sqlite3.connect(path, timeout=0.5)
        try:
            self.connection.execute("SELECT 1 FROM properties LIMIT 1")
        except sqlite3.OperationalError as error:
            self.connection.close()
            if "locked" in str(error):
                raise BlockingIOError(f"{path} is locked: Thunderbird is running; quit it first") from None
            raise

    def __enter__(self) -> Book:
        return self

    def __exit__(self, kind: object, value: object, trace: object) -> None:
        if kind is None:
            self.connection.commit()
        self.connection.close()

    def cards(self) -> dict[str, dict[str, str]]:
        """Card id to its rows, name to value."""
        found: dict[str, dict[str, str]] = {}
        for card, name, value in self.connection.execute("SELECT card, name, value FROM properties"):
            found.setdefault(card, {})[name] = value
        return found

    def of(self, email: str) -> list[str]:
        """The ids of the cards with this address, first or second. Raises LookupError when there is none."""
        wanted = email.casefold()
        plain = {card: fields_of(rows) for card, rows in self.cards().items()}
        first = [card for card, fields in plain.items() if fields["email"].casefold() == wanted]
        found = first or [card for card, fields in plain.items() if fields["second_email"].casefold() == wanted]
        if not found:
            known = sorted(fields["email"] for fields in plain.values())
            raise LookupError(f"no contact has the address {email}; there are {', '.join(known) or 'none'}")
        return found

    def add(self, values: Mapping[str, str]) -> str:
        """Add a card and return its id."""
        card = str(uuid.uuid4())
        rows = card_rows(card, dict(values), modified=int(time.time()))
        self.connection.executemany("INSERT INTO properties VALUES (?, ?, ?)", [(card, *row) for row in rows])
        return card

    def edit(self, card: str, changes: Mapping[str, str]) -> None:
        """Change fields of a card; an empty text removes one."""
        rows = self.cards()[card]
        new = {"_vCard": edited(rows.get("_vCard", ""), changes), "LastModifiedDate": str(int(time.time()))}
        for field, row in _ROWS.items():
            if field in changes and (row in _ALWAYS or row in rows):
                new[row] = changes[field]
        for name, value in new.items():
            self.connection.execute("DELETE FROM properties WHERE card = ? AND name = ?", (card, name))
            if value:
                self.connection.execute("INSERT INTO properties VALUES (?, ?, ?)", (card, name, value))

    def remove(self, card: str) -> None:
        """Remove a card, from all lists too."""
        self.connection.execute("DELETE FROM properties WHERE card = ?", (card,))
        self.connection.execute("DELETE FROM list_cards WHERE card = ?", (card,))


def fields_of(rows: Mapping[str, str]) -> dict[str, str]:
    """The fields of a card from its rows; what it lacks is an empty text."""
    lines = _lines(rows.get("_vCard", ""))
    if not lines:
        return {field: rows.get(_ROWS.get(field, ""), "") for field in FIELDS}
    found = {}
    for field in FIELDS:
        place = _place(lines, field)
        value = "" if place is None else lines[place].partition(":")[2]
        if field in ("first", "last"):
            value = [*_split(value), "", ""][field == "first"]
        elif field == "organization":
            value = _split(value)[0]
        elif field == "phone":
            value = re.sub(r"^tel:", "", value)
        found[field] = re.sub(r"\\(.)", lambda m: "\n" if m[1] in "nN" else m[1], value)
    return found


def edited(vcard: str, changes: Mapping[str, str]) -> str:
    """A vCard with other values for some fields; every other line stays as it is."""
    lines = _lines(vcard) or ["BEGIN:VCARD", "VERSION:4.0", "END:VCARD"]
    for field, text in changes.items():
        value, place = vcard_text(text), _place(lines, field)
        if field in ("first", "last"):
            parts = _split(lines[place].partition(":")[2]) if place is not None else []
            parts = [*parts, *[""] * (5 - len(parts))]
            parts[field == "first"] = value
            value = ";".join(parts)
        elif field == "organization" and place is not None:
            value = ";".join([value, *_split(lines[place].partition(":")[2])[1:]]) if value else ""
        if place is not None and not value:
            del lines[place]
        elif place is not None:
            head = lines[place].partition(":")[0]
            lines[place] = f"{'TEL;VALUE=TEXT' if 'VALUE=URI' in head.upper() else head}:{value}"
        elif value:
            lines.insert(_end(lines), f"{_NEW_LINES.get(field, _PROPERTIES[field])}:{value}")
    return "\r\n".join([*(folded(line) for line in lines), ""])


def _lines(vcard: str) -> list[str]:
    return [line for line in re.sub(r"\r?\n[ \t]", "", vcard).replace("\r\n", "\n").split("\n") if line]


def _end(lines: list[str]) -> int:
    """Where a new property goes: before the id and the end."""
    return next((i for i, line in enumerate(lines) if _name(line) in ("UID", "END")), len(lines))


def _place(lines: list[str], field: str) -> int | None:
    """The line that holds a field, None where there is none."""
    places = [i for i, line in enumerate(lines) if _name(line) == _PROPERTIES[field]]
    if _PROPERTIES[field] == "EMAIL":
        places.sort(key=lambda i: _preference(lines[i]))
    rank = 1 if field == "second_email" else 0
    return places[rank] if len(places) > rank else None


def _name(line: str) -> str:
    return re.split("[;:]", line, maxsplit=1)[0].rpartition(".")[2].upper()


def _preference(line: str) -> int:
    found = re.search(r"PREF=\"?(\d+)", line.partition(":")[0].upper())
    return int(found[1]) if found else 101


def _split(value: str) -> list[str]:
    """The components of a structured value, split at unescaped semicolons."""
    return re.findall(r"((?:[^;\\]|\\.)*)(?:;|$)", value, re.DOTALL)[: value.count(";") + 1] or [""]
