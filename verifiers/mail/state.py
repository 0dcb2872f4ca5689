"""What a profile holds in one form: two profiles in the same state give equal values, whatever wrote them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from forge.records import JSON
from preparers.thunderbird.layout import PROFILE
from preparers.thunderbird.reading import ReadMail, ReadProfile
from verifiers.mail.text import said

_WRITTEN = ("Drafts", "Sent", "Templates", "Unsent Messages")


def canonical_profile(root: Path, shown: str = PROFILE) -> dict[str, JSON]:
    """Folders with their messages, cards, lists, filters, accounts and own tags of the profile at `root`.

    Message-IDs and dates of mails written here (drafts, outbox) are left out: every save draws new ones. Whether a
    message was shown (read) counts. Raises PreparerError, naming the file, when a part cannot be read.
    """
    profile = ReadProfile(root, shown)
    return {
        "accounts": [[a.label, a.address, a.name] for a in profile.accounts],
        "folders": {folder: sorted(_message(mail) for mail in mails) for folder, mails in profile.folders.items()},
        "contacts": sorted(
            [str(getattr(card, name)) for name in type(card).__dataclass_fields__ if name != "uid"]
            for card in profile.contacts
        ),
        "lists": [[x.name, x.nickname, x.description, *x.members] for x in profile.lists],
        "filters": [
            [rule.name, rule.enabled, rule.match, sorted(rule.conditions), list(rule.actions), rule.account, rule.type]
            for rule in profile.filters
        ],
        "tags": {key: list(tag) for key, tag in sorted(profile.own_tags.items()) if not key.startswith("$label")},
    }


def _message(mail: ReadMail) -> list[str]:
    own = mail.folder.split("/")[-1] in _WRITTEN
    files = sorted(f"{file.name}:{hashlib.sha256(file.data).hexdigest()}" for file in mail.attachments)
    return [
        "" if own else mail.id,
        "" if own else mail.date,
        mail.sender,
        *sorted(f"to {p}" for p in mail.to),
        *sorted(f"cc {p}" for p in mail.cc),
        *sorted(f"bcc {p}" for p in mail.bcc),
        mail.subject,
        said(mail),
        mail.answers,
        *files,
        *sorted(mail.tags),
        *(name for name in ("read", "starred", "replied", "forwarded") if getattr(mail, name)),
    ]
