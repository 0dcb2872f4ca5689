"""Checks of mails that were written and of saved attachments: `mail.draft`, `mail.sent_or_unsent`, `mail.attachment_saved`."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from functools import partial
from pathlib import Path

from pydantic import Field, model_validator

from forge.harness.layers.mail.python import mailkit
from forge.records import VerifierError
from preparers.thunderbird.params import split_person
from preparers.thunderbird.reading import ReadFile, ReadMail
from verifiers.base import Args, Case, Finding, Mutant, check, mutants
from verifiers.mail.profile import MailArgs, Words, by_id, kit, opened
from verifiers.mail.text import normal, said


class File(Args):
    """A file that must be attached: by its SHA-256, a file of the home as it was, or an attachment of another mail."""

    name: str | None = Field(None, description="what it must be called; none: the name does not matter")
    sha256: str | None = Field(None, pattern=r"^[0-9a-f]{64}$")
    path: str | None = Field(None, description="guest path of a file of the initial state")
    message: str | None = Field(None, description="id of a message that has it, under `name`")

    @model_validator(mode="after")
    def _one_source(self) -> File:
        if sum(value is not None for value in (self.sha256, self.path, self.message)) != 1:
            raise ValueError("give one of sha256, path, message")
        if self.message is not None and self.name is None:
            raise ValueError("an attachment of a message needs its name")
        return self


class Written(MailArgs):
    """What a new mail must be. Only what is given matters."""

    to: Words | None = Field(None, description="addresses, all and no others; names beside them do not matter")
    cc: Words | None = None
    bcc: Words | None = None
    subject: str | None = None
    body: str | None = Field(None, description="all that it says, but for spaces, line ends and quoted mail")
    contains: Words = Field((), description="texts that it must say (outside quoted mail)")
    lacks: Words = Field((), description="texts that it must not say (outside quoted mail)")
    attachments: tuple[File, ...] | None = Field(None, description="all and no others")
    answers: str | None = Field(None, description="id of the message it replies to")
    sender: str | None = Field(None, description="address it is written from")

    @model_validator(mode="after")
    def _asks_something(self) -> Written:
        fields = type(self).model_fields
        if all(getattr(self, name) == fields[name].default for name in fields if name not in ("profile", "folder")):
            raise ValueError("give at least one of to, subject, body, contains, attachments, ...")
        return self


class Draft(Written):
    """A draft that must be there."""

    folder: str = "Drafts"


class AttachmentSaved(MailArgs):
    """An attachment that must lie in a file."""

    message: str = Field(description="the message's id")
    name: str = Field(description="the attachment's name in the message")
    path: str = Field(description="guest path of the file it must be in")


@check("mail.draft", Draft)
def draft(case: Case, args: Draft) -> Finding:
    """There is a new draft to these people with this subject, text and attachments."""
    return _written(case, args, (args.folder,), "draft")


@mutants("mail.draft")
def other_drafts(case: Case, args: Draft, rng: random.Random) -> Iterator[Mutant]:
    """A draft to somebody else, with another subject or text, without its attachment, or none."""
    yield from _other_written(case, args, (args.folder,), rng)


@check("mail.sent_or_unsent", Written)
def sent_or_unsent(case: Case, args: Written) -> Finding:
    """Such a mail was sent, or waits in the outbox because Thunderbird is offline."""
    return _written(case, args, ("Sent", mailkit.OUTBOX), "sent or unsent mail")


@mutants("mail.sent_or_unsent")
def other_sent(case: Case, args: Written, rng: random.Random) -> Iterator[Mutant]:
    """The same for a mail that was sent."""
    yield from _other_written(case, args, ("Sent", mailkit.OUTBOX), rng)


@check("mail.attachment_saved", AttachmentSaved)
def attachment_saved(case: Case, args: AttachmentSaved) -> Finding:
    """The file holds the attachment's bytes."""
    data = _attachment(case, args, args.message, args.name)
    found = case.after.read(args.path)
    if found is None:
        return Finding(0.0, f"{args.path} is not there")
    if found != data:
        return Finding(0.0, f"{args.path} has {len(found)} bytes that are not those of {args.name} ({len(data)} bytes)")
    return Finding(1.0, f"{args.path} holds {args.name}, {len(data)} bytes")


