"""A Thunderbird profile on disk: finding messages, moving and marking them, folders, contacts, filters, drafts."""

from __future__ import annotations

import email.utils
import mimetypes
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from urllib.parse import quote

from .cards import FIELDS, Book, fields_of
from .formats import RULES_HEAD, folder_file, folder_uri, rule_text
from .message import (
    EXPUNGED,
    FORWARDED,
    KEYS_WIDTH,
    READ,
    REPLIED,
    STARRED,
    Message,
    head_end,
    mbox_bytes,
    split_mbox,
    with_keys,
    with_status,
)

PROFILE = "~/.thunderbird/alex.default"
OUTBOX = "Local Folders/Unsent Messages"
TAGS = {"Important": "$label1", "Work": "$label2", "Personal": "$label3", "To Do": "$label4", "Later": "$label5"}
_NOT_MAIL = (".msf", ".dat", ".html", ".log", ".sqlite")
_PREF = re.compile(r'^user_pref\("((?:[^"\\]|\\.)*)",\s*(.*)\);\s*$', re.MULTILINE)


@dataclass(frozen=True)
class Account:
    """An account; `folder` is where its mail files lie, `uri` the prefix of its folders' URIs."""

    label: str
    folder: Path
    uri: str
    key: str
    identity: str = ""
    name: str = ""
    address: str = ""


