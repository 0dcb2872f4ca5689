"""What a file says: `files.content`."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterator
from typing import Literal

from pydantic import Field, model_validator

from forge.records import VerifierError
from forge.records.artifact import GuestPath
from preparers.files.reading import read_text
from verifiers.base import Args, Case, Finding, Mutant, Tree, check, mutants
from verifiers.entries import walk
from verifiers.files import spoiling


class Content(Args):
    """What a file must say: a whole `text`, its `lines`, the same as another file, or texts that it contains or lacks.

    `match` says what counts as the same text: `bytes` every byte; `text` all but byte order mark, kind of line ends, white
    space at the end of lines and empty lines at the end; `loose` also not case, Unicode form, repeated white space and
    empty lines. By default `bytes` for `same_as`, else `text`.
    """

    path: GuestPath
    text: str | None = None
    lines: tuple[str, ...] | None = None
    ordered: bool = Field(True, description="whether the order of `lines` matters")
    same_as: GuestPath | None = Field(None, description="a file of the side `side` with the same content")
    side: Literal["before", "gold"] = "before"
    contains: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    match: Literal["bytes", "text", "loose"] | None = None

    @model_validator(mode="after")
    def _one_expectation(self) -> Content:
        whole = [self.text is not None, self.lines is not None, self.same_as is not None]
        parts = bool(self.contains or self.lacks)
        if sum(whole) + parts != 1:
            raise ValueError("give exactly one of text, lines, same_as, or contains and lacks")
        if parts and self.match == "bytes":
            raise ValueError("contains and lacks compare texts; match is text or loose")
        if any(not normal(part, self.how).strip() for part in (*self.contains, *self.lacks)):
            raise ValueError("what a file contains or lacks cannot be empty")
        return self

    @property
    def how(self) -> str:
        """The way to compare, with the default filled in."""
        return self.match or ("bytes" if self.same_as else "text")


def normal(text: str, how: str) -> str:
    """A text without the differences that do not count; see `Content`."""
    lines = [line.rstrip() for line in text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")]
    if how == "loose":
        lines = [" ".join(unicodedata.normalize("NFKC", line).casefold().split()) for line in lines]
        lines = [line for line in lines if line]
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines)


@check("files.content", Content)
def content(case: Case, args: Content) -> Finding:
    """A file's text is, contains or lacks what is asked for, or equals another file."""
    data = case.after.read(args.path)
    if data is None:
        return Finding(0.0, f"{args.path} " + ("is no file" if case.after.exists(args.path) else "does not exist"))
    if args.same_as is not None:
        return _same(case, args, data)
    with case.after.reading(args.path):
        text = read_text(args.path, data)
    if args.contains or args.lacks:
        return _parts(args, normal(text, args.how))
    if args.text is not None and args.how == "bytes":
        same = data == args.text.encode()
        return Finding(float(same), f"{args.path} is {'' if same else 'not '}the expected text, byte for byte")
    wanted = normal(args.text if args.text is not None else "\n".join(args.lines or ()), args.how)
    found = normal(text, args.how)
    if not args.ordered:
        wanted, found = "\n".join(sorted(wanted.split("\n"))), "\n".join(sorted(found.split("\n")))
    return Finding(float(found == wanted), f"{args.path}: {first_difference(wanted, found)}")


@mutants("files.content")
def other_contents(case: Case, args: Content, rng: random.Random) -> Iterator[Mutant]:
    """One line other, cut off, empty, another file's content, a part lost or still there."""
    data = case.after.read(args.path) or b""
    if args.contains or args.lacks:
        yield from _other_parts(args, data.decode(errors="replace"))
        return
    yield from _other_bytes(args, data, rng)
    if args.same_as is not None:
        other = _neighbour(case, args, data)
        if other is not None:
            yield Mutant("neighbours-content", spoiling.write(args.path, other), note="the file beside the right one")


def _same(case: Case, args: Content, data: bytes) -> Finding:
    assert args.same_as is not None
    side: Tree | None = case.gold if args.side == "gold" else case.before
    if side is None:
        raise VerifierError(f"files.content compares with {args.same_as} of the gold artifacts, and there are none")
    wanted = side.read(args.same_as)
    if wanted is None:
        raise VerifierError(f"files.content compares with {args.same_as} ({args.side}), which does not exist")
    where = f"{args.same_as} ({args.side})"
    if args.how == "bytes":
        same = data == wanted
        evidence = (
            f"{args.path} has {len(data)} bytes, {where} {len(wanted)}; they are {'equal' if same else 'not equal'}"
        )
        return Finding(float(same), evidence)
    with case.after.reading(args.path):
        found = normal(read_text(args.path, data), args.how)
    text = normal(read_text(args.same_as, wanted), args.how)
    return Finding(float(found == text), f"{args.path} against {where}: {first_difference(text, found)}")


