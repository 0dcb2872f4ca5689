"""Read a Thunderbird profile from its files, whoever wrote them: the preparer, Thunderbird itself, or a script.

Uses the standard library's `mailbox`, `email` and `sqlite3`, none of which the preparer writes with, and honours what
Thunderbird leaves behind: expunged messages (status bit 0008) that stay until compaction, tags in X-Mozilla-Keys,
subfolders in `.sbd`, a write-ahead log beside the address book. Symbolic links are never followed. Not read: `.msf`
indexes (the mbox is the truth), maildir, IMAP, address books besides the personal and the collected one.
"""

from __future__ import annotations

import email
import email.header
import email.utils
import json
import mailbox
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from email.message import Message
from functools import cached_property, lru_cache
from pathlib import Path
from urllib.parse import quote, unquote

from forge.records import PreparerError
from preparers.thunderbird.cards import Card, CardList, read_book
from preparers.thunderbird.params import join_person
from preparers.thunderbird.rules import Rule, read_rules

READ, REPLIED, STARRED, EXPUNGED, FORWARDED = 0x0001, 0x0002, 0x0004, 0x0008, 0x1000
_OTHER_FILES = (".msf", ".dat", ".html", ".log", ".sqlite", ".sqlite-wal", ".sqlite-shm")
_PREF = re.compile(r'^user_pref\("((?:[^"\\]|\\.)*)",\s*(.*)\);\s*$', re.MULTILINE)


@dataclass(frozen=True)
class ReadFile:
    """An attachment."""

    name: str
    data: bytes = field(repr=False)
    type: str = "application/octet-stream"


@dataclass(frozen=True)
class ReadMail:
    """A message as it lies in a folder; people are written `Name <address>`, the date is the sender's wall time."""

    folder: str
    id: str
    sender: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    bcc: tuple[str, ...]
    subject: str
    date: str
    answers: str
    status: int
    tags: tuple[str, ...]
    text: str | None
    html: str | None
    flowed: bool
    attachments: tuple[ReadFile, ...]
    defects: tuple[str, ...] = ()

    @property
    def read(self) -> bool:
        return bool(self.status & READ)

    @property
    def starred(self) -> bool:
        return bool(self.status & STARRED)

    @property
    def replied(self) -> bool:
        return bool(self.status & REPLIED)

    @property
    def forwarded(self) -> bool:
        return bool(self.status & FORWARDED)


@dataclass(frozen=True)
class ReadAccount:
    """An account: what the folder pane calls it, where its mails lie below the profile, its owner."""

    label: str
    directory: str
    uri: str
    name: str = ""
    address: str = ""


