"""`mail.changed_elsewhere`: nothing in the profile but what was asked for is different. A `must_not`: 1 while intact.

Thunderbird's own bookkeeping is no damage: indexes (`.msf`), window state, preferences that are no account, a message
that becomes read because it was shown (and unread again is damage), expunged copies, blank lines at a message's end.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from pydantic import Field

from forge.harness.layers.mail.python import mailkit
from preparers.thunderbird.cards import Card
from preparers.thunderbird.layout import OWN_FOLDERS
from preparers.thunderbird.reading import ReadMail, ReadProfile
from preparers.thunderbird.rules import Rule
from verifiers.base import Case, Finding, Mutant, check, mutants
from verifiers.mail.filters import shown
from verifiers.mail.profile import MailArgs, Words, kit, opened

_ASPECTS = ("starred", "replied", "forwarded")


class ChangedElsewhere(MailArgs):
    """What may change; everything else in every folder, the address book, the filters and accounts must be as before."""

    messages: Words = Field((), description="ids of messages that may be moved, marked, copied or deleted")
    read: Words = Field((), description="ids of messages that may become read or unread, and nothing else")
    folders: Words = Field((), description="folders that may come or go, and that may get new messages (Drafts)")
    emptied: Words = Field((), description="folders whose messages may go")
    contacts: Words = Field((), description="names or addresses of cards that may come, go or change")
    lists: Words = Field((), description="mailing lists that may come, go or change")
    filters: Words = Field((), description="names of filters that may come, go or change")
    tags: Words = Field((), description="names of own tags that may come")
    aspects: Words = Field((), description="what may change on any message: read, starred, replied, forwarded, tags")
    keep_unread: bool = Field(False, description="a message may not become read, even by being shown")


@check("mail.changed_elsewhere", ChangedElsewhere, version=2)
def changed_elsewhere(case: Case, args: ChangedElsewhere) -> Finding:
    """Every other message, flag, tag, folder, contact, filter and account is as it was.

    A message that becomes read because it was opened is no damage (but see `keep_unread`); one that becomes unread is.
    """
    parts = ("folders", "contacts", "lists", "filters")
    before, after = opened(case.before, args, *parts), opened(case.after, args, *parts)
    damage = [
        *_messages(before, after, args),
        *_folders(before, after, args),
        *_cards(before, after, args),
        *_rules(before, after, args),
        *_settings(before, after, args),
    ]
    if not damage:
        return Finding(1.0, "nothing else in the profile changed")
    more = f" and {len(damage) - 8} more" if len(damage) > 8 else ""
    return Finding(0.0, "; ".join(damage[:8]) + more)


@mutants("mail.changed_elsewhere")
def over_edits(case: Case, args: ChangedElsewhere, rng: random.Random) -> Iterator[Mutant]:
    """Something else marked, moved, deleted, removed or switched as well."""
    after = opened(case.after, args, "folders", "contacts", "lists", "filters")
    free = [m for m in after.messages if m.id and m.id not in args.messages and m.folder not in args.emptied]
    free = [m for m in free if m.folder not in args.folders or _was_there(case, args, m)]
    if free:
        mail = rng.choice(free)
        shown_mail = f"{mail.subject!r} in {mail.folder}"
        on = partial(_on, args, mail)
        if "starred" not in args.aspects:
            yield Mutant("starred", on(lambda p, m: p.flag(m, starred=not mail.starred)), note=shown_mail)
        if "tags" not in args.aspects:
            tag = rng.choice([key for key in mailkit.TAGS.values() if key not in mail.tags])
            yield Mutant("tagged", on(lambda p, m: p.tag(m, tag)), note=f"{shown_mail}: {tag}")
        if mail.read and "read" not in args.aspects and mail.id not in args.read:
            yield Mutant("unread", on(lambda p, m: p.flag(m, read=False)), note=shown_mail)
        unread = [m for m in free if not m.read and m.id not in args.read]
        if args.keep_unread and unread and "read" not in args.aspects:
            other = rng.choice(unread)
            note = f"{other.subject!r} in {other.folder}"
            yield Mutant("read-as-well", _on(args, other, lambda p, m: p.flag(m, read=True)), note=note)
        yield Mutant("deleted", on(lambda p, m: p.delete(m)), only=False, note=shown_mail)
        target = rng.choice([f for f in after.folders if f not in (mail.folder, mailkit.OUTBOX)])
        yield Mutant("moved", on(lambda p, m: p.move(m, target)), only=False, note=f"{shown_mail} to {target}")
        yield Mutant("edited", on(_edit), only=False, audit=True, note=shown_mail)
        yield Mutant("copied", on(lambda p, m: p.copy(m, target)), only=False, audit=True, note=shown_mail)
    yield Mutant("new-folder", lambda home: kit(home, args).create_folder(_unused(after)))
    cards = [c for c in after.contacts if c.email and not {c.name, c.email} & set(args.contacts)]
    if cards:
        card = rng.choice(cards)
        yield Mutant("contact-removed", lambda home: kit(home, args).remove_contact(card.email), note=card.name)
    rules = [rule for rule in after.filters if rule.name not in args.filters]
    if rules:
        rule = rng.choice(rules)
        yield Mutant(
            "filter-removed", lambda home: kit(home, args).remove_filter(rule.name, rule.account), note=rule.name
        )
        yield Mutant("filter-switched", partial(_switch, args, rule), audit=True, note=rule.name)
    yield Mutant("contact-added", partial(_add_stranger, args), audit=True)


def _messages(before: ReadProfile, after: ReadProfile, args: ChangedElsewhere) -> Iterator[str]:
    allowed = set(args.messages)
    old, new = _grouped(before, allowed), _grouped(after, allowed)
    for key, mails in old.items():
        content, folder = key
        kept = new.get(key, [])
        label = f"{mails[0].subject!r}"
        if len(kept) < len(mails) and folder not in args.emptied:
            elsewhere = sorted({f for c, f in new if c == content and (c, f) not in old})
            changed = [m for m in after.folders.get(folder, ()) if m.id and m.id == mails[0].id]
            if elsewhere:
                yield f"{label} went from {folder} to {', '.join(elsewhere)}"
            elif changed:
                yield f"{label} in {folder} was edited"
            else:
                yield f"{label} is gone from {folder}"
        if len(kept) > len(mails) and folder not in args.folders:
            yield f"{label} is in {folder} {len(kept)} times"
        for one, other in zip(mails, kept, strict=False):
            yield from _marks(one, other, args)
    contents = {content for content, _ in old}
    for (content, folder), mails in new.items():
        if (content, folder) in old:
            continue
        label = f"{mails[0].subject!r}"
        if content in contents:
            if all((content, f) in new for c, f in old if c == content):
                yield f"{label} was copied to {folder}"
        elif folder not in args.folders:
            edited = {mail.id for mail in before.folders.get(folder, ()) if mail.id} & {mail.id for mail in mails}
            if not edited:  # an edited one was named above
                yield f"{label} is new in {folder}"


def _grouped(profile: ReadProfile, allowed: set[str]) -> dict[tuple[str, str], list[ReadMail]]:
    """(hash of what a message says, folder) to its copies there, allowed ones left out."""
    found: dict[tuple[str, str], list[ReadMail]] = {}
    for mail in profile.messages:
        if mail.id not in allowed or not mail.id:
            found.setdefault((_said(mail), mail.folder), []).append(mail)
    return found


def _said(mail: ReadMail) -> str:
    files = [(file.name, hashlib.sha256(file.data).hexdigest()) for file in mail.attachments]
    parts = (mail.id, mail.sender, mail.to, mail.cc, mail.bcc, mail.subject, mail.date, mail.text, mail.html, files)
    return hashlib.sha256(repr(parts).encode(errors="surrogatepass")).hexdigest()


def _marks(old: ReadMail, new: ReadMail, args: ChangedElsewhere) -> Iterator[str]:
    where = f"{old.subject!r} in {old.folder}"
    for name in _ASPECTS:
        if name not in args.aspects and getattr(old, name) != getattr(new, name):
            yield f"{where} is {'now' if getattr(new, name) else 'no longer'} {name}"
    free = "read" in args.aspects or old.id in args.read
    if not free and ((old.read and not new.read) or (args.keep_unread and new.read and not old.read)):
        yield f"{where} is now {'read' if new.read else 'unread'}"
    if "tags" not in args.aspects and set(old.tags) != set(new.tags):
        yield f"{where} has tags {', '.join(new.tags) or 'none'} instead of {', '.join(old.tags) or 'none'}"


def _folders(before: ReadProfile, after: ReadProfile, args: ChangedElsewhere) -> Iterator[str]:
    may = {"/".join(path.split("/")[: n + 1]) for path in args.folders for n in range(path.count("/") + 1)}
    for folder in before.folder_files:
        if folder not in after.folder_files and folder not in may:
            yield f"folder {folder} is gone"
    for folder in after.folder_files:
        # Thunderbird makes an account's own folders when it needs them, empty.
        own = folder.split("/")[-1] in OWN_FOLDERS and not after.folders.get(folder)
        if folder not in before.folder_files and folder not in may and not own:
            yield f"folder {folder} is new"


def _cards(before: ReadProfile, after: ReadProfile, args: ChangedElsewhere) -> Iterator[str]:
    may = {word.casefold() for word in args.contacts}
    everybody = [*before.contacts, *after.contacts]
    may |= {card.email.casefold() for card in everybody if {card.name.casefold(), card.email.casefold()} & may}

    def values(card: Card) -> tuple[object, ...]:
        return tuple(getattr(card, name) for name in Card.__dataclass_fields__ if name != "uid")

    def free(cards: tuple[Card, ...]) -> Counter[tuple[object, ...]]:
        return Counter(values(c) for c in cards if not {c.name.casefold(), c.email.casefold()} & may)

    old, new = free(before.contacts), free(after.contacts)
    yield from (f"contact {card[0]} <{card[1]}> is gone or changed" for card in (old - new))
    yield from (f"contact {card[0]} <{card[1]}> is new or changed" for card in (new - old))
    lists = [{x.name: x for x in p.lists if x.name not in args.lists} for p in (before, after)]
    for name in sorted(lists[0].keys() | lists[1].keys()):
        one, other = lists[0].get(name), lists[1].get(name)
        if one is None or other is None:
            yield f"mailing list {name!r} is {'new' if one is None else 'gone'}"
        elif (one.nickname, one.description) != (other.nickname, other.description) or {
            m for m in one.members if m.casefold() not in may
        } != {m for m in other.members if m.casefold() not in may}:
            yield f"mailing list {name!r} changed"


def _rules(before: ReadProfile, after: ReadProfile, args: ChangedElsewhere) -> Iterator[str]:
    def free(rules: tuple[Rule, ...]) -> list[Rule]:
        return [rule for rule in rules if rule.name not in args.filters]

    old, new = free(before.filters), free(after.filters)
    for rule in old:
        if rule not in new:
            yield f"filter {shown(rule)} is gone or changed"
    for rule in new:
        if rule not in old:
            yield f"filter {shown(rule)} is new or changed"


def _settings(before: ReadProfile, after: ReadProfile, args: ChangedElsewhere) -> Iterator[str]:
    if before.accounts != after.accounts:
        yield "the accounts changed"
    for key, tag in before.own_tags.items():
        if key not in after.own_tags:
            yield f"tag {tag[0]!r} is gone"
        elif after.own_tags[key] != tag:
            yield f"tag {tag[0]!r} changed"
    for key, (name, _) in after.own_tags.items():
        if key not in before.own_tags and name not in args.tags and key not in args.tags and key not in _STANDARD:
            yield f"tag {name!r} is new"


_STANDARD = set(mailkit.TAGS.values())


def _on(
    args: MailArgs, mail: ReadMail, change: Callable[[mailkit.Profile, mailkit.Message], None]
) -> Callable[[Path], None]:
    def apply(home: Path) -> None:
        profile = kit(home, args)
        change(profile, profile.find(mail.folder, id=mail.id)[0])

    return apply


def _add_stranger(args: MailArgs, home: Path) -> None:
    kit(home, args).add_contact("Nemo Nobody", "nemo@nowhere.example")


def _switch(args: MailArgs, rule: Rule, home: Path) -> None:
    kit(home, args).enable_filter(rule.name, not rule.enabled, rule.account)


def _edit(profile: mailkit.Profile, message: mailkit.Message) -> None:
    parsed = message.mail
    subject = str(parsed["Subject"] or "")
    del parsed["Subject"]
    parsed["Subject"] = subject + "!"
    profile.replace(message, parsed)


def _was_there(case: Case, args: ChangedElsewhere, mail: ReadMail) -> bool:
    before = opened(case.before, args, "folders")
    return any(old.id == mail.id for old in before.folders.get(mail.folder, ()))


def _unused(profile: ReadProfile) -> str:
    return next(name for name in ("Misc", "Misc 2", "Misc 3", "Misc 4") if name not in profile.folder_files)
