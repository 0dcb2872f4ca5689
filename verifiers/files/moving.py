"""Files that went somewhere else: `files.moved`, for one file or many."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field, model_validator

from forge.records import VerifierError
from forge.records.artifact import GuestPath
from verifiers.base import Args, Case, Finding, Mutant, check, mutants
from verifiers.entries import entry_at, put_back, remove
from verifiers.files import spoiling


class Moved(Args):
    """Files must have gone from where they were before to another place, unchanged."""

    files: dict[GuestPath, GuestPath] = Field(
        min_length=1, description="where each file was before, to where it must be"
    )
    copied: bool = Field(False, description="they must still be where they were, too")

    @model_validator(mode="after")
    def _places_are_apart(self) -> Moved:
        if len(set(self.files.values())) != len(self.files) or any(a == b for a, b in self.files.items()):
            raise ValueError("every file goes to a place of its own")
        return self


@check("files.moved", Moved)
def moved(case: Case, args: Moved) -> Finding:
    """Every listed file is in its new place with its old content, and gone from the old one (unless copied)."""
    missing, changed, left = [], [], []
    for source, target in args.files.items():
        before = case.before.read(source)
        if before is None:
            raise VerifierError(f"files.moved is about {source} (before), which does not exist")
        after = case.after.read(target)
        if after is None:
            missing.append(target)
        elif after != before:
            changed.append(target)
        # What went elsewhere may have been replaced: a chain a to b, b to c leaves nothing behind.
        taken = source in args.files.values()
        if not taken and (entry_at(case.after, source) is None) == args.copied:
            left.append(source)
    good = len(args.files) - len(missing) - len(changed)
    parts = [f"{good} of {len(args.files)} files are in their new place with their content"]
    parts += [f"not there: {_some(missing)}"] if missing else []
    parts += [f"other content: {_some(changed)}"] if changed else []
    parts += [f"{'gone' if args.copied else 'still'} in the old place: {_some(left)}"] if left else []
    return Finding(float(not (missing or changed or left)), "; ".join(parts))


@mutants("files.moved")
def not_moved(case: Case, args: Moved, rng: random.Random) -> Iterator[Mutant]:
    """One of the files forgotten, lost, copied instead of moved, swapped with another."""
    pairs = list(args.files.items())
    source, target = pairs[int(rng.random() * len(pairs))]
    first_source, first_target = pairs[0]

    def forgotten(home: Path) -> None:
        remove(home / target[2:])
        put_back(case.before.root / source[2:], home / source[2:])

    yield Mutant("one-lost", spoiling.delete(target))
    yield Mutant("one-changed", spoiling.damage(first_target))
    if not args.copied:
        yield Mutant("one-forgotten", forgotten)
        if first_source not in args.files.values():
            yield Mutant("one-copied", spoiling.as_before(case, first_source), audit=True)
    elif source not in args.files.values():
        yield Mutant("one-moved", spoiling.delete(source))
    yield Mutant("one-misnamed", spoiling.rename(target, spoiling.other_name(target)), only=False, audit=True)
    others = [t for s, t in pairs[1:] if case.before.read(s) != case.before.read(first_source)]
    if others:
        yield Mutant("two-swapped", _swapped(first_target, others[0]))


def _swapped(one: str, two: str) -> spoiling.Change:
    def apply(home: Path) -> None:
        left, right = (home / one[2:]).read_bytes(), (home / two[2:]).read_bytes()
        (home / one[2:]).write_bytes(right)
        (home / two[2:]).write_bytes(left)

    return apply


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
