"""One message in an mbox file: what it says, and its bytes with other flags or tags."""

from __future__ import annotations

import email
import email.policy
import email.utils
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage

READ, REPLIED, STARRED, EXPUNGED, FORWARDED = 0x0001, 0x0002, 0x0004, 0x0008, 0x1000
"""Bits of X-Mozilla-Status (comm-central, nsMsgMessageFlags.h)."""

KEYS_WIDTH = 80
"""Columns that Thunderbird reserves in X-Mozilla-Keys, so that tags can be set without moving a byte."""

_SEPARATOR = re.compile(rb"^From [^\n]*\n", re.MULTILINE)


@dataclass(frozen=True)
class Message:
    """A message where it lies now. Flags and tags are those at the time of reading; `raw` starts with its headers."""

    folder: str
    offset: int
    raw: bytes = field(repr=False)

    @property
    def mail(self) -> EmailMessage:
        """The parsed message."""
        unquoted = re.sub(rb"^>(>*From )", rb"\1", self.raw, flags=re.MULTILINE)
        return email.message_from_bytes(unquoted, policy=email.policy.default)

    def header(self, name: str) -> str:
        """A decoded header, or the empty string."""
        return str(self.mail.get(name, ""))

    @property
    def id(self) -> str:
        """The Message-ID without brackets."""
        found = re.search(rb"^Message-ID:\s*<([^>\r\n]*)>", self._head, re.IGNORECASE | re.MULTILINE)
        return found[1].decode("ascii", "replace") if found else ""

    @property
    def subject(self) -> str:
        return self.header("Subject")

    @property
    def sender(self) -> str:
        return self.header("From")

    @property
    def to(self) -> str:
        return self.header("To")

    @property
    def date(self) -> str:
        """Local time of the Date header, ISO 8601 without offset."""
        return email.utils.parsedate_to_datetime(self.header("Date")).replace(tzinfo=None).isoformat()

    @property
    def status(self) -> int:
        found = re.search(rb"^X-Mozilla-Status: *([0-9A-Fa-f]{4})", self._head, re.MULTILINE)
        return int(found[1], 16) if found else 0

    @property
    def read(self) -> bool:
        return bool(self.status & READ)

    @property
    def starred(self) -> bool:
        return bool(self.status & STARRED)

    @property
    def tags(self) -> list[str]:
        found = re.search(rb"^X-Mozilla-Keys:([^\r\n]*)", self._head, re.MULTILINE)
        return found[1].decode("ascii", "replace").split() if found else []

    @property
    def text(self) -> str:
        """The plain text, or the HTML source where there is none."""
        part = self.mail.get_body(("plain", "html"))
        return "" if part is None else str(part.get_content()).rstrip("\n")

    @property
    def attachments(self) -> dict[str, bytes]:
        """File name to bytes."""
        found = {}
        for part in self.mail.iter_attachments():
            content = part.get_payload(decode=True)
            found[part.get_filename() or ""] = content if isinstance(content, bytes) else b""
        return found

    @property
    def _head(self) -> bytes:
        return self.raw[: head_end(self.raw)]


def split_mbox(data: bytes) -> list[tuple[int, bytes]]:
    """(offset, headers and body) of every message of an mbox, expunged ones too; separator lines are left out."""
    marks = list(_SEPARATOR.finditer(data))
    ends = [*(mark.start() for mark in marks[1:]), len(data)][: len(marks)]
    return [(mark.end(), data[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]


def mbox_bytes(mail: EmailMessage) -> bytes:
    """A message as it stands in an mbox: LF line ends, and a `>` before lines that would begin another message."""
    data = mail.as_bytes(policy=mail.policy.clone(linesep="\n"))
    return re.sub(rb"^(>*From )", rb">\1", data, flags=re.MULTILINE).rstrip(b"\n") + b"\n"


def with_status(raw: bytes, status: int) -> bytes:
    """A message with another X-Mozilla-Status; byte for byte as long where it had one."""
    return _with_header(raw, b"X-Mozilla-Status", b"%04x" % status)


def with_keys(raw: bytes, keys: Sequence[str]) -> bytes:
    """A message with other tags; byte for byte as long where the reserved room suffices."""
    found = re.search(rb"^X-Mozilla-Keys: ?([^\r\n]*)", raw[: head_end(raw)], re.MULTILINE)
    width = max(len(found[1]) if found else 0, KEYS_WIDTH if not found else 0)
    return _with_header(raw, b"X-Mozilla-Keys", " ".join(keys).encode().ljust(width))


def head_end(raw: bytes) -> int:
    """Where the headers of a message end."""
    found = re.search(rb"\r?\n\r?\n", raw)
    return found.start() + 1 if found else len(raw)


def _with_header(raw: bytes, name: bytes, value: bytes) -> bytes:
    found = re.search(rb"^" + name + rb":[^\r\n]*", raw[: head_end(raw)], re.MULTILINE)
    line = name + b": " + value
    return raw[: found.start()] + line + raw[found.end() :] if found else line + b"\n" + raw
