"""How Thunderbird writes folders, filters and address-book cards; the preparer writes them by the same functions."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from urllib.parse import quote

ABOOK_SCHEMA = """
CREATE TABLE properties (card TEXT, name TEXT, value TEXT);
CREATE TABLE lists (uid TEXT PRIMARY KEY, name TEXT, nickName TEXT, description TEXT);
CREATE TABLE list_cards (list TEXT, card TEXT, PRIMARY KEY(list, card));
CREATE INDEX properties_card ON properties(card);
CREATE INDEX properties_name ON properties(name);
PRAGMA user_version=4;
"""
"""Address-book schema version 4, as `SQLiteDirectory.sys.mjs` of Thunderbird 153 creates it."""

FIELDS = {"age": "age in days"}
ACTIONS = {
    "move": "Move to folder",
    "copy": "Copy to folder",
    "tag": "AddTag",
    "star": "Mark flagged",
    "mark-read": "Mark read",
    "mark-unread": "Mark unread",
    "delete": "Delete",
    "stop": "Stop execution",
}

RULES_HEAD = 'version="9"\nlogging="no"\n'
"""How every `msgFilterRules.dat` begins."""


def folder_file(base: Path, parts: Sequence[str]) -> Path:
    """Where an account keeps a folder: `Projects/Apollo` is the file `Projects.sbd/Apollo`."""
    return base.joinpath(*(part + ".sbd" for part in parts[:-1]), parts[-1])


def folder_uri(base: str, parts: Sequence[str]) -> str:
    """A folder's URI: `mailbox://alex%40example.com@pop.example.com/Projects/Apollo`."""
    return "/".join([base, *(quote(part, safe="!$&'()*+,;=:@-._~") for part in parts)])


def rule_text(
    name: str,
    enabled: bool,
    match: str,
    conditions: Iterable[tuple[str, str, str]],
    actions: Iterable[tuple[str, str]],
    type: int = 17,
) -> str:
    """One filter as `msgFilterRules.dat` has it. Folders are given as URIs, tags as keys, dates as ISO 8601.

    Type 17 = runs on new mail (1) and by hand (16). Format: nsMsgFilter::SaveToTextFile of comm-central.
    """
    lines = [f'name="{_escape(name)}"', f'enabled="{"yes" if enabled else "no"}"', f'type="{type}"']
    for kind, value in actions:
        lines.append(f'action="{ACTIONS[kind]}"')
        if value:
            lines.append(f'actionValue="{_escape(value)}"')
    word = {"all": "AND", "any": "OR"}[match]
    terms = " ".join(f"{word} ({FIELDS.get(f, f)},{op},{_term_value(f, value)})" for f, op, value in conditions)
    return "\n".join([*lines, f'condition="{_escape(terms)}"', ""])


def card_rows(card: str, values: dict[str, str], modified: int) -> list[tuple[str, str]]:
    """(name, value) rows of a contact, as Thunderbird stores them: the vCard and the properties derived from it.

    Args:
        card: the card's id (a UUID).
        values: name, email, and optionally first, last, second_email, phone, organization, title, nickname, note.
        modified: seconds since 1970.
    """

    def get(key: str) -> str:
        return values.get(key, "")

    lines = ["BEGIN:VCARD", "VERSION:4.0", "FN:" + vcard_text(get("name"))]
    lines.append(f"N:{vcard_text(get('last'))};{vcard_text(get('first'))};;;")
    for key, prefix in (
        ("email", "EMAIL;PREF=1:"),
        ("second_email", "EMAIL:"),
        ("phone", "TEL;VALUE=TEXT:"),
        ("organization", "ORG:"),
        ("title", "TITLE:"),
        ("nickname", "NICKNAME:"),
        ("note", "NOTE:"),
    ):
        if get(key):
            lines.append(prefix + vcard_text(get(key)))
    lines += ["UID:" + card, "END:VCARD"]
    rows = [
        ("PopularityIndex", "0"),
        ("LastModifiedDate", str(modified)),
        ("_vCard", "\r\n".join([*(folded(line) for line in lines), ""])),
        ("DisplayName", get("name")),
        ("FirstName", get("first")),
        ("LastName", get("last")),
        ("PrimaryEmail", get("email")),
    ]
    return [row for row in rows if row[1]]


def derived_uuid(*parts: str) -> str:
    """A UUID made of a hash of `parts`: the same for the same content."""
    return str(uuid.UUID(hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32], version=4))


def vcard_text(value: str) -> str:
    """A value as a vCard writes it (RFC 6350, 3.4)."""
    return re.sub(r"([\\,;])", r"\\\1", value).replace("\n", "\\n")


def folded(line: str) -> str:
    """Fold at 75 octets (RFC 6350, 3.2), never inside a character."""
    parts, width = [""], 0
    for char in line:
        size = len(char.encode())
        if width + size > 75:
            parts.append("")
            width = 1
        parts[-1] += char
        width += size
    return "\r\n ".join(parts)


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _term_value(name: str, value: str) -> str:
    if name == "date":
        day = date.fromisoformat(value)
        return f"{day.day:02d}-{'JanFebMarAprMayJunJulAugSepOctNovDec'[day.month * 3 - 3 : day.month * 3]}-{day.year}"
    if ")" in value or value[:1] in (" ", '"'):
        return '"' + value.replace('"', '\\"') + '"'
    return value.replace('"', '\\"')
