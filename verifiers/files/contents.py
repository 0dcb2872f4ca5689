"""What several files say: `files.contents`, one criterion over a list of files."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field, field_validator

from forge.records import PreparerError
from forge.records.artifact import GuestPath
from preparers.files.reading import read_text
from verifiers.base import AgentFault, Args, Case, Finding, Mutant, Tree, check, mutants
from verifiers.credit import credit
from verifiers.files import spoiling
from verifiers.files.content import first_difference, normal
from verifiers.items import as_mapping, told


class Contents(Args):
    """Files and the whole text that each must say."""

    files: dict[GuestPath, str] = Field(
        min_length=1,
        description="path to text, as a mapping or as a list of {path, text}: "
        "\"${[{'path': n.path, 'text': n.text} for n in notes]}\"",
    )
    match: Literal["text", "loose"] = Field(
        "text",
        description="what counts as the same: all but line ends and white space at the end (text); "
        "also not case, repeated white space and empty lines (loose)",
    )

    @field_validator("files", mode="before")
    @classmethod
    def _as_mapping(cls, value: Any) -> Any:
        return as_mapping(value, "path", "text")


@check("files.contents", Contents)
def contents(case: Case, args: Contents) -> Finding:
    """Several files say what each should; the score is the share of those that were not right before and are now."""
    before = [_fault(case.before, path, text, args.match) is None for path, text in args.files.items()]
    faults = [_fault(case.after, path, text, args.match) for path, text in args.files.items()]
    wrong = [fault for fault in faults if fault is not None]
    right = [fault is None for fault in faults]
    return Finding(credit(before, right), told(right, before, wrong, "files"))


@mutants("files.contents")
def other_contents(case: Case, args: Contents, rng: random.Random) -> Iterator[Mutant]:
    """In one file a line too many, a word lost, nothing at all; one file missing or as it was; two files swapped."""
    paths = list(args.files)
    path = paths[int(rng.random() * len(paths))]
    text = args.files[path]
    yield Mutant("one-line-more", spoiling.write(path, f"{text.rstrip()}\nand more\n"), note=path)
    filled = [one for one in paths if normal(args.files[one], args.match)]
    if filled:
        short = filled[int(rng.random() * len(filled))]
        words = args.files[short].rstrip().rpartition(args.files[short].split()[-1])[0]
        yield Mutant("one-word-lost", spoiling.write(short, words), note=short)
        yield Mutant("one-emptied", spoiling.write(filled[0], b""), audit=True, note=filled[0])
    yield Mutant("one-missing", spoiling.delete(path), only=False, note=path)
    done = [one for one in paths if _fault(case.before, one, args.files[one], args.match) is not None]
    if done:
        yield Mutant("one-as-before", spoiling.as_before(case, done[-1]), only=False, note=done[-1])
    other = next((one for one in paths if normal(args.files[one], "loose") != normal(text, "loose")), None)
    if other is not None:
        yield Mutant("the-text-of-another", spoiling.write(path, args.files[other]), audit=True, note=path)
    else:
        yield Mutant("nonsense", spoiling.write(path, "something else\n"), audit=True, note=path)


def _fault(tree: Tree, path: str, text: str, how: str) -> str | None:
    """What is wrong with a file, in words; None when it says what it should. Unreadable is wrong."""
    try:
        data = tree.read(path)
        if data is None:
            return f"{path} " + ("is no file" if tree.exists(path) else "does not exist")
        with tree.reading(path):
            found = normal(read_text(path, data), how)
    except (AgentFault, PreparerError) as fault:
        return fault.message
    wanted = normal(text, how)
    return None if found == wanted else f"{path}: {first_difference(wanted, found)}"
