"""What is where: `files.exists`, `files.absent`, `files.mode`, `files.tree`; moving is in `verifiers.files.moving`."""

from __future__ import annotations

import random
import re
import stat
from collections.abc import Iterator
from typing import Literal

from pydantic import Field, model_validator

from forge.records.artifact import GuestPath
from verifiers.base import Args, Case, Finding, Mutant, check, mutants
from verifiers.entries import entry_at, is_bookkeeping, walk
from verifiers.files import spoiling


class Exists(Args):
    """Something must be there."""

    path: GuestPath
    kind: Literal["file", "folder", "any"] = "any"


class Absent(Args):
    """Nothing may be there."""

    path: GuestPath


class Mode(Args):
    """Permission bits: exactly `mode`, or with what `has` asks for."""

    path: GuestPath
    mode: str = Field("", pattern=r"^([0-7]{3})?$", description="octal, e.g. 755; exact")
    has: str = Field(
        "", pattern=r"^([ugoa]+[+-][rwx]+(,[ugoa]+[+-][rwx]+)*)?$", description="bits asked for, e.g. u+x,go-w"
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Mode:
        if bool(self.mode) == bool(self.has):
            raise ValueError("give either mode or has")
        return self

    def holds(self, bits: int) -> bool:
        """Whether permission bits are what is asked for."""
        if self.mode:
            return bits & 0o777 == int(self.mode, 8)
        return all(bits & mask == (mask if sign == "+" else 0) for sign, mask in _clauses(self.has))


class TreeArgs(Args):
    """A folder must hold this. Folders of the files listed need not be listed themselves."""

    path: GuestPath
    listing: tuple[str, ...] = Field(description="relative paths; an empty folder ends with a slash")
    exact: bool = Field(True, description="nothing else may be in the folder")

    @model_validator(mode="after")
    def _relative(self) -> TreeArgs:
        for name in self.listing:
            if name.startswith("/") or any(part in ("", ".", "..") for part in name.rstrip("/").split("/")):
                raise ValueError(f"{name!r} is no relative path")
        if not self.exact and not self.listing:
            raise ValueError("a listing that is neither exact nor names anything holds of every folder")
        return self


@check("files.exists", Exists)
def exists(case: Case, args: Exists) -> Finding:
    """A file or folder is there (a link counts as what it leads to)."""
    path = case.after.path(args.path)
    found = "file" if path.is_file() else "folder" if path.is_dir() else "other" if path.exists() else None
    if found is None:
        return Finding(0.0, f"{args.path} does not exist{_similar(case, args.path)}")
    return Finding(float(args.kind in ("any", found)), f"{args.path} is a {found}; expected: {args.kind}")


@mutants("files.exists")
def not_there(case: Case, args: Exists, rng: random.Random) -> Iterator[Mutant]:
    """Gone, under another name, or of another kind."""
    yield Mutant("deleted", spoiling.delete(args.path))
    yield Mutant("renamed", spoiling.rename(args.path, spoiling.other_name(args.path)), only=False)
    folder, _, name = args.path.rpartition("/")
    if name.swapcase() != name:
        yield Mutant("other-case", spoiling.rename(args.path, f"{folder}/{name.swapcase()}"), only=False, audit=True)
    if args.kind == "file":
        yield Mutant("a-folder", spoiling.make_folder(args.path), audit=True)
    elif args.kind == "folder":
        yield Mutant("a-file", spoiling.make_file(args.path), audit=True)
    else:
        yield Mutant("reverted", spoiling.as_before(case, args.path), only=False, audit=True)


@check("files.absent", Absent)
def absent(case: Case, args: Absent) -> Finding:
    """Nothing is there: no file, no folder, no link."""
    entry = entry_at(case.after, args.path)
    return Finding(float(entry is None), f"{args.path} " + ("is not there" if entry is None else f"is a {entry.kind}"))


@mutants("files.absent")
def still_there(case: Case, args: Absent, rng: random.Random) -> Iterator[Mutant]:
    """As before, or replaced by something empty."""
    parent = args.path.rpartition("/")[0]
    # Where its folder is gone too, putting the file back brings more than the file.
    alone = parent == "~" or entry_at(case.after, parent) is not None
    if entry_at(case.before, args.path) is not None:
        yield Mutant("still-there", spoiling.as_before(case, args.path), only=alone)
    else:
        yield Mutant("appeared", spoiling.write(args.path, "x\n"), only=alone)
    yield Mutant("emptied", spoiling.write(args.path, b""), only=alone, audit=True)
    yield Mutant("a-folder", spoiling.make_folder(args.path), only=alone, audit=True)


@check("files.mode", Mode)
def mode(case: Case, args: Mode) -> Finding:
    """A file's or folder's permission bits are as asked for."""
    path = case.after.path(args.path)
    if not path.exists():
        return Finding(0.0, f"{args.path} does not exist")
    bits = stat.S_IMODE(path.stat().st_mode)
    return Finding(float(args.holds(bits)), f"{args.path} has mode {bits:03o}; expected {args.mode or args.has}")


@mutants("files.mode")
def other_modes(case: Case, args: Mode, rng: random.Random) -> Iterator[Mutant]:
    """The mode as it was, and modes near the right one."""
    now = stat.S_IMODE(case.after.path(args.path).stat().st_mode)
    before = entry_at(case.before, args.path)
    candidates = [("as-before", before.mode)] if before is not None else []
    required = [0o777] if args.mode else [mask for _, mask in _clauses(args.has)]
    bits = [bit for mask in required for bit in (0o100, 0o010, 0o001, 0o020, 0o002, 0o040, 0o004) if mask & bit]
    candidates += [(f"without-{bit:03o}" if now & bit else f"with-{bit:03o}", now ^ bit) for bit in bits]
    candidates.append(("bare", 0o644))
    seen = {now}
    found = 0
    for name, wrong in candidates:
        if args.holds(wrong) or wrong in seen or not wrong & 0o400:
            continue
        seen.add(wrong)
        found += 1
        yield Mutant(name, spoiling.set_mode(args.path, wrong), audit=found > 3)
    yield Mutant("gone", spoiling.delete(args.path), only=False, audit=True)


@check("files.tree", TreeArgs)
def tree(case: Case, args: TreeArgs) -> Finding:
    """A folder holds the listed files and folders and, if exact, nothing else."""
    path = case.after.path(args.path)
    if not path.is_dir():
        return Finding(0.0, f"{args.path} " + ("is no folder" if path.exists() else "does not exist"))
    files, folders = _listing(case, args.path)
    wanted = set(args.listing)
    missing = sorted(n for n in wanted if (n.rstrip("/") not in folders if n.endswith("/") else n not in files))
    implied = {name.rstrip("/") for name in wanted if name.endswith("/")}
    for name in wanted:
        parent = name.rstrip("/").rpartition("/")[0]
        while parent:
            implied.add(parent)
            parent = parent.rpartition("/")[0]
    extra = sorted([n for n in files if n not in wanted] + [n + "/" for n in folders if n not in implied])
    wrong = missing or (args.exact and extra)
    parts = [f"{len(wanted) - len(missing)} of {len(wanted)} listed entries are in {args.path}"]
    parts += [f"missing: {_some(missing)}"] if missing else []
    parts += [f"besides: {_some(extra)}" + ("" if args.exact else " (allowed)")] if extra else []
    return Finding(float(not wrong), "; ".join(parts))


@mutants("files.tree")
def other_trees(case: Case, args: TreeArgs, rng: random.Random) -> Iterator[Mutant]:
    """One entry missing, misplaced, misnamed, or one too many."""
    files = [name for name in args.listing if not name.endswith("/")]
    if args.exact:
        stray = _free(case, args.path, "untitled")
        yield Mutant("one-more-file", spoiling.write(f"{args.path}/{stray}.txt", "x\n"))
        yield Mutant("one-more-folder", spoiling.make_folder(f"{args.path}/{stray}"), audit=True)
    if args.listing:
        name = args.listing[int(rng.random() * len(args.listing))]
        path = f"{args.path}/{name.rstrip('/')}"
        # What else is graded about that file loses with it.
        yield Mutant("one-missing", spoiling.delete(path), only=not args.exact)
        yield Mutant("one-misnamed", spoiling.rename(path, spoiling.other_name(path)), only=False, audit=True)
    deep = [name for name in files if "/" in name]
    if deep:
        name = deep[int(rng.random() * len(deep))]
        to = f"{args.path}/{_free(case, args.path, name.rpartition('/')[2])}"
        yield Mutant("one-misplaced", spoiling.rename(f"{args.path}/{name}", to), only=False)
    if not args.listing:
        yield Mutant("no-folder", spoiling.delete(args.path), only=False)


def _clauses(text: str) -> Iterator[tuple[str, int]]:
    for clause in text.split(","):
        match = re.fullmatch(r"([ugoa]+)([+-])([rwx]+)", clause)
        if match:
            who = "ugo" if "a" in match[1] else match[1]
            bits = sum({"r": 4, "w": 2, "x": 1}[right] for right in set(match[3]))
            yield match[2], sum(bits << {"u": 6, "g": 3, "o": 0}[one] for one in set(who))


def _listing(case: Case, path: str) -> tuple[set[str], set[str]]:
    files: set[str] = set()
    folders: set[str] = set()
    for entry in walk(case.after, path).values():
        if not is_bookkeeping(entry.path):
            (folders if entry.kind == "folder" else files).add(entry.path[len(path) + 1 :])
    return files, folders


def _free(case: Case, folder: str, name: str) -> str:
    """A name that nothing in the folder has yet."""
    while (
        entry_at(case.after, f"{folder}/{name}") is not None or entry_at(case.after, f"{folder}/{name}.txt") is not None
    ):
        name = "x" + name
    return name


def _similar(case: Case, path: str) -> str:
    """What else in the folder could have been meant, for a reader of the evidence."""
    parent, _, name = path.rpartition("/")
    folder = case.after.root if parent == "~" else case.after.path(parent)
    if not folder.is_dir():
        return f"; neither does {parent}"
    near = sorted(p.name for p in folder.iterdir() if p.name.split(".")[0].lower() == name.split(".")[0].lower())
    return f"; {parent} holds {_some(near)}" if near else ""


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
