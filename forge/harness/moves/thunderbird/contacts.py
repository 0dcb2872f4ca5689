"""Thunderbird's address book: contacts made and changed in their form."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from pydantic import Field

from forge.harness.moves.base import Acts, MoveArgs, move
from forge.harness.moves.general import FillArgs, fill
from forge.harness.moves.hands import Hands
from forge.harness.moves.lists import reach
from forge.records import Element

_FIELDS = {
    "first": ("First name", ""),
    "last": ("Last name", ""),
    "display": ("Display name", ""),
    "nickname": ("Nickname", ""),
    "email": ("Email address", "Add email address"),
    "phone": ("Phone number", "Add phone number"),
    "title": ("Title", "Add organizational properties"),
    "organization": ("Organization", "Add organizational properties"),
}
"""Argument to the field's name, and to the button that brings it where it may not be there yet; in the form's order."""


class NewContactArgs(MoveArgs):
    first: str = ""
    last: str = ""
    email: str
    phone: str | None = None
    display: str | None = Field(None, description="only where it is not first and last name")
    nickname: str | None = None
    organization: str | None = None
    title: str | None = Field(None, description="what they are in their organization")


@move("new_contact", NewContactArgs)
def new_contact(hands: Hands, args: NewContactArgs) -> Acts:
    """Add a person to the address book."""
    yield from address_book(hands, MoveArgs())
    form = hands.showing("First name", "entry")
    yield hands.click(hands.find("New Contact", "push button"), until=form)
    hands.wait(form, "the form for a contact does not open")
    yield from _fill_in(hands, {name: value for name, value in args.model_dump().items() if value})


class EditContactArgs(MoveArgs):
    main: ClassVar[str] = "contact"
    contact: str = Field(description="the name that the address book shows")
    first: str | None = None
    last: str | None = None
    display: str | None = Field(None, description="the name shown; it does not follow the others by itself")
    nickname: str | None = None
    email: str | None = Field(None, description="the first address")
    phone: str | None = Field(None, description="the first number")
    organization: str | None = None
    title: str | None = None


@move("edit_contact", EditContactArgs)
def edit_contact(hands: Hands, args: EditContactArgs) -> Acts:
    """Change fields of a contact in the address book; an empty text clears one, what is not named stays."""
    yield from address_book(hands, MoveArgs())
    row = yield from reach(
        hands, lambda: hands.look(args.contact, "table row"), None, f"the address book shows no {args.contact!r}"
    )
    shown = hands.showing(args.contact, "heading")
    yield hands.click(row, until=shown)
    hands.wait(shown, f"the contact {args.contact!r} does not show")
    form = hands.showing("First name", "entry")
    yield hands.click(hands.find("Edit", "push button"), until=form)
    hands.wait(form, "the form for a contact does not open")
    changes = args.model_dump(exclude={"contact"})
    yield from _fill_in(hands, {name: value for name, value in changes.items() if value is not None})


def _fill_in(hands: Hands, values: dict[str, str]) -> Acts:
    """Put values into the form that is open, and save it."""
    for name, (field, add) in _FIELDS.items():
        if name in values:
            yield from _set(hands, field, add, values[name])
    saved = hands.gone("Save", "push button")
    yield hands.click(hands.find("Save", "push button"), until=saved)
    hands.wait(saved, "the contact is not saved")


def _set(hands: Hands, field: str, add: str, value: str) -> Acts:
    foot = hands.find("Save", "push button").box[1] - 27  # the bar with the buttons hides what lies behind it
    where = hands.find(None, "landmark")

    def seen(name: str, role: str) -> Element | None:
        element = hands.look(name, role) if name else None
        return element if element is not None and element.box[1] + element.box[3] < foot else None

    found = yield from reach(
        hands,
        lambda: seen(field, "entry") or seen(add, "push button"),
        None,
        f"no field {field!r} in the form",
        at=where,
    )
    if found.role == "push button":
        shown, used = hands.showing(field, "entry"), hands.gone(add, "push button")
        pressed: Callable[[], bool] = lambda: bool(shown() or used())  # the new field can lie below what shows
        yield hands.click(found, until=pressed)
        hands.wait(pressed, f"no field {field!r} appears")
        found = yield from reach(hands, lambda: seen(field, "entry"), None, f"no field {field!r} in the form", at=where)
    if value:
        yield from fill(hands, FillArgs(text=value, field=field))
        return

    def is_empty() -> bool:
        return (hands.again(found) or found).text == ""

    yield hands.click(found) + hands.key("ctrl+a") + hands.key("Delete", until=is_empty)
    hands.wait(is_empty, f"the field {field!r} does not become empty")


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
