"""Parameters of a profile, drawn by hypothesis; laying files out."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from preparers.base import Prepared

OWNER = {"address": "alex@example.com", "name": "Alex Doe"}


def mail(number: int = 1, **more: Any) -> dict[str, Any]:
    """A message's parameters."""
    return {
        "from": "Grace Hopper <grace@navy.example>",
        "to": ["Alex Doe <alex@example.com>"],
        "subject": f"Report {number}",
        "date": f"2026-03-{number:02d}T10:15:00",
        "text": "Hello",
        **more,
    }


def lay(prepared: Prepared, home: Path) -> Path:
    """Write the files below `home`."""
    for file in prepared.files:
        path = home / file.path.removeprefix("~/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)
    return home


# Text that breaks mail programs: separators, header look-alikes, long words, other scripts, encoded-word look-alikes.
_NASTY = st.sampled_from(
    [
        "From me to you",
        "From ",
        ">From here",
        "Subject: no header",
        "a" * 300,
        "über ßtraße",
        "日本語のテキスト",
        "🎉 party 🎉",
        "=?UTF-8?B?eA==?=",
        "trailing space ",
        "  leading",
        "tab\there",
        "a=b; c=\"d\" \\ 'e'",
        ".",
        "--",
        "----=_boundary",
    ]
)
_LETTERS = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"])
LINES = _NASTY.map(lambda s: s.replace("\t", " ")) | st.text(_LETTERS, max_size=120)
TEXTS = st.lists(_NASTY | st.text(_LETTERS | st.sampled_from("\t\f"), max_size=200), max_size=6).map("\n".join)
_NAMES = st.sampled_from(["Hopper, Grace", 'Al "The Man" Turing', "Jörg Müller", "", "O'Brien (Accounts)", "李小龙"])
_WORDS = st.text(st.sampled_from("abcdefghij"), min_size=1, max_size=8)
ADDRESSES = st.builds(lambda a, b: f"{a}@{b}.example", _WORDS, _WORDS)
PEOPLE = st.builds(lambda name, address: f"{name} <{address}>" if name else address, _NAMES, ADDRESSES)
DATES = st.datetimes(min_value=datetime(2015, 1, 1), max_value=datetime(2030, 1, 1)).map(
    lambda d: d.replace(microsecond=0).isoformat()
)
ATTACHMENTS = st.fixed_dictionaries(
    {"name": LINES.map(lambda s: s.strip().replace("/", "_")[:80] or "x"), "text": TEXTS}
)
MAILS = st.fixed_dictionaries(
    {
        "from": PEOPLE,
        "to": st.lists(PEOPLE, max_size=3),
        "cc": st.lists(PEOPLE, max_size=2),
        "subject": LINES,
        "date": DATES,
        "text": TEXTS,
        "html": st.just("") | TEXTS.map(lambda t: f"<p>{t}</p>"),
        "attachments": st.lists(ATTACHMENTS, max_size=2),
        "read": st.booleans(),
        "starred": st.booleans(),
        "replied": st.booleans(),
        "forwarded": st.booleans(),
        "tags": st.lists(st.sampled_from(["$label1", "$label3", "own"]), unique=True, max_size=3),
    }
)
_PATHS = st.sampled_from(
    ["Inbox", "Projects/Apollo", "Projects", "Büro/Ä ö/ü", "Local Folders/Notes", "Club/Inbox", "v1.2"]
)
_COMPONENTS = LINES.map(lambda s: s.replace(";", ","))
CONTACTS = st.lists(
    st.fixed_dictionaries(
        {
            "name": LINES.filter(lambda s: s.strip() == s and s),
            "email": ADDRESSES,
            "first": _COMPONENTS,
            "last": _COMPONENTS,
            "phone": st.sampled_from(["", "+49 30 1234"]),
            "organization": _COMPONENTS,
            "nickname": LINES,
            "note": TEXTS,
        }
    ),
    max_size=4,
    unique_by=lambda contact: contact["email"],
)
CONDITIONS = st.fixed_dictionaries(
    {
        "field": st.sampled_from(["subject", "from", "to or cc", "body"]),
        "op": st.sampled_from(["contains", "is", "doesn't contain", "begins with"]),
        "value": LINES.map(str.strip).filter(bool),
    }
)
ACTIONS = st.sampled_from(
    [{"kind": "move", "value": "Trash"}, {"kind": "tag", "value": "$label2"}, {"kind": "star"}, {"kind": "delete"}]
)
FILTERS = st.lists(
    st.fixed_dictionaries(
        {
            "name": LINES.filter(bool),
            "enabled": st.booleans(),
            "match": st.just("all"),
            "conditions": st.lists(CONDITIONS, min_size=1, max_size=3),
            "actions": st.lists(ACTIONS, min_size=1, max_size=2),
        }
    ),
    max_size=3,
    unique_by=lambda rule: rule["name"],
)
PROFILES = st.fixed_dictionaries(
    {
        "accounts": st.just([OWNER, {"address": "board@club.example", "name": "Alex Doe", "label": "Club"}]),
        "folders": st.lists(
            st.fixed_dictionaries({"path": _PATHS, "messages": st.lists(MAILS, max_size=3)}),
            max_size=4,
            unique_by=lambda folder: folder["path"],
        ),
        "contacts": CONTACTS,
        "filters": FILTERS,
        "tags": st.just([{"key": "own", "name": "Our own", "color": "#00AA00"}]),
    }
)
