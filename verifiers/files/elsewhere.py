"""Collateral damage among files: `files.changed_elsewhere`."""

from __future__ import annotations

import random
from collections.abc import Iterator

from pydantic import Field

from forge.records.artifact import GuestPath
from verifiers.base import Args, Case, Finding, Mutant, check, mutants
from verifiers.entries import (
    NOT_BOOKKEEPING,
    STANDARD_FOLDERS,
    Entry,
    below,
    content,
    holds_bookkeeping,
    is_bookkeeping,
    is_own,
    laid_among_settings,
    walk,
)
from verifiers.files import spoiling

TRASH = NOT_BOOKKEEPING[0]


class ChangedElsewhere(Args):
    """Everything but the allowed paths must be as it was: content, kind, mode, and that it exists at all."""

    allow: tuple[GuestPath, ...] = Field((), description="files, or folders with everything below, that may change")
    ignore: tuple[GuestPath, ...] = Field((), description="more paths that applications keep for themselves")


@check("files.changed_elsewhere", ChangedElsewhere, version=2)
def changed_elsewhere(case: Case, args: ChangedElsewhere) -> Finding:
    """Nothing outside the allowed paths was changed, added or removed (applications' own files left out).

    Settings, histories and caches that programs write unasked are no damage, nor the folders they make for them
    (`~/.local`); what the task itself laid below `~/.config` or `~/.local/share` for no program of its own is.
    """
    before, after = walk(case.before), walk(case.after)
    laid = laid_among_settings(case.before)
    damage = []
    looked = 0
    for path in sorted({*before, *after}):
        if is_own(path, laid) or below(path, *args.ignore, *args.allow):
            continue
        looked += 1
        what = _changed(case, before.get(path), after.get(path), args)
        if what:
            damage.append(f"{path} {what}")
    if damage:
        more = f" and {len(damage) - 5} more" if len(damage) > 5 else ""
        return Finding(0.0, "; ".join(damage[:5]) + more)
    return Finding(1.0, f"{looked} files and folders outside {', '.join(args.allow) or 'nothing'} are as they were")


@mutants("files.changed_elsewhere")
def over_edits(case: Case, args: ChangedElsewhere, rng: random.Random) -> Iterator[Mutant]:
    """A neighbour edited, deleted, renamed or opened up; a stray file."""
    folder = _open_folder(case, args)
    yield Mutant("stray-file", spoiling.write(f"{folder}/untitled-{_number(case, folder)}.txt", "scribble\n"))
    near = [path for path in spoiling.neighbours(case, (*args.allow, *args.ignore)) if not path.startswith(TRASH + "/")]
    if not near:
        yield Mutant("stray-folder", spoiling.make_folder(f"{folder}/New Folder {_number(case, folder)}"), audit=True)
        return
    one = near[0]
    yield Mutant("neighbour-edited", spoiling.damage(one))
    # It may be one that something else in the rubric looks at.
    yield Mutant("neighbour-deleted", spoiling.delete(near[-1]), only=False)
    yield Mutant("neighbour-renamed", spoiling.rename(one, spoiling.other_name(one)), audit=True)
    bits = walk(case.after)[one].mode
    yield Mutant("neighbour-mode", spoiling.set_mode(one, bits ^ 0o011), audit=True)
    other = near[int(rng.random() * len(near))]
    yield Mutant("some-file-emptied", spoiling.write(other, b"" if case.after.read(other) else b"x"), audit=True)


def _changed(case: Case, before: Entry | None, after: Entry | None, args: ChangedElsewhere) -> str | None:
    """What happened to one path, in words; None for nothing that matters."""
    if before is None and after is not None:
        if after.path.startswith(TRASH):
            # What was thrown away is missing where it was; that is where it counts.
            return None
        above = after.kind == "folder" and any(path.startswith(after.path + "/") for path in args.allow)
        standard = after.kind == "folder" and (after.path in STANDARD_FOLDERS or holds_bookkeeping(after.path))
        return None if above or standard else f"is new ({after.kind})"
    if after is None or before is None:
        if before is None or before.kind != "folder":
            return "is gone"
        free = holds_bookkeeping(before.path) or _only_allowed_below(case, before.path, args)
        return None if free else "is gone"
    if before.kind != after.kind:
        return f"was a {before.kind} and is a {after.kind}"
    if before.path.startswith(TRASH) and before.path.endswith((".trashinfo", "/directorysizes")):
        return None
    if content(case.before, before) != content(case.after, after):
        return f"has other content ({before.size} bytes before, {after.size} after)"
    if before.mode != after.mode:
        return f"has mode {after.mode:03o} instead of {before.mode:03o}"
    return None


def _only_allowed_below(case: Case, folder: str, args: ChangedElsewhere) -> bool:
    """Whether everything that was in a folder may change: then the folder may go with it."""
    held = [path for path, entry in walk(case.before, folder).items() if entry.kind != "folder"]
    return bool(held) and all(below(path, *args.allow) for path in held)


def _open_folder(case: Case, args: ChangedElsewhere) -> str:
    """A folder, near the allowed paths, in which a new file is not allowed."""
    for path in args.allow:
        folder = path.rpartition("/")[0]
        while folder not in ("", "~"):
            if not below(folder, *args.allow) and not is_bookkeeping(folder + "/x", args.ignore):
                return folder
            folder = folder.rpartition("/")[0]
    return "~"


def _number(case: Case, folder: str) -> int:
    return len(walk(case.after, folder)) + 1
