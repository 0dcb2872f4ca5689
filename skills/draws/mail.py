"""Draws of mail data: people, companies, whole mailboxes; made by `preparers.thunderbird`."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from forge.records import JSON, Guest
from skills.dice import Dice
from skills.draws.base import DrawArgs, DrawKind, draw_kind, from_module
from skills.language.shapes import Shape, shape

_PERSON = {
    "name": "text", "first": "text", "last": "text", "address": "text", "mailbox": "text", "company": "text",
    "domain": "text", "role": "text", "phone": "text",
}  # fmt: skip
_MAILBOX = {
    "accounts": [{"address": "text", "name": "text", "...": "any"}],
    "folders": [{"path": "text", "messages": [{
        "id": "text", "from": "text", "subject": "text", "date": "text", "...": "any",
    }]}],
    "contacts": [{"name": "text", "email": "text", "...": "any"}], "lists": ["any"], "filters": ["any"], "tags": ["any"],
}  # fmt: skip


class CompanyArgs(DrawArgs):
    of: int = Field(ge=0, le=100, description="how many")


@draw_kind
class Companies(DrawKind[CompanyArgs]):
    """Different companies: a list of records with name, domain, trade."""

    name = "companies"
    args = CompanyArgs
    examples = ("{companies: 2}",)

    def draw(self, args: CompanyArgs, dice: Dice) -> JSON:
        from preparers.thunderbird.people import company_names, draw_companies

        if args.of > len(company_names()):
            raise ValueError(f"there are {len(company_names())} companies, not {args.of}")
        return draw_companies(args.of, dice)

    def values(self) -> str:
        from preparers.thunderbird.people import company_names

        return f"There are {len(company_names())}: {', '.join(company_names())}."

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        return shape([{"name": "text", "domain": "text", "...": "any"}])


class Company(BaseModel):
    """A company as `companies` draws it; only these two fields count."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    domain: str


class PeopleArgs(DrawArgs):
    of: int = Field(ge=0, le=500, description="how many")
    company: Company | None = Field(None, description="whom they work for, a drawn company; without it nobody")


@draw_kind
class People(DrawKind[PeopleArgs]):
    """Different people: a list of records with name, first, last, address, mailbox (`Name <address>`), role, phone."""

    name = "people"
    args = PeopleArgs
    examples = ("{people: 2}", "{people: 1, company: {name: Brandt Tools, domain: brandt.example}}")

    def draw(self, args: PeopleArgs, dice: Dice) -> JSON:
        from preparers.thunderbird.people import draw_people

        return draw_people(args.of, dice, company=None if args.company is None else args.company.model_dump())

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        return shape([_PERSON])


class MailboxArgs(DrawArgs):
    of: str = Field(description="its kind: how it is built")
    size: int = Field(30, ge=5, le=400, description="messages, about")
    guest: Guest = Field(default_factory=Guest, description="whose clock is the newest date; the task's")


@draw_kind
class Mailbox(DrawKind[MailboxArgs]):
    """A mailbox: parameters for `thunderbird.profile` with accounts, folders with mails, contacts, lists, filters, tags.

    Goes into `{prepare: thunderbird.profile, with: "${box}"}`. Every mail has an `id` of its own, subjects of threads differ.
    To have a mail of your own in it, or more unread ones, put a `python` node between the two that takes the whole value
    and returns it changed; mails have the keys of `Mail` in `thunderbird.profile`. A mail's sender is `mail['from']`.
    """

    name = "mailbox"
    args = MailboxArgs
    examples = ("{mailbox: suppliers, size: 40}",)

    def draw(self, args: MailboxArgs, dice: Dice) -> JSON:
        from preparers.thunderbird.mails import draw_mailbox

        return from_module(lambda: draw_mailbox(args.of, args.size, dice, args.guest))

    def values(self) -> str:
        from preparers.thunderbird.mails import kind_words, matter_words

        kinds = "\n".join(f"- `{name}`: {words}" for name, words in kind_words().items())
        matters = "; ".join(f"{name} ({words})" for name, words in matter_words().items())
        return f"Kinds (the share of the mails that a folder holds, and what they are about):\n{kinds}\n\nMatters: {matters}."

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        return shape(_MAILBOX)