@mutants("mail.attachment_saved")
def other_saved(case: Case, args: AttachmentSaved, rng: random.Random) -> Iterator[Mutant]:
    """The file missing, with other bytes, or with those of another attachment."""
    data = _attachment(case, args, args.message, args.name)

    def put(content: bytes) -> Callable[[Path], None]:
        return lambda home: _write(home / args.path.removeprefix("~/"), content)

    yield Mutant("missing", lambda home: (home / args.path.removeprefix("~/")).unlink())
    yield Mutant("cut-off", put(data[: len(data) // 2] if data else b"x"))
    before = opened(case.before, args, "folders")
    others = sorted({f.data for mail in before.messages for f in mail.attachments if f.data != data})
    if others:
        yield Mutant("other-attachment", put(rng.choice(others)))
    yield Mutant("one-byte", put(data + b"\n"), audit=True)


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _attachment(case: Case, args: MailArgs, message: str, name: str) -> bytes:
    before = opened(case.before, args, "folders")
    for mail in by_id(before.messages, message):
        for file in mail.attachments:
            if file.name == name:
                return file.data
    raise VerifierError(f"message {message!r} has no attachment {name!r} in the initial state")


def _written(case: Case, args: Written, folders: tuple[str, ...], word: str) -> Finding:
    new = _new_mails(case, args, folders)
    if not new:
        return Finding(0.0, f"no new {word} in {' or '.join(folders)}")
    faults = [(_faults(case, args, mail), mail) for mail in new]
    wrong, nearest = min(faults, key=lambda item: len(item[0]))
    shown = f"{nearest.subject!r} to {', '.join(nearest.to) or 'nobody'}"
    if wrong:
        return Finding(0.0, f"nearest {word} is {shown}: {'; '.join(wrong)}")
    return Finding(1.0, f"{word} {shown} is as asked")


def _new_mails(case: Case, args: MailArgs, folders: tuple[str, ...]) -> list[ReadMail]:
    """Messages of these folders that were not there before, or not like this."""
    before, after = opened(case.before, args, "folders"), opened(case.after, args, "folders")
    old = {_content(mail) for folder in folders for mail in before.folders.get(folder, ())}
    return [mail for folder in folders for mail in after.folders.get(folder, ()) if _content(mail) not in old]


def _content(mail: ReadMail) -> tuple[object, ...]:
    return (mail.id, mail.to, mail.cc, mail.bcc, mail.subject, mail.text, mail.html, mail.attachments)


def _faults(case: Case, args: Written, mail: ReadMail) -> list[str]:
    """What the mail lacks, in words."""
    wrong = []
    for name, have in (("to", mail.to), ("cc", mail.cc), ("bcc", mail.bcc)):
        asked = getattr(args, name)
        if asked is not None and _addresses(asked) != _addresses(have):
            wrong.append(f"{name} is {', '.join(have) or 'empty'}, not {', '.join(asked) or 'empty'}")
    if args.sender is not None and _addresses((args.sender,)) != _addresses((mail.sender,)):
        wrong.append(f"it is from {mail.sender}")
    if args.subject is not None and normal(mail.subject) != normal(args.subject):
        wrong.append(f"its subject is {mail.subject!r}, not {args.subject!r}")
    own = said(mail, quoted=False)
    if args.body is not None and own != normal(args.body):
        wrong.append(f"it says {own[:200]!r}, not {normal(args.body)[:200]!r}")
    wrong += [f"it does not say {text!r}" for text in args.contains if normal(text) not in own]
    wrong += [f"it says {text!r}" for text in args.lacks if normal(text) in own]
    if args.answers is not None and mail.answers != args.answers.strip("<>"):
        wrong.append(f"it answers {mail.answers or 'no message'}, not {args.answers}")
    if args.attachments is not None:
        wrong += _file_faults(case, args, mail.attachments)
    return wrong


def _file_faults(case: Case, args: Written, have: tuple[ReadFile, ...]) -> list[str]:
    left = list(have)
    wrong = []
    for asked in args.attachments or ():
        wanted = _sha256(case, args, asked)
        hit = next(
            (
                file
                for file in left
                if hashlib.sha256(file.data).hexdigest() == wanted
                and (asked.name is None or asked.message is not None or file.name == asked.name)
            ),
            None,
        )
        if hit is None:
            names = ", ".join(file.name for file in have) or "none"
            wrong.append(f"attachment {asked.name or asked.path or wanted[:12]} is missing; it has {names}")
        else:
            left.remove(hit)
    return wrong + [f"an attachment too many: {file.name}" for file in left]


def _sha256(case: Case, args: Written, file: File) -> str:
    if file.sha256 is not None:
        return file.sha256
    if file.path is not None:
        data = case.before.read(file.path)
        if data is None:
            raise VerifierError(f"{file.path} is not in the initial state")
        return hashlib.sha256(data).hexdigest()
    return hashlib.sha256(_attachment(case, args, file.message or "", file.name or "")).hexdigest()


def _addresses(people: tuple[str, ...]) -> list[str]:
    return sorted(split_person(person)[1].casefold() for person in people)


def _other_written(case: Case, args: Written, folders: tuple[str, ...], rng: random.Random) -> Iterator[Mutant]:
    mail = next(mail for mail in _new_mails(case, args, folders) if not _faults(case, args, mail))

    def change(edit: Callable[[EmailMessage], None]) -> Callable[[Path], None]:
        def apply(home: Path) -> None:
            profile = kit(home, args)
            message = profile.find(mail.folder, id=mail.id)[0]
            parsed = message.mail
            edit(parsed)
            profile.replace(message, parsed)

        return apply

    def header(name: str, value: str) -> Callable[[Path], None]:
        def edit(parsed: EmailMessage) -> None:
            del parsed[name]
            if value:
                parsed[name] = value

        return change(edit)

    def text(make: Callable[[str], str]) -> Callable[[Path], None]:
        def edit(parsed: EmailMessage) -> None:
            part = parsed.get_body(("plain", "html"))
            if part is not None:
                part.set_content(make(str(part.get_content())), subtype=part.get_content_subtype())

        return change(edit)

    yield Mutant("not-saved", lambda home: kit(home, args).expunge(kit(home, args).find(mail.folder, id=mail.id)[0]))
    for name in ("to", "cc", "bcc"):
        asked = getattr(args, name)
        if asked:
            local, _, domain = split_person(rng.choice(asked))[1].partition("@")
            others = [f"{local}.x@{domain}", *(split_person(p)[1] for p in asked[1:])]
            yield Mutant(f"{name}-other-person", header(name.capitalize(), ", ".join(others)))
            if name == "to":
                more = ", ".join([*(split_person(p)[1] for p in asked), f"{local}.x@{domain}"])
                yield Mutant("one-recipient-more", header("To", more), audit=True)
        elif asked is not None:
            yield Mutant(f"{name}-somebody", header(name.capitalize(), "somebody@example.org"), audit=True)
    if args.subject:
        yield Mutant("other-subject", header("Subject", args.subject[:-1] or "x"))
    if args.answers is not None:
        yield Mutant("no-reply", header("In-Reply-To", ""))
    if args.body is not None or args.contains:
        yield Mutant("empty", text(lambda _: "\n"))
    if args.body is not None:
        yield Mutant("one-sentence-more", text(lambda old: old + "One more sentence.\n"), audit=True)
    for number, phrase in enumerate(args.contains):
        yield Mutant(f"without-phrase-{number + 1}", text(partial(_without, phrase)), note=phrase)
    for number, phrase in enumerate(args.lacks):
        yield Mutant(f"with-phrase-{number + 1}", text(partial(_with, phrase)), note=phrase)
    if args.attachments:

        def spoil(parsed: EmailMessage) -> None:
            part = next(iter(parsed.iter_attachments()))
            name = part.get_filename()
            part.set_content(b"something else", maintype="application", subtype="octet-stream", filename=name)

        def drop(parsed: EmailMessage) -> None:
            parts = parsed.get_payload()
            if isinstance(parts, list):
                gone = next(iter(parsed.iter_attachments()))
                parsed.set_payload([part for part in parts if part is not gone])

        yield Mutant("no-attachment", change(drop))
        yield Mutant("other-attachment", change(spoil))


def _without(phrase: str, old: str) -> str:
    """The text with the phrase changed; all of it replaced where the phrase is broken over lines."""
    return old.replace(phrase, phrase[1:] + "~") if phrase in old else "Something else.\n"


def _with(phrase: str, old: str) -> str:
    return f"{old}{phrase}\n"
