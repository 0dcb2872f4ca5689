"""Candidates: abilities that an application's own registry names, before anybody has thought about a task."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

Effect = Literal["document", "profile", "output", "answer", "none"]
"""Where its effect can be checked: in the saved document, in the application's own files, in what a command writes or
prints, by an answer; `none`: it only changes what is seen, or needs more than a desktop without network.
"""

_WORDS = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True)
class Candidate:
    """One candidate.

    Attributes:
        app: application, as tasks name it, or one that has no preparers yet.
        area: part of it, small letters and dashes.
        verb: what the id's last part begins with where the label alone says no verb.
        label: as the application words it.
        reached: how a person gets there: `Format > Text > Bold`, `dialog Format Cells`, `--exclude`.
        source: the registry's own key: `.uno:Bold`, `tar --exclude`.
        effect: see `Effect`.
        about: a sentence, where the registry has one.
    """

    app: str
    area: str
    verb: str
    label: str
    reached: str
    source: str
    effect: Effect
    about: str = ""

    @property
    def name(self) -> str:
        """The id without a number: `calc.format.apply-bold`."""
        words = _WORDS.findall(self.label.lower().replace("'", ""))[:7]
        verb = _WORDS.findall(self.verb.lower())
        parts = words if len(words) > 1 and not verb else [*verb, *words]
        if len(parts) < 2:
            parts = ["use", *parts]
        if not parts[0][0].isalpha():
            parts = ["use", *parts]
        return f"{self.app}.{self.area}.{'-'.join(parts)}"

    @property
    def verifiable(self) -> bool:
        """Whether its effect looks checkable; a rule of thumb by kind and place, not a promise."""
        return self.effect != "none"


def merged(found: Iterable[Candidate]) -> list[tuple[str, Candidate]]:
    """(id, candidate), sorted by id, each ability once.

    Two entries of one application with the same label and area are one, however many ways lead there; the first by
    `reached` stays. Different ones whose ids collide get a number, by their source.
    """
    kept: dict[tuple[str, str, str], Candidate] = {}
    for candidate in sorted(
        found, key=lambda c: (c.app, c.area, c.label.lower(), c.reached == "", c.reached, c.source)
    ):
        key = (
            candidate.app,
            candidate.area,
            " ".join([*_WORDS.findall(candidate.verb), *_WORDS.findall(candidate.label.lower())]),
        )
        if key not in kept:
            kept[key] = candidate
        elif not kept[key].about and candidate.about:
            kept[key] = replace(kept[key], about=candidate.about)
    named: dict[str, Candidate] = {}
    for candidate in sorted(kept.values(), key=lambda c: (c.name, c.source)):
        name, number = candidate.name, 1
        while name in named:
            number += 1
            name = f"{candidate.name}-{number}"
        named[name] = candidate
    return sorted(named.items())


def slug(text: str, words: int = 4) -> str:
    """An area's name from a label: small letters and dashes, beginning with a letter."""
    found = _WORDS.findall(text.lower().replace("'", ""))[:words]
    joined = "-".join(found) or "general"
    return joined if joined[0].isalpha() else f"n{joined}"
