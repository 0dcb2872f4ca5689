"""Thunderbird's address book."""

from __future__ import annotations

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, move
from forge.harness.moves.general import FillArgs, fill
from forge.harness.moves.hands import Hands


class NewContactArgs(MoveArgs):
    first: str = ""
    last: str = ""
    email: str
    display: str | None = Field(None, description="only where it is not first and last name")


@move("new_contact", NewContactArgs)
def new_contact(hands: Hands, args: NewContactArgs) -> Acts:
    """Add a person to the address book."""
    yield from address_book(hands, MoveArgs())
    form = hands.showing("First name", "entry")
    yield hands.click(hands.find("New Contact", "push button"), until=form)
    values = {
        "First name": args.first,
        "Last name": args.last,
        "Display name": args.display,
        "Email address": args.email,
    }
    for name, value in values.items():
        if value:
            yield from fill(hands, FillArgs(text=value, field=name))
    saved = hands.gone("First name", "entry")
    yield hands.click(hands.find("Save", "push button"), until=saved)
    hands.wait(saved, "the contact is not saved")


@move("address_book", MoveArgs)
def address_book(hands: Hands, args: MoveArgs) -> Acts:
    """Open the address book."""
    ready = hands.showing("New Contact", "push button")
    if not ready():
        yield hands.click(hands.find("Address Book (Ctrl+2)", "push button"), until=ready)
        hands.wait(ready, "the address book does not open")


@move("mail_tab", MoveArgs)
def mail_tab(hands: Hands, args: MoveArgs) -> Acts:
    """Go back to the mail."""
    ready = hands.showing("New Message", "push button")
    if not ready():
        yield hands.click(hands.find("Mail (Ctrl+1)", "push button"), until=ready)
        hands.wait(ready, "the mail does not come back")