class ReadProfile:
    """A profile, read part by part when a part is asked for.

    Args:
        root: the profile's folder on the host.
        shown: what messages call it (a guest path).

    Every property raises PreparerError, naming the file and what is wrong with it.
    """

    def __init__(self, root: Path, shown: str = "~/.thunderbird/alex.default"):
        self.root = root
        self.shown = shown

    @cached_property
    def prefs(self) -> dict[str, object]:
        """All preferences of `prefs.js`."""
        text = self._bytes("prefs.js").decode("utf-8", "replace")
        found: dict[str, object] = {}
        for key, value in _PREF.findall(text):
            try:
                found[key] = json.loads(value)
            except json.JSONDecodeError:
                found[key] = value
        if "mail.accountmanager.accounts" not in found:
            raise PreparerError(f"{self.shown}/prefs.js names no mail account", mend="it is cut off or not a profile's")
        return found

    @cached_property
    def accounts(self) -> list[ReadAccount]:
        """The accounts in the order of the folder pane's list."""

        def get(key: str) -> str:
            return str(self.prefs.get(key, ""))

        found = []
        for key in get("mail.accountmanager.accounts").split(","):
            server = get(f"mail.account.{key}.server")
            directory = get(f"mail.server.{server}.directory-rel").removeprefix("[ProfD]")
            if not directory or ".." in directory.split("/"):
                continue
            identity = get(f"mail.account.{key}.identities").split(",")[0]
            user, host = get(f"mail.server.{server}.userName"), get(f"mail.server.{server}.hostname")
            found.append(
                ReadAccount(
                    get(f"mail.server.{server}.name"),
                    directory,
                    f"mailbox://{quote(user, safe='')}@{quote(host, safe='')}",
                    get(f"mail.identity.{identity}.fullName"),
                    get(f"mail.identity.{identity}.useremail"),
                )
            )
        if not found:
            raise PreparerError(f"{self.shown}/prefs.js has no account with a folder of its own")
        return found

    @cached_property
    def own_tags(self) -> dict[str, tuple[str, str]]:
        """Tags that the preferences define: key to (name, colour)."""
        names = {k[14:-4]: str(v) for k, v in self.prefs.items() if k.startswith("mailnews.tags.") and k[-4:] == ".tag"}
        return {key: (name, str(self.prefs.get(f"mailnews.tags.{key}.color", ""))) for key, name in names.items()}

    @cached_property
    def folder_files(self) -> dict[str, Path]:
        """Folder path (see `preparers.thunderbird.params`) to mbox file, account by account, sorted by name."""
        found: dict[str, Path] = {}
        for index, account in enumerate(self.accounts):
            prefix = "" if index == 0 else account.label + "/"
            for parts, path in sorted(_walk(self.root / account.directory)):
                found[prefix + "/".join(parts)] = path
        return found

    @cached_property
    def folders(self) -> dict[str, tuple[ReadMail, ...]]:
        """Every folder's messages, expunged ones left out, in the order of the file."""
        return {folder: self.read_folder(folder) for folder in self.folder_files}

    def read_folder(self, folder: str) -> tuple[ReadMail, ...]:
        """One folder's messages."""
        path = self.folder_files.get(folder)
        return () if path is None else tuple(self._messages(folder, path))

    @cached_property
    def messages(self) -> tuple[ReadMail, ...]:
        """All messages of all folders."""
        return tuple(mail for mails in self.folders.values() for mail in mails)

    @cached_property
    def contacts(self) -> tuple[Card, ...]:
        """The cards of the personal address book, by id."""
        return self._book[0]

    @cached_property
    def lists(self) -> tuple[CardList, ...]:
        """Its mailing lists."""
        return self._book[1]

    @cached_property
    def filters(self) -> tuple[Rule, ...]:
        """All accounts' filters in the order in which they run; folders as paths, not URIs."""
        found: list[Rule] = []
        for account in self.accounts:
            name = f"{account.directory}/msgFilterRules.dat"
            if self._file(name).is_file():
                text = self._bytes(name).decode("utf-8", "replace")
                found += read_rules(text, account.label, self.folder_of, f"{self.shown}/{name}")
        return tuple(found)

    def folder_of(self, uri: str) -> str:
        """The folder path of a URI; the URI itself when it belongs to no account."""
        plain = unquote(uri)
        for index, account in enumerate(self.accounts):
            if plain.startswith(unquote(account.uri) + "/"):
                rest = plain[len(unquote(account.uri)) + 1 :]
                return rest if index == 0 else f"{account.label}/{rest}"
        return uri

    @cached_property
    def _book(self) -> tuple[tuple[Card, ...], tuple[CardList, ...]]:
        return read_book(self._file("abook.sqlite"), f"{self.shown}/abook.sqlite")

    def _file(self, name: str) -> Path:
        path = self.root
        for part in name.split("/"):
            path = path / part
            if path.is_symlink():
                raise PreparerError(f"{self.shown}/{name} is or lies behind a symbolic link")
        return path

    def _bytes(self, name: str) -> bytes:
        path = self._file(name)
        if not path.is_file():
            raise PreparerError(f"{self.shown}/{name} is missing", mend="prepare the profile again")
        return path.read_bytes()

    def _messages(self, folder: str, path: Path) -> Iterator[ReadMail]:
        shown = f"{self.shown}/{path.relative_to(self.root)}"
        size = path.stat().st_size
        if not size:
            return
        with path.open("rb") as file:
            if not file.read(5) == b"From ":
                raise PreparerError(f"{shown} is no mbox: it does not begin with a `From ` line")
            file.seek(max(0, size - 1))
            if file.read(1) != b"\n":
                raise PreparerError(f"{shown} is cut off: its last message does not end with a line end")
        box = mailbox.mbox(path, create=False)
        try:
            for number, key in enumerate(box.keys(), 1):
                raw = re.sub(rb"^>(>*From )", rb"\1", box.get_bytes(key), flags=re.MULTILINE)
                mail = _read_mail(folder, raw, f"{shown}, message {number}")
                if not mail.status & EXPUNGED:
                    yield mail
        finally:
            box.close()


def _walk(base: Path, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Path]]:
    if base.is_symlink() or not base.is_dir():
        return
    for path in base.iterdir():
        if path.is_symlink() or path.name.startswith(".") or path.name.endswith(_OTHER_FILES):
            continue
        if path.is_file():
            yield (*above, path.name), path
        elif path.is_dir() and path.name.endswith(".sbd"):
            yield from _walk(path, (*above, path.name[:-4]))


