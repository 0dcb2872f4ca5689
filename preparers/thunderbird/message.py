"""Write one mail as the bytes of an mbox, by hand: header folding, encoded words, MIME parts, Mozilla's status headers.

Everything is derived from the content, so that the same mail has the same bytes: Message-ID and boundaries are hashes.
Bodies are encoded so that no line needs mbox quoting, and no line is longer than 998 octets.
Sources: RFC 5322, RFC 2045-2047, RFC 2231, RFC 3676; X-Mozilla-Status as in comm-central's nsMsgMessageFlags.h.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from forge.harness.layers.mail.python.mailkit.message import FORWARDED, KEYS_WIDTH, READ, REPLIED, STARRED
from forge.records import digest
from preparers.thunderbird.params import Attachment, Mail, split_person

_ATEXT = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+( [A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_NEEDS_QUOTING = re.compile(rb"^>*From ", re.MULTILINE)


def message_id(mail: Mail) -> str:
    """The mail's Message-ID without brackets: its own, or one derived from all that is not a flag or a tag."""
    if mail.id:
        return mail.id
    content = mail.model_dump(mode="json", exclude={"id", "read", "starred", "replied", "forwarded", "tags"})
    return f"{digest(content)[:24]}@{split_person(mail.sender)[1].partition('@')[2]}"


def mbox_entry(mail: Mail, references: tuple[str, ...], zone: str) -> bytes:
    """The mail with its separator line, as it stands in a folder's file.

    Args:
        mail: the mail.
        references: ids of the thread above it, oldest first, the answered one last.
        zone: IANA time zone of the guest; `mail.date` is wall time there.
    """
    moment = datetime.fromisoformat(mail.date).replace(tzinfo=ZoneInfo(zone))
    status = READ * mail.read | REPLIED * mail.replied | STARRED * mail.starred | FORWARDED * mail.forwarded
    separator = f"From - {_DAYS[moment.weekday()]} {_MONTHS[moment.month - 1]} {moment:%d %H:%M:%S %Y}\n"
    mozilla = f"X-Mozilla-Status: {status:04x}\nX-Mozilla-Status2: 00000000\n"
    mozilla += f"X-Mozilla-Keys: {' '.join(mail.tags).ljust(KEYS_WIDTH)}\n"
    return (separator + mozilla).encode() + message(mail, references, moment) + b"\n"


def message(mail: Mail, references: tuple[str, ...], moment: datetime) -> bytes:
    """The mail as RFC 5322 bytes with LF line ends, ending in a line feed."""
    own = message_id(mail)
    headers = [
        f"Message-ID: <{own}>",
        f"Date: {_DAYS[moment.weekday()]}, {moment.day} {_MONTHS[moment.month - 1]} {moment:%Y %H:%M:%S %z}",
        "From: " + _people((mail.sender,)),
    ]
    headers += ["To: " + _people(mail.to)] if mail.to else []
    headers += ["Cc: " + _people(mail.cc)] if mail.cc else []
    headers.append(_fold_text("Subject", mail.subject))
    if references:
        headers.append(f"In-Reply-To: <{references[-1]}>")
        headers.append("References: " + "\n ".join(f"<{r}>" for r in references))
    headers.append("MIME-Version: 1.0")
    return "\n".join(headers).encode() + b"\n" + _content(mail, own)


def thread(mail: Mail, mails: Mapping[str, Mail]) -> tuple[str, ...]:
    """Ids of the messages above `mail`, oldest first, following `answers` through `mails` (by id)."""
    chain: list[str] = []
    parent = mail.answers
    while parent and parent not in chain:
        chain.append(parent)
        above = mails.get(parent)
        parent = above.answers if above else ""
    return tuple(reversed(chain))


def media_type(attachment: Attachment) -> str:
    """The attachment's media type, by its name's suffix where it is not given."""
    return attachment.type or _TYPES.get(attachment.name.rpartition(".")[2].lower(), "application/octet-stream")


