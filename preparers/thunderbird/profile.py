"""The preparer `thunderbird.profile`: a whole profile that Thunderbird 153 opens straight into a folder."""

from __future__ import annotations

import calendar
import hashlib
from pathlib import Path
from typing import ClassVar

from forge.harness.layers.mail.python.mailkit.formats import RULES_HEAD, rule_text
from forge.records import JSON, PreparerError
from preparers.base import Context, Prepared, PreparedFile, Preparer, preparer
from preparers.thunderbird.addressbook import address_book
from preparers.thunderbird.layout import PROFILE, all_folders, folder_path, join_path, split_path, stores, uri
from preparers.thunderbird.message import mbox_entry, media_type, message_id, thread
from preparers.thunderbird.params import Contact, Filter, Mail, MailingList, ProfileParams, split_person
from preparers.thunderbird.reading import ReadMail, ReadProfile
from preparers.thunderbird.settings import prefs_js, profiles_ini, user_js, window_state


@preparer
class ThunderbirdProfile(Preparer[ProfileParams]):
    """A profile at `~/.thunderbird/alex.default`, with accounts, folders, mails, address book and filters.

    One a task. People are written `Name <address>` or as a bare address; folders `Inbox` or `Projects/Apollo` for the first
    account, `LABEL/Inbox` for another one, and `Local Folders/Notes`. Every account has Inbox, Drafts, Templates, Sent,
    Archives, Junk and Trash. Dates are local time without offset. The first account is the owner's; nothing is ever sent or
    fetched, what is sent waits in `Local Folders/Unsent Messages`. A drawn mailbox (the draw `mailbox`) goes in by `with`.

    In the facts a mail's sender is `mail['from']` (`from` is no name in expressions), `from_name` and `from_address`; `body`
    is a hash of its text, an attachment's `sha256` of its bytes; a filter's conditions are [field, op, value], its actions
    [kind, value].
    """

    name = "thunderbird.profile"
    version = 2
    params = ProfileParams
    example = """\
accounts: [{address: alex@example.com, name: Alex Doe}]
folders:
  - path: Inbox
    messages:
      - {id: a1@navy.example, from: Grace Hopper <grace@navy.example>, to: [alex@example.com], subject: Minutes,
         date: 2026-03-02T10:15:00, text: Hello, read: false, tags: [$label1],
         attachments: [{name: minutes.txt, text: "- tea"}]}
  - {path: Projects/Apollo}
contacts: [{name: Grace Hopper, email: grace@navy.example, phone: "+49 30 123"}]
filters:
  - {name: Bills, conditions: [{field: subject, value: invoice}], actions: [{kind: move, value: Projects/Apollo}]}
"""
    example_facts: ClassVar[dict[str, JSON]] = {
        "account": "alex@example.com",
        "messages[0].from_address": "grace@navy.example",
        "messages[0].tags": ["$label1"],
        "contacts[0].phone": "+49 30 123",
        "filters[0].actions": [["move", "Projects/Apollo"]],
    }

    def prepare(self, params: ProfileParams, context: Context) -> Prepared:
        mails = _placed(params)
        files = {f"{PROFILE}/{name}": data for name, data in self._files(params, mails, context).items()}
        files["~/.thunderbird/profiles.ini"] = profiles_ini()
        prepared = tuple(PreparedFile(path, data, mode=0o600) for path, data in sorted(files.items()))
        return Prepared(prepared, self.facts(params, context))

    def facts(self, params: ProfileParams, context: Context) -> dict[str, JSON]:
        mails = _placed(params)
        known = stores(params)
        labels = {"": known[0].label}
        return {
            "profile": PROFILE,
            "account": known[0].label,
            "address": params.accounts[0].address,
            "name": params.accounts[0].name,
            "accounts": [{"label": a.title, "address": a.address, "name": a.name} for a in params.accounts],
            "folders": [
                {"path": path, "count": len(found), "unread": sum(not mail.read for mail in found.values())}
                for path, found in mails.items()
            ],
            "messages": [_mail_facts(path, key, mail) for path, found in mails.items() for key, mail in found.items()],
            "contacts": sorted((contact.model_dump() for contact in params.contacts), key=lambda c: str(c["email"])),
            "lists": [_list_facts(item) for item in sorted(params.lists, key=lambda item: item.name)],
            "filters": [_filter_facts(rule, labels.get(rule.account, rule.account)) for rule in _ordered(params)],
            "tags": [
                {"key": tag.key, "name": tag.name, "color": tag.color}
                for tag in sorted(params.tags, key=lambda tag: tag.key)
            ],
        }

    def inspect(self, home: Path, params: ProfileParams) -> dict[str, JSON]:
        profile = ReadProfile(home / PROFILE.removeprefix("~/"), PROFILE)
        owned = [account for account in profile.accounts if account.address]
        return {
            "profile": PROFILE,
            "account": owned[0].label,
            "address": owned[0].address,
            "name": owned[0].name,
            "accounts": [{"label": a.label, "address": a.address, "name": a.name} for a in owned],
            "folders": [
                {"path": path, "count": len(mails), "unread": sum(not mail.read for mail in mails)}
                for path, mails in profile.folders.items()
            ],
            "messages": [_read_facts(mail) for mail in profile.messages],
            "contacts": sorted(
                ({key: getattr(card, key) for key in Contact.model_fields} for card in profile.contacts),
                key=lambda c: str(c["email"]),
            ),
            "lists": [
                {"name": x.name, "nickname": x.nickname, "description": x.description, "members": list(x.members)}
                for x in profile.lists
            ],
            "filters": [
                {
                    "name": rule.name,
                    "enabled": rule.enabled,
                    "match": rule.match,
                    "conditions": [list(c) for c in rule.conditions],
                    "actions": [list(a) for a in rule.actions],
                    "account": rule.account,
                }
                for rule in profile.filters
            ],
            "tags": [{"key": k, "name": name, "color": color} for k, (name, color) in sorted(profile.own_tags.items())],
        }

    def _files(self, params: ProfileParams, mails: dict[str, dict[str, Mail]], context: Context) -> dict[str, bytes]:
        """Paths below the profile to bytes."""
        known = stores(params)
        by_id = {key: mail for found in mails.values() for key, mail in found.items()}
        files = {
            folder_path(path, known): b"".join(
                mbox_entry(mail.model_copy(update={"id": key}), thread(mail, by_id), context.guest.timezone)
                for key, mail in found.items()
            )
            for path, found in mails.items()
        }
        modified = calendar.timegm(context.guest.now.timetuple()) - 86_400
        files["abook.sqlite"] = address_book(params.contacts, params.lists, modified)
        files["history.sqlite"] = address_book((), (), modified)
        files["prefs.js"], files["user.js"] = prefs_js(params), user_js()
        files |= window_state(params, context.guest)
        for store in known:
            rules = [rule for rule in _ordered(params) if (rule.account or known[0].label) == store.label]
            if rules:
                files[f"{store.directory}/msgFilterRules.dat"] = (
                    RULES_HEAD + "".join(_rule(rule, params) for rule in rules)
                ).encode()
        return files


