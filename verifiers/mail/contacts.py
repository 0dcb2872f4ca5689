"""`mail.contact`: a card of the personal address book."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from pydantic import Field, model_validator

from preparers.thunderbird.cards import Card
from verifiers.base import Case, Finding, Mutant, check, mutants
from verifiers.mail.profile import MailArgs, kit, opened

_FIELDS = ("name", "email", "first", "last", "second_email", "phone", "organization", "title", "nickname", "note")


class Contact(MailArgs):
    """A contact that must be there (or not); what is not given does not matter."""

    name: str | None = Field(None, description="display name")
    email: str | None = None
    first: str | None = None
    last: str | None = None
    second_email: str | None = None
    phone: str | None = None
    organization: str | None = None
    title: str | None = None
    nickname: str | None = None
    note: str | None = None
    exists: bool = True
    in_list: str | None = Field(None, description="a mailing list that it must be a member of")

    @model_validator(mode="after")
    def _names_somebody(self) -> Contact:
        if self.name is None and self.email is None:
            raise ValueError("give name or email")
        return self

    def wanted(self) -> dict[str, str]:
        """Field to the value it must have."""
        return {name: getattr(self, name) for name in _FIELDS if getattr(self, name) is not None}


@check("mail.contact", Contact)
def contact(case: Case, args: Contact) -> Finding:
    """The address book has one card with these values; spaces, the case of addresses and a phone's signs do not matter."""
    after = opened(case.after, args, "contacts", "lists")
    fitting = [card for card in after.contacts if not _wrong(card, args)]
    asked = ", ".join(f"{key} {value!r}" for key, value in args.wanted().items())
    if not args.exists:
        return Finding(float(not fitting), f"{len(fitting)} card(s) with {asked}; there should be none")
    if not fitting:
        near = [card for card in after.contacts if len(_wrong(card, args)) < len(args.wanted())]
        hint = "; ".join(f"{card.name} <{card.email}>: {', '.join(_wrong(card, args))}" for card in near[:3])
        return Finding(0.0, f"no card with {asked}" + (f"; nearest: {hint}" if hint else ""))
    if args.in_list is not None:
        members = {m.casefold() for item in after.lists if item.name == args.in_list for m in item.members}
        if not any(card.email.casefold() in members for card in fitting):
            return Finding(0.0, f"the card with {asked} is not in the list {args.in_list!r}")
    return Finding(1.0, f"there is a card with {asked}")


@mutants("mail.contact")
def other_contacts(case: Case, args: Contact, rng: random.Random) -> Iterator[Mutant]:
    """One letter of one value changed, or no card."""
    if not args.exists:
        wanted = {"email": "somebody@example.org", "name": "Somebody"} | args.wanted()
        yield Mutant("still-there", lambda home: _add(home, args, wanted))
        return
    after = opened(case.after, args, "contacts", "lists")
    card = next(card for card in after.contacts if not _wrong(card, args))
    values = {name: getattr(card, name) for name in _FIELDS}

    def become(changed: dict[str, str]) -> Callable[[Path], None]:
        def apply(home: Path) -> None:
            kit(home, args).remove_contact(card.email)
            _add(home, args, changed)

        return apply

    yield Mutant("missing", lambda home: kit(home, args).remove_contact(card.email))
    for name, value in args.wanted().items():
        if not value:
            continue
        wrong = _one_letter_off(value, rng)
        keeps_identity = name not in ("name", "email") or len({"name", "email"} & set(args.wanted())) == 2
        yield Mutant(
            f"{name}-misspelt", become(values | {name: wrong}), only=keeps_identity, note=f"{value!r}: {wrong!r}"
        )
    more = [name for name in args.wanted() if name not in ("name", "email")]
    if more:
        yield Mutant("field-missing", become(values | {rng.choice(more): ""}), audit=True)
    else:
        yield Mutant(
            "twice-misspelt",
            become(values | {"email": "x" + card.email, "name": card.name + "x"}),
            only=False,
            audit=True,
        )


def _wrong(card: Card, args: Contact) -> list[str]:
    """The fields of a card that differ from what is asked."""
    return [
        f"{name} {getattr(card, name)!r}"
        for name, value in args.wanted().items()
        if _normal(name, getattr(card, name)) != _normal(name, value)
    ]


def _normal(name: str, value: str) -> str:
    if name == "phone":
        return re.sub(r"[^\d+]", "", value)
    text = re.sub(r"\s+", " ", value).strip()
    return text.casefold() if name in ("email", "second_email") else text


def _one_letter_off(value: str, rng: random.Random) -> str:
    places = [index for index, char in enumerate(value) if char.isalnum() and index > 0] or [0]
    at = rng.choice(places)
    other = (
        str((int(value[at]) + 1) % 10)
        if value[at].isdecimal() and value[at].isascii()
        else "q"
        if value[at] != "q"
        else "k"
    )
    return value[:at] + other + value[at + 1 :]


def _add(home: Path, args: MailArgs, values: dict[str, str]) -> None:
    rest = {key: value for key, value in values.items() if key not in ("name", "email")}
    kit(home, args).add_contact(values["name"], values["email"], **rest)