# Fixed here: the `mimetypes` module also reads the host's tables, and bytes may not depend on the machine.
_TYPES = {
    "txt": "text/plain",
    "csv": "text/csv",
    "html": "text/html",
    "ics": "text/calendar",
    "vcf": "text/vcard",
    "json": "application/json",
    "xml": "application/xml",
    "pdf": "application/pdf",
    "zip": "application/zip",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odt": "application/vnd.oasis.opendocument.text",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _content(mail: Mail, own: str) -> bytes:
    """Content headers, an empty line, and the body."""
    parts = [_text_part("plain", mail.text)] if mail.text or not mail.html else []
    parts += [_text_part("html", mail.html)] if mail.html else []
    body = parts[0] if len(parts) == 1 else _multipart("alternative", parts, own)
    if mail.attachments:
        body = _multipart("mixed", [body, *(_file_part(a) for a in mail.attachments)], own)
    return body


def _text_part(subtype: str, text: str) -> bytes:
    raw = (text + "\n").encode()
    plain = raw.isascii() and b"\f" not in raw and not _NEEDS_QUOTING.search(raw)
    if plain and all(len(line) <= 200 and line == line.rstrip() for line in raw.split(b"\n")):
        return f"Content-Type: text/{subtype}; charset=UTF-8\nContent-Transfer-Encoding: 7bit\n\n".encode() + raw
    head = f"Content-Type: text/{subtype}; charset=UTF-8\nContent-Transfer-Encoding: quoted-printable\n\n"
    return head.encode() + b"".join(_quoted_printable(line) + b"\n" for line in raw.split(b"\n")[:-1])


def _quoted_printable(line: bytes) -> bytes:
    """One line (without its end) as quoted-printable; a leading `From ` loses its F, so that no reader takes it for a mail."""
    pieces, width = [bytearray()], 0
    separator = _NEEDS_QUOTING.match(line) is not None
    for index, byte in enumerate(line):
        keep = (33 <= byte <= 126 and byte != 61) or (byte in (9, 32) and index < len(line) - 1)
        token = bytes([byte]) if keep and not (separator and index == 0) else b"=%02X" % byte
        if width + len(token) > 72:
            pieces.append(bytearray())
            width = 0
        pieces[-1] += token
        width += len(token)
    # a soft break may not leave a piece that itself looks like a separator or ends in blank
    return b"=\n".join(re.sub(rb"^(>*)F(?=rom )", rb"\1=46", bytes(piece)) for piece in pieces)


def _multipart(subtype: str, parts: list[bytes], own: str) -> bytes:
    boundary = f"------------{digest([subtype, own])[:24]}"
    head = f'Content-Type: multipart/{subtype}; boundary="{boundary}"\n\n'
    middle = b"".join(b"--" + boundary.encode() + b"\n" + part + b"\n" for part in parts)
    return head.encode() + b"This is a multi-part message in MIME format.\n" + middle + f"--{boundary}--\n".encode()


def _file_part(attachment: Attachment) -> bytes:
    name = attachment.name
    simple = name.isascii() and not re.search(r'["\\]|=\?', name) and len(name) <= 60
    disposition = "Content-Disposition: attachment;\n " + (f'filename="{name}"' if simple else _rfc2231(name))
    kind = f"Content-Type: {media_type(attachment)}" + (f';\n name="{name}"' if simple else "")
    encoded = base64.b64encode(attachment.data())
    lines = [encoded[i : i + 72] for i in range(0, len(encoded), 72)]
    head = f"{kind}\n{disposition}\nContent-Transfer-Encoding: base64\n\n"
    return head.encode() + b"".join(line + b"\n" for line in lines)


def _rfc2231(name: str) -> str:
    """The `filename*N*` parameters of a name that is long or not ASCII."""
    safe = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
    tokens = [chr(b) if b in safe else f"%{b:02X}" for b in name.encode()]
    pieces = ["".join(tokens[i : i + 20]) for i in range(0, len(tokens), 20)]
    pieces[0] = "UTF-8''" + pieces[0]
    return ";\n ".join(f"filename*{n}*={piece}" for n, piece in enumerate(pieces))


def _people(people: tuple[str, ...]) -> str:
    return ",\n ".join(_one_person(person) for person in people)


def _one_person(person: str) -> str:
    name, address = split_person(person)
    if not name:
        return address
    if _ATEXT.fullmatch(name) and "=?" not in name and len(name) <= 60:
        return f"{name} <{address}>"
    if name.isascii() and "=?" not in name and len(name) <= 60 and "  " not in name:
        escaped = re.sub(r'(["\\])', r"\\\1", name)
        return f'"{escaped}" <{address}>'
    return f"{_encoded_words(name)}\n <{address}>"


def _fold_text(name: str, value: str) -> str:
    """A header of free text; encoded words wherever folding white space could change it."""
    plain = value.isascii() and "=?" not in value and value == value.strip() and "  " not in value
    if not plain or max(map(len, value.split(" "))) > 70:
        return f"{name}: {_encoded_words(value)}"
    lines = [f"{name}:"]
    for word in value.split(" "):
        if len(lines[-1]) + 1 + len(word) > 76 and lines[-1] != f"{name}:":
            lines.append("")
        lines[-1] += " " + word
    return "\n".join(lines)


def _encoded_words(value: str) -> str:
    return "\n ".join(f"=?UTF-8?B?{base64.b64encode(piece).decode()}?=" for piece in _pieces(value, 42))


def _pieces(value: str, size: int) -> Iterator[bytes]:
    """UTF-8 pieces of at most `size` octets that never split a character."""
    piece = b""
    for char in value:
        if len(piece) + len(char.encode()) > size:
            yield piece
            piece = b""
        piece += char.encode()
    if piece:
        yield piece
