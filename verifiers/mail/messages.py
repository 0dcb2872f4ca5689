"""Checks of messages and folders: `mail.in_folder`, `mail.flags`, `mail.tags`, `mail.folder_exists`, `mail.count`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from pydantic import Field, model_validator

from forge.harness.layers.mail.python import mailkit
from preparers.thunderbird.reading import ReadMail, ReadProfile
from verifiers.base import Case, Finding, Mutant, check, mutants
from verifiers.credit import credit
from verifiers.mail.profile import MailArgs, Words, by_id, kit, named, opened, tag_keys


class InFolder(MailArgs):
    """Where messages must be."""

    messages: Words = Field(min_length=1, description="Message-IDs, without brackets")
    folder: str
    also_in: Words = Field((), description="where copies must be as well; anywhere else there may be none")


class Flags(MailArgs):
    """How messages must be marked; what is not given does not matter."""

    messages: Words = Field(min_length=1)
    read: bool | None = None
    starred: bool | None = None
    replied: bool | None = None
    forwarded: bool | None = None

    @model_validator(mode="after")
    def _asks_something(self) -> Flags:
        if not self.wanted():
            raise ValueError("give at least one of read, starred, replied, forwarded")
        return self

    def wanted(self) -> dict[str, bool]:
        """Flag to the value it must have."""
        values = {"read": self.read, "starred": self.starred, "replied": self.replied, "forwarded": self.forwarded}
        return {name: value for name, value in values.items() if value is not None}


class Tags(MailArgs):
    """Which tags messages must have."""

    messages: Words = Field(min_length=1)
    tags: Words = Field(description="keys ($label1) or names (Important); none at all: ()")
    exactly: bool = Field(True, description="no other tags besides")


class FolderExists(MailArgs):
    """A folder that must be there, or must not."""

    folder: str
    exists: bool = True


class Count(MailArgs):
    """How many messages a folder must hold."""

    folder: str
    count: int | None = Field(None, ge=0)
    unread: int | None = Field(None, ge=0)

    @model_validator(mode="after")
    def _asks_something(self) -> Count:
        if self.count is None and self.unread is None:
            raise ValueError("give count or unread")
        return self


@check("mail.in_folder", InFolder, version=2)
def in_folder(case: Case, args: InFolder) -> Finding:
    """The messages are in the folder, once each, and nowhere else (but where copies are asked for).

    Of several messages, those that lay there before earn nothing.
    """
    places = sorted([args.folder, *args.also_in])

    def lies(profile: ReadProfile, wanted: str) -> str:
        found = sorted(mail.folder for mail in by_id(profile.messages, wanted))
        if found == places:
            return ""
        return f"{named(profile, wanted)} is in {', '.join(found) or 'no folder'}, not in {', '.join(places)}"

    score, said = _each(case, args, lies)
    return Finding(score, said or f"{len(args.messages)} message(s) in {', '.join(places)} and nowhere else")


@mutants("mail.in_folder")
def misplaced(case: Case, args: InFolder, rng: random.Random) -> Iterator[Mutant]:
    """The message elsewhere, in two places, or gone."""
    wanted = rng.choice(args.messages)
    before, after = opened(case.before, args, "folders"), opened(case.after, args, "folders")
    origin = next((mail.folder for mail in by_id(before.messages, wanted)), "")
    others = [f for f in after.folders if f not in (args.folder, *args.also_in, origin)]
    elsewhere = rng.choice([f for f in others if not f.startswith(("Trash", mailkit.OUTBOX))] or others)

    def to(folder: str) -> Callable[[Path], None]:
        return _on(args, wanted, args.folder, lambda profile, message: profile.move(message, folder))

    yield Mutant("wrong-folder", to(elsewhere), note=f"in {elsewhere} instead")
    if origin and origin not in (args.folder, *args.also_in) and origin in after.folders:
        yield Mutant("not-moved", to(origin), note=f"still in {origin}")
        copied = _on(args, wanted, args.folder, lambda profile, message: profile.copy(message, origin))
        yield Mutant("copied", copied, note=f"in {origin} as well")
    if args.also_in:
        lost = _on(args, wanted, args.also_in[0], lambda profile, message: profile.expunge(message))
        yield Mutant("moved-instead", lost, note=f"no longer in {args.also_in[0]}")
    yield Mutant(
        "expunged", _on(args, wanted, args.folder, lambda profile, message: profile.expunge(message)), audit=True
    )
    twice = _on(args, wanted, args.folder, lambda profile, message: profile.copy(message, args.folder))
    yield Mutant("twice", twice, audit=True, note="two copies in the folder")


@check("mail.flags", Flags, version=2)
def flags(case: Case, args: Flags) -> Finding:
    """Every copy of the messages is read or unread, starred, replied, forwarded as asked.

    Of several messages, those that were so before earn nothing.
    """

    def differs(profile: ReadProfile, wanted: str) -> str:
        copies = by_id(profile.messages, wanted)
        wrong = sorted({f"{k} {getattr(m, k)}" for m in copies for k, v in args.wanted().items() if getattr(m, k) != v})
        return "" if copies and not wrong else f"{named(profile, wanted)}: {', '.join(wrong) or 'not in any folder'}"

    asked = ", ".join(f"{name} {value}" for name, value in args.wanted().items())
    score, said = _each(case, args, differs)
    return Finding(score, f"asked {asked}; {said or 'so it is'}")


@mutants("mail.flags")
def other_flags(case: Case, args: Flags, rng: random.Random) -> Iterator[Mutant]:
    """One flag the other way round."""
    after = opened(case.after, args, "folders")
    wanted = rng.choice(args.messages)
    for name, value in args.wanted().items():
        flip = {name: not value}
        yield Mutant(f"{name}-{not value}".lower(), _everywhere(args, wanted, lambda p, m, f=flip: p.flag(m, **f)))
    neighbour = _neighbour(after, args.messages, rng)
    if neighbour is not None:

        def on_neighbour(home: Path) -> None:
            profile = kit(home, args)
            for message in profile.find(id=wanted):
                profile.flag(message, **{name: not value for name, value in args.wanted().items()})
            for message in profile.find(id=neighbour.id):
                profile.flag(message, **args.wanted())

        yield Mutant("neighbour-instead", on_neighbour, only=False, note=f"on {neighbour.subject!r}")
    yield Mutant("expunged", _everywhere(args, wanted, lambda p, m: p.expunge(m)), only=False, audit=True)


@check("mail.tags", Tags, version=2)
def tags(case: Case, args: Tags) -> Finding:
    """Every copy of the messages has the tags, and no others unless that does not matter.

    Of several messages, those that had them before earn nothing.
    """
    asked = tag_keys(opened(case.after, args, "folders"), args.tags)

    def differs(profile: ReadProfile, wanted: str) -> str:
        have = [set(mail.tags) for mail in by_id(profile.messages, wanted)]
        if have and all(tags == asked if args.exactly else tags >= asked for tags in have):
            return ""
        shown = " / ".join(", ".join(sorted(tags)) or "no tags" for tags in have) or "not in any folder"
        return f"{named(profile, wanted)}: {shown}"

    word = "exactly" if args.exactly else "at least"
    score, said = _each(case, args, differs)
    return Finding(score, f"asked {word} {', '.join(sorted(asked)) or 'none'}; {said or 'so it is'}")


@mutants("mail.tags")
def other_tags(case: Case, args: Tags, rng: random.Random) -> Iterator[Mutant]:
    """Another tag, none, or one too many."""
    after = opened(case.after, args, "folders")
    wanted, asked = rng.choice(args.messages), tag_keys(after, args.tags)
    free = sorted({*mailkit.TAGS.values(), *after.own_tags} - asked)
    other = rng.choice(free)
    if asked:
        swapped = sorted(asked - {max(asked)} | {other})
        yield Mutant("wrong-tag", _everywhere(args, wanted, lambda p, m: p.set_tags(m, swapped)), note=other)
        yield Mutant("untagged", _everywhere(args, wanted, lambda p, m: p.set_tags(m, [])))
    if args.exactly:
        yield Mutant("one-more", _everywhere(args, wanted, lambda p, m: p.tag(m, other)), audit=bool(asked))
    neighbour = _neighbour(after, args.messages, rng)
    if neighbour is not None and asked:

        def on_neighbour(home: Path) -> None:
            profile = kit(home, args)
            for message in profile.find(id=wanted):
                profile.set_tags(message, [])
            for message in profile.find(id=neighbour.id):
                profile.set_tags(message, sorted(asked))

        yield Mutant("neighbour-instead", on_neighbour, only=False, audit=True, note=f"on {neighbour.subject!r}")


@check("mail.folder_exists", FolderExists)
def folder_exists(case: Case, args: FolderExists) -> Finding:
    """The folder is there, spelt just so, or is not there."""
    after = opened(case.after, args, "folder_files")
    found = args.folder in after.folder_files
    near = [f for f in after.folder_files if f.casefold().split("/")[-1] == args.folder.casefold().split("/")[-1]]
    hint = f"; there is {', '.join(near)}" if near and not found else ""
    said = "is there" if found else "is not there"
    return Finding(float(found == args.exists), f"folder {args.folder} {said}{hint}")


@mutants("mail.folder_exists")
def other_folders(case: Case, args: FolderExists, rng: random.Random) -> Iterator[Mutant]:
    """The folder missing, misspelt, or elsewhere."""
    after = opened(case.after, args, "folder_files", "folders")
    if not args.exists:
        yield Mutant("still-there", lambda home: kit(home, args).create_folder(args.folder))
        return
    empty = not after.folders.get(args.folder) and not any(f.startswith(args.folder + "/") for f in after.folder_files)
    yield Mutant("missing", lambda home: kit(home, args).remove_folder(args.folder), only=empty)
    above, _, name = args.folder.rpartition("/")
    at = rng.randrange(len(name))
    misspelt = (name[:at] + name[at + 1 :]).strip() or name + "s"
    if misspelt == name or misspelt.startswith("."):
        misspelt = name + "s"
    renamed = f"{above}/{misspelt}" if above else misspelt
    yield Mutant("misspelt", lambda home: kit(home, args).rename_folder(args.folder, renamed), only=False)
    lower = name.swapcase()
    cased = f"{above}/{lower}" if above else lower
    if lower != name:
        yield Mutant(
            "other-case", lambda home: kit(home, args).rename_folder(args.folder, cased), only=False, audit=True
        )


@check("mail.count", Count)
def count(case: Case, args: Count) -> Finding:
    """The folder holds so many messages, or so many unread ones."""
    after = opened(case.after, args, "folders")
    if args.folder not in after.folders:
        return Finding(0.0, f"there is no folder {args.folder}")
    mails = after.folders[args.folder]
    unread = sum(not mail.read for mail in mails)
    good = args.count in (None, len(mails)) and args.unread in (None, unread)
    asked = [
        f"{value} {word}" for value, word in ((args.count, "messages"), (args.unread, "unread")) if value is not None
    ]
    return Finding(float(good), f"{args.folder} holds {len(mails)} messages, {unread} unread; asked {', '.join(asked)}")


@mutants("mail.count")
def other_counts(case: Case, args: Count, rng: random.Random) -> Iterator[Mutant]:
    """One message more, one less, one read or unread."""
    before, after = opened(case.before, args, "folders"), opened(case.after, args, "folders")
    now, then = after.folders.get(args.folder, ()), before.folders.get(args.folder, ())
    if args.count is not None:
        gone = [mail for mail in then if not by_id(now, mail.id)]
        came = [mail for mail in now if not by_id(then, mail.id)]
        if gone:
            back = rng.choice(gone)
            raw = _raw(case.before.path(args.profile), back)

            def put_back(home: Path) -> None:
                profile = kit(home, args)
                for message in profile.find(id=back.id):
                    profile.expunge(message)
                profile.append(args.folder, raw)

            yield Mutant("one-left", put_back, note=f"{back.subject!r} still there")
        if came:
            extra = rng.choice(came)
            away = _on(args, extra.id, args.folder, lambda profile, message: profile.expunge(message))
            yield Mutant("one-less", away, only=False, note=extra.subject)
        stray = b"From: Nobody <nobody@example.org>\nSubject: stray\nDate: Mon, 2 Mar 2026 10:00:00 +0100\n"
        stray += b"Message-ID: <stray@example.org>\n\nstray\n"
        yield Mutant("stray", lambda home: kit(home, args).append(args.folder, stray), only=False, audit=True)
    if args.unread is not None and now:
        mail = rng.choice(now)
        flip = _on(args, mail.id, args.folder, lambda profile, message: profile.flag(message, read=not mail.read))
        yield Mutant("read-flipped", flip, only=not mail.read, note=mail.subject)
        if args.count is None:
            gone_now = [m for m in now if not m.read]
            if gone_now:
                yield Mutant(
                    "unread-gone",
                    _on(args, gone_now[0].id, args.folder, lambda profile, message: profile.expunge(message)),
                    only=False,
                    audit=True,
                )


_Change = Callable[[mailkit.Profile, mailkit.Message], None]


def _on(args: MailArgs, wanted: str, folder: str, change: _Change) -> Callable[[Path], None]:
    """Change the first copy of a message in a folder."""

    def apply(home: Path) -> None:
        profile = kit(home, args)
        change(profile, profile.find(folder, id=wanted)[0])

    return apply


def _everywhere(args: MailArgs, wanted: str, change: Callable[..., None]) -> Callable[[Path], None]:
    """Change every copy of a message."""

    def apply(home: Path) -> None:
        profile = kit(home, args)
        for message in profile.find(id=wanted):
            change(profile, message)

    return apply


def _neighbour(after: ReadProfile, wanted: tuple[str, ...], rng: random.Random) -> ReadMail | None:
    """Another message of the folder that the first wanted one is in."""
    home = next((mail.folder for mail in by_id(after.messages, wanted[0])), "")
    others = [mail for mail in after.folders.get(home, ()) if mail.id not in wanted]
    return rng.choice(others) if others else None


def _raw(root: Path, mail: ReadMail) -> bytes:
    return mailkit.Profile(root).one(mail.folder, id=mail.id).raw


def _each(case: Case, args: InFolder | Flags | Tags, fault: Callable[[ReadProfile, str], str]) -> tuple[float, str]:
    """(score, what is wrong) of a property of each message; `fault` says what a message lacks, or nothing."""
    before, after = opened(case.before, args, "folders"), opened(case.after, args, "folders")
    wrong = [fault(after, wanted) for wanted in args.messages]
    was = [not fault(before, wanted) for wanted in args.messages]
    return credit(was, [not one for one in wrong]), "; ".join(one for one in wrong if one)
