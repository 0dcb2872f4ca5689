"""Draws of mail data: people, companies, whole mailboxes; made by `preparers.thunderbird`."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from forge.records import JSON, Guest
from skills.dice import Dice
from skills.draws.base import DrawArgs, DrawKind, draw_kind
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

    def draw(self, args: CompanyArgs, dice: Dice) -> JSON:
        from preparers.thunderbird.people import draw_companies

        return draw_companies(args.of, dice)

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        return shape([{"name": "text", "domain": "text", "...": "any"}])


class PeopleArgs(DrawArgs):
    of: int = Field(ge=0, le=500, description="how many")
    company: dict[str, str] | None = Field(None, description="whom they work for (name, domain); without it nobody")


@draw_kind
class People(DrawKind[PeopleArgs]):
    """Different people: a list of records with name, first, last, address, mailbox (`Name <address>`), role, phone."""

    name = "people"
    args = PeopleArgs

    def draw(self, args: PeopleArgs, dice: Dice) -> JSON:
        from preparers.thunderbird.people import draw_people

        return draw_people(args.of, dice, company=args.company)

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        return shape([_PERSON])


class MailboxArgs(DrawArgs):
    of: str = Field(description="how it is built: `preparers.thunderbird.mails.kinds()`")
    size: int = Field(30, ge=5, le=400, description="messages, about")
    guest: Guest = Field(default_factory=Guest, description="whose clock is the newest date; the task's")


@draw_kind
class Mailbox(DrawKind[MailboxArgs]):
    """A mailbox: parameters for `thunderbird.profile` with accounts, folders with mails, contacts, lists, filters, tags."""

    name = "mailbox"
    args = MailboxArgs

    def draw(self, args: MailboxArgs, dice: Dice) -> JSON:
        from preparers.thunderbird.mails import draw_mailbox, kinds

        if args.of not in kinds():
            raise ValueError(f"there is no mailbox of the kind {args.of!r}; known are {', '.join(kinds())}")
        return draw_mailbox(args.of, args.size, dice, args.guest)

    def shape(self, args: Mapping[str, Shape]) -> Shape:
        return shape(_MAILBOX)