def _placed(params: ProfileParams) -> dict[str, dict[str, Mail]]:
    """Folder path to (message id to mail), every folder there is, in canonical order; ids are unique in the profile."""
    known = stores(params)
    canonical = {path: join_path(*split_path(path, known), known) for path in (f.path for f in params.folders)}
    placed: dict[str, dict[str, Mail]] = {path: {} for path in all_folders(params)}
    lower = [path.casefold() for path in placed]
    for path in placed:
        if lower.count(path.casefold()) > 1:
            raise PreparerError(f"thunderbird.profile: two folders are called {path!r}, but for upper and lower case")
    taken: set[str] = set()
    for folder in params.folders:
        for mail in folder.messages:
            key, number = message_id(mail), 1
            while key in taken:
                if mail.id:
                    raise PreparerError(f"thunderbird.profile: two messages have the id {mail.id!r}")
                number += 1
                local, _, domain = message_id(mail).partition("@")
                key = f"{local}.{number}@{domain}"
            taken.add(key)
            placed[canonical[folder.path]][key] = mail
    for rule in params.filters:
        for action in rule.actions:
            if action.kind in ("move", "copy") and action.value not in placed:
                raise PreparerError(f"thunderbird.profile: filter {rule.name!r}: there is no folder {action.value!r}")
    return placed


def _ordered(params: ProfileParams) -> list[Filter]:
    labels = [store.label for store in stores(params)]
    return sorted(params.filters, key=lambda rule: labels.index(rule.account or labels[0]))


def _rule(rule: Filter, params: ProfileParams) -> str:
    known = stores(params)
    actions = [(a.kind, uri(a.value, known) if a.kind in ("move", "copy") else a.value) for a in rule.actions]
    return rule_text(rule.name, rule.enabled, rule.match, [(c.field, c.op, c.value) for c in rule.conditions], actions)


def _mail_facts(folder: str, key: str, mail: Mail) -> dict[str, JSON]:
    name, address = split_person(mail.sender)
    return {
        "id": key,
        "folder": folder,
        "from": mail.sender,
        "from_name": name,
        "from_address": address,
        "to": list(mail.to),
        "cc": list(mail.cc),
        "subject": mail.subject,
        "date": mail.date,
        "answers": mail.answers,
        "read": mail.read,
        "starred": mail.starred,
        "replied": mail.replied,
        "forwarded": mail.forwarded,
        "tags": list(mail.tags),
        "attachments": [_file_facts(a.name, a.data(), media_type(a)) for a in mail.attachments],
        "body": _body_hash(mail.text, mail.html),
    }


def _read_facts(mail: ReadMail) -> dict[str, JSON]:
    name, address = split_person(mail.sender)
    return {
        "id": mail.id,
        "folder": mail.folder,
        "from": mail.sender,
        "from_name": name,
        "from_address": address,
        "to": list(mail.to),
        "cc": list(mail.cc),
        "subject": mail.subject,
        "date": mail.date,
        "answers": mail.answers,
        "read": mail.read,
        "starred": mail.starred,
        "replied": mail.replied,
        "forwarded": mail.forwarded,
        "tags": list(mail.tags),
        "attachments": [_file_facts(a.name, a.data, a.type) for a in mail.attachments],
        "body": _body_hash(mail.text or "", mail.html or ""),
    }


def _file_facts(name: str, data: bytes, kind: str) -> dict[str, JSON]:
    return {"name": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "type": kind}


def _body_hash(text: str, html: str) -> str:
    return hashlib.sha256(f"{text}\0{html}".encode()).hexdigest()[:16]


def _list_facts(item: MailingList) -> dict[str, JSON]:
    return {
        "name": item.name,
        "nickname": item.nickname,
        "description": item.description,
        "members": sorted(item.members),
    }


def _filter_facts(rule: Filter, account: str) -> dict[str, JSON]:
    return {
        "name": rule.name,
        "enabled": rule.enabled,
        "match": rule.match,
        "conditions": [[c.field, c.op, c.value] for c in rule.conditions],
        "actions": [[a.kind, a.value] for a in rule.actions],
        "account": account,
    }