@lru_cache(maxsize=1024)  # graders read the same messages again and again: before and after, a check at a time
def _read_mail(folder: str, raw: bytes, shown: str) -> ReadMail:
    mail = email.message_from_bytes(raw)
    status = _header(mail, "X-Mozilla-Status").strip() or "0000"
    if not re.fullmatch(r"[0-9a-fA-F]{4}", status):
        raise PreparerError(f"{shown}: X-Mozilla-Status is {status!r}, not four hexadecimal digits")
    expunged = bool(int(status, 16) & EXPUNGED)
    defects = [defect for part in mail.walk() for defect in part.defects]
    for defect in defects:
        kind = type(defect).__name__
        if kind in ("CloseBoundaryNotFoundDefect", "StartBoundaryNotFoundDefect") and not expunged:
            raise PreparerError(f"{shown} ({_header(mail, 'Subject')!r}) is cut off: a MIME part does not end")
    if not mail.keys() or (_header(mail, "From") == "" and _header(mail, "Date") == ""):
        raise PreparerError(f"{shown} is cut off: it has neither sender nor date")
    text, html, flowed, files = _parts(mail)
    return ReadMail(
        folder=folder,
        id=_header(mail, "Message-ID").strip().strip("<>"),
        sender=", ".join(_people(mail, "From")),
        to=_people(mail, "To"),
        cc=_people(mail, "Cc"),
        bcc=_people(mail, "Bcc"),
        subject=_header(mail, "Subject"),
        date=_date(mail),
        answers=_header(mail, "In-Reply-To").strip().strip("<>"),
        status=int(status, 16),
        tags=tuple(_header(mail, "X-Mozilla-Keys").split()),
        text=text,
        html=html,
        flowed=flowed,
        attachments=tuple(files),
        defects=tuple(type(defect).__name__ for defect in defects),
    )


def _parts(mail: Message) -> tuple[str | None, str | None, bool, list[ReadFile]]:
    """(plain text, HTML, whether the plain text is format=flowed, attachments)."""
    text: str | None = None
    html: str | None = None
    flowed = False
    files: list[ReadFile] = []
    for part in mail.walk():
        if part.is_multipart():
            continue
        payload = part.get_payload(decode=True)
        data = payload if isinstance(payload, bytes) else b""
        name = part.get_filename()
        if part.get_content_disposition() == "attachment" or name:
            files.append(ReadFile(_file_name(part), data, part.get_content_type()))
        elif part.get_content_type() == "text/plain" and text is None:
            text = _text(part, data)
            flowed = str(part.get_param("format", "")).lower() == "flowed"
        elif part.get_content_type() == "text/html" and html is None:
            html = _text(part, data)
    return text, html, flowed, files


def _file_name(part: Message) -> str:
    """The file's name: RFC 2231 as it is, anything else with encoded words decoded, as mail programs write them."""
    for parameter, header in (("filename", "content-disposition"), ("name", "content-type")):
        value = part.get_param(parameter, header=header)
        if isinstance(value, tuple):
            return email.utils.collapse_rfc2231_value(value)
        if value:
            return _decoded(str(value))
    return ""


def _text(part: Message, data: bytes) -> str:
    charset = part.get_content_charset("utf-8")
    try:
        text = data.decode(charset, "replace")
    except LookupError:
        text = data.decode("utf-8", "replace")
    return text.replace("\r\n", "\n").rstrip("\n")


def _raw_header(mail: Message, name: str) -> str:
    for key, value in mail.raw_items():
        if key.lower() == name.lower():
            return re.sub(r"\r?\n(?=[ \t])", "", str(value)).strip("\r\n")
    return ""


def _header(mail: Message, name: str) -> str:
    return _decoded(_raw_header(mail, name))


def _decoded(value: str) -> str:
    """A header's text, encoded words decoded, raw 8-bit octets read as UTF-8."""
    pieces = []
    for piece, charset in email.header.decode_header(value):
        if isinstance(piece, str):
            pieces.append(piece.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
            continue
        try:
            pieces.append(piece.decode(charset or "utf-8", "replace"))
        except LookupError:
            pieces.append(piece.decode("utf-8", "replace"))
    return "".join(pieces)


def _people(mail: Message, name: str) -> tuple[str, ...]:
    raw = _raw_header(mail, name)
    if not raw:
        return ()
    return tuple(join_person(_decoded(n), a) for n, a in email.utils.getaddresses([raw]) if n or a)


def _date(mail: Message) -> str:
    try:
        moment: datetime = email.utils.parsedate_to_datetime(_header(mail, "Date"))
    except (TypeError, ValueError):
        return ""
    return moment.replace(tzinfo=None).isoformat(timespec="seconds")
