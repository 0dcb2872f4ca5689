"""A small profile, the acts that were done to it in a real Thunderbird, and what is left of them in `data/`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from preparers.base import Context, PreparedFile
from preparers.thunderbird.profile import ThunderbirdProfile
from verifiers.base import Case, Tree

PROFILE = ".thunderbird/alex.default"
DATA = Path(__file__).with_name("data")
ATTACHMENT = "number,item\n1,desk lamps\n2,coffee beans\n"


def message(number: int, subject: str = "", **more: Any) -> dict[str, Any]:
    """A message whose id is `m<number>@example.org`."""
    return {
        "id": f"m{number}@example.org",
        "from": f"Person {number} <person{number}@firma.example>",
        "to": ["Alex Doe <alex@example.com>"],
        "subject": subject or f"Quarterly report {number}",
        "date": f"2026-03-{number:02d}T10:15:00",
        "text": f"Dear Alex,\n\nhere are the numbers of quarter {number}: {number * 100} EUR.\n\nRegards",
        **more,
    }


def mid(number: int) -> str:
    """The id of a message."""
    return f"m{number}@example.org"


PARAMS: dict[str, Any] = {
    "accounts": [
        {"address": "alex@example.com", "name": "Alex Doe"},
        {"address": "board@club.example", "name": "Alex Doe", "label": "Club"},
    ],
    "folders": [
        {
            "path": "Inbox",
            "messages": [
                message(1, read=False),
                message(2, tags=["$label1"], starred=True),
                message(3, subject="Angebot für Büromöbel", **{"from": "Müller, Jörg <joerg@firma.example>"}),
                message(4, subject="Figures", attachments=[{"name": "figures.csv", "text": ATTACHMENT}]),
                message(5, replied=True, forwarded=True),
                message(6, read=False),
                message(7),
                message(8),
                message(9, read=False),
                message(10),
                message(11),
                message(12, read=False),
                message(13, subject="Other figures", attachments=[{"name": "other.csv", "text": "a,b\n"}]),
            ],
        },
        {"path": "Projects/Apollo", "messages": [message(14, subject="Apollo kickoff")]},
        {"path": "Club/Inbox", "messages": [message(15, subject="Club evening", read=False)]},
        {"path": "Local Folders/Notes", "messages": [message(16, subject="Old note")]},
    ],
    "contacts": [
        {
            "name": "Grace Hopper",
            "email": "grace@navy.example",
            "first": "Grace",
            "last": "Hopper",
            "phone": "+49 30 1",
        },
        {"name": "Alan Turing", "email": "alan@bletchley.example", "first": "Alan", "last": "Turing"},
    ],
    "lists": [{"name": "Pioneers", "members": ["grace@navy.example", "alan@bletchley.example"]}],
    "filters": [
        {
            "name": "Invoices",
            "conditions": [{"field": "subject", "op": "contains", "value": "invoice (final)"}],
            "actions": [{"kind": "move", "value": "Projects/Apollo"}, {"kind": "mark-read"}],
        },
        {
            "name": "From the club",
            "enabled": False,
            "match": "any",
            "conditions": [
                {"field": "from", "op": "is", "value": "board@club.example"},
                {"field": "date", "op": "is after", "value": "2026-03-01"},
            ],
            "actions": [{"kind": "tag", "value": "$label3"}],
        },
    ],
}

ACTS: list[tuple[str, Any]] = [
    ("star", {"subject": "Quarterly report 10"}),
    ("mark", {"subject": "Quarterly report 11", "read": False}),
    ("tag", {"subject": "Quarterly report 12", "tag": "Work"}),
    ("save_attachment", {"subject": "Figures", "name": "figures.csv", "to": "~/saved.csv"}),
    ("reply", {"subject": "Quarterly report 5", "body": "Thanks for the numbers.\n", "then": "draft"}),
    (
        "write",
        {
            "to": ["grace@navy.example"],
            "cc": ["joe@firma.example"],
            "subject": "Figures for March",
            "body": "Hello Grace,\n\n" + "this is one long paragraph that has to be wrapped. " * 3 + "\n\nAlex",
            "attach": ["~/saved.csv"],
            "then": "send",
        },
    ),
    (
        "new_filter",
        {
            "name": "From Alan",
            "conditions": [{"field": "From", "op": "is", "value": "alan@bletchley.example"}],
            "actions": [
                {"kind": "Move Message to", "value": "Projects/Apollo"},
                {"kind": "Tag Message", "value": "Important"},
            ],
        },
    ),
    ("new_folder", {"name": "Reports", "parent": "Projects"}),
    ("copy_message", {"subject": "Quarterly report 7", "to": "Local Folders/Notes"}),
    ("move_message", {"subject": "Quarterly report 9", "to": "Projects/Apollo"}),
    ("delete_message", {"subject": "Quarterly report 8"}),
    ("drag_message", {"subject": "Quarterly report 6", "to": "Projects/Reports"}),
    ("new_contact", {"first": "Katherine", "last": "Johnson", "email": "kj@nasa.example"}),
]
"""Moves of `forge.harness.moves`, in the order in which they were played."""

CRITERIA: dict[str, tuple[str, dict[str, Any]]] = {
    "star": ("mail.flags", {"messages": mid(10), "starred": True}),
    "unread": ("mail.flags", {"messages": mid(11), "read": False}),
    "tag": ("mail.tags", {"messages": mid(12), "tags": "Work"}),
    "folder": ("mail.folder_exists", {"folder": "Projects/Reports"}),
    "moved": ("mail.in_folder", {"messages": mid(9), "folder": "Projects/Apollo"}),
    "dragged": ("mail.in_folder", {"messages": mid(6), "folder": "Projects/Reports"}),
    "copied": ("mail.in_folder", {"messages": mid(7), "folder": "Local Folders/Notes", "also_in": "Inbox"}),
    "deleted": ("mail.in_folder", {"messages": mid(8), "folder": "Trash"}),
    "count": ("mail.count", {"folder": "Trash", "count": 1}),
    "saved": ("mail.attachment_saved", {"message": mid(4), "name": "figures.csv", "path": "~/saved.csv"}),
    "contact": ("mail.contact", {"name": "Katherine Johnson", "email": "KJ@nasa.example", "last": "Johnson"}),
    "filter": (
        "mail.filter_rule",
        {
            "name": "From Alan",
            "conditions": [{"field": "from", "op": "is", "value": "alan@bletchley.example"}],
            "actions": [{"kind": "tag", "value": "Important"}, {"kind": "move", "value": "Projects/Apollo"}],
        },
    ),
    "sent": (
        "mail.sent_or_unsent",
        {
            "to": "grace@navy.example",
            "cc": ["joe@firma.example"],
            "bcc": [],
            "subject": "Figures for March",
            "body": "Hello Grace, " + "this is one long paragraph that has to be wrapped. " * 3 + "Alex",
            "attachments": [{"message": mid(4), "name": "figures.csv"}],
        },
    ),
    "draft": (
        "mail.draft",
        {"to": "person5@firma.example", "answers": mid(5), "body": "Thanks for the numbers.", "lacks": "500 EUR"},
    ),
}
"""What holds after the acts: criterion to (check, arguments)."""

ALLOWED: dict[str, Any] = {
    "messages": [mid(n) for n in (6, 7, 8, 9, 10, 11, 12)],
    "folders": ["Projects/Reports", "Drafts", "Local Folders/Unsent Messages"],
    "contacts": ["Katherine Johnson", "kj@nasa.example", "grace@navy.example"],
    "filters": ["From Alan"],
}
"""Arguments of `mail.changed_elsewhere` for the acts. (Using an address changes its card's popularity, not the card.)"""


def files() -> tuple[PreparedFile, ...]:
    """The profile's files."""
    preparer = ThunderbirdProfile()
    return preparer.prepare(preparer.validate(PARAMS), Context()).files


def lay(home: Path) -> Path:
    """The profile below `home`."""
    for file in files():
        path = home / file.path.removeprefix("~/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)
    return home


def recorded(folder: Path) -> Case:
    """The profile before and after the acts, as Thunderbird left it when `data/` was recorded."""
    after = Path(shutil.copytree(DATA, folder / "after"))
    return Case(before=Tree(lay(folder / "before")), after=Tree(after))


def record(home: Path) -> None:
    """Keep what the checks read of a home that Thunderbird changed."""
    shutil.rmtree(DATA, ignore_errors=True)
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home).as_posix()
        wanted = name == "saved.csv" or (
            (name.startswith(f"{PROFILE}/Mail/") and not name.endswith(".msf")) or name == f"{PROFILE}/abook.sqlite"
        )
        if wanted and path.is_file():
            target = DATA / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    prefs = (home / PROFILE / "prefs.js").read_text("utf-8").splitlines()
    kept = [line for line in prefs if line.startswith(('user_pref("mail.', 'user_pref("mailnews.tags'))]
    (DATA / PROFILE / "prefs.js").write_text("\n".join(kept) + "\n")
