"""Small ways to change a home on purpose, for mutants. Each returns a function of the home's folder on the host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from verifiers.base import Case
from verifiers.entries import below, is_own, laid_among_settings, put_back, remove, walk
from verifiers.same import canonical

Change = Callable[[Path], None]


def write(path: str, data: bytes | str) -> Change:
    """The file gets this content, keeping its mode; made with its folders where missing."""
    raw = data.encode() if isinstance(data, str) else data

    def apply(home: Path) -> None:
        target = home / path[2:]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(raw)

    return apply


def delete(path: str) -> Change:
    """The file or folder is gone."""
    return lambda home: remove(home / path[2:])


def rename(path: str, to: str) -> Change:
    """The file or folder has another name."""

    def apply(home: Path) -> None:
        target = home / to[2:]
        target.parent.mkdir(parents=True, exist_ok=True)
        (home / path[2:]).rename(target)

    return apply


def make_file(path: str, data: bytes = b"x\n") -> Change:
    """A file stands there, in place of whatever was."""

    def apply(home: Path) -> None:
        remove(home / path[2:])
        (home / path[2:]).write_bytes(data)

    return apply


def damage(path: str) -> Change:
    """The file's content means something else."""

    def apply(home: Path) -> None:
        target = home / path[2:]
        target.write_bytes(damaged(path, target.read_bytes()))

    return apply


def damaged(name: str, data: bytes) -> bytes:
    """Nearly the same content, with another meaning: a line more where that counts, else cut off.

    An empty line at the end of a table or a byte after a picture would be the same to any reader.
    """
    before = canonical(name, data)
    line = b"" if data.endswith(b"\n") or not data else b"\n"
    for changed in (data + line + b"added by mistake\n", data[: len(data) * 2 // 3], data[::-1]):
        if canonical(name, changed) != before:
            return changed
    return data + b"\0"


def make_folder(path: str) -> Change:
    """An empty folder stands there, in place of whatever was."""

    def apply(home: Path) -> None:
        remove(home / path[2:])
        (home / path[2:]).mkdir(parents=True)

    return apply


def set_mode(path: str, mode: int) -> Change:
    """The permission bits are these."""
    return lambda home: (home / path[2:]).chmod(mode)


def as_before(case: Case, path: str) -> Change:
    """What is at `path` is what was there before, possibly nothing."""
    return lambda home: put_back(case.before.root / path[2:], home / path[2:])


def other_name(path: str) -> str:
    """A name that could be taken for this one: `report.csv` to `report (copy).csv`."""
    folder, _, name = path.rpartition("/")
    stem, dot, suffix = name.partition(".") if not name.startswith(".") else (name, "", "")
    return f"{folder}/{stem} (copy){dot}{suffix}"


def neighbours(case: Case, allowed: tuple[str, ...]) -> list[str]:
    """Files of the final state that nobody was asked to touch, those nearest to the allowed paths first."""
    laid = laid_among_settings(case.before)
    found = [
        entry.path
        for entry in walk(case.after).values()
        if entry.kind == "file" and not is_own(entry.path, laid) and not below(entry.path, *allowed)
    ]
    return sorted(found, key=lambda path: (-max((_shared(path, a) for a in allowed), default=0), path))


def _shared(one: str, two: str) -> int:
    """How many leading folders two paths have in common."""
    count = 0
    for a, b in zip(one.split("/")[:-1], two.split("/"), strict=False):
        if a != b:
            break
        count += 1
    return count
