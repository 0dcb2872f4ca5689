"""Write address books (`abook.sqlite`, `history.sqlite`) whose bytes depend on their content alone.

Ids are hashes of addresses. The SQLite file is made in memory in one order, and the fields of its header that name the
writing library's version and count changes are set to fixed values (https://www.sqlite.org/fileformat2.html#database_header).
"""

from __future__ import annotations

import sqlite3
import struct

from forge.harness.layers.mail.python.mailkit.formats import ABOOK_SCHEMA, card_rows, derived_uuid
from preparers.thunderbird.params import Contact, MailingList

_CHANGES = 1
_SQLITE_VERSION = 3_040_001


def address_book(contacts: tuple[Contact, ...], lists: tuple[MailingList, ...], modified: int) -> bytes:
    """The SQLite file of a book.

    Args:
        contacts: the cards.
        lists: mailing lists among them.
        modified: when the cards were last changed, seconds since 1970.
    """
    book = sqlite3.connect(":memory:")
    try:
        book.execute("PRAGMA page_size=4096")
        book.executescript(ABOOK_SCHEMA)
        for contact in contacts:
            card = card_id(contact.email)
            rows = card_rows(card, contact.model_dump(), modified)
            book.executemany("INSERT INTO properties VALUES (?, ?, ?)", [(card, *row) for row in rows])
        for item in lists:
            uid = derived_uuid("list", item.name)
            book.execute("INSERT INTO lists VALUES (?, ?, ?, ?)", (uid, item.name, item.nickname, item.description))
            for member in item.members:
                book.execute("INSERT OR IGNORE INTO list_cards VALUES (?, ?)", (uid, card_id(member)))
        book.commit()
        book.execute("VACUUM")
        data = bytearray(book.serialize())
    finally:
        book.close()
    struct.pack_into(">I", data, 24, _CHANGES)
    struct.pack_into(">II", data, 92, _CHANGES, _SQLITE_VERSION)
    return bytes(data)


def card_id(email: str) -> str:
    """The id of the card with this address: a hash, so that the same contact has the same card."""
    return derived_uuid("card", email.casefold())
