"""Slips in an instruction that show that it was put together: doubled marks, an odd space, a quote left open, a slot unfilled.

What is quoted is data and may look like anything. Grammar and sense are not looked at: blind readers do that.
"""

from __future__ import annotations

import re

_QUOTED = re.compile('“[^”\n]*”|"[^"\n]*"|`[^`\n]*`|«[^»\n]*»')

_SLIPS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), what)
    for pattern, what in (
        (r"\$?\{[^{}\n]*\}", "a slot that was not filled"),
        (r"[,;:]\s*[,;]|[,;:]\s*[.!?](?!\w)", "two marks where one belongs"),
        (r"(?<!\.)\.\.(?![./\w])|[!?]\.(?![.\w])|[!?.]\s*,", "two marks where one belongs"),
        (r"(?<=\S)\s+,(?!\w)|(?<=\w) \.(?=\s|$)", "a space before a mark"),
        (r"(?<=\S)[ \t]{2,}(?=\S)", "two spaces"),
        (r"(?<!\w)\(\s*\)", "brackets with nothing in them"),
    )
)
_ABBREVIATED = re.compile(r"\b(?:[A-Za-z]\.)+[A-Za-z]\.,|\b(?:etc|Inc|Ltd|Co|Corp|Jr|Sr|No|Dr|St|ca|bzw|usw|z\. ?B)\.,")
"""Where a comma may follow a full stop."""

_PAIRS = (("“", "”"), ("«", "»"), ("„", "“”"))


def slips(text: str) -> list[str]:
    """What is wrong with an instruction's marks and spaces, each with the words around it; empty when all is well."""
    quoted = _QUOTED.sub(lambda match: "\0" * len(match[0]), text)
    plain = _ABBREVIATED.sub(lambda match: "\0" * len(match[0]), quoted)
    found = []
    for pattern, what in _SLIPS:
        for match in pattern.finditer(plain):
            found.append(f"{what}: {_around(text, match.start(), match.end())}")
    if plain.count('"'):
        at = plain.index('"')
        found.append(f"a quote that is never closed: {_around(text, at, at + 1)}")
    return list(dict.fromkeys(found))


def _around(text: str, start: int, end: int) -> str:
    """The place in its words, 20 characters to either side."""
    return repr(text[max(0, start - 20) : end + 20])
