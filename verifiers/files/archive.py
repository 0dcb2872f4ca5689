"""What an archive holds: `files.archive`."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Literal

from pydantic import Field, model_validator

from forge.records import VerifierError
from forge.records.artifact import GuestPath
from preparers.files.containers import Member, gzip_bytes, tar_bytes, zip_bytes
from preparers.files.params import kind_of, suffix_of
from preparers.files.reading import read_members
from verifiers.base import Args, Case, Finding, Mutant, Tree, check, mutants
from verifiers.entries import is_bookkeeping, walk
from verifiers.files import spoiling


class Archive(Args):
    """An archive must hold these files. Its suffix says of which kind it must be: .zip, .tar, .tar.gz or .tgz.

    Name the members one by one (`files`), or a folder of the side `side` of which every file must be in it
    (`from_folder`), each under its path below that folder.
    """

    path: GuestPath
    files: dict[str, str] | None = Field(
        None, description="member to the file (~/...) of the side whose content it must have; empty: any content"
    )
    from_folder: GuestPath | None = None
    suffixes: tuple[str, ...] = Field(
        (), description="with from_folder: only files with these suffixes, in lower case: .csv is for A.CSV too"
    )
    side: Literal["before", "gold"] = "before"
    exact: bool = Field(True, description="no other files may be in it; folders never count")
    any_root: bool = Field(True, description="members may lie below further common folders")

    @model_validator(mode="after")
    def _is_an_archive(self) -> Archive:
        if kind_of(self.path) != "archive":
            raise ValueError(f"{self.path} does not end like an archive (.zip, .tar, .tar.gz, .tgz)")
        if (self.files is None) == (self.from_folder is None):
            raise ValueError("give either files or from_folder")
        if self.files is not None and not self.files:
            raise ValueError("an archive without expected files cannot be wrong")
        return self


@check("files.archive", Archive)
def archive(case: Case, args: Archive) -> Finding:
    """An archive of the right kind holds the expected files with their contents."""
    data = case.after.read(args.path)
    if data is None:
        return Finding(0.0, f"{args.path} is no file or does not exist")
    with case.after.reading(args.path):
        members = read_members(args.path, data)
    found = {name: content for name, (kind, content, _) in members.items() if kind == "file"}
    odd = [name for name, (kind, _, _) in members.items() if kind in ("link", "other")]
    wanted = _wanted(case, args)
    root = _common_root(found, wanted) if args.any_root else ""
    found = {name.removeprefix(root): content for name, content in found.items()}
    missing = sorted(set(wanted) - set(found))
    extra = sorted(set(found) - set(wanted)) + odd
    changed = sorted(n for n, content in wanted.items() if content is not None and n in found and found[n] != content)
    evidence = [f"{args.path} holds {len(wanted) - len(missing)} of {len(wanted)} expected files"]
    evidence += [f"missing: {', '.join(missing[:5])}"] if missing else []
    evidence += [f"other content: {', '.join(changed[:5])}"] if changed else []
    evidence += [f"besides: {', '.join(extra[:5])}" + ("" if args.exact else " (allowed)")] if extra else []
    return Finding(float(not missing and not changed and not (args.exact and extra)), "; ".join(evidence))


@mutants("files.archive")
def other_archives(case: Case, args: Archive, rng: random.Random) -> Iterator[Mutant]:
    """A member missing, changed, misnamed or too many; cut off; of another kind; empty."""
    data = case.after.read(args.path) or b""
    members = [
        Member(name, content, mode, kind == "folder")
        for name, (kind, content, mode) in read_members(args.path, data).items()
    ]
    wanted = _wanted(case, args)
    places = [
        i
        for i, m in enumerate(members)
        if not m.folder and any(m.name == w or m.name.endswith("/" + w) for w in wanted)
    ]
    at = places[int(rng.random() * len(places))]
    one = members[at]
    rest = [*members[:at], *members[at + 1 :]]

    def packed(new: list[Member], suffix: str = "") -> spoiling.Change:
        return spoiling.write(args.path, pack(new, suffix or suffix_of(args.path)))

    yield Mutant("member-missing", packed(rest))
    if any(
        content is not None and (one.name == name or one.name.endswith("/" + name)) for name, content in wanted.items()
    ):
        yield Mutant(
            "member-changed", packed([*rest, Member(one.name, spoiling.damaged(one.name, one.data), one.mode)])
        )
    yield Mutant(
        "member-misnamed", packed([*rest, Member(spoiling.other_name("/" + one.name)[1:], one.data, one.mode)])
    )
    if args.exact:
        stray = f"{one.name.rpartition('/')[0]}/notes-{len(members)}.txt".lstrip("/")
        yield Mutant("member-more", packed([*members, Member(stray, b"x\n")]), audit=True)
    yield Mutant("cut-off", spoiling.write(args.path, data[: len(data) // 2]))
    yield Mutant("other-kind", packed(members, ".tar" if suffix_of(args.path) == ".zip" else ".zip"), audit=True)
    yield Mutant("empty", packed([]), audit=True)


def pack(members: list[Member], suffix: str) -> bytes:
    """An archive of the kind that a suffix says."""
    if suffix == ".zip":
        return zip_bytes(members)
    return tar_bytes(members) if suffix == ".tar" else gzip_bytes(tar_bytes(members))


def _wanted(case: Case, args: Archive) -> dict[str, bytes | None]:
    """Member name to its content; None where any content will do."""
    side: Tree | None = case.gold if args.side == "gold" else case.before
    if side is None:
        raise VerifierError("files.archive compares with gold artifacts, and there are none")
    if args.from_folder is not None:
        names = [
            entry.path
            for entry in walk(side, args.from_folder).values()
            if entry.kind == "file" and not is_bookkeeping(entry.path) and _chosen(entry.path, args.suffixes)
        ]
        pairs = {name[len(args.from_folder) + 1 :]: name for name in names}
        if not pairs:
            raise VerifierError(f"files.archive: {args.from_folder} ({args.side}) holds no file to compare with")
    else:
        pairs = dict(args.files or {})
    wanted: dict[str, bytes | None] = {}
    for name, source in pairs.items():
        content = side.read(source) if source else None
        if source and content is None:
            raise VerifierError(f"files.archive compares with {source} ({args.side}), which does not exist")
        wanted[name] = content
    return wanted


def _chosen(path: str, suffixes: tuple[str, ...]) -> bool:
    return not suffixes or suffix_of(path) in suffixes


def _common_root(found: dict[str, bytes], wanted: dict[str, bytes | None]) -> str:
    """The leading folders that all members share and that the expected names do not have."""
    root = ""
    names = list(found)
    while names and all("/" in name for name in names) and not set(wanted) & set(names):
        first = names[0].split("/", 1)[0] + "/"
        if not all(name.startswith(first) for name in names):
            break
        root += first
        names = [name.removeprefix(first) for name in names]
    return root