def _parts(args: Content, text: str) -> Finding:
    lost = [part for part in args.contains if normal(part, args.how) not in text]
    kept = [part for part in args.lacks if normal(part, args.how) in text]
    evidence = [f"{args.path} contains {len(args.contains) - len(lost)} of {len(args.contains)} expected texts"]
    evidence += [f"missing: {part!r}" for part in lost[:5]] + [f"still there: {part!r}" for part in kept[:5]]
    return Finding(float(not lost and not kept), "; ".join(evidence))


def _other_bytes(args: Content, data: bytes, rng: random.Random) -> Iterator[Mutant]:
    path = args.path
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        yield Mutant("other-content", spoiling.write(path, spoiling.damaged(path, data)))
        yield Mutant("cut-off", spoiling.write(path, data[: len(data) // 2]))
        yield Mutant("emptied", spoiling.write(path, b""), audit=True)
        return
    filled = [index for index, line in enumerate(lines) if line.strip()]
    if not filled:
        yield Mutant("filled", spoiling.write(path, "something\n"))
        yield Mutant("filled-more", spoiling.write(path, "something\nelse\n"), audit=True)
        return
    at = filled[int(rng.random() * len(filled))]
    other = [*lines[:at], lines[at] + " and more", *lines[at + 1 :]]
    yield Mutant("other-line", spoiling.write(path, "\n".join(other)))
    yield Mutant("emptied", spoiling.write(path, b""))
    if len(filled) > 1:
        yield Mutant(
            "cut-off", spoiling.write(path, "\n".join(lines[: filled[-1]]) + "\n"), note="its last line is missing"
        )
    yield Mutant("line-more", spoiling.write(path, data.rstrip(b"\n") + b"\none more line\n"), audit=True)
    letters = [index for index in filled if re.search(r"\w", lines[index])]
    if letters:
        at = letters[-1]
        line = re.sub(r"\w(?=\W*$)", lambda match: "x" if match[0] != "x" else "y", lines[at], count=1)
        if line != lines[at]:
            typo = [*lines[:at], line, *lines[at + 1 :]]
            yield Mutant("typing-error", spoiling.write(path, "\n".join(typo)), audit=True)
    if args.ordered and len({lines[index].casefold().strip() for index in filled}) > 1:
        one = filled[0]
        two = next(i for i in filled if lines[i].casefold().strip() != lines[one].casefold().strip())
        swapped = list(lines)
        swapped[one], swapped[two] = swapped[two], swapped[one]
        yield Mutant("lines-swapped", spoiling.write(path, "\n".join(swapped)), audit=True)


def _other_parts(args: Content, text: str) -> Iterator[Mutant]:
    for index, part in enumerate(args.contains):
        without = _without(text, part)
        yield Mutant(f"lost-{index}", spoiling.write(args.path, without))
    for index, part in enumerate(args.lacks):
        yield Mutant(f"still-{index}", spoiling.write(args.path, f"{text.rstrip()}\n{part}\n"))
    yield Mutant("nonsense", spoiling.write(args.path, f"{(args.lacks or ('nothing',))[0]}\n"), audit=True)


def _without(text: str, part: str) -> str:
    """A text in which `part` does not occur, in any case and with any white space."""
    spelt = r"\s+".join(re.escape(word) for word in part.split())
    previous = None
    while text != previous:
        previous, text = text, re.sub(spelt, "", text, flags=re.IGNORECASE)
    return text


def _neighbour(case: Case, args: Content, data: bytes) -> bytes | None:
    """The content of another file that lay in the same folder before."""
    assert args.same_as is not None
    folder = args.same_as.rpartition("/")[0]
    for path, entry in walk(case.before, folder).items():
        if entry.kind == "file" and path != args.same_as and 0 < entry.size < 1 << 20:
            other = case.before.read(path)
            if other and normal(other.decode(errors="replace"), "loose") != normal(
                data.decode(errors="replace"), "loose"
            ):
                return other
    return None


def first_difference(wanted: str, found: str) -> str:
    """Where two normal texts part, for a reader of the evidence."""
    if wanted == found:
        return f"all {wanted.count(chr(10)) + 1} lines are as expected"
    one, two = wanted.split("\n"), found.split("\n")
    for number, (a, b) in enumerate(zip(one, two, strict=False), 1):
        if a != b:
            return f"line {number} is {b[:200]!r}, expected {a[:200]!r}"
    return f"{len(two)} lines, expected {len(one)}"
