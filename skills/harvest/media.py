"""GIMP's procedures and VLC's options, as the programs list them themselves; asked in a box."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skills.harvest.boxed import Boxed
from skills.harvest.candidate import Candidate, Effect, slug

_PROCEDURE = re.compile(r'^\(register-procedure "([^"]+)"\n  "((?:[^"\\]|\\.)*)"', re.M)
_INTERNAL = re.compile(
    r"^(gimp-(get|set-|progress|plugin|plugins|procedural|pdb|parasite|temp|message|quit|version|debug|register|"
    r"gimprc|help|module|online|interpreter|online|display|displays|fonts|brushes|patterns|palettes|gradients|buffers|"
    r"dynamics|paint-method|attach|detach|monitor|user|rc|getpid))|-(get|is|find|list|has)-|-get-|temp-"
)


def harvest_gimp(boxed: Boxed) -> Iterator[Candidate]:
    """Procedures that do something to an image; none where GIMP is missing."""
    dump = '(gimp-procedural-db-dump "/home/alex/out")'
    output = boxed(["gimp-console", "-i", "-d", "-f", "-b", dump, "-b", "(gimp-quit 0)"], 120)
    for name, about in _PROCEDURE.findall(output):
        if _INTERNAL.search(name) or about.startswith("Deprecated") or name.endswith(("-free", "-load", "-thumb")):
            continue
        parts = name.split("-")
        area = "filter" if parts[0] in ("plug", "script") else slug(parts[1] if len(parts) > 2 else "image")
        area = "export" if parts[0] == "file" else area
        effect: Effect = (
            "none" if area in ("context", "display", "item", "selection", "floating", "layer-group") else "document"
        )
        words = " ".join(p for p in parts if p not in ("plug", "in", "script", "fu", "gimp", "file"))
        yield Candidate("gimp", area, "apply" if area == "filter" else "", words, name, name, effect, _one(about))


def harvest_vlc(boxed: Boxed) -> Iterator[Candidate]:
    """Options and hot keys that VLC keeps in its settings; none where it is missing."""
    area = "general"
    for line in boxed(["vlc", "--advanced", "-H"], 30).splitlines():
        if (line and not line.startswith(("  ", "Usage"))) or re.match(r"^ [A-Z][^-]*$", line):
            area = slug(line.split("(")[0].strip(" :"), 3)
        match = re.match(r"^ {2,6}(?:-\w, )?--([a-z0-9][\w-]*)(?:, --no-[\w-]+)?( <[^>]+>)?", line)
        if match and not re.match(r"^(help|version|full-help|longhelp|list|module|color|verbose|quiet|no-)", match[1]):
            verb = "set" if match[2] else "switch"
            effect: Effect = "profile"
            yield Candidate(
                "vlc", area, verb, match[1].replace("-", " "), f"Preferences, or --{match[1]}", match[1], effect
            )


def _one(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace('\\"', '"')).strip()[:300]
