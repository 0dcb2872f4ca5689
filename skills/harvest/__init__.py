"""Harvest: candidates for skills from what applications say of themselves. No model, no network, nothing guessed."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from forge.records import InputError, Skill, SkillState
from skills.harvest import chromium, commands, functions, libreoffice, media, thunderbird
from skills.harvest.boxed import boxed
from skills.harvest.candidate import Candidate, merged

COLUMNS = ("id", "app", "area", "label", "reached", "source", "effect", "verifiable", "about")

SOURCES: dict[str, Callable[[], Iterable[Candidate]]] = {
    "libreoffice": libreoffice.harvest,
    "functions": partial(functions.harvest, boxed),
    "thunderbird": thunderbird.harvest,
    "chromium": chromium.harvest,
    "gimp": partial(media.harvest_gimp, boxed),
    "vlc": partial(media.harvest_vlc, boxed),
    "commands": partial(commands.harvest, boxed),
}
"""Every registry that is read."""


def harvest(sources: Sequence[str] = ()) -> list[tuple[str, Candidate]]:
    """(id, candidate) from the named sources (default: all), sorted by id, overlaps merged.

    The same installed versions always give the same list.

    Raises:
        InputError: there is no such source.
        DesktopError: a box could not be made, or LibreOffice did not answer.
    """
    return merged(candidate for name in sources or SOURCES for candidate in _of(name)())


def _of(name: str) -> Callable[[], Iterable[Candidate]]:
    if name not in SOURCES:
        raise InputError(f"there is no source {name!r}", mend=f"sources are {', '.join(SOURCES)}")
    return SOURCES[name]


def counts(found: Iterable[tuple[str, Candidate]]) -> list[tuple[str, int, int, int]]:
    """(application, candidates, of these verifiable by rule of thumb, areas), sorted by application."""
    every, good, areas = Counter[str](), Counter[str](), set()
    for _, candidate in found:
        every[candidate.app] += 1
        good[candidate.app] += candidate.verifiable
        areas.add((candidate.app, candidate.area))
    return [(app, every[app], good[app], sum(a == app for a, _ in areas)) for app in sorted(every)]


def write(found: Iterable[tuple[str, Candidate]], path: Path) -> None:
    """Write the candidates as CSV, replacing the file whole; equal candidates give equal bytes."""
    buffer = io.StringIO()
    rows = csv.writer(buffer, lineterminator="\n")
    rows.writerow(COLUMNS)
    for name, c in found:
        rows.writerow(
            (name, c.app, c.area, c.label, c.reached, c.source, c.effect, "yes" if c.verifiable else "no", c.about)
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, draft = tempfile.mkstemp(prefix=".harvest-", dir=path.parent)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(buffer.getvalue())
    os.replace(draft, path)


def read(path: Path) -> Iterator[dict[str, str]]:
    """The rows that `write` wrote. Raises InputError with the line of a row that is none."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        if tuple(rows.fieldnames or ()) != COLUMNS:
            raise InputError("is no harvest", file=path, line=1, mend="make it anew with `forge skills harvest`")
        for row in rows:
            if None in row or None in row.values():
                raise InputError(
                    "is cut off", file=path, line=rows.line_num, mend="make it anew with `forge skills harvest`"
                )
            yield row


def skill_of(row: dict[str, str]) -> Skill:
    """A harvested row as a candidate skill."""
    where = f"{row['about']} " if row["about"] else ""
    affinity = "terminal" if row["app"] == "terminal" else "gui"
    return Skill(
        id=row["id"], apps=(row["app"],), title=row["label"], description=f"{where}Reached by: {row['reached']}.",
        affinity=affinity, origin="harvest", state=SkillState.CANDIDATE,
    )  # fmt: skip
