"""Thunderbird: labels of its menus, dialogs and settings, and the preferences that its own pages bind; from omni.ja."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from skills.harvest.candidate import Candidate, Effect, slug

ARCHIVE = Path("/usr/share/thunderbird/omni.ja")
_MESSAGE = re.compile(r"^([A-Za-z][\w-]*) ?=(.*)$")
_ATTRIBUTE = re.compile(r"^\s+\.(label|title|aria-label|tooltiptext) ?= ?(.+)$")
_PREF = re.compile(r'^pref\("([\w.-]+)",\s*(true|false|-?\d+|"[^"]*")\s*\)', re.M)
_ENTITY = re.compile(r'<!ENTITY\s+([\w.-]+\.(?:label|title))\s+"([^"]+)"')
_MAIL_PREFS = re.compile(r"^(mail|mailnews|msgcompose|calendar|ldap_2|spellchecker|print|general|font|news)\.")
_SEEN = re.compile(
    r"\b(about|help|close|zoom|quit|open|show|find|search|back|forward|reload|donate|learn more|cancel|ok)\b", re.I
)
_KEPT = (
    "preferences",
    "account",
    "am-",
    "ab",
    "address",
    "filter",
    "searchterm",
    "virtualfolder",
    "msgcompose",
    "compose",
    "ed",
    "messenger",
    "folder",
    "tag",
    "calendar-event",
    "calendar-item",
    "calendar-creation",
    "category",
    "mail",
    "about3pane",
    "junk",
    "feed",
    "subscribe",
    "template",
    "identity",
    "smtp",
    "settings",
    "newmailalert",
    "offline",
    "received",
)
"""Files of texts whose things are kept somewhere: in the profile, a mail, a filter, a card."""


def harvest() -> Iterator[Candidate]:
    """All candidates of an installed Thunderbird; none where it is missing."""
    if not ARCHIVE.is_file():
        return
    with zipfile.ZipFile(ARCHIVE) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".ftl") and "/devtools" not in name and "/toolkit/" not in name:
                yield from _fluent(name, archive.read(name).decode("utf-8", "replace"))
            elif name.endswith(".dtd") and "/devtools/" not in name:
                yield from _entities(name, archive.read(name).decode("utf-8", "replace"))
            elif name.startswith("defaults/pref/") or name == "greprefs.js":
                yield from _preferences(name, archive.read(name).decode("utf-8", "replace"))


def _fluent(name: str, text: str) -> Iterator[Candidate]:
    area = slug(Path(name).stem)
    identity = ""
    for line in text.splitlines():
        if match := _MESSAGE.match(line):
            identity = match[1]
        elif (match := _ATTRIBUTE.match(line)) and match[1] == "label":
            yield from _label(area, match[2], f"{name}#{identity}")


def _entities(name: str, text: str) -> Iterator[Candidate]:
    for identity, label in _ENTITY.findall(text):
        yield from _label(slug(Path(name).stem), label, f"{name}#{identity}")


def _label(area: str, label: str, source: str) -> Iterator[Candidate]:
    plain = re.sub(r"\{[^}]*\}", "", label).replace("…", "").replace("&#8230;", "").strip(" .:")
    if 2 < len(plain) < 60 and re.search(r"[A-Za-z]{3}", plain):
        kept = area.startswith(_KEPT) and not _SEEN.search(plain)
        effect: Effect = "profile" if kept else "none"
        yield Candidate("thunderbird", area, "", plain, f"labelled {plain}", source, effect)


def _preferences(name: str, text: str) -> Iterator[Candidate]:
    for key, value in _PREF.findall(text):
        if _MAIL_PREFS.match(key):
            verb = "switch" if value in ("true", "false") else "set"
            words = key.replace(".", " ").replace("_", " ")
            yield Candidate(
                "thunderbird", "preferences", verb, words, f"Settings > General > Config Editor > {key}", key, "profile",
                f"Default {value}.",
            )  # fmt: skip
