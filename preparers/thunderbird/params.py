"""Parameters of `thunderbird.profile`: accounts, folders with mails, address book, filters. Complete: nothing is drawn.

People are written in one form everywhere, `Name <address>` or a bare address; whatever stands before the last `<` is
the name, commas and quotes included. Folders are written `Inbox` or `Projects/Apollo` for the first account, and
`LABEL/Inbox` for another one, where LABEL is the account's label (`Local Folders` is always there).
"""

from __future__ import annotations

import base64
import binascii
import re
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from preparers.base import Params

LOCAL = "Local Folders"
"""The label of the account that only keeps mails on this computer. It is in every profile."""

_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9-]+)+")
_MESSAGE_ID = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]+")


def split_person(person: str) -> tuple[str, str]:
    """(name, address) of `Name <address>`; the name is empty for a bare address."""
    if person.endswith(">") and "<" in person:
        name, _, address = person[:-1].rpartition("<")
        return name.strip(), address
    return "", person


def join_person(name: str, address: str) -> str:
    """The inverse of `split_person`."""
    return f"{name} <{address}>" if name else address


def _one_line(value: str) -> str:
    value.encode()  # a lone surrogate is no text
    if any(ord(c) < 32 or ord(c) in (0x7F, 0x85, 0x2028, 0x2029) for c in value):
        raise ValueError("must be one line without control characters")
    return value


def _component(value: str) -> str:
    if ";" in _one_line(value):
        raise ValueError("no semicolon: Thunderbird itself loses its escape in a vCard's structured values")
    return value


def _person(value: str) -> str:
    name, address = split_person(_one_line(value))
    if not _ADDRESS.fullmatch(address) or ".." in address or address.startswith("."):
        raise ValueError(f"{value!r} is neither `Name <address>` nor an address")
    return join_person(name, address)


def _address(value: str) -> str:
    if not _ADDRESS.fullmatch(value) or ".." in value or value.startswith("."):
        raise ValueError(f"{value!r} is no mail address")
    return value


def _message_id(value: str) -> str:
    if value and not _MESSAGE_ID.fullmatch(value):
        raise ValueError(f"{value!r} is no message id; write it as word@domain, without angle brackets")
    return value


def _local_time(value: str) -> str:
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is not None:
        raise ValueError("local wall time in the guest's zone, without offset, e.g. 2026-03-12T14:05:00")
    return moment.isoformat(timespec="seconds")


def _plain_text(value: str) -> str:
    value.encode()
    value = value.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    if any(ord(c) < 32 and c not in "\t\n\f" for c in value):
        raise ValueError("control characters other than tab, line feed and form feed cannot be mailed")
    return value


def _folder_path(value: str) -> str:
    for part in value.split("/"):
        if not part or part != part.strip() or part.startswith("."):
            raise ValueError(f"{value!r}: a folder's name may not be empty, start with a dot or be padded with spaces")
        if len(part.encode()) > 50 or re.search(r'[\\:*?"<>|#%;\x00-\x1f\x7f]', part):
            raise ValueError(f"{value!r}: Thunderbird would store {part!r} under another file name")
        if re.search(r"\.(msf|dat|sbd|html|log|sqlite|mozmsgs)$", part, re.IGNORECASE):
            raise ValueError(f"{value!r}: {part!r} looks like one of Thunderbird's own files")
    return value


Person = Annotated[str, AfterValidator(_person)]
Address = Annotated[str, AfterValidator(_address)]
Line = Annotated[str, AfterValidator(_one_line)]
Component = Annotated[str, AfterValidator(_component)]
Text = Annotated[str, AfterValidator(_plain_text)]
LocalTime = Annotated[str, AfterValidator(_local_time)]
FolderPath = Annotated[str, AfterValidator(_folder_path)]
MessageId = Annotated[str, AfterValidator(_message_id)]


class Attachment(Params):
    """A file in a mail. Exactly one of `text` (kept byte for byte as UTF-8) and `base64` gives its bytes."""

    name: Line = Field(min_length=1, max_length=200)
    text: str | None = None
    base64: str | None = None
    type: str = Field("", pattern=r"^([a-z]+/[a-z0-9.+-]+)?$", description="media type; empty: by the name's suffix")

    @model_validator(mode="after")
    def _one_source(self) -> Attachment:
        if (self.text is None) == (self.base64 is None):
            raise ValueError(f"attachment {self.name!r} needs either text or base64")
        self.data()
        return self

    def data(self) -> bytes:
        """The file's bytes."""
        if self.text is not None:
            return self.text.encode()
        try:
            return base64.b64decode(self.base64 or "", validate=True)
        except binascii.Error as error:
            raise ValueError(f"attachment {self.name!r}: {error}") from None


class Mail(Params):
    """One message. `id` is its Message-ID without brackets; when it is empty, it is derived from the content."""

    id: MessageId = ""
    sender: Person = Field(alias="from")
    to: tuple[Person, ...] = ()
    cc: tuple[Person, ...] = ()
    subject: Line = ""
    date: LocalTime = Field(description="2026-03-12T14:05:00, not after the guest's clock")
    text: Text = Field("", description="the plain text")
    html: Text = Field("", description="the same as HTML; both: multipart/alternative")
    attachments: tuple[Attachment, ...] = ()
    answers: MessageId = Field("", description="the id of the message this one replies to")
    read: bool = True
    starred: bool = False
    replied: bool = False
    forwarded: bool = False
    tags: tuple[str, ...] = Field((), description="tag keys: $label1 (Important) to $label5 (Later), or own ones")