class Profile:
    """A profile folder. Every method reads the files anew."""

    accounts: list[Account]
    """The accounts; the first one's folders are named without a label."""

    def __init__(self, path: str | os.PathLike[str] = PROFILE):
        self.path = Path(path).expanduser()
        self.accounts = self._accounts()

    # reading

    def folders(self) -> list[str]:
        """All folders, account by account, a parent before its children."""
        found = []
        for index, account in enumerate(self.accounts):
            prefix = "" if index == 0 else account.label + "/"
            found += [prefix + path for path in _walk(account.folder)]
        return found

    def file(self, folder: str) -> Path:
        """The mbox file of a folder."""
        account, parts = self._split(folder)
        return folder_file(account.folder, parts)

    def uri(self, folder: str) -> str:
        """The URI of a folder."""
        account, parts = self._split(folder)
        return folder_uri(account.uri, parts)

    def messages(self, folder: str | None = None) -> list[Message]:
        """The messages of a folder, or of all of them."""
        if folder is None:
            return [message for name in self.folders() for message in self.messages(name)]
        path = self.file(folder)
        if not path.is_file():
            raise LookupError(f"no folder {folder!r}; there are {', '.join(self.folders())}")
        found = [Message(folder, start, raw) for start, raw in split_mbox(path.read_bytes())]
        return [message for message in found if not message.status & EXPUNGED]

    def find(self, folder: str | None = None, *, subject: str = "", sender: str = "", id: str = "") -> list[Message]:
        """Messages whose subject and sender contain these texts (case does not matter), or with this id."""
        return [
            message
            for message in self.messages(folder)
            if (not id or message.id == id.strip("<>"))
            and (not subject or subject.casefold() in message.subject.casefold())
            and (not sender or sender.casefold() in message.sender.casefold())
        ]

    def one(self, folder: str | None = None, *, subject: str = "", sender: str = "", id: str = "") -> Message:
        """The one such message. Raises LookupError when there is none or more than one."""
        found = self.find(folder, subject=subject, sender=sender, id=id)
        if len(found) != 1:
            raise LookupError(
                f"{len(found)} messages match folder={folder} subject={subject!r} from={sender!r} id={id}"
            )
        return found[0]

    # messages

    def flag(
        self,
        message: Message,
        *,
        read: bool | None = None,
        starred: bool | None = None,
        replied: bool | None = None,
        forwarded: bool | None = None,
    ) -> None:
        """Set or clear flags: `flag(message, read=True)`; None leaves one as it is."""
        wanted = ((READ, read), (STARRED, starred), (REPLIED, replied), (FORWARDED, forwarded))

        def change(raw: bytes) -> bytes:
            status = Message("", 0, raw).status
            for bit, value in wanted:
                if value is not None:
                    status = status | bit if value else status & ~bit
            return with_status(raw, status)

        self._rewrite(message, change)

    def tag(self, message: Message, *tags: str) -> None:
        """Add tags, by key (`$label1`) or name (`Important`)."""
        more = [self.tag_key(tag) for tag in tags]
        self._rewrite(message, lambda raw: with_keys(raw, list(dict.fromkeys([*Message("", 0, raw).tags, *more]))))

    def untag(self, message: Message, *tags: str) -> None:
        """Remove tags."""
        gone = {self.tag_key(tag) for tag in tags}
        self._rewrite(message, lambda raw: with_keys(raw, [tag for tag in Message("", 0, raw).tags if tag not in gone]))

    def set_tags(self, message: Message, tags: Sequence[str]) -> None:
        """Replace all tags."""
        keys = list(dict.fromkeys(self.tag_key(tag) for tag in tags))
        self._rewrite(message, lambda raw: with_keys(raw, keys))

    def tag_key(self, tag: str) -> str:
        """The key of a tag given by key or by name."""
        own = {v: k[14:-4] for k, v in self._prefs().items() if k.startswith("mailnews.tags.") and k.endswith(".tag")}
        return {**TAGS, **own}.get(tag, tag)

    def copy(self, message: Message, folder: str) -> None:
        """Put a copy into another folder, with its flags and tags."""
        self.append(folder, self._now(message)[2])

    def move(self, message: Message, folder: str) -> None:
        """Move a message to another folder, with its flags and tags."""
        self.copy(message, folder)
        self.expunge(message)

    def delete(self, message: Message) -> None:
        """Move a message to its account's Trash; out of Trash for good."""
        account, parts = self._split(message.folder)
        if parts[0] == "Trash":
            self.expunge(message)
        else:
            self.move(message, "Trash" if account is self.accounts[0] else account.label + "/Trash")

    def expunge(self, message: Message) -> None:
        """Mark a message as gone for good."""
        self._rewrite(message, lambda raw: with_status(raw, Message("", 0, raw).status | EXPUNGED))

    def replace(self, message: Message, mail: EmailMessage) -> None:
        """Put another mail in its place."""
        self._rewrite(message, lambda _: mbox_bytes(mail) + b"\n")

    def append(self, folder: str, raw: bytes) -> None:
        """Add a message (bytes as of `mbox_bytes`) to the end of a folder."""
        path = self.file(folder)
        if not path.is_file():
            raise LookupError(f"no folder {folder!r}; there are {', '.join(self.folders())}")
        data = path.read_bytes()
        gap = b"" if not data or data.endswith(b"\n\n") else b"\n" if data.endswith(b"\n") else b"\n\n"
        stamp = time.strftime("%a %b %d %H:%M:%S %Y").encode()
        if not re.search(rb"^X-Mozilla-Status:", raw[: head_end(raw)], re.MULTILINE):
            blank = b"X-Mozilla-Status: 0000\nX-Mozilla-Status2: 00000000\nX-Mozilla-Keys: "
            raw = blank + b" " * KEYS_WIDTH + b"\n" + raw
        self._write(folder, data + gap + b"From - " + stamp + b"\n" + raw.rstrip(b"\n") + b"\n\n")

    def save_attachment(self, message: Message, name: str, path: str | os.PathLike[str]) -> Path:
        """Write an attachment into a file and return its path."""
        files = message.attachments
        if name not in files:
            raise LookupError(f"{message.subject!r} has no attachment {name!r}; it has {', '.join(files) or 'none'}")
        target = Path(path).expanduser()
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(files[name])
        return target

    # writing mail

    def draft(
        self,
        *,
        to: Sequence[str] | str = (),
        cc: Sequence[str] | str = (),
        bcc: Sequence[str] | str = (),
        subject: str = "",
        text: str = "",
        attachments: Iterable[str | os.PathLike[str]] = (),
        answers: Message | None = None,
    ) -> None:
        """Save a draft from the first account, as the compose window's Save does.

        `to`, `cc`, `bcc`: `Name <address>` or an address, one or a list; `attachments`: paths; `answers`: the message that
        it replies to. As in `draft(to="ann@x.example", subject="Hi", text="Hello")`.
        """
        draft_info = "internal/draft; vcard=0; receipt=0; DSN=0; uuencode=0; attachmentreminder=0; deliveryformat=0"
        mail = self._compose(to, cc, bcc, subject, text, attachments, answers)
        mail["X-Mozilla-Draft-Info"] = draft_info
        self.append("Drafts", _mozilla(0) + mbox_bytes(mail))

    def unsent(
        self,
        *,
        to: Sequence[str] | str,
        cc: Sequence[str] | str = (),
        bcc: Sequence[str] | str = (),
        subject: str = "",
        text: str = "",
        attachments: Iterable[str | os.PathLike[str]] = (),
        answers: Message | None = None,
    ) -> None:
        """As `draft`, into the outbox, as sending does while Thunderbird is offline."""
        mail = self._compose(to, cc, bcc, subject, text, attachments, answers)
        queued = 0x0800
        self.append(OUTBOX, _mozilla(queued) + mbox_bytes(mail))
        if answers is not None:
            self.flag(answers, replied=True)

    # folders, address book, filters

    def create_folder(self, folder: str) -> None:
        """Make an empty folder; its parent must be there."""
        account, parts = self._split(folder)
        path = folder_file(account.folder, parts)
        if path.exists():
            raise FileExistsError(f"folder {folder!r} is there already")
        if len(parts) > 1 and not folder_file(account.folder, parts[:-1]).is_file():
            raise LookupError(f"{folder!r}: its parent folder is missing")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")

    def remove_folder(self, folder: str) -> None:
        """Remove a folder with all that is in it and below it, for good."""
        path = self.file(folder)
        if not path.is_file():
            raise LookupError(f"no folder {folder!r}; there are {', '.join(self.folders())}")
        path.unlink()
        path.with_name(path.name + ".msf").unlink(missing_ok=True)
        shutil.rmtree(path.with_name(path.name + ".sbd"), ignore_errors=True)

    def rename_folder(self, folder: str, name: str) -> None:
        """Give a folder another path, with all that is in it and below it."""
        old, new = self.file(folder), self.file(name)
        if new.exists():
            raise FileExistsError(f"folder {name!r} is there already")
        new.parent.mkdir(exist_ok=True)
        old.rename(new)
        old.with_name(old.name + ".msf").unlink(missing_ok=True)
        below = old.with_name(old.name + ".sbd")
        if below.is_dir():
            below.rename(new.with_name(new.name + ".sbd"))

    def contacts(self) -> list[dict[str, str]]:
        """The contacts, each with name, email, first, last, second_email, phone, organization, title, nickname, note."""
        with self._abook() as book:
            return [fields_of(rows) for rows in book.cards().values()]

    def contact(self, email: str) -> dict[str, str]:
        """The contact with this address. Raises LookupError when there is none."""
        with self._abook() as book:
            return fields_of(book.cards()[book.of(email)[0]])

    def add_contact(self, name: str, email: str, **more: str) -> str:
        """Add a contact and return its id; `more` are its other fields, `phone="+49 30 1"`.

        First and last name are the first word of `name` and the rest unless given.
        """
        first, _, last = name.partition(" ")
        with self._abook() as book:
            return book.add({"first": first, "last": last, **_fields(more), "name": name, "email": email})

    def edit_contact(self, email: str, /, **changes: str) -> None:
        """Change fields of the contact with this address, `phone="+49 30 2"`; an empty text removes one, others stay."""
        with self._abook() as book:
            book.edit(book.of(email)[0], _fields(changes))

    def remove_contact(self, email: str) -> None:
        """Remove the contact with this address."""
        with self._abook() as book:
            for card in book.of(email):
                book.remove(card)

    def filters(self, account: str = "") -> dict[str, bool]:
        """The names of an account's filters in the order in which they run, and whether each is on."""
        return {name: 'enabled="yes"' in rule.split("\n") for name, rule in self._rules(account)[1]}

    def filter_file(self, account: str = "") -> Path:
        """The file of an account's filters."""
        return self._account(account).folder / "msgFilterRules.dat"

    def add_filter(
        self,
        name: str,
        conditions: Iterable[tuple[str, str, str]],
        actions: Iterable[tuple[str, str]],
        *,
        match: str = "all",
        enabled: bool = True,
        account: str = "",
        type: int = 17,
    ) -> None:
        """Add a filter before the others, as Thunderbird's window does.

        `conditions`: (field, operator, value), `("subject", "contains", "invoice")`; `actions`: (kind, value), `("move",
        "Invoices")`, `("copy", "Invoices")`, `("tag", "Work")`, and star, mark-read, mark-unread, delete, stop with "" as value;
        `match`: all or any; `account`: its label, the first one when empty; `type`: 1 runs on new mail, 16 by hand, 17 both.
        """
        resolved = [
            (k, self.uri(v) if k in ("move", "copy") else self.tag_key(v) if k == "tag" else v) for k, v in actions
        ]
        rule = rule_text(name, enabled, match, conditions, resolved, type)
        path = self.filter_file(account)
        old = path.read_text("utf-8") if path.is_file() else ""
        head, _, rest = (old or RULES_HEAD).partition('name="')
        path.write_text(head + rule + ('name="' + rest if rest else ""), "utf-8")

    def remove_filter(self, name: str, account: str = "") -> None:
        """Remove the filters of this name. Raises LookupError when there is none."""
        self._change_filters(account, name, lambda rule: "")

    def enable_filter(self, name: str, enabled: bool, account: str = "") -> None:
        """Switch a filter on or off. Raises LookupError when there is none of this name."""
        line = f'enabled="{"yes" if enabled else "no"}"'
        self._change_filters(account, name, lambda rule: re.sub(r'(?m)^enabled=".*"$', line, rule))

    # inside

    def _rules(self, account: str) -> tuple[str, list[tuple[str, str]]]:
        """How the file of an account's filters begins, and the name and the lines of each."""
        path = self.filter_file(account)
        head, *rules = re.split(r'(?m)^(?=name=")', path.read_text("utf-8") if path.is_file() else RULES_HEAD)
        return head, [(re.sub(r'\\(["\\])', r"\1", rule.split("\n", 1)[0][6:-1]), rule) for rule in rules]

    def _change_filters(self, account: str, name: str, change: Callable[[str], str]) -> None:
        """Rewrite the lines of all filters of a name."""
        head, rules = self._rules(account)
        names = [own for own, _ in rules]
        if name not in names:
            raise LookupError(f"there is no filter {name!r}; the filters are {', '.join(names) or 'none'}")
        text = "".join(change(rule) if own == name else rule for own, rule in rules)
        self.filter_file(account).write_text(head + text, "utf-8")

    def _prefs(self) -> dict[str, str]:
        text = (self.path / "prefs.js").read_text("utf-8")
        return {k: _unquote(v) for k, v in _PREF.findall(text)}

    def _accounts(self) -> list[Account]:
        prefs = self._prefs()
        found = []
        for key in prefs.get("mail.accountmanager.accounts", "").split(","):
            server = prefs.get(f"mail.account.{key}.server", "")
            where = prefs.get(f"mail.server.{server}.directory-rel", "").removeprefix("[ProfD]")
            if not where:
                continue
            user, host = (
                prefs.get(f"mail.server.{server}.userName", ""),
                prefs.get(f"mail.server.{server}.hostname", ""),
            )
            identity = prefs.get(f"mail.account.{key}.identities", "").split(",")[0]
            found.append(
                Account(
                    label=prefs.get(f"mail.server.{server}.name", host),
                    folder=self.path / where,
                    uri=f"mailbox://{quote(user, safe='')}@{quote(host, safe='')}",
                    key=key,
                    identity=identity,
                    name=prefs.get(f"mail.identity.{identity}.fullName", ""),
                    address=prefs.get(f"mail.identity.{identity}.useremail", ""),
                )
            )
        if not found:
            raise LookupError(f"{self.path}/prefs.js names no mail account")
        return found

    def _account(self, label: str) -> Account:
        for account in self.accounts:
            if account.label == label:
                return account
        if label:
            raise LookupError(f"no account {label!r}; there are {', '.join(a.label for a in self.accounts)}")
        return self.accounts[0]

    def _split(self, folder: str) -> tuple[Account, list[str]]:
        head, _, rest = folder.partition("/")
        for account in self.accounts:
            if account.label == head and rest:
                return account, rest.split("/")
        return self.accounts[0], folder.split("/")

    def _abook(self) -> Book:
        return Book(self.path / "abook.sqlite")

    def _now(self, message: Message) -> tuple[bytes, int, bytes]:
        """A message as its folder's file has it now: the file's bytes, where in them it begins, and its own bytes."""
        data = self.file(message.folder).read_bytes()
        same = [(s, r) for s, r in split_mbox(data) if r == message.raw or Message("", s, r).id == message.id != ""]
        same = [(s, r) for s, r in same if not Message("", s, r).status & EXPUNGED]
        if not same:
            raise LookupError(f"{message.subject!r} is no longer in {message.folder}")
        return (data, *min(same, key=lambda found: abs(found[0] - message.offset)))

    def _rewrite(self, message: Message, change: Callable[[bytes], bytes]) -> None:
        data, start, raw = self._now(message)
        self._write(message.folder, data[:start] + change(raw) + data[start + len(raw) :])

    def _write(self, folder: str, data: bytes) -> None:
        path = self.file(folder)
        temporary = path.with_name(f".{path.name}.new")
        temporary.write_bytes(data)
        os.replace(temporary, path)
        path.with_name(path.name + ".msf").unlink(missing_ok=True)

    def _compose(
        self,
        to: Sequence[str] | str,
        cc: Sequence[str] | str,
        bcc: Sequence[str] | str,
        subject: str,
        text: str,
        attachments: Iterable[str | os.PathLike[str]],
        answers: Message | None,
    ) -> EmailMessage:
        account = self.accounts[0]
        mail = EmailMessage()
        mail["Message-ID"] = f"<{uuid.uuid4()}@{account.address.partition('@')[2]}>"
        mail["Date"] = email.utils.formatdate(localtime=True)
        mail["User-Agent"] = "Mozilla Thunderbird"
        mail["From"] = email.utils.formataddr((account.name, account.address))
        for name, people in (("To", to), ("Cc", cc), ("Bcc", bcc)):
            pairs = [_pair(person) for person in ([people] if isinstance(people, str) else people)]
            if pairs:
                mail[name] = ", ".join(email.utils.formataddr(pair) for pair in pairs)
        mail["Subject"] = subject
        if answers is not None:
            mail["In-Reply-To"] = f"<{answers.id}>"
            mail["References"] = f"{answers.header('References')} <{answers.id}>".strip()
        mail["X-Identity-Key"] = account.identity
        mail["Fcc"] = folder_uri(account.uri, ["Sent"])
        mail.set_content(text.rstrip("\n") + "\n")
        for path in attachments:
            file = Path(path).expanduser()
            kind = (mimetypes.guess_type(file.name)[0] or "application/octet-stream").split("/")
            mail.add_attachment(file.read_bytes(), maintype=kind[0], subtype=kind[1], filename=file.name)
        return mail


def _fields(values: dict[str, str]) -> dict[str, str]:
    for name in values:
        if name not in FIELDS:
            raise TypeError(f"a contact has no {name!r}; it has {', '.join(FIELDS)}")
    return values


def _mozilla(status: int) -> bytes:
    return b"X-Mozilla-Status: %04x\nX-Mozilla-Status2: 00000000\n" % status


def _walk(base: Path, prefix: str = "") -> list[str]:
    found: list[str] = []
    if not base.is_dir():
        return found
    for path in sorted(base.iterdir(), key=lambda p: p.name):
        if path.is_file() and not path.name.startswith(".") and path.suffix not in _NOT_MAIL:
            found.append(prefix + path.name)
            found += _walk(base / (path.name + ".sbd"), prefix + path.name + "/")
    return found


def _pair(person: str) -> tuple[str, str]:
    if person.endswith(">") and "<" in person:
        name, _, address = person[:-1].rpartition("<")
        return name.strip().strip('"'), address
    return "", person


def _unquote(value: str) -> str:
    value = value.strip()
    if value.startswith('"') and value.endswith('"'):
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    return value
