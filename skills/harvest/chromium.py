"""Chromium: short imperative texts of its own language file (data pack version 5; tools/grit/grit/format/data_pack.py)."""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from skills.harvest.candidate import Candidate

PACK = Path("/usr/lib/chromium/locales/en-US.pak")
_IMPERATIVE = re.compile(
    r"^(Add|Allow|Always|Block|Bookmark|Change|Clear|Close|Continue|Copy|Create|Customi[sz]e|Delete|Disable|Don't|Download|"
    r"Edit|Enable|Export|Hide|Import|Install|Keep|Manage|Move|Mute|Name|Never|Open|Pin|Preload|Print|Remove|Rename|Reset|"
    r"Restore|Save|Send|Set|Show|Start|Stop|Turn|Unpin|Use|Warn)\b[A-Za-z0-9 ,'’&-]{2,58}$"
)
_AREAS = (
    ("bookmarks", r"bookmark|favou?rite"), ("tabs", r"\btabs?\b|window|group"), ("downloads", r"download"),
    ("privacy", r"cookie|site data|history|brows|track|privacy|safe|secur|password|permission|incognito"),
    ("search", r"search|address bar|engine"), ("appearance", r"font|theme|zoom|home|toolbar|side panel|reading"),
    ("sites", r"site|page|pop-?up|notification|camera|microphone|location|javascript|image|sound"),
)  # fmt: skip
_KEPT = re.compile(
    r"^(Add|Allow|Always|Block|Bookmark|Change|Clear|Create|Customi[sz]e|Delete|Disable|Don't|Download|Edit|Enable|Export|"
    r"Import|Never|Pin|Remove|Rename|Reset|Save|Set|Turn|Unpin|Use|Move|Name|Mute)"
)


def harvest() -> Iterator[Candidate]:
    """All candidates of an installed Chromium; none where it is missing."""
    if not PACK.is_file():
        return
    for number, text in sorted(_texts(PACK.read_bytes()).items()):
        label = text.replace("&", "").removesuffix("…").removesuffix("...").strip()
        if _IMPERATIVE.match(label) and len(label.split()) <= 9:
            area = next((name for name, words in _AREAS if re.search(words, label, re.I)), "settings")
            effect = "profile" if _KEPT.match(label) else "none"
            yield Candidate("chromium", area, "", label, f"labelled {label}", f"en-US.pak#{number}", effect)  # type: ignore[arg-type]


def _texts(data: bytes) -> dict[int, str]:
    """Resource id to text. Raises ValueError for another version of the format."""
    version, encoding, count, _aliases = struct.unpack_from("<IBxxxHH", data)
    if version != 5:
        raise ValueError(f"{PACK} is a data pack of version {version}, not 5")
    index = [struct.unpack_from("<HI", data, 12 + 6 * n) for n in range(count + 1)]
    found = {}
    for (number, start), (_, end) in itertools.pairwise(index):
        found[number] = data[start:end].decode({0: "latin-1", 1: "utf-8", 2: "utf-16-le"}[encoding], "replace")
    return found