class Folder(Params):
    """A folder and what is in it. Thunderbird's own folders (Inbox, Sent, Drafts, ...) need not be listed."""

    path: FolderPath
    messages: tuple[Mail, ...] = ()


class Account(Params):
    """A POP3 account that never goes online."""

    address: Address
    name: Line = Field("", description="the owner's full name")
    label: Line = Field("", description="what the folder pane shows; empty: the address")
    compose_html: bool = Field(False, description="whether new mails are written as HTML")
    signature: Text = ""

    @model_validator(mode="after")
    def _label_is_a_folder_prefix(self) -> Account:
        _folder_path(self.title)
        if self.title == LOCAL:
            raise ValueError(f"the label {LOCAL!r} is taken")
        return self

    @property
    def title(self) -> str:
        """The label, or the address when there is none."""
        return self.label or self.address


class Contact(Params):
    """A card of the personal address book."""

    name: Line = Field(min_length=1, description="display name")
    email: Address
    first: Component = ""
    last: Component = ""
    second_email: Address | Literal[""] = ""
    phone: Line = ""
    organization: Component = ""
    title: Line = ""
    nickname: Line = ""
    note: Text = ""


class MailingList(Params):
    """A list of the personal address book; members are contacts, by their address."""

    name: Line = Field(min_length=1)
    members: tuple[Address, ...] = ()
    nickname: Line = ""
    description: Line = ""


Attribute = Literal[
    "subject", "from", "to", "cc", "to or cc", "body", "date", "age", "size", "priority", "tag", "status"
]
Operator = Literal[
    "contains",
    "doesn't contain",
    "is",
    "isn't",
    "begins with",
    "ends with",
    "is before",
    "is after",
    "is greater than",
    "is less than",
]


class Condition(Params):
    """One condition of a filter, in the words of Thunderbird's window. Age is in days, size in KB, date ISO 8601."""

    field: Attribute
    op: Operator = "contains"
    value: Line = Field(min_length=1)


class FilterAction(Params):
    """What a filter does: move or copy (value: a folder), tag (value: a tag key), star, mark-read, delete, stop."""

    kind: Literal["move", "copy", "tag", "star", "mark-read", "mark-unread", "delete", "stop"]
    value: Line = ""

    @model_validator(mode="after")
    def _value_where_needed(self) -> FilterAction:
        if bool(self.value) != (self.kind in ("move", "copy", "tag")):
            raise ValueError(f"action {self.kind!r} {'takes no value' if self.value else 'needs a value'}")
        return self


class Filter(Params):
    """A message filter."""

    name: Line = Field(min_length=1)
    enabled: bool = True
    match: Literal["all", "any"] = "all"
    conditions: tuple[Condition, ...] = Field(min_length=1)
    actions: tuple[FilterAction, ...] = Field(min_length=1)
    account: Line = Field("", description="label of the account it belongs to; empty: the first one")


class Tag(Params):
    """A tag besides Thunderbird's five."""

    key: str = Field(pattern=r"^[a-z0-9_$-]+$")
    name: Line = Field(min_length=1)
    color: str = Field("#3333CC", pattern=r"^#[0-9A-F]{6}$")


class ProfileParams(Params):
    """A whole Thunderbird profile."""

    accounts: tuple[Account, ...] = Field(min_length=1, max_length=4, description="the first is the owner's")
    folders: tuple[Folder, ...] = ()
    contacts: tuple[Contact, ...] = ()
    lists: tuple[MailingList, ...] = ()
    filters: tuple[Filter, ...] = ()
    tags: tuple[Tag, ...] = ()
    open: FolderPath = Field("Inbox", description="the folder that shows when Thunderbird starts")
    view: Literal["table", "cards"] = Field("table", description="how the message list shows")
    layout: Literal["classic", "wide", "vertical"] = Field("classic", description="where the message pane is")

    @model_validator(mode="after")
    def _is_consistent(self) -> ProfileParams:
        _unique("account label", [a.title.casefold() for a in self.accounts])
        _unique("account address", [a.address.casefold() for a in self.accounts])
        _unique("contact address", [c.email.casefold() for c in self.contacts])
        _unique("mailing list", [x.name.casefold() for x in self.lists])
        _unique("tag", [t.key for t in self.tags])
        _unique("filter", [(f.account, f.name) for f in self.filters])
        known = {c.email.casefold() for c in self.contacts}
        for item in self.lists:
            for member in item.members:
                if member.casefold() not in known:
                    raise ValueError(f"mailing list {item.name!r}: {member} is no contact")
        keys = {f"$label{n}" for n in range(1, 6)} | {t.key for t in self.tags}
        for folder in self.folders:
            for mail in folder.messages:
                if unknown := set(mail.tags) - keys:
                    raise ValueError(f"mail {mail.subject!r}: unknown tags {sorted(unknown)}; known are {sorted(keys)}")
        labels = {"", *(a.title for a in self.accounts), LOCAL}
        for rule in self.filters:
            if rule.account not in labels:
                raise ValueError(f"filter {rule.name!r}: no account {rule.account!r}")
        return self


def _unique(what: str, values: list[object]) -> None:
    for value in values:
        if values.count(value) > 1:
            raise ValueError(f"{what} {value!r} is there twice")
