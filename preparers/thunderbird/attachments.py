"""Files that are attached to drawn mails: a one-page PDF, a CSV table, a calendar entry, a text. Bytes by content."""

from __future__ import annotations

import random

from preparers.thunderbird.chance import pick, whole
from preparers.thunderbird.people import data


def make_file(name: str, title: str, slots: dict[str, str], rng: random.Random) -> bytes:
    """The bytes of a file by its name's suffix.

    Args:
        name: the file's name.
        title: what it is about.
        slots: the thread's drawn values (number, amount, item, place, day, ...).
        rng: draws the rows of a table.
    """
    suffix = name.rpartition(".")[2]
    if suffix == "pdf":
        return pdf([title, f"No. {slots['number']}", slots["company"], f"Total {slots['amount']}"])
    if suffix == "csv":
        return _csv(rng)
    if suffix == "ics":
        return _calendar(title, slots)
    return f"{title}\n\n{slots['item']}\n{slots['place']}, {slots['day']}\n{slots['amount']}\n".encode()


def pdf(lines: list[str]) -> bytes:
    """A PDF of one page with these lines (characters beyond Latin-1 become `?`). Source: ISO 32000-1, annex H.3."""
    text = []
    for number, line in enumerate(lines):
        safe = line.encode("latin-1", "replace").decode("latin-1")
        safe = safe.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        text.append(f"BT /F1 {20 if number == 0 else 12} Tf 60 {760 - 28 * number} Td ({safe}) Tj ET")
    stream = "\n".join(text).encode("latin-1")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, item in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, item)
    start = len(out)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(out)


def _csv(rng: random.Random) -> bytes:
    items = data("threads")["values"]["item"]
    rows = [
        f"{whole(rng, 100, 999)},{pick(rng, items)},{whole(rng, 1, 20)},{whole(rng, 2, 400)}.{whole(rng, 0, 99):02d}"
        for _ in range(whole(rng, 5, 12))
    ]
    return ("number,item,quantity,price\n" + "\n".join(rows) + "\n").encode()


def _calendar(title: str, slots: dict[str, str]) -> bytes:
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//forge//mail//EN",
        "BEGIN:VEVENT",
        f"UID:{slots['number']}@forge.example",
        "DTSTAMP:20260101T000000Z",
        "DTSTART:20260401T080000Z",
        f"SUMMARY:{title.replace(',', chr(92) + ',')}",
        f"LOCATION:{slots['place']}",
        "END:VEVENT",
        "END:VCALENDAR",
    ]
    return ("\r\n".join(lines) + "\r\n").encode()
